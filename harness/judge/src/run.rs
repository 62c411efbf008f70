//! One solution from its source to its report: compile, check, bench.

use std::path::{Path, PathBuf};

use problems::Problem;

use crate::bench::{self, Benched, Setup};
use crate::card::{Card, Ceilings, Measurement, State, Turn};
use crate::check::{self, Passed, note};
use crate::device::mock::{Clock, Mock, Script};
use crate::judge::{self, Judge, JudgeInput};
use crate::place::{self, Place};
use crate::reference::reference;
use crate::report::{CardReport, DeviceInfo, DeviceKind, Verdict};
use crate::subject::Subject;
use timing::gpus::Gpu;
use timing::stats;
use toolchain::Search;
use toolchain::compile::{self, CompileError, Source};
use toolchain::directive::Directives;

use crate::{Config, DeviceChoice, Error, Event, Report, Stage};

/// Compiles, checks and, where the stage asks for it, times one solution.
///
/// # Errors
///
/// [`Error`] where no verdict could be reached: an unknown problem, no compiler. A solution that
/// does not compile, crashes or is wrong is a [`Report`] with its verdict.
pub fn run(config: &Config, emit: &mut dyn FnMut(Event)) -> Result<Report, Error> {
    let Prepared { problem, gpu, card, uuid, subject, mut report, .. } =
        prepare(config, None, emit)?;
    if let Some(mut subject) = subject
        && let Some(passed) = prove(config, problem, &mut *subject, &mut report, emit)?
        && config.stage > Stage::Check
    {
        let Some(_turn) = turn(config, uuid.as_deref(), &mut report, emit)? else {
            report.verdict = Verdict::Interrupted;
            return Ok(report);
        };
        if let (Some(card), Some(about)) = (&card, &mut report.card) {
            about.ceilings = Some(ceilings(config, card, about.before.as_ref())?);
        }
        time(config, (problem, &gpu), &mut *subject, &passed, &mut report, emit)?;
    }
    Ok(report)
}

/// What a run would be of, known before anything is compiled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    pub problem: String,
    pub revision: u32,
    pub source_hash: String,
    pub device: DeviceInfo,
}

/// What `config` asks to be run, and where.
///
/// # Errors
///
/// [`Error`] where it could not be run.
pub fn identity(config: &Config) -> Result<Identity, Error> {
    let (source, directives, problem) = read(config)?;
    let device = match &config.device {
        DeviceChoice::Mock(script) => Script::read(script)?.device(),
        _ => Place::find(config, &directives, &problem.manifest().arch, &mut |_| ())?.info(),
    };
    Ok(Identity {
        problem: problem.name().to_owned(),
        revision: problem.manifest().revision,
        source_hash: source.hash,
        device,
    })
}

/// Waits until nobody else times on the GPU of that UUID; `None` when interrupted. Where there is
/// no GPU there is nothing to wait for.
pub(crate) fn turn(
    config: &Config,
    uuid: Option<&str>,
    report: &mut Report,
    emit: &mut dyn FnMut(Event),
) -> Result<Option<Option<Turn>>, Error> {
    let Some(uuid) = uuid else { return Ok(Some(None)) };
    let turn = Turn::take(uuid, &config.interrupt, &mut || emit(Event::WaitingForGpu))?;
    if let Some(turn) = &turn {
        report.waited_seconds = turn.waited.as_secs_f64();
    }
    Ok(turn.map(Some))
}

/// What the card's memory does: measured by the first bench on it, and known ever after.
fn ceilings(config: &Config, card: &Card, state: Option<&State>) -> Result<Ceilings, Error> {
    let driver = state.and_then(|state| state.driver.as_deref());
    if let Some(known) = Measurement::find(card, driver) {
        return Ok(known.ceilings);
    }
    let measured = judge::ceilings(&executable(config)?, card.ordinal)?;
    Ok(Measurement::keep(card, state, measured).ceilings)
}

/// The program that is also the worker.
pub(crate) fn executable(config: &Config) -> Result<PathBuf, Error> {
    match &config.worker {
        Some(worker) => Ok(worker.clone()),
        None => std::env::current_exe().map_err(|error| {
            Error::machine(format!("this program cannot find itself: {error}"), "start it again")
        }),
    }
}

/// A solution on its device, before anything was asked of it.
pub(crate) struct Prepared {
    pub problem: &'static Problem,
    /// The figures to hold its times against.
    pub gpu: Gpu,
    /// Where the device is a GPU of this machine.
    pub card: Option<Card>,
    /// Of the GPU on which nobody else may time meanwhile.
    pub uuid: Option<String>,
    /// Absent where it does not compile, which the report then says.
    pub subject: Option<Box<dyn Subject>>,
    pub report: Report,
    /// Of the scripted device.
    pub clock: Option<Clock>,
}

/// Compiles one solution and puts it onto its device; where that is scripted, onto the one of
/// `clock`.
pub(crate) fn prepare(
    config: &Config,
    clock: Option<Clock>,
    emit: &mut dyn FnMut(Event),
) -> Result<Prepared, Error> {
    let (source, directives, problem) = read(config)?;
    if let DeviceChoice::Mock(script) = &config.device {
        let script = Script::read(script)?;
        let gpu = place::gpu(&script.arch)?.clone();
        let device = script.device();
        let clock = clock.map_or_else(|| Clock::new(&script), Ok)?;
        let mock = Mock::new(&script, config, clock.clone())?;
        let mut report = blank(config, problem, &source, device);
        report.nvcc_flags = directives.nvcc;
        let mut subject: Option<Box<dyn Subject>> = None;
        match mock.compile() {
            Ok(()) => subject = Some(Box::new(mock)),
            Err(message) => {
                report.verdict = Verdict::CompileError;
                report.message = Some(message);
            }
        }
        return Ok(Prepared {
            problem,
            gpu,
            card: None,
            uuid: script.uuid,
            subject,
            report,
            clock: Some(clock),
        });
    }
    let mut warn = |warning| emit(Event::Warning(warning));
    let place = Place::find(config, &directives, &problem.manifest().arch, &mut warn)?;
    let mut report = blank(config, problem, &source, place.info());
    report.nvcc_flags.clone_from(&directives.nvcc);
    let judge = compile(config, problem, &source, &directives, &place, &mut report, emit)?;
    let subject = judge.map(|judge| Box::new(judge) as Box<dyn Subject>);
    let (gpu, card) = place.known();
    report.card = card.as_ref().map(|card| CardReport {
        uuid: card.uuid.clone(),
        before: State::read(&card.uuid),
        ..CardReport::default()
    });
    let uuid = card.as_ref().map(|card| card.uuid.clone());
    Ok(Prepared { problem, gpu, card, uuid, subject, report, clock: None })
}

/// The file, what it says of itself, and the problem it solves.
fn read(config: &Config) -> Result<(Source, Directives, &'static Problem), Error> {
    let source = Source::read(&config.file).map_err(|error| Error::Usage(error.to_string()))?;
    let mut directives = Directives::parse(&source.text)
        .map_err(|error| Error::Usage(format!("{}: {error}", config.file.display())))?;
    let defines = config.values.iter().map(|(name, value)| format!("-D{name}={value}"));
    directives.nvcc.extend(defines);
    let problem = problem(config, &directives, &source.path)?;
    Ok((source, directives, problem))
}

/// A solution's judge, and where it sits.
pub(crate) struct Placed {
    pub problem: &'static Problem,
    pub source: Source,
    /// Absent where the solution does not compile, which the report then says.
    pub judge: Option<Judge>,
    pub report: Report,
}

/// A judge for a solution on the emulator or on a GPU.
pub(crate) fn judges(config: &Config, emit: &mut dyn FnMut(Event)) -> Result<Placed, Error> {
    let (source, directives, problem) = read(config)?;
    let place = Place::find(config, &directives, &problem.manifest().arch, &mut |_| ())?;
    let mut report = blank(config, problem, &source, place.info());
    let judge = compile(config, problem, &source, &directives, &place, &mut report, emit)?;
    Ok(Placed { problem, source, judge, report })
}

/// `--problem`, else the directive, else the nearest folder that is called like a problem.
fn problem(
    config: &Config,
    directives: &Directives,
    path: &Path,
) -> Result<&'static Problem, Error> {
    if let Some(name) = config.problem.as_ref().or(directives.problem.as_ref()) {
        return problems::find(name).map_err(|error| Error::Usage(error.to_string()));
    }
    let folders = path.ancestors().skip(1).filter_map(|folder| folder.file_name()?.to_str());
    folders.filter_map(|name| problems::find(name).ok()).next().ok_or_else(|| {
        Error::Usage(format!(
            "which problem does {} solve? begin it with //! problem = \"…\", or use --problem",
            config.file.display()
        ))
    })
}

pub(crate) fn blank(
    config: &Config,
    problem: &Problem,
    source: &Source,
    device: DeviceInfo,
) -> Report {
    Report {
        problem: problem.name().to_owned(),
        revision: problem.manifest().revision,
        file: config.name(),
        source_hash: source.hash.clone(),
        modelled: device.kind == DeviceKind::Emulator,
        device,
        verdict: Verdict::Accepted,
        message: None,
        nvcc: None,
        nvcc_flags: Vec::new(),
        values: config.values.clone(),
        kernels: Vec::new(),
        cases: Vec::new(),
        bench: Vec::new(),
        geomean_us: None,
        log: String::new(),
        warnings: Vec::new(),
        waited_seconds: 0.0,
        card: None,
    }
}

/// A judge over the compiled solution; `None` where it does not compile, which the report then
/// says.
pub(crate) fn compile(
    config: &Config,
    problem: &'static Problem,
    source: &Source,
    directives: &Directives,
    place: &Place,
    report: &mut Report,
    emit: &mut dyn FnMut(Event),
) -> Result<Option<Judge>, Error> {
    let search = Search::from_environment(config.nvcc.clone())?;
    let toolchain =
        search.find_or_install(&config.interrupt, &mut |event| emit(Event::Toolchain(event)))?;
    report.nvcc = Some(toolchain.version.to_string());
    let parameters: Vec<_> = problem
        .manifest()
        .signature
        .iter()
        .map(|parameter| compile::Parameter::new(parameter.c_type(), &parameter.name))
        .collect();
    let request = compile::Request {
        source,
        arch: place.arch(),
        parameters: &parameters,
        flags: &directives.nvcc,
        target: place.build(),
        limit: config.limits.compile,
    };
    let artifact = match compile::compile(&toolchain, &request, &config.interrupt, &mut |event| {
        emit(Event::Toolchain(event))
    }) {
        Ok(artifact) => artifact,
        Err(CompileError::Machine(error)) => return Err(error.into()),
        Err(error) => {
            report.verdict = match error {
                CompileError::Interrupted => Verdict::Interrupted,
                _ => Verdict::CompileError,
            };
            report.message = Some(error.to_string());
            return Ok(None);
        }
    };
    report.kernels = artifact.kernels;
    report.warnings = artifact.warnings.iter().map(ToString::to_string).collect();
    let judge = Judge::new(JudgeInput {
        problem,
        path: source.path.clone(),
        text: source.text.clone(),
        library: artifact.library,
        target: place.target(&report.kernels),
        kernels: reference(config, problem, emit)?,
        executable: executable(config)?,
        log_bytes: config.limits.log_bytes,
        data_seed: config.selection.data_seed,
        interrupt: config.interrupt.clone(),
    })?;
    Ok(Some(judge))
}

/// Checks a solution; the proof, if it was accepted.
pub(crate) fn prove(
    config: &Config,
    problem: &Problem,
    subject: &mut dyn Subject,
    report: &mut Report,
    emit: &mut dyn FnMut(Event),
) -> Result<Option<Passed>, Error> {
    let checked = check::check(
        problem,
        &bench::cases(problem, &config.sizes)?,
        &config.selection,
        subject,
        &config.limits,
        emit,
    )?;
    report.verdict = checked.verdict;
    report.message = checked.message;
    report.cases = checked.cases;
    report.log = subject.log();
    note(&mut report.warnings, checked.warnings);
    Ok(checked.passed)
}

/// Times a solution that was accepted.
pub(crate) fn time(
    config: &Config,
    (problem, gpu): (&Problem, &Gpu),
    subject: &mut dyn Subject,
    passed: &Passed,
    report: &mut Report,
    emit: &mut dyn FnMut(Event),
) -> Result<(), Error> {
    let Config { stage, limits, .. } = config;
    let ceilings = report.card.as_ref().and_then(|card| card.ceilings);
    let cases = bench::cases(problem, &config.sizes)?;
    let setup = Setup {
        problem,
        cases: &cases,
        gpu,
        kernels: &report.kernels,
        stage: *stage,
        limits,
        ceilings,
    };
    let benched = bench::bench(&setup, subject, passed, emit)?;
    report.settle(benched);
    report.log = subject.log();
    if let Some(card) = &mut report.card {
        card.after = State::read(&card.uuid);
    }
    Ok(())
}

impl Report {
    /// Takes what came of timing.
    pub(crate) fn settle(&mut self, benched: Benched) {
        note(&mut self.warnings, benched.warnings);
        self.bench = benched.sizes;
        match benched.failure {
            Some(failure) => {
                self.verdict = failure.verdict;
                self.cases.push(failure);
            }
            // A score that nothing can reach would stand above all that is true.
            None if !benched.questions.is_empty() => self.warnings.extend(benched.questions),
            None => {
                let medians: Vec<f64> = self.bench.iter().map(|size| size.median_us).collect();
                self.geomean_us = stats::geomean(&medians);
            }
        }
    }
}
