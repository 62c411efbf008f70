//! An attempt without its cases, samples and text: what ten thousand of are read at once, for
//! boards and histories.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::attempt::{Attempt, Device, Time, Verdict, solution_name};
use crate::{AttemptId, Member};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Summary {
    pub id: AttemptId,
    pub created: Timestamp,
    pub problem: String,
    pub revision: u32,
    pub author: String,
    pub message: Option<String>,
    pub file: String,
    pub parent: Option<AttemptId>,
    pub confirms: Option<AttemptId>,
    pub batch: Option<Member>,
    pub values: BTreeMap<String, String>,
    pub source_hash: String,
    pub device: Device,
    pub gpu_uuid: Option<String>,
    pub verdict: Verdict,
    pub modelled: bool,
    pub geomean: Option<Time>,
    /// Geometric mean over the sizes, of the speed of light.
    pub sol_percent: Option<f64>,
    /// The identifiers of what is wrong, over all cases, each once.
    pub reasons: Vec<String>,
    pub facts: Facts,
}

/// An attempt in a handful of numbers, over its kernels and sizes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Facts {
    pub flags: Vec<String>,
    pub nvcc: Option<String>,
    /// The hungriest kernel's.
    pub registers: Option<u32>,
    /// Summed over the kernels.
    pub spill_bytes: Option<u32>,
    /// The hungriest kernel's.
    pub shared_bytes: Option<u32>,
    /// Summed over the sizes, likewise the instructions.
    pub dram_bytes: Option<u64>,
    pub warp_instructions: Option<u64>,
    /// Means over the sizes.
    pub sectors_per_request: Option<f64>,
    pub active_lanes: Option<f64>,
    pub occupancy: Option<f64>,
}

impl Summary {
    /// See [`solution_name`].
    pub fn solution(&self) -> &str {
        solution_name(&self.file)
    }
}

impl From<&Attempt> for Summary {
    fn from(attempt: &Attempt) -> Self {
        let outcome = &attempt.outcome;
        let mut reasons: Vec<String> =
            outcome.cases.iter().flat_map(|case| case.reasons.iter().cloned()).collect();
        reasons.sort();
        reasons.dedup();
        Self {
            id: attempt.id.clone(),
            created: attempt.created,
            problem: attempt.problem.clone(),
            revision: attempt.revision,
            author: attempt.author.clone(),
            message: attempt.message.clone(),
            file: attempt.file.clone(),
            parent: attempt.parent.clone(),
            confirms: attempt.confirms.clone(),
            batch: attempt.batch.clone(),
            values: attempt.values.clone(),
            source_hash: attempt.source_hash.clone(),
            device: outcome.device.clone(),
            gpu_uuid: outcome.environment.gpu_uuid.clone(),
            verdict: outcome.verdict,
            modelled: outcome.modelled,
            geomean: outcome.geomean,
            sol_percent: mean(outcome.sizes.iter().map(|size| Some(size.sol_percent.ln())))
                .map(f64::exp)
                .filter(|percent| percent.is_finite()),
            reasons,
            facts: Facts::from(attempt),
        }
    }
}

impl From<&Attempt> for Facts {
    fn from(attempt: &Attempt) -> Self {
        let outcome = &attempt.outcome;
        let kernels = &outcome.kernels;
        let counters = || outcome.sizes.iter().filter_map(|size| size.counters.as_ref());
        let counted = counters().next().is_some();
        Self {
            flags: outcome.toolchain.flags.clone(),
            nvcc: outcome.toolchain.nvcc.clone(),
            registers: kernels.iter().map(|kernel| kernel.registers).max(),
            spill_bytes: (!kernels.is_empty()).then(|| {
                kernels.iter().fold(0, |sum: u32, kernel| sum.saturating_add(kernel.spill_bytes))
            }),
            shared_bytes: kernels.iter().map(|kernel| kernel.shared_bytes).max(),
            dram_bytes: counted
                .then(|| counters().fold(0, |sum: u64, one| sum.saturating_add(one.dram_bytes))),
            warp_instructions: counted.then(|| {
                counters().fold(0, |sum: u64, one| sum.saturating_add(one.warp_instructions))
            }),
            sectors_per_request: mean(counters().map(|one| one.sectors_per_request)),
            active_lanes: mean(counters().map(|one| one.active_lanes)),
            occupancy: mean(counters().map(|one| one.occupancy)),
        }
    }
}

/// Of those that are known; absent where none is.
fn mean(values: impl Iterator<Item = Option<f64>>) -> Option<f64> {
    let (count, sum) = values.flatten().fold((0u32, 0.0), |(n, sum), value| (n + 1, sum + value));
    (count > 0).then(|| sum / f64::from(count))
}
