//! Timing a solution that has passed. On the emulator a time is modelled from what the check
//! counted; on a device with a clock it is measured by the [`protocol`].

mod paired;
mod protocol;
mod stopping;

use problems::{CaseSpec, Direction, Problem};

pub use self::paired::{Pair, Paired, ROUNDS, Round, paired};
use self::protocol::Times;
pub use self::stopping::{Decision, MedianWithin, Series, StoppingRule};
use crate::card::Ceilings;
use crate::check::{Passed, note};
use crate::report::{BenchReport, CaseReport};
use crate::subject::Subject;
use ptx::KernelFacts;
use timing::gpus::Gpu;
use timing::{model, roofline};

use crate::{Error, Event, Limits, Stage, memory};

/// What timing needs to know besides the solution.
#[derive(Clone, Copy, Debug)]
pub struct Setup<'a> {
    pub problem: &'a Problem,
    /// What to time.
    pub cases: &'a [CaseSpec],
    pub gpu: &'a Gpu,
    pub kernels: &'a [KernelFacts],
    pub stage: Stage,
    pub limits: &'a Limits,
    /// Of this machine's card.
    pub ceilings: Option<Ceilings>,
}

/// What came of timing.
#[derive(Debug, Default)]
pub struct Benched {
    pub sizes: Vec<BenchReport>,
    /// A timed call that was not accepted: then the solution is not either.
    pub failure: Option<CaseReport>,
    pub warnings: Vec<String>,
    /// Times that are too good to be true: they are no score.
    pub questions: Vec<String>,
}

/// Times every size of the bench.
///
/// # Errors
///
/// [`Error::Machine`] where this machine cannot.
pub fn bench(
    setup: &Setup<'_>,
    subject: &mut dyn Subject,
    passed: &Passed,
    emit: &mut dyn FnMut(Event),
) -> Result<Benched, Error> {
    let mut benched = Benched::default();
    let cases = setup.cases;
    for (index, case) in cases.iter().enumerate() {
        emit(Event::BenchStarted { name: case.sizes.to_string(), index, count: cases.len() });
        let launches = passed.launches(case);
        if !launches.is_empty() {
            let size = modelled(setup, case, launches, passed.transfers(case))?;
            benched.questions.extend(question(setup, case, &size)?);
            benched.sizes.push(size);
            continue;
        }
        match protocol::measure(setup, subject, case)? {
            protocol::Measured::Times(times) => {
                note(&mut benched.warnings, times.warnings(case));
                let size = measured(setup, case, times)?;
                benched.questions.extend(question(setup, case, &size)?);
                benched.sizes.push(size);
            }
            protocol::Measured::Failed(report) => {
                benched.failure = Some(*report);
                break;
            }
        }
    }
    // A process left behind by a timed call is the check's to find; here it is only ended.
    subject.dismiss();
    Ok(benched)
}

/// What is timed: one case of each size of the bench, or of the sizes that were asked for instead.
/// Sizes are timed, not families: the first family of a size stands for it.
///
/// # Errors
///
/// [`Error::Usage`] for sizes that the problem cannot have.
pub fn cases(problem: &Problem, instead: &[Vec<(String, u64)>]) -> Result<Vec<CaseSpec>, Error> {
    let mut cases: Vec<CaseSpec> = Vec::new();
    for case in problem.bench_cases() {
        if !cases.iter().any(|earlier| earlier.sizes == case.sizes) {
            cases.push(case);
        }
    }
    if let (false, Some(model)) = (instead.is_empty(), cases.first()) {
        let asked = instead.iter().map(|named| {
            let sizes = problem.sizes(named).map_err(usage)?;
            memory::fits(problem, &sizes)?;
            Ok(CaseSpec { sizes, ..model.clone() })
        });
        return asked.collect();
    }
    Ok(cases)
}

/// The case that moves the most bytes.
///
/// # Errors
///
/// [`Error::Usage`] where there is none.
pub fn largest<'a>(problem: &Problem, cases: &'a [CaseSpec]) -> Result<&'a CaseSpec, Error> {
    let bytes = |case: &&CaseSpec| problem.bytes(&case.sizes).unwrap_or(0.0) as u64;
    let case = cases.iter().max_by_key(bytes);
    case.ok_or_else(|| Error::Usage("there is no size to profile".to_owned()))
}

fn measured(setup: &Setup<'_>, case: &CaseSpec, times: Times) -> Result<BenchReport, Error> {
    Ok(BenchReport {
        median_us: times.median_us,
        ci_us: times.ci_us,
        samples_us: times.samples_us,
        hot_us: times.beside.hot_us,
        host_us: times.beside.host_us,
        overhead_us: times.beside.overhead_us,
        clock_mhz: times.beside.clock_mhz,
        discarded: times.beside.discarded as u32,
        ..blank(setup, case, times.median_us)?
    })
}

fn modelled(
    setup: &Setup<'_>,
    case: &CaseSpec,
    launches: &[timing::Launch],
    transfers: timing::Transfers,
) -> Result<BenchReport, Error> {
    let modelled = model::call(setup.gpu, launches, setup.kernels);
    let besides = transfers.seconds(setup.gpu);
    let limiter = if besides > modelled.seconds { "transfers" } else { modelled.limiter.name() };
    let micros = (modelled.seconds + besides) * 1e6;
    Ok(BenchReport {
        modelled: true,
        limiter: Some(limiter.to_owned()),
        occupancy: Some(modelled.occupancy),
        launches: launches.to_vec(),
        ..blank(setup, case, micros)?
    })
}

/// Share of the floor under which a time asks for an explanation rather than a place.
const BELIEVED: f64 = 0.9;

/// What is to be asked of a time that is below what the GPU can do. Outputs as large as L2 may
/// still be there when the call is over, and need not have reached memory.
fn question(
    setup: &Setup<'_>,
    case: &CaseSpec,
    size: &BenchReport,
) -> Result<Option<String>, Error> {
    let (bytes, flops) = least(setup, case)?;
    let buffers = setup.problem.buffers(&case.sizes).map_err(usage)?;
    let outputs = buffers.iter().filter(|buffer| buffer.direction == Direction::Out);
    let outputs: usize = outputs.map(|buffer| buffer.bytes).sum();
    let cached = (outputs as f64).min(setup.gpu.l2_bytes as f64);
    let floor = roofline::speed_of_light(setup.gpu, (bytes - cached).max(0.0), flops) * 1e6;
    Ok((size.median_us < BELIEVED * floor).then(|| {
        format!(
            "QUESTION: {} takes {:.2} µs, and the least that a {} needs is {floor:.2} µs; so this \
             is no score. Does every call do all of its work?",
            size.name, size.median_us, setup.gpu.name
        )
    }))
}

fn usage(error: problems::ManifestError) -> Error {
    Error::Usage(error.to_string())
}

/// Bytes that must move and operations that must be done.
fn least(setup: &Setup<'_>, case: &CaseSpec) -> Result<(f64, f64), Error> {
    let Setup { problem, .. } = setup;
    Ok((problem.bytes(&case.sizes).map_err(usage)?, problem.flops(&case.sizes).map_err(usage)?))
}

/// A report of one time, without samples.
fn blank(setup: &Setup<'_>, case: &CaseSpec, micros: f64) -> Result<BenchReport, Error> {
    let (bytes, flops) = least(setup, case)?;
    let floor = roofline::speed_of_light(setup.gpu, bytes, flops) * 1e6;
    Ok(BenchReport {
        name: case.sizes.to_string(),
        sizes: case.sizes.iter().map(|(name, size)| (name.to_owned(), size)).collect(),
        median_us: micros,
        ci_us: (micros, micros),
        modelled: false,
        sol_us: floor,
        sol_percent: roofline::percent(floor, micros),
        copy_us: setup.ceilings.map(|ceilings| bytes / ceilings.copy * 1e6),
        limiter: None,
        occupancy: None,
        samples_us: Vec::new(),
        hot_us: None,
        host_us: None,
        overhead_us: None,
        clock_mhz: None,
        discarded: 0,
        launches: Vec::new(),
    })
}
