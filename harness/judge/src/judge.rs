//! The trusted side. It makes the inputs, knows what is expected, and decides.
//!
//! For each case, in this order, which is the point of it:
//!
//! 1. A fresh seed from the operating system: no solution has seen these inputs before.
//! 2. Inputs are drawn in the judge's own memory, and what is expected is computed from there.
//! 3. Fresh shared memory: inputs copied in, outputs poisoned, red zones around every buffer.
//! 4. The worker calls `solution`. A deadline and Ctrl-C end it with all it started.
//! 5. Outputs are copied out once; red zones and inputs are looked at; the copy is compared.
//!
//! A worker that dies gives its case a verdict, and the next case a fresh worker.

mod bytes;
mod content;
mod link;
pub mod log;
mod mixture;
mod reference;
mod series;
mod summon;
mod trial;
mod worker_exit;

use std::os::fd::{AsFd, BorrowedFd};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use cudart::server::DeviceReport;
use emulator::Blame;
use problems::{BufferSpec, CaseSpec, Direction, Poison, Problem, ReferenceKernels, ScalarValue};
use rustix::process::DumpableBehavior;
use tempfile::TempDir;

pub(crate) use self::bytes::Bytes;
pub(crate) use self::content::Content;
use self::content::sides;
use self::link::{Failure, Link};
use self::log::Log;
use self::mixture::Mixture;
pub(crate) use self::reference::EmulatedReference;
use self::summon::{Silence, confine, out_of_turn, scratch, spawn};
pub use self::summon::{ceilings, isolation};
pub use self::trial::Trial;
pub(crate) use self::trial::blank;
use self::worker_exit::{Phase, worker_exit};
use crate::device::{Argument, Call, Target};
use crate::emulated::link::{launch, transfers};
use crate::emulated::protocol::{Answer, Order};
use crate::emulated::{Emulated, Lost};
use crate::ncu::NcuRequest;
use crate::profile::Sources;
use crate::report::{CaseReport, Verdict};
use crate::shared::Shared;
use crate::worker::protocol::{Outcome, Request};
use crate::worker::sandbox::Isolation;
use crate::{Error, Interrupt};

/// What is on trial, and by which rules.
#[derive(Clone, Debug)]
pub struct JudgeInput {
    pub problem: &'static Problem,
    /// The solution's file and its text, which faults quote.
    pub path: PathBuf,
    pub text: String,
    /// The artifact's shared library.
    pub library: PathBuf,
    pub target: Target,
    /// Who runs the problem's reference, where that is a kernel.
    pub kernels: Arc<dyn ReferenceKernels>,
    /// The executable whose hidden verb is the worker.
    pub executable: PathBuf,
    /// Bytes kept of what the solution prints.
    pub log_bytes: usize,
    /// Draws the inputs of every case from this, to repeat what was seen; absent: from randomness.
    pub data_seed: Option<u64>,
    pub interrupt: Interrupt,
}

/// The trusted side of one solution.
#[derive(Debug)]
pub struct Judge {
    input: JudgeInput,
    /// The only folder the solution may write in; removed with the judge.
    scratch: TempDir,
    link: Option<Link>,
    isolation: Option<Isolation>,
    /// What the worker that there is keeps for a series.
    mixture: Option<Mixture>,
    /// The case whose calls this worker was last seen to finish.
    finished: Option<CaseSpec>,
    /// What workers that are gone have printed; with the worker while there is one.
    log: Log,
}

/// One call, and what it left.
struct Examined {
    trial: Trial,
    outputs: Vec<Bytes>,
    shared: Shared,
}

impl Judge {
    /// # Errors
    ///
    /// [`Error::Machine`] where no temporary folder can be made.
    pub fn new(input: JudgeInput) -> Result<Self, Error> {
        // Seeds and expected outputs are in this process's memory: its user's other processes do not look
        // into it, nor into a core dump (prctl(2), PR_SET_DUMPABLE). Where that is refused, it is as before.
        let private = DumpableBehavior::NotDumpable;
        let _ = rustix::process::set_dumpable_behavior(private);
        let scratch = scratch()?;
        let log = Log::new(input.log_bytes);
        Ok(Self { input, scratch, link: None, isolation: None, mixture: None, finished: None, log })
    }

    /// Runs one case in the worker and decides.
    ///
    /// # Errors
    ///
    /// [`Error::Machine`] where this machine has no process or memory left to do it.
    pub fn case(&mut self, case: &CaseSpec, limit: Duration) -> Result<Trial, Error> {
        let started = Instant::now();
        let mut trial = self.run_case(case, limit)?;
        trial.report.seconds = started.elapsed().as_secs_f64();
        Ok(trial)
    }

    /// From the next worker on, trials have profiles, where the device makes any.
    pub(crate) fn profiling(&mut self) {
        if let Target::Emulator { scrutiny, .. } = &mut self.input.target {
            scrutiny.profile = true;
        }
    }

    /// Ends the worker; the next case gets a fresh one. Says what the old one left behind.
    pub fn dismiss(&mut self) -> Option<String> {
        self.mixture = None;
        let mut link = self.link.take()?;
        let end = link.finish();
        self.log = link.take_log();
        worker_exit::leftovers(end.leftovers)
    }

    /// What the solution printed so far.
    pub fn log(&self) -> String {
        self.link.as_ref().map_or(&self.log, Link::log).text()
    }

    /// What was kept from the solution; absent before the first case.
    pub fn isolation(&self) -> Option<Isolation> {
        self.isolation
    }

    fn run_case(&mut self, case: &CaseSpec, limit: Duration) -> Result<Trial, Error> {
        let buffers = self.buffers(case)?;
        if let Some(trial) = self.unopened(case, limit)? {
            return Ok(trial);
        }
        let seed = self.seed()?;
        let content = self.draw(case, &buffers, seed)?;
        let mut trial = self.examine(case, &buffers, &content, limit)?.trial;
        trial.report.data_seed = Some(seed);
        Ok(trial)
    }

    /// Inputs for a case, to be given to more than one judge.
    pub(crate) fn content(&self, case: &CaseSpec) -> Result<Content, Error> {
        self.draw(case, &self.buffers(case)?, self.seed()?)
    }

    fn draw(&self, case: &CaseSpec, buffers: &[BufferSpec], seed: u64) -> Result<Content, Error> {
        let JudgeInput { problem, kernels, .. } = &self.input;
        Content::draw(problem, case, buffers, seed, None, &**kernels)
    }

    /// What the inputs of the next case are drawn from. Fifty-three bits of randomness: more
    /// than a solution can guess, and exact in every reader of JSON.
    fn seed(&self) -> Result<u64, Error> {
        match self.input.data_seed {
            Some(seed) => Ok(seed),
            None => Ok(u64::from_le_bytes(fresh()?) >> 11),
        }
    }

    /// One call with inputs of this case, for `ncu` to look into; the bytes go to `contents`.
    pub(crate) fn ncu_request(
        &self,
        case: &CaseSpec,
        contents: PathBuf,
    ) -> Result<NcuRequest, Error> {
        let buffers = self.buffers(case)?;
        let content = self.content(case)?;
        let mut inputs = content.views().into_iter();
        let mut bytes = Vec::new();
        for buffer in &buffers {
            match buffer.direction {
                Direction::In => bytes.extend_from_slice(inputs.next().unwrap_or_default()),
                _ => bytes.resize(bytes.len() + buffer.bytes, 0xff),
            }
        }
        std::fs::write(&contents, bytes).map_err(|error| no_memory(&error))?;
        Ok(NcuRequest {
            library: self.input.library.clone(),
            ordinal: self.input.target.gpu().unwrap_or_default(),
            buffers: buffers.into_iter().map(|buffer| (buffer.name, buffer.bytes)).collect(),
            arguments: arguments(self.input.problem, case, &content.scalars),
            contents,
        })
    }

    /// All output bytes of one call with this content; why there are none, else.
    pub(crate) fn outputs(
        &mut self,
        case: &CaseSpec,
        content: &Content,
        limit: Duration,
    ) -> Result<Result<Vec<u8>, String>, Error> {
        if let Some(trial) = self.unopened(case, limit)? {
            return Ok(Err(trial.report.explanation.join(" ")));
        }
        let buffers = self.buffers(case)?;
        let Examined { trial, outputs, .. } = self.examine(case, &buffers, content, limit)?;
        Ok(match trial.report.verdict {
            Verdict::Accepted | Verdict::WrongAnswer => {
                Ok(outputs.iter().flat_map(|bytes| bytes.as_slice().to_vec()).collect())
            }
            _ => Err(trial.report.explanation.join(" ")),
        })
    }

    fn buffers(&self, case: &CaseSpec) -> Result<Vec<BufferSpec>, Error> {
        self.input.problem.buffers(&case.sizes).map_err(|error| Error::Usage(error.to_string()))
    }

    /// Why there is no worker to call; `None` once there is one.
    fn unopened(&mut self, case: &CaseSpec, limit: Duration) -> Result<Option<Trial>, Error> {
        let Err(why) = self.open(limit)? else { return Ok(None) };
        let mut report = blank(case, Verdict::Accepted);
        match why {
            Silence::Gone(failure) => {
                report.record_exit(self.worker_exit(&failure, Phase::Opening))
            }
            Silence::Refused(why) => report.blame(
                Verdict::RuntimeError,
                "not_loaded",
                format!("the compiled solution cannot be opened: {why}"),
            ),
            Silence::NoGpu(why) => {
                self.dismiss();
                return Err(Error::machine(why, "run it on the emulator: --device emulator"));
            }
        }
        Ok(Some(Trial::of(report)))
    }

    /// One call with this content.
    fn examine(
        &mut self,
        case: &CaseSpec,
        buffers: &[BufferSpec],
        content: &Content,
        limit: Duration,
    ) -> Result<Examined, Error> {
        let mut report = blank(case, Verdict::Accepted);
        let problem = self.input.problem;
        let kernels = Arc::clone(&self.input.kernels);
        let (ins, outs) = sides(buffers);
        let mut outputs: Vec<_> =
            outs.iter().map(|index| Bytes::zeroed(buffers[*index].bytes)).collect();

        let sizes = buffers.iter().map(|buffer| (buffer.name.as_str(), buffer.bytes));
        let mut shared = Shared::new(sizes).map_err(|error| no_memory(&error))?;
        outs.iter().for_each(|&index| shared.blank(index));
        let poison = Poison::new(u64::from_le_bytes(fresh()?));
        for (index, bytes) in ins.iter().zip(content.views()) {
            shared.upload(*index, bytes).map_err(|error| no_memory(&error))?;
        }
        for (index, bytes) in outs.iter().zip(&mut outputs) {
            poison.fill(bytes.as_mut_slice());
            shared.upload(*index, bytes.as_slice()).map_err(|error| no_memory(&error))?;
        }

        let call = match self.call(&shared, arguments(problem, case, &content.scalars), limit) {
            Ok(call) => call,
            Err(failure) => {
                report.record_exit(self.worker_exit(&failure, Phase::Calling));
                return Ok(Examined { trial: Trial::of(report), outputs, shared });
            }
        };
        for (index, bytes) in outs.iter().zip(&mut outputs) {
            shared.download(*index, bytes.as_mut_slice()).map_err(|error| no_memory(&error))?;
        }
        for write in shared.out_of_bounds_writes().map_err(|error| no_memory(&error))? {
            report.out_of_bounds_write(&write);
        }
        for (index, bytes) in ins.iter().zip(content.views()) {
            let changed = shared.first_change(*index, bytes).map_err(|error| no_memory(&error))?;
            if let Some(at) = changed {
                report.blame(
                    Verdict::WrongAnswer,
                    "inputs_overwritten",
                    format!(
                        "the input `{}` was overwritten, first at byte {at}",
                        buffers[*index].name
                    ),
                );
            }
        }
        let compare = || {
            let views: Vec<_> = outputs.iter().map(Bytes::as_slice).collect();
            let Content { scalars, expected, .. } = content;
            let inputs = content.views();
            let mut comparison = problem.compare(case, &inputs, scalars, expected, &views, &poison);
            problem.explain(case, &inputs, scalars, &views, (&*kernels, &mut comparison));
            comparison
        };
        let trial = self.decide(report, call, compare);
        Ok(Examined { trial, outputs, shared })
    }

    fn decide(
        &mut self,
        mut report: CaseReport,
        call: Call,
        compare: impl FnOnce() -> problems::Comparison,
    ) -> Trial {
        match call {
            Call::Returned { sample, launches, transfers, profiles, unsupported, errors } => {
                let comparison = compare();
                let right = comparison.accepted();
                let mut warnings = Vec::new();
                for error in errors {
                    if right {
                        warnings.push(format!("a CUDA call failed: {error}"));
                    } else {
                        report.blame(Verdict::RuntimeError, "cuda_error", error);
                    }
                }
                for function in unsupported {
                    let missing = format!("nibble does not provide {function}");
                    if right {
                        warnings.push(format!("{missing}: it returned cudaErrorNotSupported"));
                    } else {
                        let text = format!("{missing} (your code may be right)");
                        report.blame(Verdict::RuntimeError, "unsupported", text);
                    }
                }
                let emulated = matches!(self.input.target, Target::Emulator { .. });
                if emulated && launches.is_empty() && report.verdict == Verdict::Accepted {
                    let text = "`solution` launched no kernel".to_owned();
                    report.blame(Verdict::RuntimeError, "nothing_launched", text);
                }
                // Where the cause is known, what is missing because of it explains nothing.
                match report.verdict {
                    Verdict::RuntimeError => report.mismatches = comparison.mismatches,
                    _ => report.compare(comparison),
                }
                Trial { report, launches, transfers, profiles, sample, warnings }
            }
            Call::Faulted(mut fault) => {
                // As after a sticky error on a GPU, nothing more can be had of this process.
                self.dismiss();
                let verdict = match fault.kind.blame() {
                    Blame::Limit => Verdict::TimeLimitExceeded,
                    Blame::Kernel | Blame::Nibble => Verdict::RuntimeError,
                };
                fault.rename(toolchain::compile::plain);
                report.blame(verdict, fault.kind.name(), fault.headline());
                let JudgeInput { path, text, .. } = &self.input;
                let mut sources = Sources::new(path, text.clone());
                let mut text = |file: &str, line| sources.own_line(file, line);
                report.explanation.extend(fault.details(&mut text));
                Trial::of(report)
            }
            Call::Failed(error) => {
                self.dismiss();
                report.refuse(&error);
                Trial::of(report)
            }
        }
    }

    /// A worker that has opened the artifact.
    fn open(&mut self, limit: Duration) -> Result<Result<(), Silence>, Error> {
        if self.link.is_some() {
            return Ok(Ok(()));
        }
        let JudgeInput { executable, interrupt, .. } = &self.input;
        let log = std::mem::take(&mut self.log);
        let scratch = self.scratch.path();
        self.finished = None;
        // Both processes start at once.
        let device = self.device()?;
        let link = self.link.insert(spawn(executable, scratch, log, interrupt.clone())?);
        link.device = device;
        let (library, gpu) = (Some(self.input.library.as_path()), self.input.target.gpu());
        self.isolation = match confine(link, scratch, library, gpu, limit) {
            Ok(isolation) => Some(isolation),
            Err(silence) => return Ok(Err(silence)),
        };
        let request = Request::Open {
            library: self.input.library.clone(),
            target: self.input.target.clone(),
        };
        let segment = match &mut link.device {
            Some(device) => match device.wait(limit) {
                Ok(_) => Some(device.segment().try_clone_to_owned().map_err(|e| no_memory(&e))?),
                Err(lost) => return Ok(Err(Silence::Gone(link.kill(deviceless(lost))))),
            },
            None => None,
        };
        Ok(match link.ask(&request, segment.as_ref().map(AsFd::as_fd), limit) {
            Ok(Outcome::Opened) => Ok(()),
            Ok(Outcome::Refused(why)) => {
                self.dismiss();
                Err(Silence::Refused(why))
            }
            Ok(other) => Err(Silence::Gone(out_of_turn(&other))),
            Err(failure) => Err(Silence::Gone(failure)),
        })
    }

    fn call(
        &mut self,
        shared: &Shared,
        arguments: Vec<Argument>,
        limit: Duration,
    ) -> Result<Call, Failure> {
        let Some(link) = &mut self.link else {
            return Err(Failure::Nonsense("no worker".to_owned()));
        };
        if link.device.is_some() {
            return called(link, shared, arguments, limit);
        }
        let map = Request::Map { len: shared.len() };
        match link.ask(&map, Some(shared.fd().as_fd()), limit)? {
            Outcome::Mapped => {}
            other => return Err(out_of_turn(&other)),
        }
        let buffers = shared.buffers().to_vec();
        let call = Request::Call { buffers, arguments, base: None, limit };
        match link.ask(&call, None, limit)? {
            Outcome::Called(call) => Ok(call),
            other => Err(out_of_turn(&other)),
        }
    }

    /// The device for the next worker, where that is a process: on its way to be one.
    fn device(&self) -> Result<Option<Emulated>, Error> {
        let JudgeInput { executable, interrupt, target, .. } = &self.input;
        let Target::Emulator { arch, kernels, scrutiny } = target else { return Ok(None) };
        let device = Emulated::spawn(executable, interrupt.clone()).map_err(|error| {
            Error::machine(
                format!("no process for the emulated device: {error}"),
                "close other programs, or raise the limit of processes (ulimit -u)",
            )
        })?;
        let (arch, kernels, scrutiny) = (arch.clone(), kernels.clone(), *scrutiny);
        device.start(&Order::Start { arch, kernels, scrutiny });
        Ok(Some(device))
    }

    /// Buries the worker and says what it died of.
    fn worker_exit(&mut self, failure: &Failure, phase: Phase) -> worker_exit::WorkerExit {
        self.mixture = None;
        if let Some(mut link) = self.link.take() {
            self.log = link.take_log();
        }
        worker_exit(failure, phase)
    }
}

/// A call on a device that is a process: of what the worker answers only that it returned counts, and what
/// calls of its own complained of. What was launched, and what came of it, the device says.
fn called(
    link: &mut Link,
    shared: &Shared,
    arguments: Vec<Argument>,
    limit: Duration,
) -> Result<Call, Failure> {
    let (len, buffers) = (shared.len(), shared.buffers().to_vec());
    let begin = Order::Begin { len, buffers: buffers.clone(), limit };
    let base = match order(link, &begin, Some(shared.fd()), limit)? {
        Answer::Begun { base } => base,
        other => return Err(Failure::Deviceless(format!("{other:?}"))),
    };
    let call = Request::Call { buffers, arguments, base: Some(base), limit };
    let (unsupported, errors) = match link.ask(&call, None, limit)? {
        Outcome::Called(Call::Returned { unsupported, errors, .. }) => (unsupported, errors),
        Outcome::Called(Call::Failed(error)) => return Ok(Call::Failed(error)),
        other => return Err(out_of_turn(&other)),
    };
    let report = match order(link, &Order::End, None, limit)? {
        Answer::Happened(report) => *report,
        other => return Err(Failure::Deviceless(format!("{other:?}"))),
    };
    let transfers = transfers(&report);
    let DeviceReport { launches, profiles, fault, .. } = report;
    Ok(match fault {
        Some(fault) => Call::Faulted(Box::new(fault)),
        None => Call::Returned {
            sample: None,
            launches: launches.into_iter().map(launch).collect(),
            transfers,
            profiles,
            unsupported,
            errors,
        },
    })
}

/// Asks the worker's device; where that has no answer, the worker is ended.
fn order(
    link: &mut Link,
    order: &Order,
    descriptor: Option<BorrowedFd<'_>>,
    limit: Duration,
) -> Result<Answer, Failure> {
    let asked =
        link.device.as_mut().map_or(Err(Lost::Gone), |device| device.ask(order, descriptor, limit));
    asked.map_err(|lost| link.kill(deviceless(lost)))
}

fn deviceless(lost: Lost) -> Failure {
    match lost {
        Lost::Gone => Failure::Deviceless("its process ended".to_owned()),
        Lost::TimedOut(limit) => Failure::TimedOut(limit),
        Lost::Interrupted => Failure::Interrupted,
        Lost::Refused(why) => Failure::Deviceless(why),
    }
}

/// The arguments of the call, in the signature's order.
fn arguments(problem: &Problem, case: &CaseSpec, scalars: &[ScalarValue]) -> Vec<Argument> {
    let mut scalars = scalars.iter();
    let mut buffer = 0..;
    let argument = |parameter: &problems::Parameter| {
        let groups = parameter.count(&case.sizes) as usize;
        match (parameter.direction, parameter.each.is_some()) {
            (Direction::In | Direction::Out, false) => buffer.next().map(Argument::Buffer),
            (Direction::In | Direction::Out, true) => {
                Some(Argument::Buffers(buffer.by_ref().take(groups).collect()))
            }
            (_, true) => {
                let size = |scalar: &ScalarValue| match *scalar {
                    ScalarValue::Size(size) => Some(size),
                    ScalarValue::F32(_) => None,
                };
                Some(Argument::Sizes(scalars.by_ref().take(groups).filter_map(size).collect()))
            }
            (_, false) => scalars.next().map(|scalar| match *scalar {
                ScalarValue::F32(value) => Argument::Float(value),
                ScalarValue::Size(size) => Argument::Size(size),
            }),
        }
    };
    problem.manifest().signature.iter().filter_map(argument).collect()
}

pub(crate) fn fresh<const N: usize>() -> Result<[u8; N], Error> {
    crate::random::bytes().map_err(|error| {
        Error::machine(format!("/dev/urandom: {error}"), "run where /dev/urandom is readable")
    })
}

fn no_memory(error: &std::io::Error) -> Error {
    Error::machine(format!("no shared memory for this case: {error}"), "close other programs")
}
