//! How a device with a clock is timed, in seven steps. The reasons stand in `docs/measuring.md`.
//!
//! 1. *renew*: a fresh process, for its memory layout; three of them where the time is for the
//!    record.
//! 2. *warm*: calls that do not count, by time and not by number, until clocks have risen.
//! 3. *refresh*: inputs nobody has seen, poisoned outputs, for every single call (the judge).
//! 4. *call*: one call between two events, caches flushed before (the device).
//! 5. *verify*: every timed output is compared (the judge).
//! 6. *stop*: after each block the rule is asked; what a throttled clock spoiled does not count.
//! 7. *combine*: the median of the processes' medians, and an interval that holds all of theirs.

use std::time::{Duration, Instant};

use problems::CaseSpec;

use super::{Decision, MedianWithin, Series, Setup, StoppingRule};
use crate::device::{Sample, Temperature};
use crate::report::CaseReport;
use crate::subject::{Manner, Subject, Timed};
use crate::{Error, Stage};
use timing::stats::{median, median_interval};

/// Samples between two questions to the stopping rule.
pub(super) const BLOCK: usize = 10;
/// Device time of the calls that warm up, nanoseconds; or the time of all that goes with them, which
/// keeps the GPU as busy.
const WARM_DEVICE: f64 = 100e6;
pub(super) const WARM_WALL: Duration = Duration::from_millis(150);
/// Clocks that do not settle by then will not.
const WARM_AT_MOST: Duration = Duration::from_secs(2);
const FRESH_PROCESSES: usize = 3;

/// Times of one size, microseconds.
pub struct Times {
    pub median_us: f64,
    pub ci_us: (f64, f64),
    /// All of them, process after process.
    pub samples_us: Vec<f64>,
    /// The half width that was asked for, where it was not reached.
    noisy: Option<f64>,
    pub beside: Beside,
}

/// What was seen beside the times that count.
#[derive(Clone, Copy, Debug, Default)]
pub struct Beside {
    /// Median with warm caches, microseconds.
    pub hot_us: Option<f64>,
    /// Median of the host's time in the call, microseconds.
    pub host_us: Option<f64>,
    /// Median of the host's time around a call, less the call's own on the device, microseconds.
    pub overhead_us: Option<f64>,
    /// Median of the SMs' clock.
    pub clock_mhz: Option<f64>,
    /// Samples that do not count because the clock was down.
    pub discarded: usize,
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
        let Beside { discarded, .. } = self.beside;
        let all = self.samples_us.len() + discarded;
        let unstable = (10 * discarded > all).then(|| {
            format!(
                "UNSTABLE: {} lost {discarded} of {all} samples to a clock that was more than 3 % \
                 down; let the GPU cool, or give it more power",
                case.sizes
            )
        });
        self.noisy.map(warning).into_iter().chain(unstable).collect()
    }
}

pub enum Measured {
    Times(Times),
    /// A call that was not accepted, as the check would report it.
    Failed(Box<CaseReport>),
}

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
    let mut kept = Vec::new();
    let mut hot = Vec::new();
    let mut noisy = false;
    for _ in 0..processes {
        subject.dismiss();
        if let Err(report) = warm(setup, subject, case, WARM_WALL)? {
            return Ok(Measured::Failed(report));
        }
        match collect(setup, subject, case, &rule)? {
            Ok((series, samples, decision)) => {
                noisy |= decision == Decision::Noisy;
                kept.push(series.samples());
                all.extend(samples);
            }
            Err(report) => return Ok(Measured::Failed(report)),
        }
        let manner = Manner { temperature: Temperature::Hot, ..Manner::cold(BLOCK) };
        match subject.time(case, manner, setup.limits.bench)? {
            Ok(samples) => hot.extend(samples.iter().map(|sample| sample.device_ns * 1e-3)),
            Err(report) => return Ok(Measured::Failed(report)),
        }
    }
    let host: Vec<f64> = all.iter().map(|sample| sample.host_ns as f64 * 1e-3).collect();
    let around = |sample: &Sample| (sample.around_ns as f64 - sample.device_ns) * 1e-3;
    let overhead: Vec<f64> = all.iter().map(around).collect();
    let beside = Beside {
        hot_us: median(&hot),
        host_us: median(&host).filter(|us| *us > 0.0),
        overhead_us: median(&overhead).filter(|us| *us > 0.0),
        clock_mhz: clock(&all),
        discarded: all.len() - kept.iter().map(Vec::len).sum::<usize>(),
    };
    let times = combine(&kept, rule.confidence, noisy.then_some(half_width));
    Ok(Measured::Times(Times { beside, ..times }))
}

/// Steps 3 to 5: the judge and the device do them for a block of calls.
pub(super) fn block(
    setup: &Setup<'_>,
    subject: &mut dyn Subject,
    case: &CaseSpec,
    length: usize,
) -> Result<Timed, Error> {
    subject.time(case, Manner::cold(length), setup.limits.bench)
}

/// Calls that do not count, until they took `long` and the last three saw one clock.
pub(super) fn warm(
    setup: &Setup<'_>,
    subject: &mut dyn Subject,
    case: &CaseSpec,
    long: Duration,
) -> Result<Result<(), Box<CaseReport>>, Error> {
    let mut samples = Vec::new();
    // What a fresh process loads with its first call is no warmth.
    if let Err(report) = block(setup, subject, case, 1)? {
        return Ok(Err(report));
    }
    let started = Instant::now();
    let mut busy = 0.0;
    while started.elapsed() < WARM_AT_MOST
        && (busy < WARM_DEVICE && started.elapsed() < long || !settled(&samples))
    {
        match block(setup, subject, case, BLOCK)? {
            Ok(more) => {
                busy += more.iter().map(|sample| sample.device_ns).sum::<f64>();
                samples.extend(more);
            }
            Err(report) => return Ok(Err(report)),
        }
    }
    Ok(Ok(()))
}

fn settled(samples: &[Sample]) -> bool {
    let last = &samples[samples.len().saturating_sub(3)..];
    let clocks = || last.iter().filter_map(|sample| sample.clock_mhz);
    let highest = clocks().fold(0.0, f64::max);
    clocks().all(|clock| clock >= 0.99 * highest)
}

/// The median clock of these samples, MHz.
fn clock(samples: &[Sample]) -> Option<f64> {
    median(&samples.iter().filter_map(|sample| sample.clock_mhz).collect::<Vec<f64>>())
}

/// The times that count, all samples, and why they are enough; or the call that went wrong.
type Collected = Result<(Series, Vec<Sample>, Decision), Box<CaseReport>>;

fn collect(
    setup: &Setup<'_>,
    subject: &mut dyn Subject,
    case: &CaseSpec,
    rule: &dyn StoppingRule,
) -> Result<Collected, Error> {
    let started = Instant::now();
    let mut blocks = Vec::new();
    loop {
        match block(setup, subject, case, BLOCK)? {
            Ok(samples) => blocks.push(samples),
            Err(report) => return Ok(Err(report)),
        }
        let series = Series { blocks: steady(&blocks), wall: started.elapsed() };
        match rule.decide(&series) {
            Decision::Continue => {}
            decision => return Ok(Ok((series, blocks.concat(), decision))),
        }
    }
}

/// Device nanoseconds of the samples that count: a clock more than 3 % below the median means that
/// the GPU was throttled, or had just woken up.
fn steady(blocks: &[Vec<Sample>]) -> Vec<Vec<f64>> {
    let usual = clock(&blocks.concat());
    let counts = |sample: &&Sample| match (sample.clock_mhz, usual) {
        (Some(clock), Some(usual)) => clock >= 0.97 * usual,
        _ => true,
    };
    let keep =
        |block: &Vec<Sample>| block.iter().filter(counts).map(|sample| sample.device_ns).collect();
    blocks.iter().map(keep).collect()
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
        beside: Beside::default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Config;
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
            let clock = Clock::new(&script).unwrap();
            let mock = Mock::new(&script, &Config::new("x.cu", Stage::Submit), clock).unwrap();
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
    fn a_clock_that_is_down_spoils_its_samples_and_no_others() {
        let sample = |device_ns, clock| Sample {
            device_ns,
            behind_ns: 0.0,
            host_ns: 0,
            around_ns: 0,
            clock_mhz: clock,
        };
        let steadily = vec![sample(1.0, Some(1980.0)); 9];
        let blocks = [steadily, vec![sample(2.0, Some(1900.0)), sample(3.0, Some(1950.0))]];
        assert_eq!(steady(&blocks), [vec![1.0; 9], vec![3.0]]);
        assert_eq!(steady(&[vec![sample(4.0, None)]]), [[4.0]]);
        assert!(settled(&blocks[0]) && !settled(&blocks[1]));
    }

    #[test]
    fn processes_that_disagree_widen_the_interval() {
        let times = combine(&[vec![1e3; 50], vec![2e3; 50], vec![4e3; 50]], 0.95, None);
        assert_eq!((times.median_us, times.ci_us), (2.0, (1.0, 4.0)));
        assert_eq!(times.samples_us.len(), 150);
    }
}
