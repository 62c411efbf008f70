//! What each place in the source cost: a launch's counts, split by where the compiler says that an
//! instruction comes from.
//!
//! Nothing is counted for it while the launch runs. Visits of a block times the instructions in it
//! give those of a line; memory traffic is kept for each memory instruction anyway. Added up over the
//! lines, each count is the launch's own (a test holds it to that).
//!
//! An instruction inlined from a header belongs to the header's line and to the line that called it:
//!
//! ```text
//! intrinsics.h:812  in __shfl_xor_sync     the innermost
//! kernel.cu:7       in amax
//! kernel.cu:16      the outermost
//! ```
//!
//! The whole chain is kept, and whoever shows it decides which of them to name.

use std::collections::{BTreeMap, HashMap};

use serde::{Deserialize, Serialize};

use crate::counters::{far, rounds};
use crate::exec::{Tally, Traffic};
use crate::fault::SourcePoint;
use crate::isa::Class;
use crate::program::Program;

/// One place in the source, and what was run there.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Place {
    /// Innermost first; the others are the calls it was inlined through. Empty where the compiler gave
    /// no line.
    pub source: Vec<SourcePoint>,
    pub counts: LineCounters,
}

/// What was run at a place, or at several.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LineCounters {
    /// Instructions issued, one for a warp.
    pub warp_instructions: u64,
    /// Lanes active, summed over those.
    pub thread_instructions: u64,
    /// Warp instructions by class.
    pub by_class: BTreeMap<Class, u64>,
    /// Conditional branches that warps came to, and those where their lanes disagreed.
    pub branches: u64,
    pub divergent_branches: u64,
    pub traffic: Traffic,
}

/// The places of one kernel, over one launch or more.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct KernelProfile {
    /// As in the PTX.
    pub kernel: String,
    pub launches: u64,
    pub places: Vec<Place>,
    /// How often warps waited for global memory, at least: loads of one basic block that do not need
    /// each other's values can be under way together. Summed over warps. `ptxas` may do worse (too few
    /// registers) or, across blocks, better.
    pub load_rounds: u64,
}

impl LineCounters {
    pub fn add(&mut self, other: &Self) {
        self.warp_instructions += other.warp_instructions;
        self.thread_instructions += other.thread_instructions;
        for (class, count) in &other.by_class {
            *self.by_class.entry(*class).or_default() += count;
        }
        self.branches += other.branches;
        self.divergent_branches += other.divergent_branches;
        self.traffic.add(&other.traffic);
    }
}

impl KernelProfile {
    /// `chain` tells a location's place in the source: see [`Program::locations`].
    pub(crate) fn of(
        kernel: &str,
        program: &Program,
        tally: &Tally,
        chain: impl Fn(Option<u32>) -> Vec<SourcePoint>,
    ) -> Self {
        let mut by_location = HashMap::<Option<u32>, LineCounters>::new();
        let location = |origin: u32| program.origins.get(origin as usize).and_then(|o| o.location);
        for (block, visits) in program.blocks.iter().zip(&tally.visits) {
            for origin in program.origins(block) {
                let place = by_location.entry(origin.location).or_default();
                place.warp_instructions += visits.warps;
                place.thread_instructions += visits.lanes;
                if visits.warps > 0 {
                    *place.by_class.entry(origin.class).or_default() += visits.warps;
                }
            }
            if program.branches(block) {
                let last = block.origins.end - 1;
                let branch = by_location.entry(location(last)).or_default();
                branch.branches += visits.branches;
                branch.divergent_branches += visits.divergent;
            }
        }
        for (index, traffic) in tally.traffic.iter().enumerate() {
            let memory = program.memory.get(index);
            let at = memory.and_then(|memory| location(memory.origin));
            by_location.entry(at).or_default().traffic.add(traffic);
        }
        let mut profile = Self { kernel: kernel.to_owned(), launches: 1, ..Self::default() };
        for (location, counts) in by_location {
            profile.place(Place { source: chain(location), counts });
        }
        profile.sort();
        profile.load_rounds = rounds(program, tally, &program.levels, far);
        profile
    }

    /// Add another launch of the same kernel.
    pub fn add(&mut self, other: Self) {
        self.launches += other.launches;
        self.load_rounds += other.load_rounds;
        other.places.into_iter().for_each(|place| self.place(place));
        self.sort();
    }

    /// What was never run says nothing.
    fn place(&mut self, place: Place) {
        if place.counts == LineCounters::default() {
            return;
        }
        match self.places.iter_mut().find(|known| known.source == place.source) {
            Some(known) => known.counts.add(&place.counts),
            None => self.places.push(place),
        }
    }

    fn sort(&mut self) {
        let key = |place: &Place| {
            place.source.iter().map(|at| (at.file.clone(), at.line)).rev().collect::<Vec<_>>()
        };
        self.places.sort_by_cached_key(key);
    }
}
