//! What a launch cost, counted while it ran.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::exec::{Tally, Traffic};
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
    /// Multiply-adds of the tensor cores, by the elements of A as PTX names them; those that sparse A leaves out count.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub multiply_adds: Vec<(String, u64)>,
    /// Bytes of shared memory that tensor cores read by themselves.
    #[serde(default, skip_serializing_if = "crate::exec::is_zero")]
    pub tensor_shared_bytes: u64,
}

impl Counters {
    /// Add another launch of the same kernel.
    pub fn add(&mut self, other: &Self) {
        let Self { by_class, static_shared, multiply_adds, .. } = self;
        for (all, more) in [(by_class, &other.by_class), (multiply_adds, &other.multiply_adds)] {
            for (name, count) in more {
                match all.iter_mut().find(|(known, _)| known == name) {
                    Some((_, sum)) => *sum += count,
                    None => all.push((name.clone(), *count)),
                }
            }
        }
        *static_shared = (*static_shared).max(other.static_shared);
        for (sum, more) in [
            (&mut self.ctas, other.ctas),
            (&mut self.warps, other.warps),
            (&mut self.warp_instructions, other.warp_instructions),
            (&mut self.thread_instructions, other.thread_instructions),
            (&mut self.global_load_requests, other.global_load_requests),
            (&mut self.global_load_sectors, other.global_load_sectors),
            (&mut self.global_load_bytes, other.global_load_bytes),
            (&mut self.global_store_requests, other.global_store_requests),
            (&mut self.global_store_sectors, other.global_store_sectors),
            (&mut self.global_store_bytes, other.global_store_bytes),
            (&mut self.dram_read_sectors, other.dram_read_sectors),
            (&mut self.dram_write_sectors, other.dram_write_sectors),
            (&mut self.shared_requests, other.shared_requests),
            (&mut self.shared_wavefronts, other.shared_wavefronts),
            (&mut self.local_requests, other.local_requests),
            (&mut self.local_sectors, other.local_sectors),
            (&mut self.atomics, other.atomics),
            (&mut self.barriers, other.barriers),
            (&mut self.branches, other.branches),
            (&mut self.divergent_branches, other.divergent_branches),
            (&mut self.tensor_shared_bytes, other.tensor_shared_bytes),
        ] {
            *sum += more;
        }
    }

    pub(crate) fn of(program: &Program, tally: &Tally) -> Self {
        let mut moved = Traffic::default();
        tally.traffic.iter().for_each(|traffic| moved.add(traffic));
        let mut counters = Self {
            ctas: tally.ctas,
            warps: tally.warps,
            global_load_requests: moved.load.requests,
            global_load_sectors: moved.load.sectors,
            global_store_requests: moved.store.requests,
            global_store_sectors: moved.store.sectors,
            global_load_bytes: moved.load.bytes,
            global_store_bytes: moved.store.bytes,
            dram_read_sectors: moved.load.fresh,
            dram_write_sectors: moved.store.fresh,
            shared_requests: moved.shared_requests,
            shared_wavefronts: moved.shared_wavefronts,
            local_requests: moved.local_requests,
            local_sectors: moved.local_sectors,
            atomics: moved.atomics,
            barriers: tally.barriers,
            static_shared: program.static_shared,
            tensor_shared_bytes: moved.tensor_shared_bytes,
            ..Self::default()
        };
        let mut classes = BTreeMap::<Class, u64>::new();
        for (block, visits) in program.blocks.iter().zip(&tally.visits) {
            let issued = u64::from(block.origins.end - block.origins.start);
            counters.warp_instructions += visits.warps * issued;
            counters.thread_instructions += visits.lanes * issued;
            if program.branches(block) {
                counters.branches += visits.branches;
                counters.divergent_branches += visits.divergent;
            }
            for origin in program.origins(block) {
                *classes.entry(origin.class).or_default() += visits.warps;
            }
        }
        let mut products = BTreeMap::<&str, u64>::new();
        for (block, work) in &program.works {
            let warps = tally.visits[*block as usize].warps;
            *products.entry(work.element.name()).or_default() += warps * work.multiply_adds;
        }
        let done = products.into_iter().filter(|(_, n)| *n > 0);
        counters.multiply_adds = done.map(|(name, n)| (name.to_owned(), n)).collect();
        let named = classes.into_iter().filter(|(_, n)| *n > 0);
        counters.by_class = named.map(|(class, n)| (class.name().to_owned(), n)).collect();
        counters
    }
}
