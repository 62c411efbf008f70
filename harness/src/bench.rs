//! Timing a solution that has passed. On the emulator a time is modelled from what the check
//! counted; on a device with a clock it is measured by the [`protocol`].

mod paired;
mod protocol;
mod stopping;

use problems::{CaseSpec, Problem};

pub use self::paired::{Pair, Paired, paired};
use self::protocol::Times;
pub use self::stopping::{Decision, MedianWithin, Series, StoppingRule};
use crate::check::{Passed, note};
use crate::gpus::Gpu;
use crate::report::{BenchReport, CaseReport, KernelFacts};
use crate::subject::Subject;
use crate::{Error, Event, Limits, Stage, model, roofline};

/// What timing needs to know besides the solution.
#[derive(Clone, Copy, Debug)]
pub struct Setup<'a> {
    pub problem: &'a Problem,
    pub gpu: &'a Gpu,
    pub kernels: &'a [KernelFacts],
    pub stage: Stage,
    pub limits: &'a Limits,
}

/// What came of timing.
#[derive(Debug, Default)]
pub struct Benched {
    pub sizes: Vec<BenchReport>,
    /// A timed call that was not accepted: then the solution is not either.
    pub failure: Option<CaseReport>,
    pub warnings: Vec<String>,
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
    let cases = cases(setup.problem);
    for (index, case) in cases.iter().enumerate() {
        emit(Event::BenchStarted { name: case.sizes.to_string(), index, count: cases.len() });
        let launches = passed.launches(case);
        if !launches.is_empty() {
            benched.sizes.push(modelled(setup, case, launches)?);
            continue;
        }
        match protocol::measure(setup, subject, case)? {
            protocol::Measured::Times(times) => {
                note(&mut benched.warnings, times.warnings(case));
                benched.sizes.push(measured(setup, case, times)?);
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

/// Sizes are timed, not families: the first family of a size stands for it.
fn cases(problem: &Problem) -> Vec<CaseSpec> {
    let mut cases: Vec<CaseSpec> = Vec::new();
    for case in problem.bench_cases() {
        if !cases.iter().any(|earlier| earlier.sizes == case.sizes) {
            cases.push(case);
        }
    }
    cases
}

fn measured(setup: &Setup<'_>, case: &CaseSpec, times: Times) -> Result<BenchReport, Error> {
    Ok(BenchReport {
        median_us: times.median_us,
        ci_us: times.ci_us,
        samples_us: times.samples_us,
        hot_us: times.beside.hot_us,
        host_us: times.beside.host_us,
        clock_mhz: times.beside.clock_mhz,
        discarded: times.beside.discarded as u32,
        ..blank(setup, case, times.median_us)?
    })
}

fn modelled(
    setup: &Setup<'_>,
    case: &CaseSpec,
    launches: &[crate::device::Launch],
) -> Result<BenchReport, Error> {
    let modelled = model::call(setup.gpu, launches, setup.kernels);
    let micros = modelled.seconds * 1e6;
    Ok(BenchReport {
        modelled: true,
        limiter: Some(modelled.limiter.to_owned()),
        occupancy: Some(modelled.occupancy),
        launches: launches.to_vec(),
        ..blank(setup, case, micros)?
    })
}

/// A report of one time, without samples.
fn blank(setup: &Setup<'_>, case: &CaseSpec, micros: f64) -> Result<BenchReport, Error> {
    let fits = |result: Result<f64, problems::ManifestError>| {
        result.map_err(|error| Error::Usage(error.to_string()))
    };
    let bytes = fits(setup.problem.bytes(&case.sizes))?;
    let flops = fits(setup.problem.flops(&case.sizes))?;
    let floor = roofline::speed_of_light(setup.gpu, bytes, flops) * 1e6;
    Ok(BenchReport {
        name: case.sizes.to_string(),
        sizes: case.sizes.iter().map(|(name, size)| (name.to_owned(), size)).collect(),
        median_us: micros,
        ci_us: (micros, micros),
        modelled: false,
        sol_us: floor,
        sol_percent: roofline::percent(floor, micros),
        limiter: None,
        occupancy: None,
        samples_us: Vec::new(),
        hot_us: None,
        host_us: None,
        clock_mhz: None,
        discarded: 0,
        launches: Vec::new(),
    })
}
