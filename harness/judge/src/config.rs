//! What to run, where and for how long: all that [`crate::run`] is told.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use problems::{CaseSpec, Problem};
use toolchain::Interrupt;

use crate::Selection;
use crate::device::Scrutiny;

/// How far a run goes. Each stage contains the ones before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    /// Compile and prove; no timing.
    Check,
    /// Then time, until the interval of the median is within 1.5 %.
    Bench,
    /// Then time as for the record: within 0.5 %, in three fresh processes where time is measured.
    Submit,
}

/// `--device`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeviceChoice {
    /// A usable GPU if there is one, else the emulator.
    Auto,
    Emulator,
    /// `cuda`, `cuda:1`.
    Cuda(usize),
    /// `mock:FILE.toml`: scripted verdicts and times (`docs/measuring.md` has the format).
    Mock(PathBuf),
}

/// As it is typed.
impl fmt::Display for DeviceChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Auto => f.write_str("auto"),
            Self::Emulator => f.write_str("emulator"),
            Self::Cuda(ordinal) => write!(f, "cuda:{ordinal}"),
            Self::Mock(script) => write!(f, "mock:{}", script.display()),
        }
    }
}

impl FromStr for DeviceChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once(':') {
            None if text == "auto" => Ok(Self::Auto),
            None if text == "emulator" => Ok(Self::Emulator),
            None if text == "cuda" => Ok(Self::Cuda(0)),
            Some(("cuda", ordinal)) => ordinal
                .parse()
                .map(Self::Cuda)
                .map_err(|_| format!("`{ordinal}` is not a GPU's number: write cuda:0, cuda:1 …")),
            Some(("mock", script)) if !script.is_empty() => Ok(Self::Mock(script.into())),
            _ => Err(format!("no device `{text}`: auto, emulator, cuda, cuda:N or mock:FILE.toml")),
        }
    }
}

/// How long each step may take before it is killed.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    pub compile: Duration,
    /// One case of the check: one call of `solution`. Absent: by the case, see [`Limits::case`].
    pub check: Option<Duration>,
    /// One size of the bench, all its samples.
    pub bench: Duration,
    /// Bytes kept of what the solution prints; the rest is read and dropped.
    pub log_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            compile: Duration::from_secs(120),
            check: None,
            bench: Duration::from_secs(180),
            log_bytes: 64 << 10,
        }
    }
}

impl Limits {
    /// The least and the most that a case is given where nobody says how long.
    const LEAST: Duration = Duration::from_secs(10);
    pub(crate) const MOST: Duration = Duration::from_secs(60);
    /// Bytes and operations of a right solution that the slowest of ours does in a second on the
    /// emulator, sanitized, on a machine that is busy: a tenth of what was seen.
    const BYTES: f64 = 50e3;
    const OPERATIONS: f64 = 5e6;

    /// How long one call for this case may take: little for a small case, so that a loop that never
    /// ends is found soon, and a minute at most.
    pub fn case(&self, problem: &Problem, case: &CaseSpec) -> Duration {
        self.check.unwrap_or_else(|| {
            let of = |figure: Result<f64, _>, rate: f64| {
                figure
                    .map_or(Self::MOST, |amount| Duration::from_secs_f64((amount / rate).min(1e3)))
            };
            let bytes = of(problem.bytes(&case.sizes), Self::BYTES);
            (Self::LEAST + bytes + of(problem.flops(&case.sizes), Self::OPERATIONS)).min(Self::MOST)
        })
    }
}

/// One solution and how to run it. Several files are several runs.
#[derive(Clone, Debug)]
pub struct Config {
    pub file: PathBuf,
    /// What reports and the scripted device call the file; absent: its path.
    pub called: Option<String>,
    /// Absent: the file's directive, else the name of its folder.
    pub problem: Option<String>,
    pub device: DeviceChoice,
    /// Absent: the file's directive, else the problem's. On a GPU, the GPU's.
    pub arch: Option<String>,
    pub stage: Stage,
    pub selection: Selection,
    /// Timed, and proven, instead of the problem's own sizes; empty: those.
    pub sizes: Vec<Vec<(String, u64)>>,
    /// `--nvcc`; absent: `NIBBLE_NVCC`, `CUDA_HOME`, `PATH`, the managed toolchain.
    pub nvcc: Option<PathBuf>,
    /// For nvcc, before those of the file's directive: of programs only.
    pub flags: Vec<String>,
    /// Macros of the solution, and what they are set to: TILE and 64.
    pub values: BTreeMap<String, String>,
    pub limits: Limits,
    pub interrupt: Interrupt,
    /// On the emulator, how closely it looks.
    pub scrutiny: Scrutiny,
    /// The executable whose `__worker` verb is [`crate::worker_main`]; absent: this one.
    pub worker: Option<PathBuf>,
}

impl Config {
    pub fn new(file: impl Into<PathBuf>, stage: Stage) -> Self {
        Self {
            file: file.into(),
            called: None,
            problem: None,
            device: DeviceChoice::Auto,
            arch: None,
            stage,
            selection: Selection::default(),
            sizes: Vec::new(),
            nvcc: None,
            flags: Vec::new(),
            values: BTreeMap::new(),
            limits: Limits::default(),
            interrupt: Interrupt::default(),
            scrutiny: Scrutiny::default(),
            worker: None,
        }
    }

    /// The file as reports call it.
    pub(crate) fn name(&self) -> String {
        self.called.clone().unwrap_or_else(|| self.file.display().to_string())
    }
}
