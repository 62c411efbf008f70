//! What came of one solution: the one type that the terminal, `--json` and the pages all read.

use std::collections::BTreeMap;

use ptx::KernelFacts;
use serde::{Deserialize, Serialize};

use crate::card::{Ceilings, State};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    Accepted,
    WrongAnswer,
    CompileError,
    RuntimeError,
    TimeLimitExceeded,
    Interrupted,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DeviceKind {
    Emulator,
    Cuda,
    Mock,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeviceInfo {
    pub kind: DeviceKind,
    /// "B200 (modelled)", "NVIDIA H200".
    pub name: String,
    /// "sm_100a"
    pub arch: String,
}

/// The GPU that a report's times are of, and how it was meanwhile.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CardReport {
    pub uuid: String,
    /// Absent where the driver's management library is not there.
    pub before: Option<State>,
    pub after: Option<State>,
    /// Absent where nothing was timed.
    pub ceilings: Option<Ceilings>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CaseReport {
    /// "1024x1024 uniform"
    pub name: String,
    pub sizes: Vec<(String, u64)>,
    pub family: String,
    pub verdict: Verdict,
    pub mismatches: u64,
    /// Largest error relative to the bound's unit; absent where nothing was compared.
    pub max_error: Option<f64>,
    /// Values that the hardware may legally round either way, and did not match exactly.
    pub near_ties: u64,
    /// Human sentences: what is wrong and why.
    pub explanation: Vec<String>,
    /// Stable identifiers of the same: "ties_away_from_zero".
    pub reasons: Vec<String>,
    pub seconds: f64,
    /// What its inputs were drawn from: with `--data-seed` they are drawn again. Absent where nothing
    /// was drawn.
    pub data_seed: Option<u64>,
    /// Its sizes are on none of the problem's lists, and others each time.
    pub fresh: bool,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct BenchReport {
    /// "4096x8192"
    pub name: String,
    pub sizes: Vec<(String, u64)>,
    pub median_us: f64,
    /// 95 % interval of the median; both ends equal the median for a modelled time.
    pub ci_us: (f64, f64),
    pub modelled: bool,
    /// The least time this size can take: bytes or flops that must move, over the GPU's peak.
    pub sol_us: f64,
    pub sol_percent: f64,
    /// How long a copy that moves as many bytes takes on this very card.
    pub copy_us: Option<f64>,
    /// What limits it by the model: "dram", "lsu", "issue", "latency", "launch".
    pub limiter: Option<String>,
    /// Resident warps over those an SM can hold, 0 to 1, of the launch that has the least. Absent
    /// on a GPU.
    pub occupancy: Option<f64>,
    pub samples_us: Vec<f64>,
    /// Median with warm caches; shown, never ranked. Absent where the device has none.
    pub hot_us: Option<f64>,
    /// Median of the host's time in one call of `solution`.
    pub host_us: Option<f64>,
    /// Median of what nibble does around one timed call, on the host's clock.
    pub overhead_us: Option<f64>,
    /// Median of the SMs' clock.
    pub clock_mhz: Option<f64>,
    /// Samples that were thrown away because the clock was down.
    pub discarded: u32,
    pub launches: Vec<timing::Launch>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Report {
    pub problem: String,
    pub revision: u32,
    pub file: String,
    pub source_hash: String,
    pub device: DeviceInfo,
    pub verdict: Verdict,
    /// The compiler's errors, the fault, or why nothing ran.
    pub message: Option<String>,
    /// "13.0.88"; absent where nothing was to be compiled.
    pub nvcc: Option<String>,
    pub nvcc_flags: Vec<String>,
    /// Macros that were set beside the source, of the flags.
    #[serde(default)]
    pub values: BTreeMap<String, String>,
    pub kernels: Vec<KernelFacts>,
    pub cases: Vec<CaseReport>,
    pub bench: Vec<BenchReport>,
    pub geomean_us: Option<f64>,
    pub modelled: bool,
    /// What the solution printed, capped.
    pub log: String,
    pub warnings: Vec<String>,
    /// Waited for the turn on the GPU, in no time that is reported elsewhere.
    #[serde(default)]
    pub waited_seconds: f64,
    /// Absent unless the device is a GPU.
    pub card: Option<CardReport>,
}
