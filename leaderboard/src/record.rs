//! `attempt.toml`: how an attempt lies on disk.
//!
//! These types mirror those of `attempt.rs` and are separate on purpose: a field renamed there
//! changes a program, a field renamed here changes every leaderboard in the world. The rule is
//! strict in both directions. Any change here, a new optional field too, raises
//! [`FormatVersion::CURRENT`]. A newer file is named and skipped by an older nibble; a key that its
//! own format does not know makes a file damaged, because ignoring it would be guessing. The words
//! of verdicts and devices are shared with `attempt.rs`; a snapshot holds all of it in place.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};
use toml::value::Datetime;

use crate::attempt::{Attempt, DeviceKind, Verdict};
use crate::{AttemptId, RunId};

mod convert;

/// The version of the layout of `attempt.toml` and `samples.json`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct FormatVersion(pub u32);

impl FormatVersion {
    /// Without `batch`, `confirms` and `values`.
    const FIRST: Self = Self(1);
    pub const CURRENT: Self = Self(2);

    /// Whether this nibble reads it; if not, why.
    pub(crate) fn known(self) -> Result<(), Defect> {
        match self {
            newer if newer > Self::CURRENT => Err(Defect::Newer(newer)),
            known if known >= Self::FIRST => Ok(()),
            never => Err(Defect::Damaged(format!("there never was a format {never}"))),
        }
    }
}

impl fmt::Display for FormatVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Why a stored attempt cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, thiserror::Error)]
#[serde(rename_all = "snake_case", tag = "kind", content = "detail")]
pub enum Defect {
    #[error("written by a newer nibble (format {0}, this one reads {current}); update nibble", current = FormatVersion::CURRENT)]
    Newer(FormatVersion),
    #[error("damaged: {0}")]
    Damaged(String),
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct AttemptRecord {
    format: FormatVersion,
    id: AttemptId,
    problem: String,
    revision: u32,
    created: Datetime,
    author: String,
    message: Option<String>,
    file: String,
    parent: Option<AttemptId>,
    confirms: Option<AttemptId>,
    source_hash: String,
    verdict: Verdict,
    modelled: bool,
    geomean_us: Option<f64>,
    geomean_interval_us: Option<(f64, f64)>,
    fault: Option<String>,
    /// The names of cases that passed with nothing to say about them: most of them, and as tables
    /// they would be half the file.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    passed: Vec<String>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    values: BTreeMap<String, String>,
    batch: Option<MemberRecord>,
    device: DeviceRecord,
    toolchain: ToolchainRecord,
    #[serde(default, skip_serializing_if = "EnvironmentRecord::is_empty")]
    environment: EnvironmentRecord,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    kernels: Vec<KernelRecord>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    sizes: Vec<SizeRecord>,
    /// The others.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    cases: Vec<CaseRecord>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct MemberRecord {
    run: RunId,
    index: u32,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct DeviceRecord {
    kind: DeviceKind,
    name: String,
    arch: String,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ToolchainRecord {
    nibble: String,
    nvcc: Option<String>,
    #[serde(default)]
    flags: Vec<String>,
}

#[derive(Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct EnvironmentRecord {
    gpu_uuid: Option<String>,
    driver: Option<String>,
    sm_clock_mhz: Option<u32>,
    memory_clock_mhz: Option<u32>,
    temperature_c: Option<u32>,
    power_w: Option<u32>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    throttled: Vec<String>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct KernelRecord {
    name: String,
    registers: u32,
    spill_bytes: u32,
    shared_bytes: u32,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SizeRecord {
    name: String,
    median_us: f64,
    interval_us: (f64, f64),
    sol_us: f64,
    sol_percent: f64,
    counters: Option<CountersRecord>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct CountersRecord {
    dram_bytes: u64,
    sectors_per_request: Option<f64>,
    warp_instructions: u64,
    active_lanes: Option<f64>,
    occupancy: Option<f64>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct CaseRecord {
    name: String,
    verdict: Verdict,
    #[serde(default, skip_serializing_if = "is_zero")]
    mismatches: u64,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    reasons: Vec<String>,
    explanation: Option<String>,
}

impl EnvironmentRecord {
    fn is_empty(&self) -> bool {
        let Self {
            gpu_uuid,
            driver,
            sm_clock_mhz,
            memory_clock_mhz,
            temperature_c,
            power_w,
            throttled,
        } = self;
        gpu_uuid.is_none()
            && driver.is_none()
            && sm_clock_mhz.is_none()
            && memory_clock_mhz.is_none()
            && temperature_c.is_none()
            && power_w.is_none()
            && throttled.is_empty()
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// Bytes. A real record is a few thousand; what is larger is not read, so that a damaged folder
/// cannot exhaust memory.
pub(crate) const LARGEST: u64 = 4 << 20;

/// The text of `attempt.toml`. The error says what of the attempt cannot be recorded.
pub(crate) fn encode(attempt: &Attempt) -> Result<String, String> {
    check(attempt)?;
    let text = toml::to_string(&convert::to_record(attempt)).map_err(|error| error.to_string())?;
    if text.len() as u64 > LARGEST {
        return Err(format!("{} bytes of facts, where {LARGEST} are allowed", text.len()));
    }
    Ok(text)
}

/// Reads `attempt.toml`. Never panics, whatever the text.
pub(crate) fn decode(text: &str) -> Result<Attempt, Defect> {
    let record: AttemptRecord = toml::from_str(text).map_err(|error| explain(text, &error))?;
    record.format.known()?;
    if record.format == FormatVersion::FIRST
        && (record.batch.is_some() || record.confirms.is_some() || !record.values.is_empty())
    {
        return Err(Defect::Damaged("`batch`, `confirms` and `values` are of format 2".into()));
    }
    let attempt = convert::from_record(record).map_err(Defect::Damaged)?;
    check(&attempt).map_err(Defect::Damaged)?;
    Ok(attempt)
}

/// The text does not read as today's format: is that because it is tomorrow's?
fn explain(text: &str, error: &toml::de::Error) -> Defect {
    #[derive(Deserialize)]
    struct Header {
        format: FormatVersion,
    }
    match toml::from_str::<Header>(text).map(|header| header.format.known()) {
        Ok(Err(defect)) => defect,
        _ => {
            let line = error.span().map_or(1, |span| {
                1 + text.as_bytes().iter().take(span.start).filter(|byte| **byte == b'\n').count()
            });
            // What follows is a list of all the keys there are.
            let what = error.message().split(", expected one of").next().unwrap_or_default();
            Defect::Damaged(format!("line {line}: {}", what.trim()))
        }
    }
}

/// What every attempt keeps to, so that no reader need doubt it: times are positive and finite,
/// an accepted attempt has a time or no sizes at all, and a hash is a hash.
fn check(attempt: &Attempt) -> Result<(), String> {
    let outcome = &attempt.outcome;
    let time = |what: &str, us: f64| match us.is_finite() && us > 0.0 {
        true => Ok(()),
        false => Err(format!("{what} of {us} µs is no time")),
    };
    if let Some(geomean) = &outcome.geomean {
        if outcome.verdict != Verdict::Accepted {
            return Err("a geomean, though it was not accepted".into());
        }
        time("the geomean", geomean.us)?;
        time("the geomean's interval", geomean.interval_us.0)?;
        time("the geomean's interval", geomean.interval_us.1)?;
    }
    for size in &outcome.sizes {
        time("the median", size.median.us)?;
        time("the median's interval", size.median.interval_us.0)?;
        time("the median's interval", size.median.interval_us.1)?;
        time("the speed of light", size.sol_us)?;
        let ratios = size.counters.iter().flat_map(|counters| {
            [counters.sectors_per_request, counters.active_lanes, counters.occupancy]
        });
        for ratio in ratios.flatten().chain([size.sol_percent]) {
            if !ratio.is_finite() {
                return Err(format!("a ratio of {ratio}"));
            }
        }
    }
    let hash = attempt.source_hash.as_bytes();
    if hash.len() != 64 || !hash.iter().all(|byte| byte.is_ascii_hexdigit()) {
        return Err("the source's hash is not 64 hexadecimal digits".into());
    }
    Ok(())
}
