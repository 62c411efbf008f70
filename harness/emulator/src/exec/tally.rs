//! What one host thread counts: per block of code, and per memory instruction.
//!
//! These are the only counters there are. A launch's totals and a line's share of them are both added
//! up from here when it has ended (`counters.rs`, `profile.rs`), so the two cannot disagree, and while
//! it runs nothing is counted twice. What follows from a block's visits alone, such as instructions by
//! class, costs nothing at all.

use serde::{Deserialize, Serialize};

use crate::fault::Access;
use crate::program::Program;

#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// By block.
    pub visits: Vec<Visits>,
    /// By memory instruction: see [`Program::memory`].
    pub traffic: Vec<Traffic>,
    pub barriers: u64,
    pub ctas: u64,
    pub warps: u64,
}

/// How often a block was run, and how it was left.
#[derive(Clone, Copy, Debug, Default)]
pub struct Visits {
    pub warps: u64,
    /// Summed over those.
    pub lanes: u64,
    /// Warps that came to the conditional branch at its end.
    pub branches: u64,
    /// Of those, the ones whose lanes disagreed.
    pub divergent: u64,
}

/// What a memory instruction has moved. One that is generic, or copies, may do so in several memories.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Traffic {
    pub load: Moved,
    /// Atomic updates count here, too.
    pub store: Moved,
    pub shared_requests: u64,
    /// Passes over the 32 banks, of 128 bytes each.
    pub shared_wavefronts: u64,
    /// Of those, the ones that fewer conflicts would have saved: beyond what so many bytes need.
    pub shared_conflicts: u64,
    pub local_requests: u64,
    pub local_sectors: u64,
    pub atomics: u64,
    /// Bytes of shared memory that tensor cores read by themselves, as operands of `wgmma` and `tcgen05`.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub tensor_shared_bytes: u64,
}

/// What is not written down where there is none of it.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
pub fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// What went to global memory, or came from there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Moved {
    /// One for a warp instruction.
    pub requests: u64,
    /// 32-byte sectors that they touched.
    pub sectors: u64,
    /// Sectors that nothing of this launch had touched before: these come from DRAM, or go there.
    pub fresh: u64,
    /// That the lanes asked for.
    pub bytes: u64,
}

impl Tally {
    pub fn new(program: &Program) -> Self {
        Self {
            visits: vec![Visits::default(); program.blocks.len()],
            traffic: vec![Traffic::default(); program.caches()],
            ..Self::default()
        }
    }

    /// Add another thread's counts of the same program.
    pub fn add(&mut self, other: &Self) {
        for (sum, more) in self.visits.iter_mut().zip(&other.visits) {
            sum.warps += more.warps;
            sum.lanes += more.lanes;
            sum.branches += more.branches;
            sum.divergent += more.divergent;
        }
        for (sum, more) in self.traffic.iter_mut().zip(&other.traffic) {
            sum.add(more);
        }
        self.barriers += other.barriers;
        self.ctas += other.ctas;
        self.warps += other.warps;
    }
}

impl Traffic {
    pub fn add(&mut self, other: &Self) {
        self.load.add(&other.load);
        self.store.add(&other.store);
        self.shared_requests += other.shared_requests;
        self.shared_wavefronts += other.shared_wavefronts;
        self.shared_conflicts += other.shared_conflicts;
        self.local_requests += other.local_requests;
        self.local_sectors += other.local_sectors;
        self.atomics += other.atomics;
        self.tensor_shared_bytes += other.tensor_shared_bytes;
    }

    /// Where a request to global memory counts.
    #[inline(always)]
    pub fn global(&mut self, access: Access) -> &mut Moved {
        match access {
            Access::Read => &mut self.load,
            Access::Write | Access::Atomic => &mut self.store,
        }
    }
}

impl Moved {
    /// One request.
    #[inline(always)]
    pub fn request(&mut self, sectors: Sectors, bytes: u64) {
        self.requests += 1;
        self.sectors += sectors.touched;
        self.fresh += sectors.fresh;
        self.bytes += bytes;
    }

    pub fn add(&mut self, other: &Self) {
        self.requests += other.requests;
        self.sectors += other.sectors;
        self.fresh += other.fresh;
        self.bytes += other.bytes;
    }
}

impl Sectors {
    pub fn add(&mut self, other: Self) {
        self.touched += other.touched;
        self.fresh += other.fresh;
    }
}

/// Distinct sectors of one request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sectors {
    pub touched: u64,
    /// Of those, the ones that nothing had touched before.
    pub fresh: u64,
}
