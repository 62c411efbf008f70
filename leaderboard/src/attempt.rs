//! One recorded submission, as the rest of the program sees it. How it lies on disk is
//! `record.rs`'s business alone.

use std::collections::BTreeMap;

use jiff::{RoundMode, Timestamp, TimestampRound, Unit};
use serde::{Deserialize, Serialize};

use crate::{AttemptId, Member};

/// One recorded submission. Immutable: what is recorded is never rewritten.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Attempt {
    pub id: AttemptId,
    pub created: Timestamp,
    /// "mxfp4_quantize"
    pub problem: String,
    /// Of the problem. Attempts of different revisions are never ranked together.
    pub revision: u32,
    pub author: String,
    pub message: Option<String>,
    /// The file's path as it was typed.
    pub file: String,
    /// The attempt before this one by the same author at the same solution.
    pub parent: Option<AttemptId>,
    /// The attempt of another author whose source was run again here.
    pub confirms: Option<AttemptId>,
    /// Its place in the batch that it was made in.
    pub batch: Option<Member>,
    /// Macros that were given to the compiler beside the source: TILE and 64.
    pub values: BTreeMap<String, String>,
    /// BLAKE3 of `solution.cu`, 64 hexadecimal digits.
    pub source_hash: String,
    pub outcome: Outcome,
}

/// What came of a submission: everything that the harness found out.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Outcome {
    pub device: Device,
    pub verdict: Verdict,
    /// Whether times on this device are computed instead of read from a clock; said of failed
    /// attempts too, so that they stand in the history they belong to.
    pub modelled: bool,
    pub toolchain: Toolchain,
    /// What `ptxas` says; empty where nothing compiled.
    pub kernels: Vec<Kernel>,
    /// Geometric mean over the sizes. Absent unless accepted.
    pub geomean: Option<Time>,
    pub sizes: Vec<Size>,
    /// A record keeps those that simply passed before the others.
    pub cases: Vec<Case>,
    pub environment: Environment,
    /// The compiler's errors, the fault, or why nothing ran.
    pub fault: Option<String>,
}

/// Bytes of [`Outcome::fault`] that are kept: a template error can be megabytes long, and its
/// first lines say it.
const FAULT: usize = 64 << 10;

impl Outcome {
    /// As a record can hold it. An attempt must not be lost over a ratio that is 0/0 or
    /// a compiler that writes too much.
    pub(crate) fn recordable(mut self) -> Self {
        for counters in self.sizes.iter_mut().filter_map(|size| size.counters.as_mut()) {
            let Counters { sectors_per_request, active_lanes, occupancy, .. } = counters;
            for ratio in [sectors_per_request, active_lanes, occupancy] {
                *ratio = ratio.filter(|value| value.is_finite());
            }
        }
        self.cases.sort_by_key(|case| !case.is_plain());
        if let Some(fault) = &mut self.fault
            && fault.len() > FAULT
        {
            fault.truncate(fault.floor_char_boundary(FAULT));
            fault.push_str("\n… (shortened)");
        }
        self
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    Accepted,
    WrongAnswer,
    CompileError,
    RuntimeError,
    TimeLimitExceeded,
    Interrupted,
}

impl Verdict {
    /// As it is written in records and JSON: "wrong_answer".
    pub fn word(self) -> &'static str {
        match self {
            Self::Accepted => "accepted",
            Self::WrongAnswer => "wrong_answer",
            Self::CompileError => "compile_error",
            Self::RuntimeError => "runtime_error",
            Self::TimeLimitExceeded => "time_limit_exceeded",
            Self::Interrupted => "interrupted",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DeviceKind {
    Emulator,
    Cuda,
    Mock,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Device {
    pub kind: DeviceKind,
    /// "B200", "NVIDIA H200"
    pub name: String,
    /// "sm_100a"
    pub arch: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Toolchain {
    /// The version of nibble that recorded this: a modelled time depends on it.
    pub nibble: String,
    /// "13.0.88"; absent where no compiler was found.
    pub nvcc: Option<String>,
    /// The flags that the solution asked for.
    pub flags: Vec<String>,
}

/// What `ptxas` says of one kernel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Kernel {
    pub name: String,
    /// For each thread.
    pub registers: u32,
    /// Bytes stored and loaded for want of registers, for each thread.
    pub spill_bytes: u32,
    /// Static shared memory of a CTA, bytes.
    pub shared_bytes: u32,
}

/// A time in microseconds with its 95 % interval; for a modelled time both ends equal it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Time {
    pub us: f64,
    pub interval_us: (f64, f64),
}

impl Time {
    /// A time that has no spread: a modelled one.
    pub fn exact(us: f64) -> Self {
        Self { us, interval_us: (us, us) }
    }

    /// Whether these measurements cannot tell the two apart.
    pub fn overlaps(&self, other: &Time) -> bool {
        self.interval_us.0 <= other.interval_us.1 && other.interval_us.0 <= self.interval_us.1
    }
}

/// One bench size.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Size {
    /// "4096x8192"
    pub name: String,
    pub median: Time,
    /// The least time the size can take on this device (the speed of light).
    pub sol_us: f64,
    /// `100 * sol_us / median`
    pub sol_percent: f64,
    /// What the emulator counted; absent on a GPU.
    pub counters: Option<Counters>,
}

/// What one call cost, over all its launches.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Counters {
    /// Bytes that DRAM must deliver or take.
    pub dram_bytes: u64,
    /// 32-byte sectors for each global memory request; 4 is ideal for 32-bit accesses. Absent
    /// where there were no requests.
    pub sectors_per_request: Option<f64>,
    pub warp_instructions: u64,
    /// Lanes active in a warp instruction, of 32, on average: divergence, seen from its cost.
    pub active_lanes: Option<f64>,
    /// Resident warps over those an SM can hold, 0 to 1.
    pub occupancy: Option<f64>,
}

/// One case of the check.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Case {
    /// "1024x1024 uniform"
    pub name: String,
    pub verdict: Verdict,
    pub mismatches: u64,
    /// Stable identifiers of what is wrong: "ties_away_from_zero".
    pub reasons: Vec<String>,
    /// In sentences; kept for the first failure only, since the others mostly repeat it.
    pub explanation: Option<String>,
}

impl Case {
    /// One that passed, with nothing to say about it.
    pub fn plain(name: String) -> Self {
        Self {
            name,
            verdict: Verdict::Accepted,
            mismatches: 0,
            reasons: Vec::new(),
            explanation: None,
        }
    }

    pub(crate) fn is_plain(&self) -> bool {
        let Self { name: _, verdict, mismatches, reasons, explanation } = self;
        *verdict == Verdict::Accepted
            && *mismatches == 0
            && reasons.is_empty()
            && explanation.is_none()
    }
}

/// The machine, where it matters: times are comparable only where these agree.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Environment {
    pub gpu_uuid: Option<String>,
    pub driver: Option<String>,
    pub sm_clock_mhz: Option<u32>,
    pub memory_clock_mhz: Option<u32>,
    /// Just after the timing.
    pub temperature_c: Option<u32>,
    pub power_w: Option<u32>,
    /// Why clocks were held down at its beginning or its end: "power cap".
    pub throttled: Vec<String>,
}

/// What is recorded: an attempt before the store has given it its id.
#[derive(Clone, Debug, PartialEq)]
pub struct Submission {
    pub created: Timestamp,
    pub problem: String,
    pub revision: u32,
    pub author: String,
    pub message: Option<String>,
    pub file: String,
    /// See [`crate::history::parent`].
    pub parent: Option<AttemptId>,
    pub confirms: Option<AttemptId>,
    /// Recording one place of a batch a second time gives what was recorded the first time.
    pub batch: Option<Member>,
    pub values: BTreeMap<String, String>,
    /// The file's bytes; kept even where they are no text.
    pub source: Vec<u8>,
    pub outcome: Outcome,
    pub samples: Vec<Samples>,
}

impl Submission {
    /// As it would be recorded under that id.
    pub fn attempt(&self, id: AttemptId) -> Attempt {
        Attempt {
            id,
            created: to_the_millisecond(self.created),
            problem: self.problem.clone(),
            revision: self.revision,
            author: self.author.clone(),
            message: self.message.clone(),
            file: self.file.clone(),
            parent: self.parent.clone(),
            confirms: self.confirms.clone(),
            batch: self.batch.clone(),
            values: self.values.clone(),
            source_hash: source_hash(&self.source),
            outcome: self.outcome.clone().recordable(),
        }
    }
}

/// What the record can hold.
fn to_the_millisecond(moment: Timestamp) -> Timestamp {
    moment
        .round(TimestampRound::new().smallest(Unit::Millisecond).mode(RoundMode::Trunc))
        .unwrap_or(moment)
}

/// Every single time of one size, microseconds, in the order they were taken.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Samples {
    pub size: String,
    pub samples_us: Vec<f64>,
}

/// The solution's name: the file's name without its folders. An author's `./k.cu` and
/// `solutions/k.cu` are one solution.
pub fn solution_name(file: &str) -> &str {
    file.rsplit(['/', '\\']).find(|part| !part.is_empty()).unwrap_or(file)
}

/// BLAKE3 in hexadecimal.
pub fn source_hash(source: &[u8]) -> String {
    blake3::hash(source).to_hex().to_string()
}
