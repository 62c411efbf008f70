//! What a launch cost, counted while it ran.

use serde::{Deserialize, Serialize};

use crate::exec::Tally;
use crate::isa::Class;
use crate::program::Program;

/// Deterministic: the same launch counts the same on any machine, at any number of threads.
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

impl Counters {
    pub(crate) fn of(program: &Program, tally: &Tally, touched: (u64, u64)) -> Self {
        let mut classes = std::collections::BTreeMap::<Class, u64>::new();
        let mut counters = Self {
            ctas: tally.ctas,
            warps: tally.warps,
            global_load_requests: tally.global_load_requests,
            global_load_sectors: tally.global_load_sectors,
            global_store_requests: tally.global_store_requests,
            global_store_sectors: tally.global_store_sectors,
            global_load_bytes: tally.global_load_bytes,
            global_store_bytes: tally.global_store_bytes,
            dram_read_sectors: touched.0,
            dram_write_sectors: touched.1,
            shared_requests: tally.shared_requests,
            shared_wavefronts: tally.shared_wavefronts,
            local_requests: tally.local_requests,
            local_sectors: tally.local_sectors,
            atomics: tally.atomics,
            barriers: tally.barriers,
            branches: tally.branches,
            divergent_branches: tally.divergent_branches,
            static_shared: program.static_shared,
            ..Self::default()
        };
        for (block, &(visits, lanes)) in program.blocks.iter().zip(&tally.visits) {
            let issued = u64::from(block.origins.end - block.origins.start);
            counters.warp_instructions += visits * issued;
            counters.thread_instructions += lanes * issued;
            for origin in &program.origins[block.origins.start as usize..block.origins.end as usize]
            {
                *classes.entry(origin.class).or_default() += visits;
            }
        }
        let named = classes.into_iter().filter(|(_, n)| *n > 0);
        counters.by_class = named.map(|(class, n)| (class.name().to_owned(), n)).collect();
        counters
    }
}
