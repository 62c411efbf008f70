//! What a warp does with its time.

use emulator::Counters;
use serde::Serialize;

use crate::figures::Figures;
use crate::gpus::Gpu;

/// Seconds each, on average over a launch.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Life {
    /// Until its CTA runs.
    pub start: f64,
    /// Waiting for memory of any kind, and at barriers.
    pub memory: f64,
    /// Instructions that need each other's values.
    pub chain: f64,
}

impl Life {
    pub fn seconds(&self) -> f64 {
        self.start + self.memory + self.chain
    }

    /// In microseconds.
    pub fn micros(self) -> Self {
        Self { start: self.start * 1e6, memory: self.memory * 1e6, chain: self.chain * 1e6 }
    }
}

/// How often a warp waits, in rounds as they stand in the text and at least.
fn rounds(figures: &Figures, text: u64, least: u64) -> f64 {
    least as f64 + figures.text_order * text.saturating_sub(least) as f64
}

/// The life of a warp, in a CTA of so many.
pub fn life(gpu: &Gpu, counted: &Counters, warps_of_cta: u32) -> Life {
    let figures = &gpu.figures;
    let warps = counted.warps.max(1) as f64;
    let of = |count: u64| count as f64 / warps;
    // A round waits for the slowest of its requests.
    let sectors = counted.global_load_sectors.max(1) as f64;
    let beyond = |count: u64| (figures.misses * count as f64 / sectors).min(1.0);
    let (l2, dram) = (beyond(counted.global_load_fetched), beyond(counted.dram_read_sectors));
    let round = figures.l1_latency_ns * (1.0 - l2)
        + figures.l2_latency_ns * (l2 - dram).max(0.0)
        + figures.latency_ns * dram;
    // A CTA lasts as long as those of its warps that load.
    let far = rounds(figures, counted.load_rounds, counted.load_levels) / warps;
    let far = if far > 0.0 { far.max(1.0) } else { 0.0 };
    let near = rounds(figures, counted.shared_rounds, counted.shared_levels) / warps;
    let barrier = figures.barrier + figures.barrier_warp * f64::from(warps_of_cta);
    let cycles = near * figures.shared_round
        + of(counted.constant_words) * figures.constant_wait
        + of(counted.barriers) * barrier;
    Life {
        start: figures.start_ns * 1e-9,
        memory: far * round * 1e-9 + cycles / gpu.clock(),
        chain: of(counted.chain_cycles) * figures.chain / gpu.clock(),
    }
}
