//! Where the time of a solution goes: the bytes that must move beside those that did, what its kernels
//! did, line by line, and what bounds them.
//!
//! One call at one size on the emulator, with counts kept for each line. On a machine with a GPU, the
//! same call once more there: under `ncu`, where that may count, else with its time only.

mod kernel;
mod lines;

use problems::{CaseSpec, Problem};
use serde::Serialize;

pub use self::kernel::{Caches, InFlight, KernelReport, Residency, reports};
pub use self::lines::{LineReport, Sources};
use crate::judge::{Judge, Trial};
use crate::ncu::{self, KernelProfile};
use crate::report::{DeviceInfo, DeviceKind, Verdict};
use crate::run::{Placed, judges};
use timing::model::{self, Limiter};
use timing::roofline;

use crate::{Config, DeviceChoice, Error, Event, bench, place};

/// Which size a solution is profiled at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Size {
    /// The one of the problem's bench that moves the most bytes.
    Largest,
    /// One of the bench, by its name.
    Named(String),
    /// Any that the problem can have.
    Of(Vec<(String, u64)>),
}

/// What is known of one call.
#[derive(Clone, Debug, Serialize)]
pub struct Profile {
    pub problem: String,
    pub file: String,
    pub source_hash: String,
    /// What is modelled.
    pub device: DeviceInfo,
    /// "4096x8192"
    pub size: String,
    /// Of the profiled call alone: that is no check.
    pub verdict: Verdict,
    /// Why there are no kernels here, or what is wrong with the outputs.
    pub message: Option<String>,
    pub floor: Floor,
    /// The call's modelled time; 0 where it was not counted.
    pub modelled_us: f64,
    /// What bounds it: the slowest term of the kernel that takes longest, or the launch.
    pub limiter: Option<Limiter>,
    /// The one that takes longest first.
    pub kernels: Vec<KernelReport>,
    /// What a GPU of this machine did with the same call.
    pub measured: Option<Measured>,
}

/// What any solution must do at this size.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Floor {
    pub bytes: f64,
    pub flops: f64,
    /// At the modelled GPU's peak.
    pub us: f64,
}

/// On a GPU.
#[derive(Clone, Debug, Serialize)]
pub struct Measured {
    pub device: DeviceInfo,
    /// One cold call, launches and all. Absent where `ncu` has counted.
    pub call_us: Option<f64>,
    /// By `ncu`; empty where it is not there or may not count.
    pub kernels: Vec<KernelProfile>,
    /// Why there are none.
    pub why_not: Option<String>,
}

/// Profiles one call of a solution.
///
/// # Errors
///
/// [`Error`] where nothing could be run: an unknown problem or size, no compiler. A solution that does
/// not compile or crashes is a [`Profile`] with its verdict.
pub fn profile(
    config: &Config,
    size: &Size,
    emit: &mut dyn FnMut(Event),
) -> Result<Profile, Error> {
    if matches!(config.device, DeviceChoice::Mock(_)) {
        return Err(Error::Usage("a scripted device counts nothing".to_owned()));
    }
    let first = judges(config, emit)?;
    let case = case(first.problem, size)?;
    if first.report.device.kind != DeviceKind::Cuda {
        return counted(config, first, &case, emit);
    }
    let emulator = Config {
        device: DeviceChoice::Emulator,
        arch: Some(first.report.device.arch.clone()),
        ..config.clone()
    };
    let mut profile = counted(&emulator, judges(&emulator, emit)?, &case, emit)?;
    if let Some(judge) = first.judge {
        profile.measured = Some(measured(config, judge, first.report, &case)?);
    }
    Ok(profile)
}

fn case(problem: &'static Problem, size: &Size) -> Result<CaseSpec, Error> {
    let cases = match size {
        Size::Of(sizes) => bench::cases(problem, std::slice::from_ref(sizes))?,
        _ => bench::cases(problem, &[])?,
    };
    let Size::Named(name) = size else { return bench::largest(problem, &cases).cloned() };
    let found = cases.iter().find(|case| case.sizes.to_string() == *name);
    found.cloned().ok_or_else(|| {
        let known: Vec<String> = cases.iter().map(|case| case.sizes.to_string()).collect();
        let names = cases.first().into_iter().flat_map(|case| case.sizes.iter());
        let other: Vec<String> = names.map(|(name, _)| format!("{name}=…")).collect();
        Error::Usage(format!(
            "{} has no size `{name}`; it has {}, and any other as {}",
            problem.name(),
            known.join(", "),
            other.join(",")
        ))
    })
}

/// On the emulator.
fn counted(
    config: &Config,
    placed: Placed,
    case: &CaseSpec,
    emit: &mut dyn FnMut(Event),
) -> Result<Profile, Error> {
    let Placed { problem, source, judge, report } = placed;
    let gpu = place::gpu(&report.device.arch)?;
    let of = |formula: Result<f64, problems::ManifestError>| {
        formula.map_err(|error| Error::Usage(error.to_string()))
    };
    let (bytes, flops) = (of(problem.bytes(&case.sizes))?, of(problem.flops(&case.sizes))?);
    let mut profile = Profile {
        problem: report.problem,
        file: report.file,
        source_hash: report.source_hash,
        device: report.device,
        size: case.sizes.to_string(),
        verdict: report.verdict,
        message: report.message,
        floor: Floor { bytes, flops, us: roofline::speed_of_light(gpu, bytes, flops) * 1e6 },
        modelled_us: 0.0,
        limiter: None,
        kernels: Vec::new(),
        measured: None,
    };
    let Some(mut judge) = judge else { return Ok(profile) };
    judge.profiling();
    emit(Event::CaseStarted { name: case.name(), index: 0, count: 1 });
    // One host thread, so that lines repeat: it may take as long as several calls.
    let trial = judge.case(case, config.limits.bench)?;
    emit(Event::CaseFinished(Box::new(trial.report.clone())));
    let Trial { report: found, launches, profiles, .. } = trial;
    profile.verdict = found.verdict;
    if found.verdict != Verdict::Accepted {
        profile.message = Some(found.explanation.join("\n"));
    }
    if !launches.is_empty() {
        let modelled = model::call(gpu, &launches, &report.kernels);
        profile.modelled_us = modelled.seconds * 1e6;
        profile.limiter = Some(modelled.limiter);
        let mut sources = Sources::new(&source.path, source.text);
        profile.kernels = reports(gpu, &launches, &profiles, &report.kernels, &mut sources);
    }
    Ok(profile)
}

/// On a GPU of this machine. That it cannot be profiled there is no reason to say nothing.
fn measured(
    config: &Config,
    mut judge: Judge,
    report: crate::Report,
    case: &CaseSpec,
) -> Result<Measured, Error> {
    let mut measured =
        Measured { device: report.device, call_us: None, kernels: Vec::new(), why_not: None };
    match ncu::call(config, &judge, &report.kernels, case) {
        Ok(kernels) => measured.kernels = kernels,
        Err(error) if config.interrupt.raised() => return Err(error),
        Err(error) => {
            measured.why_not = Some(error.to_string());
            let trial = judge.case(case, config.limits.bench)?;
            measured.call_us = trial.sample.map(|sample| sample.device_ns * 1e-3);
        }
    }
    Ok(measured)
}
