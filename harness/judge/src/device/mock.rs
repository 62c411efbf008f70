//! The scripted device: verdicts and times from a TOML file, so that statistics, screens and
//! boards can be tested exactly, and from outside. It compiles nothing and runs nothing.
//! `docs/measuring.md` describes the file.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;

use problems::CaseSpec;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng as _, SeedableRng as _};
use serde::Deserialize;

use super::{Sample, Temperature};
use crate::judge::{Trial, blank};
use crate::report::{DeviceInfo, DeviceKind, Verdict};
use crate::subject::{Manner, Subject, Timed};
use crate::{Config, Error, Interrupt};

/// The file.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Script {
    pub name: String,
    pub arch: String,
    pub seed: Option<u64>,
    /// Of a card on which one run is timed at a time, whichever process it is.
    pub uuid: Option<String>,
    #[serde(default)]
    solution: Vec<Solution>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Solution {
    file: Option<String>,
    /// Macros that must be set so.
    #[serde(default)]
    values: BTreeMap<String, String>,
    #[serde(default = "accepted")]
    verdict: Verdict,
    message: Option<String>,
    time_us: f64,
    #[serde(default)]
    sizes: BTreeMap<String, f64>,
    #[serde(default)]
    noise: f64,
    #[serde(default)]
    processes: f64,
    #[serde(default)]
    drift: f64,
    #[serde(default)]
    spikes: f64,
    #[serde(default = "spike")]
    spike: f64,
}

fn accepted() -> Verdict {
    Verdict::Accepted
}

fn spike() -> f64 {
    0.3
}

impl Script {
    /// Reads and checks a script.
    ///
    /// # Errors
    ///
    /// [`Error::Usage`], with the file and the line.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let usage = |why: String| Error::Usage(format!("{}: {why}", path.display()));
        let text = std::fs::read_to_string(path).map_err(|error| usage(error.to_string()))?;
        let script: Self = toml::from_str(&text).map_err(|error| usage(error.to_string()))?;
        for solution in &script.solution {
            let times = solution.sizes.values().chain([&solution.time_us]);
            if !times.into_iter().all(|time| *time > 0.0 && time.is_finite()) {
                return Err(usage("times are positive numbers of microseconds".to_owned()));
            }
        }
        Ok(script)
    }

    pub fn device(&self) -> DeviceInfo {
        let (name, arch) = (self.name.clone(), self.arch.clone());
        DeviceInfo { kind: DeviceKind::Mock, name, arch }
    }
}

/// What the solutions on one scripted device share: its noise, and how far it has drifted.
#[derive(Clone, Debug)]
pub struct Clock(Rc<RefCell<Ticks>>);

#[derive(Debug)]
struct Ticks {
    random: ChaCha8Rng,
    /// Samples taken so far.
    taken: u64,
}

impl Clock {
    /// # Errors
    ///
    /// [`Error::Machine`] where the script has no seed and the machine has none either.
    pub fn new(script: &Script) -> Result<Self, Error> {
        let seed = match script.seed {
            Some(seed) => seed,
            None => u64::from_le_bytes(crate::random::bytes().map_err(|error| {
                Error::machine(error.to_string(), "give the mock script a `seed`")
            })?),
        };
        let random = ChaCha8Rng::seed_from_u64(seed);
        Ok(Self(Rc::new(RefCell::new(Ticks { random, taken: 0 }))))
    }
}

impl Ticks {
    /// In 0 to 1, never 0.
    fn uniform(&mut self) -> f64 {
        ((self.random.next_u64() >> 11) as f64 + 0.5) / (1u64 << 53) as f64
    }

    /// G. E. P. Box and M. E. Muller, "A note on the generation of random normal deviates", 1958.
    fn normal(&mut self) -> f64 {
        let radius = (-2.0 * self.uniform().ln()).sqrt();
        radius * (std::f64::consts::TAU * self.uniform()).cos()
    }
}

/// One solution on a scripted device.
#[derive(Debug)]
pub struct Mock {
    solution: Solution,
    clock: Clock,
    interrupt: Interrupt,
    /// How much slower this process is than others, relative; nothing until it is asked.
    process: Cell<Option<f64>>,
}

impl Mock {
    /// The entry of `script` for the file and its macros.
    ///
    /// # Errors
    ///
    /// [`Error::Usage`] where it has none.
    pub fn new(script: &Script, config: &Config, clock: Clock) -> Result<Self, Error> {
        let (file, interrupt) = (PathBuf::from(config.name()), config.interrupt.clone());
        let fits = |solution: &&Solution| {
            let name = solution.file.as_ref().map(PathBuf::from);
            name.is_none_or(|name| file.file_name() == name.file_name())
                && solution
                    .values
                    .iter()
                    .all(|(name, value)| config.values.get(name) == Some(value))
        };
        let solution = script.solution.iter().find(fits).cloned().ok_or_else(|| {
            Error::Usage(format!("the mock script has no [[solution]] for {}", file.display()))
        })?;
        Ok(Self { solution, clock, interrupt, process: Cell::default() })
    }

    /// What compiling comes to: the message of a scripted compile error.
    pub fn compile(&self) -> Result<(), String> {
        match self.solution.verdict {
            Verdict::CompileError => Err(self.message()),
            _ => Ok(()),
        }
    }

    fn message(&self) -> String {
        self.solution.message.clone().unwrap_or_else(|| "as scripted".to_owned())
    }

    /// One sample of a size, nanoseconds.
    pub fn sample(&self, size: &str) -> f64 {
        let Solution { time_us, noise, processes, drift, spikes, spike, .. } = self.solution;
        let truth = self.solution.sizes.get(size).copied().unwrap_or(time_us) * 1e3;
        let mut ticks = self.clock.0.borrow_mut();
        let process = self.process.get().unwrap_or_else(|| match processes {
            0.0 => 0.0,
            spread => spread * ticks.normal(),
        });
        self.process.set(Some(process));
        let drifted = truth * (1.0 + process) * (1.0 + drift * ticks.taken as f64 / 1000.0);
        ticks.taken += 1;
        let spiked = if ticks.uniform() < spikes { 1.0 + spike } else { 1.0 };
        // A time is positive, however wild the noise.
        (drifted * spiked * (1.0 + noise * ticks.normal())).max(1.0)
    }
}

impl Subject for Mock {
    fn time(&mut self, case: &CaseSpec, manner: Manner, limit: Duration) -> Result<Timed, Error> {
        let mut samples = Vec::new();
        // No caches that could be warm.
        if manner.temperature == Temperature::Hot {
            return Ok(Ok(samples));
        }
        for _ in 0..manner.count {
            let mut trial = self.run_case(case, limit)?;
            if trial.report.verdict != Verdict::Accepted {
                trial.report.name.push_str(" (timed)");
                return Ok(Err(Box::new(trial.report)));
            }
            samples.extend(trial.sample);
        }
        Ok(Ok(samples))
    }

    fn run_case(&mut self, case: &CaseSpec, _limit: Duration) -> Result<Trial, Error> {
        if self.interrupt.raised() {
            return Ok(Trial::of(blank(case, Verdict::Interrupted)));
        }
        let mut report = blank(case, self.solution.verdict);
        if report.verdict != Verdict::Accepted {
            report.explanation.push(self.message());
            report.reasons.push("scripted".to_owned());
            report.mismatches = u64::from(report.verdict == Verdict::WrongAnswer);
        }
        let device_ns = self.sample(&case.sizes.to_string());
        let sample =
            Some(Sample { device_ns, behind_ns: 0.0, host_ns: 0, around_ns: 0, clock_mhz: None });
        Ok(Trial { sample, ..Trial::of(report) })
    }

    fn dismiss(&mut self) -> Option<String> {
        self.process.set(None);
        None
    }

    fn log(&self) -> String {
        String::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Stage;
    use timing::stats::{mad, median};

    fn put(script: &Script, file: &str) -> Mock {
        let clock = Clock::new(script).unwrap();
        Mock::new(script, &Config::new(file, Stage::Submit), clock).unwrap()
    }

    fn mock(solution: &str) -> Mock {
        let head = "name = \"m\"\narch = \"sm_100a\"\nseed = 1\n[[solution]]\n";
        let script: Script = toml::from_str(&format!("{head}{solution}")).unwrap();
        put(&script, "x/fast.cu")
    }

    /// The page that describes the format shows a script that is one.
    #[test]
    fn the_documented_script_works() {
        let page = include_str!("../../../../docs/measuring.md");
        let text = page.split("```toml\n").nth(1).unwrap().split("```").next().unwrap();
        let script: Script = toml::from_str(text).unwrap();
        let values = [("TILE".to_owned(), "64".to_owned())].into();
        let config = Config { values, ..Config::new("fast.cu", Stage::Submit) };
        let mock = Mock::new(&script, &config, Clock::new(&script).unwrap()).unwrap();
        assert!((mock.sample("1024x1024") / 8e3 - 1.0).abs() < 0.5);
    }

    #[test]
    fn without_noise_a_sample_is_the_true_time() {
        let mock = mock("time_us = 20.0\nsizes = { \"1024x1024\" = 8.0 }");
        assert_eq!(mock.sample("4x4"), 20e3);
        assert_eq!(mock.sample("1024x1024"), 8e3);
    }

    #[test]
    fn noise_drift_and_spikes_are_as_scripted() {
        let noisy = mock("time_us = 10.0\nnoise = 0.01\nspikes = 0.05\nspike = 1.0");
        let samples: Vec<f64> = (0..4000).map(|_| noisy.sample("")).collect();
        assert!((median(&samples).unwrap() / 1e4 - 1.0).abs() < 0.002);
        assert!((mad(&samples).unwrap() / 1e4 - 0.01).abs() < 0.001);
        let spikes = samples.iter().filter(|ns| **ns > 1.5e4).count();
        assert!((150..250).contains(&spikes), "{spikes}");
        let mut fresh = mock("time_us = 10.0\nprocesses = 0.02");
        let mut process = || {
            fresh.dismiss();
            let first = fresh.sample("");
            assert_eq!(first, fresh.sample(""));
            first
        };
        let processes: Vec<f64> = (0..2000).map(|_| process()).collect();
        assert!((mad(&processes).unwrap() / 1e4 - 0.02).abs() < 0.003);
        let drifting = mock("time_us = 10.0\ndrift = 0.5");
        for _ in 0..1000 {
            drifting.sample("");
        }
        let last = drifting.sample("");
        assert!((last - 1.5e4).abs() < 1e-6, "{last}");
    }

    #[test]
    fn the_first_entry_that_fits_counts() {
        let text = "name = \"m\"\narch = \"sm_100a\"\n\
            [[solution]]\nfile = \"fast.cu\"\ntime_us = 1.0\n[[solution]]\ntime_us = 2.0\n";
        let script: Script = toml::from_str(text).unwrap();
        let time = |file: &str| put(&script, file).sample("");
        assert_eq!((time("a/fast.cu"), time("a/other.cu")), (1e3, 2e3));
    }
}
