//! PTX text in, memory or a fault out. Knows no problem and never prints.

pub mod fatbin;
pub mod ptx;

use serde::{Deserialize, Serialize};

/// What a launch cost, counted while it ran. Deterministic: the same launch counts the same on any
/// machine, at any number of threads.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Counters {
    pub ctas: u64,
    pub warps: u64,
    /// Instructions issued, one for a warp.
    pub warp_instructions: u64,
    /// Lanes active, summed over those.
    pub thread_instructions: u64,
    /// Warp instructions by class: see `Class`.
    pub by_class: Vec<(String, u64)>,
    /// Global memory requests (one for a warp instruction) and 32-byte sectors they touched.
    pub global_load_requests: u64,
    pub global_load_sectors: u64,
    pub global_store_requests: u64,
    pub global_store_sectors: u64,
    /// Bytes the lanes asked for.
    pub global_load_bytes: u64,
    pub global_store_bytes: u64,
    /// Distinct sectors of the launch: what DRAM must deliver or take at least once.
    pub dram_read_sectors: u64,
    pub dram_write_sectors: u64,
    pub shared_requests: u64,
    /// Passes over the 32 banks; equal to the requests when nothing conflicts.
    pub shared_wavefronts: u64,
    pub local_requests: u64,
    pub local_sectors: u64,
    pub atomics: u64,
    pub barriers: u64,
    pub branches: u64,
    pub divergent_branches: u64,
    pub static_shared: u32,
}

/// Why a launch stopped. Rendered in one place; whose fault it is is part of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Fault {
    pub kernel: String,
    pub kind: String,
    pub message: String,
}
