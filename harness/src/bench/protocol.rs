//! How a device with a clock is timed, in seven steps. The reasons stand in `docs/measuring.md`.
//!
//! 1. *renew*: a fresh process, for its memory layout; three of them where the time is for the
//!    record.
//! 2. *warm*: calls that do not count, by time and not by number, until clocks have risen.
//! 3. *refresh*: new inputs, poisoned outputs, for every single call (the judge).
//! 4. *call*: one call between two events, caches flushed before (the device).
//! 5. *verify*: every timed output is compared (the judge).
//! 6. *stop*: after each block the rule is asked.
//! 7. *combine*: the median of the processes' medians, and an interval that holds all of theirs.

use std::time::{Duration, Instant};

use problems::CaseSpec;

use super::{Decision, MedianWithin, Series, Setup, StoppingRule};
use crate::report::{CaseReport, Verdict};
use crate::stats::{median, median_interval};
use crate::subject::Subject;
use crate::{Error, Stage};

/// Samples between two questions to the stopping rule.
pub(super) const BLOCK: usize = 10;
/// Device time of the calls that warm up.
const WARM_DEVICE: f64 = 100e6;
const WARM_WALL: Duration = Duration::from_secs(2);
pub(super) const FRESH_PROCESSES: usize = 3;

/// Times of one size, microseconds.
pub struct Times {
    pub median_us: f64,
    pub ci_us: (f64, f64),
    /// All of them, process after process.
    pub samples_us: Vec<f64>,
    /// The half width that was asked for, where it was not reached.
    noisy: Option<f64>,
}

impl Times {
    pub fn warnings(&self, case: &CaseSpec) -> Vec<String> {
        let reached = (self.ci_us.1 - self.ci_us.0) / (2.0 * self.median_us);
        let warning = |asked: f64| {
            format!(
                "NOISY: {} is known to ±{:.1} % after {} samples, ±{:.1} % was asked for; \
                 close what else uses the GPU",
                case.sizes,
                reached * 100.0,
                self.samples_us.len(),
                asked * 100.0
            )
        };
        self.noisy.map(warning).into_iter().collect()
    }
}

pub enum Measured {
    Times(Times),
    /// A call that was not accepted, as the check would report it.
    Failed(Box<CaseReport>),
}

/// A sample, or why there is none.
type Sampled = Result<f64, Box<CaseReport>>;

/// Times one size.
pub fn measure(
    setup: &Setup<'_>,
    subject: &mut dyn Subject,
    case: &CaseSpec,
) -> Result<Measured, Error> {
    let half_width = if setup.stage == Stage::Submit { 0.005 } else { 0.015 };
    let processes = if setup.stage == Stage::Submit { FRESH_PROCESSES } else { 1 };
    let rule = MedianWithin::new(half_width, setup.limits.bench);
    let mut all = Vec::new();
    let mut noisy = false;
    for _ in 0..processes {
        subject.dismiss();
        if let Err(report) = warm(setup, subject, case)? {
            return Ok(Measured::Failed(report));
        }
        match collect(setup, subject, case, &rule)? {
            Ok((series, decision)) => {
                noisy |= decision == Decision::Noisy;
                all.push(series.samples());
            }
            Err(report) => return Ok(Measured::Failed(report)),
        }
    }
    Ok(Measured::Times(combine(&all, rule.confidence, noisy.then_some(half_width))))
}

/// Steps 3 to 5: the judge and the device do them in one call.
pub(super) fn sample(
    setup: &Setup<'_>,
    subject: &mut dyn Subject,
    case: &CaseSpec,
) -> Result<Sampled, Error> {
    let mut trial = subject.hear(case, setup.limits.check)?;
    if trial.report.verdict != Verdict::Accepted {
        trial.report.name.push_str(" (timed)");
        return Ok(Err(Box::new(trial.report)));
    }
    trial.sample.map(|sample| sample.device_ns).filter(|ns| *ns > 0.0).map(Ok).ok_or_else(|| {
        Error::machine("this device has no clock", "time on another: --device emulator")
    })
}

pub(super) fn warm(
    setup: &Setup<'_>,
    subject: &mut dyn Subject,
    case: &CaseSpec,
) -> Result<Result<(), Box<CaseReport>>, Error> {
    let started = Instant::now();
    let mut busy = 0.0;
    while busy < WARM_DEVICE && started.elapsed() < WARM_WALL {
        match sample(setup, subject, case)? {
            Ok(ns) => busy += ns,
            Err(report) => return Ok(Err(report)),
        }
    }
    Ok(Ok(()))
}

fn collect(
    setup: &Setup<'_>,
    subject: &mut dyn Subject,
    case: &CaseSpec,
    rule: &dyn StoppingRule,
) -> Result<Result<(Series, Decision), Box<CaseReport>>, Error> {
    let started = Instant::now();
    let mut series = Series::default();
    loop {
        let mut block = Vec::with_capacity(BLOCK);
        for _ in 0..BLOCK {
            match sample(setup, subject, case)? {
                Ok(ns) => block.push(ns),
                Err(report) => return Ok(Err(report)),
            }
        }
        series.blocks.push(block);
        series.wall = started.elapsed();
        match rule.decide(&series) {
            Decision::Continue => {}
            decision => return Ok(Ok((series, decision))),
        }
    }
}

/// The processes differ by more than chance (addresses, clocks), so that pooling their samples
/// would promise too much: the interval holds every process's own.
pub(super) fn combine(processes: &[Vec<f64>], confidence: f64, noisy: Option<f64>) -> Times {
    let micros = |ns: f64| ns * 1e-3;
    let medians: Vec<f64> = processes.iter().filter_map(|samples| median(samples)).collect();
    let center = median(&medians).unwrap_or(f64::NAN);
    let (low, high) = processes
        .iter()
        .filter_map(|samples| median_interval(samples, confidence))
        .fold((center, center), |(low, high), own| (low.min(own.low), high.max(own.high)));
    Times {
        median_us: micros(center),
        ci_us: (micros(low), micros(high)),
        samples_us: processes.concat().into_iter().map(micros).collect(),
        noisy,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Interrupt;
    use crate::device::mock::{Clock, Mock, Script};

    /// Whether the interval holds the truth is what it is for. Stopping as soon as it is narrow
    /// costs some of the 95 %; three processes give it back.
    #[test]
    fn the_interval_holds_the_true_time() {
        let mut held = [0, 0];
        for seed in 0..200 {
            let text = format!(
                "name = \"m\"\narch = \"sm_100a\"\nseed = {seed}\n\
                 [[solution]]\ntime_us = 100.0\nnoise = 0.02\n"
            );
            let script: Script = toml::from_str(&text).unwrap();
            let file = std::path::Path::new("x.cu");
            let clock = Clock::new(&script).unwrap();
            let mock = Mock::new(&script, file, clock, Interrupt::default()).unwrap();
            let rule = MedianWithin::new(0.005, Duration::MAX);
            let process = || {
                let mut series = Series::default();
                while rule.decide(&series) == Decision::Continue {
                    series.blocks.push((0..BLOCK).map(|_| mock.sample("")).collect());
                }
                series.samples()
            };
            let processes = [process(), process(), process()];
            for (count, used) in [1, 3].into_iter().enumerate() {
                let times = combine(&processes[..used], 0.95, None);
                held[count] += u32::from(times.ci_us.0 <= 100.0 && 100.0 <= times.ci_us.1);
            }
        }
        assert!(held[0] >= 180, "one process: {} of 200", held[0]);
        assert!(held[1] >= 195, "three processes: {} of 200", held[1]);
    }

    #[test]
    fn processes_that_disagree_widen_the_interval() {
        let times = combine(&[vec![1e3; 50], vec![2e3; 50], vec![4e3; 50]], 0.95, None);
        assert_eq!((times.median_us, times.ci_us), (2.0, (1.0, 4.0)));
        assert_eq!(times.samples_us.len(), 150);
    }
}
