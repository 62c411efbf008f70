//! What the time model takes for a GPU: every number in it that is neither a count nor on a data sheet.
//!
//! Those of an H200 are fitted to the calibration set and written down by the test that fits them
//! (`h200.toml`; `tests/calibration`). Another GPU has what `gpus.toml` says of it in their place, and an
//! H200's where it says nothing. Cycles are an SM's, unless something else is said.

use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Figures {
    // DRAM.
    /// Of the data sheet's bandwidth, what kernels reach that read, and that write.
    pub read_reached: f64,
    pub write_reached: f64,
    /// Share of L2 that takes what is written and hands it to DRAM after the launch, and how much of DRAM's
    /// time that still costs.
    pub kept: f64,
    pub kept_cost: f64,

    // L2: cycles of the whole GPU, of which another GPU takes so many times an H200's.
    pub l2_cost: f64,
    /// For a sector that a store covers in part: L2 must merge it; for the line it is in; and for a sector
    /// that is written whole.
    pub l2_part: f64,
    pub l2_line: f64,
    pub l2_whole: f64,
    /// For a sector that L1 does not have.
    pub l2_read: f64,
    /// Bytes of an SM's L1 that hold local memory.
    pub local_l1: f64,
    /// How often what `ptxas` counts as spilled once is written.
    pub spills: f64,

    // The load-store path of an SM.
    /// For a pass of loads over the banks of L1, for a line that is read, and for a sector that L1 did not
    /// have.
    pub load_pass: f64,
    pub load_line: f64,
    pub load_sector: f64,
    /// For a line that is written; and for each of its sectors, covered in part or whole.
    pub store_line: f64,
    pub store_part: f64,
    pub store_whole: f64,
    /// For a pass of an atomic on shared memory.
    pub shared_atomic: f64,
    /// For a line of local memory.
    pub local_line: f64,

    // Units. Of what the instructions' names promise, the share that the unit sees.
    pub issued: f64,
    /// Machine instructions for a copy between registers, most of which `ptxas` leaves out, and for lanes
    /// that part.
    pub move_slots: f64,
    pub split_slots: f64,
    pub logic: f64,
    pub multiplier: f64,
    pub special: f64,
    /// Cycles for a product of 16 x 8 x 16 elements of 16 bits by `mma.sync`.
    pub tensor_cycles: f64,
    /// Cycles of the constant cache for each word.
    pub constant_word: f64,

    // The life of a warp.
    /// Until the first instruction of a CTA in a place that another one left.
    pub start_ns: f64,
    /// From a load to its value under load: from DRAM, from L2, and from L1.
    pub latency_ns: f64,
    pub l2_latency_ns: f64,
    pub l1_latency_ns: f64,
    /// How much of a launch's misses a round of loads sees: it waits for the slowest of its requests.
    pub misses: f64,
    /// Of the rounds of loads that only the order of the text keeps apart, the share that remains: `ptxas`
    /// moves loads up.
    pub text_order: f64,
    /// Cycles of a round of shared memory that other instructions do not hide.
    pub shared_round: f64,
    /// Cycles of a barrier, and for each warp of the CTA.
    pub barrier: f64,
    pub barrier_warp: f64,
    /// Cycles that a warp waits for a word of constant memory.
    pub constant_wait: f64,
    /// Of a chain of instructions, the share that a warp waits for.
    pub chain: f64,
    /// How strictly few waves are whole: of CTAs that take the same time, the last wave costs as much as any.
    pub whole_waves: f64,

    // What nothing hides.
    /// How much of the first warps' life, and of how much at most.
    pub fill: f64,
    pub fill_most_ns: f64,
    /// A barrier of the whole grid, and for each CTA.
    pub grid_barrier_ns: f64,
    pub grid_barrier_cta_ns: f64,

    // The GPU as a whole.
    /// From the event before a call to the one after it, with nothing to do; and for each further launch.
    pub launch_ns: f64,
    pub further_launch_ns: f64,
    /// From one CTA that the GPU hands out to the next.
    pub dispatch_ns: f64,
    /// Of one update of L2 that others wait for.
    pub atomic_ns: f64,
    /// Exponent of the norm that joins the terms. Infinity would be their maximum, which tells two kernels
    /// apart only by their slowest term.
    pub overlap: f64,
}

static CALIBRATED: LazyLock<Figures> = LazyLock::new(|| {
    // Part of the binary, and a test parses it.
    toml::from_str(include_str!("h200.toml")).expect("h200.toml is valid")
});

impl Figures {
    /// An H200's.
    pub fn calibrated() -> Self {
        CALIBRATED.clone()
    }

    /// An H200's but for those that are given.
    pub fn with(given: &toml::Table) -> Result<Self, toml::de::Error> {
        let mut table: toml::Table = toml::from_str(include_str!("h200.toml"))?;
        table.extend(given.iter().map(|(name, figure)| (name.clone(), figure.clone())));
        table.try_into()
    }
}
