//! The screens for programs: one object, one line. `docs/json.md` describes every field; a field
//! is added, never renamed, without a new `schema`.

use std::collections::BTreeMap;

use judge::report::{BenchReport, CardReport, CaseReport, DeviceInfo, Report, Verdict};
use leaderboard::AttemptId;
use ptx::KernelFacts;
use serde::Serialize;
use timing::Launch;

use super::clean;
use crate::exit::{Exit, Failure};

/// Raised when a field changes its meaning or goes away.
pub const SCHEMA: u32 = 1;

/// What `check`, `bench` and `submit` say of one file.
#[derive(Serialize)]
pub struct Solved<'a> {
    schema: u32,
    problem: &'a str,
    revision: u32,
    file: &'a str,
    source_hash: &'a str,
    device: &'a DeviceInfo,
    verdict: Verdict,
    message: Option<&'a str>,
    nvcc: Option<&'a str>,
    nvcc_flags: &'a [String],
    values: &'a BTreeMap<String, String>,
    kernels: &'a [KernelFacts],
    cases: Vec<Case<'a>>,
    bench: Vec<Bench<'a>>,
    geomean_us: Option<f64>,
    modelled: bool,
    #[serde(flatten)]
    recorded: Recorded<'a>,
    log: &'a str,
    warnings: &'a [String],
    waited_seconds: f64,
    card: Option<&'a CardReport>,
}

/// What `submit` adds to it.
#[derive(Clone, Copy, Default, Serialize)]
pub struct Recorded<'a> {
    /// The recorded attempt's id, and its place on the board.
    pub attempt: Option<&'a AttemptId>,
    pub rank: Option<usize>,
    /// The earliest attempt at the problem with the same source.
    pub same_source: Option<&'a AttemptId>,
    /// Why there is no attempt though there should be one.
    pub not_recorded: Option<&'a str>,
}

#[derive(Serialize)]
struct Case<'a> {
    name: &'a str,
    sizes: BTreeMap<&'a str, u64>,
    family: &'a str,
    verdict: Verdict,
    mismatches: u64,
    max_error: Option<f64>,
    near_ties: u64,
    explanation: &'a [String],
    reasons: &'a [String],
    seconds: f64,
    data_seed: Option<u64>,
    fresh: bool,
}

impl<'a> Case<'a> {
    fn of(case: &'a CaseReport) -> Self {
        Self {
            name: &case.name,
            sizes: sizes(&case.sizes),
            family: &case.family,
            verdict: case.verdict,
            mismatches: case.mismatches,
            max_error: case.max_error,
            near_ties: case.near_ties,
            explanation: &case.explanation,
            reasons: &case.reasons,
            seconds: case.seconds,
            data_seed: case.data_seed,
            fresh: case.fresh,
        }
    }
}

#[derive(Serialize)]
struct Bench<'a> {
    name: &'a str,
    sizes: BTreeMap<&'a str, u64>,
    median_us: f64,
    ci_us: (f64, f64),
    modelled: bool,
    sol_us: f64,
    sol_percent: f64,
    copy_us: Option<f64>,
    limiter: Option<&'a str>,
    occupancy: Option<f64>,
    samples_us: &'a [f64],
    hot_us: Option<f64>,
    host_us: Option<f64>,
    overhead_us: Option<f64>,
    clock_mhz: Option<f64>,
    discarded: u32,
    launches: &'a [Launch],
}

impl<'a> Bench<'a> {
    fn of(bench: &'a BenchReport) -> Self {
        Self {
            name: &bench.name,
            sizes: sizes(&bench.sizes),
            median_us: bench.median_us,
            ci_us: bench.ci_us,
            modelled: bench.modelled,
            sol_us: bench.sol_us,
            sol_percent: bench.sol_percent,
            copy_us: bench.copy_us,
            limiter: bench.limiter.as_deref(),
            occupancy: bench.occupancy,
            samples_us: &bench.samples_us,
            hot_us: bench.hot_us,
            host_us: bench.host_us,
            overhead_us: bench.overhead_us,
            clock_mhz: bench.clock_mhz,
            discarded: bench.discarded,
            launches: &bench.launches,
        }
    }
}

/// An object, so that a program reads `.sizes.m`.
fn sizes(sizes: &[(String, u64)]) -> BTreeMap<&str, u64> {
    sizes.iter().map(|(name, size)| (name.as_str(), *size)).collect()
}

/// Instead of a result: why there is none.
#[derive(Serialize)]
struct Failed<'a> {
    schema: u32,
    file: Option<&'a str>,
    verdict: Option<Verdict>,
    error: Why<'a>,
}

#[derive(Serialize)]
struct Why<'a> {
    kind: &'static str,
    message: &'a str,
    next: Option<&'a str>,
}

pub fn report(report: &Report, recorded: Recorded<'_>) -> String {
    line(&solved(report, recorded))
}

/// The same, as part of another object.
pub fn solved<'a>(report: &'a Report, recorded: Recorded<'a>) -> Solved<'a> {
    Solved {
        schema: SCHEMA,
        problem: &report.problem,
        revision: report.revision,
        file: &report.file,
        source_hash: &report.source_hash,
        device: &report.device,
        verdict: report.verdict,
        message: report.message.as_deref(),
        nvcc: report.nvcc.as_deref(),
        nvcc_flags: &report.nvcc_flags,
        values: &report.values,
        kernels: &report.kernels,
        cases: report.cases.iter().map(Case::of).collect(),
        bench: report.bench.iter().map(Bench::of).collect(),
        geomean_us: report.geomean_us,
        modelled: report.modelled,
        recorded,
        log: &report.log,
        warnings: &report.warnings,
        waited_seconds: report.waited_seconds,
        card: report.card.as_ref(),
    }
}

pub fn failure(file: Option<&str>, failure: &Failure) -> String {
    let kind = match failure.exit {
        Exit::Machine => "machine",
        Exit::Interrupted => "interrupted",
        _ => "usage",
    };
    line(&Failed {
        schema: SCHEMA,
        file,
        verdict: (failure.exit == Exit::Interrupted).then_some(Verdict::Interrupted),
        error: Why { kind, message: &failure.message, next: failure.next.as_deref() },
    })
}

/// One object on one line.
pub fn line<T: Serialize>(value: &T) -> String {
    // Our own types of strings, numbers and lists: nothing in them can fail to be written.
    let mut text = clean::escaped(serde_json::to_string(value).unwrap_or_default());
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;
    use crate::render::sample;

    #[test]
    fn the_schema_stands() {
        let mut wrong = sample::wrong();
        wrong.cases.retain(|case| case.name == "1x32 ties" || case.name == "1x32 normal");
        let mut bench = sample::measured();
        bench.cases.clear();
        bench.bench.truncate(1);
        let id = AttemptId::new(Timestamp::UNIX_EPOCH, 7);
        let recorded = Recorded { attempt: Some(&id), rank: Some(2), ..Default::default() };
        for (name, text) in [
            ("wrong", report(&wrong, Recorded::default())),
            ("submitted", report(&bench, recorded)),
            ("refused", failure(Some("k.cu"), &Failure::usage("no such file").next("look"))),
        ] {
            assert_eq!(text.lines().count(), 1);
            let value: serde_json::Value = serde_json::from_str(&text).expect("json");
            insta::assert_snapshot!(name, format!("{value:#}"));
        }
    }
}
