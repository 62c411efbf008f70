//! A report becomes an attempt. The only file that knows both: what the harness finds out may
//! change with every release, what lies in a leaderboard may not.

use jiff::Timestamp;
use judge::report::{self, BenchReport, CardReport, Report};
use leaderboard::{
    AttemptId, Member, Submission,
    attempt::{
        Case, Counters, Device, DeviceKind, Environment, Kernel, Outcome, Samples, Size, Time,
        Toolchain, Verdict,
    },
};
use ptx::KernelFacts;
use timing::Launch;

/// Bytes that DRAM moves at once.
const SECTOR: u64 = 32;

/// What the report does not say: who submits what, and why.
pub struct Provenance {
    pub author: String,
    /// What the author says has changed.
    pub message: Option<String>,
    /// The file's bytes, as they were compiled.
    pub source: Vec<u8>,
    pub parent: Option<AttemptId>,
    /// The attempt of another author that this runs again.
    pub confirms: Option<AttemptId>,
    /// Its place in the batch that it is made in.
    pub batch: Option<Member>,
}

pub fn submission(report: &Report, provenance: Provenance) -> Submission {
    Submission {
        created: Timestamp::now(),
        problem: report.problem.clone(),
        revision: report.revision,
        author: provenance.author,
        message: provenance.message,
        file: report.file.clone(),
        parent: provenance.parent,
        confirms: provenance.confirms,
        batch: provenance.batch,
        values: report.values.clone(),
        source: provenance.source,
        outcome: outcome(report),
        samples: report
            .bench
            .iter()
            .map(|bench| Samples { size: bench.name.clone(), samples_us: bench.samples_us.clone() })
            .collect(),
    }
}

fn outcome(report: &Report) -> Outcome {
    let mut explained = false;
    Outcome {
        device: device(&report.device),
        verdict: verdict(report.verdict),
        modelled: report.modelled,
        toolchain: Toolchain {
            nibble: env!("CARGO_PKG_VERSION").into(),
            nvcc: report.nvcc.clone(),
            flags: report.nvcc_flags.clone(),
        },
        kernels: report.kernels.iter().map(kernel).collect(),
        geomean: geomean(report),
        sizes: report.bench.iter().map(size).collect(),
        cases: report
            .cases
            .iter()
            .map(|case| {
                // The first failure explains the others mostly too; all of them would make an
                // attempt's file long and say nothing new.
                let explain = !explained && !case.explanation.is_empty();
                explained |= explain;
                Case {
                    name: case.name.clone(),
                    verdict: verdict(case.verdict),
                    mismatches: case.mismatches,
                    reasons: case.reasons.clone(),
                    explanation: explain.then(|| case.explanation.join("\n")),
                }
            })
            .collect(),
        environment: report.card.as_ref().map(|card| environment(card, report)).unwrap_or_default(),
        fault: report.message.clone(),
    }
}

/// The clock is the one that the samples saw; NVIDIA's library reads clocks between calls, when they
/// may have dropped already. It sets them in steps of 15 MHz, and so are they compared.
fn environment(card: &CardReport, report: &Report) -> Environment {
    let step = |mhz: f64| 15 * (mhz / 15.0).round() as u32;
    let seen = report.bench.iter().filter_map(|bench| bench.clock_mhz).reduce(f64::max);
    let states = || card.before.iter().chain(&card.after);
    let last = states().last().cloned().unwrap_or_default();
    let mut throttled: Vec<String> = states().flat_map(|state| state.throttled.clone()).collect();
    throttled.sort();
    throttled.dedup();
    Environment {
        gpu_uuid: Some(card.uuid.clone()),
        driver: last.driver,
        sm_clock_mhz: seen.map(step).or(last.sm_clock_mhz),
        memory_clock_mhz: last.memory_clock_mhz,
        temperature_c: last.temperature_c,
        power_w: last.power_w,
        throttled,
    }
}

pub fn device(device: &report::DeviceInfo) -> Device {
    Device {
        kind: match device.kind {
            report::DeviceKind::Emulator => DeviceKind::Emulator,
            report::DeviceKind::Cuda => DeviceKind::Cuda,
            report::DeviceKind::Mock => DeviceKind::Mock,
        },
        name: device.name.clone(),
        arch: device.arch.clone(),
    }
}

fn verdict(verdict: report::Verdict) -> Verdict {
    match verdict {
        report::Verdict::Accepted => Verdict::Accepted,
        report::Verdict::WrongAnswer => Verdict::WrongAnswer,
        report::Verdict::CompileError => Verdict::CompileError,
        report::Verdict::RuntimeError => Verdict::RuntimeError,
        report::Verdict::TimeLimitExceeded => Verdict::TimeLimitExceeded,
        report::Verdict::Interrupted => Verdict::Interrupted,
    }
}

/// Of an attempt, as reports say it: screens show both alike.
pub fn reported(verdict: Verdict) -> report::Verdict {
    match verdict {
        Verdict::Accepted => report::Verdict::Accepted,
        Verdict::WrongAnswer => report::Verdict::WrongAnswer,
        Verdict::CompileError => report::Verdict::CompileError,
        Verdict::RuntimeError => report::Verdict::RuntimeError,
        Verdict::TimeLimitExceeded => report::Verdict::TimeLimitExceeded,
        Verdict::Interrupted => report::Verdict::Interrupted,
    }
}

fn kernel(facts: &KernelFacts) -> Kernel {
    Kernel {
        name: facts.name.clone(),
        registers: facts.registers,
        spill_bytes: facts.spill_store_bytes.saturating_add(facts.spill_load_bytes),
        shared_bytes: facts.shared_bytes,
    }
}

/// The sizes are timed one after the other, so their errors are independent: the half-widths add
/// up in squares, in logarithms, and the mean of `n` divides by `n`.
fn geomean(report: &Report) -> Option<Time> {
    let us = report.geomean_us?;
    let squares: f64 =
        report.bench.iter().map(|bench| ((bench.ci_us.1 / bench.ci_us.0).ln() / 2.0).powi(2)).sum();
    let half_width = (squares.sqrt() / report.bench.len().max(1) as f64).exp();
    Some(Time { us, interval_us: (us / half_width, us * half_width) })
}

fn size(bench: &BenchReport) -> Size {
    Size {
        name: bench.name.clone(),
        median: Time { us: bench.median_us, interval_us: bench.ci_us },
        sol_us: bench.sol_us,
        sol_percent: bench.sol_percent,
        counters: (!bench.launches.is_empty())
            .then(|| Counters { occupancy: bench.occupancy, ..counters(&bench.launches) }),
    }
}

fn counters(launches: &[Launch]) -> Counters {
    let sum = |of: fn(&emulator::Counters) -> u64| -> u64 {
        launches.iter().map(|launch| of(&launch.counters)).sum()
    };
    let ratio = |above: u64, below: u64| (below > 0).then(|| above as f64 / below as f64);
    let warp_instructions = sum(|c| c.warp_instructions);
    Counters {
        dram_bytes: SECTOR * sum(|c| c.dram_read_sectors + c.dram_write_sectors),
        sectors_per_request: ratio(
            sum(|c| c.global_load_sectors + c.global_store_sectors),
            sum(|c| c.global_load_requests + c.global_store_requests),
        ),
        warp_instructions,
        active_lanes: ratio(sum(|c| c.thread_instructions), warp_instructions),
        occupancy: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::sample;

    fn recorded(report: &Report) -> Submission {
        let provenance = Provenance {
            author: "ana".into(),
            message: None,
            source: b"source".to_vec(),
            parent: None,
            confirms: None,
            batch: None,
        };
        submission(report, provenance)
    }

    #[test]
    fn a_modelled_time_has_no_spread() {
        let geomean = recorded(&sample::accepted()).outcome.geomean.expect("accepted");
        assert_eq!(geomean, Time::exact(13.34));
    }

    /// Four equal relative intervals of ±h average to ±h/2.
    #[test]
    fn independent_intervals_average_out() {
        let mut report = sample::measured();
        for bench in &mut report.bench {
            bench.ci_us = (bench.median_us / 1.02, bench.median_us * 1.02);
        }
        let (low, high) = recorded(&report).outcome.geomean.expect("accepted").interval_us;
        assert!(((high / low).sqrt().ln() / 1.02_f64.ln() - 0.5).abs() < 1e-9);
    }

    #[test]
    fn one_failure_is_explained_and_all_are_named() {
        let cases = recorded(&sample::wrong()).outcome.cases;
        assert_eq!(cases.iter().filter(|case| case.explanation.is_some()).count(), 1);
        assert_eq!(cases.iter().filter(|case| !case.reasons.is_empty()).count(), 3);
    }

    #[test]
    fn counters_add_up_over_launches() {
        let counted = emulator::Counters {
            warp_instructions: 10,
            thread_instructions: 160,
            global_load_requests: 4,
            global_load_sectors: 16,
            dram_read_sectors: 3,
            dram_write_sectors: 1,
            ..Default::default()
        };
        let launch = Launch {
            kernel: "k".into(),
            grid: [1, 1, 1],
            block: [32, 1, 1],
            dynamic_shared: 0,
            counters: counted,
        };
        let sum = counters(&[launch.clone(), launch]);
        assert_eq!(sum.dram_bytes, 256);
        assert_eq!(sum.warp_instructions, 20);
        assert_eq!(sum.active_lanes, Some(16.0));
        assert_eq!(sum.sectors_per_request, Some(4.0));
    }
}
