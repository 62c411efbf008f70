//! What one host thread counts: per block of code, and per memory instruction.
//!
//! These are the only counters there are. A launch's totals and a line's share of them are both added
//! up from here when it has ended (`counters.rs`, `profile.rs`), so the two cannot disagree, and while
//! it runs nothing is counted twice. What follows from a block's visits alone, such as instructions by
//! class, costs nothing at all.

use serde::{Deserialize, Serialize};

use super::heat::Heat;
use crate::fault::Access;
use crate::program::Program;

#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// By block.
    pub visits: Vec<Visits>,
    /// By memory instruction: see [`Program::memory`].
    pub traffic: Vec<Traffic>,
    /// What atomic updates cost each stretch of global memory, once there were some.
    pub heat: Heat,
    /// Updates of what the CTAs of a cooperative launch count each other by: one for a CTA and barrier.
    pub grid_arrivals: u64,
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
    /// Of the sectors read, those that the CTA did not find in L1: see [`L1`](super::l1::L1).
    pub load_fetched: u64,
    /// Passes of loads over the banks of L1.
    pub load_passes: u64,
    pub shared_requests: u64,
    /// Passes over the 32 banks, of 128 bytes each.
    pub shared_wavefronts: u64,
    /// Of those, the ones that fewer conflicts would have saved: beyond what so many bytes need.
    pub shared_conflicts: u64,
    /// Four-byte words by which the lowest bits of shared addresses were ever off a multiple of 16.
    pub shared_low_bits: u32,
    pub local_requests: u64,
    /// 32-byte sectors and 128-byte lines of local memory, whose words lie lane beside lane.
    pub local_sectors: u64,
    pub local_lines: u64,
    /// Of the sectors, those written.
    pub local_written: u64,
    pub constant_requests: u64,
    /// Different words that they asked for: the constant cache gives one after the other.
    pub constant_words: u64,
    pub atomics: u64,
    /// Of atomics on shared memory: lanes that want the same word come one after the other.
    pub shared_atomic_passes: u64,
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
    /// 128-byte lines that they touched.
    pub lines: u64,
    /// Of the sectors, those of requests that did not cover all bytes of theirs.
    pub partial: u64,
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

    /// With every loop that only waited counted as if its first look had been enough: what is left is the
    /// same in each run.
    pub fn settled(&self, program: &Program) -> Self {
        let mut tally = self.clone();
        for poll in &program.polls {
            let sum = |of: fn(&Visits) -> u64| -> u64 {
                poll.entered.iter().map(|&from| of(&self.visits[from as usize])).sum()
            };
            let head = &self.visits[poll.blocks.start as usize];
            let warps_of = Part::new(sum(|visits| visits.warps), head.warps);
            let lanes_of = Part::new(sum(|visits| visits.lanes), head.lanes);
            for block in poll.blocks.clone() {
                let visits = &mut tally.visits[block as usize];
                let warps = warps_of.of(visits.warps);
                let lanes = lanes_of.part.min(32 * warps);
                *visits = Visits { warps, lanes, branches: warps, divergent: 0 };
            }
            for (traffic, memory) in tally.traffic.iter_mut().zip(&program.memory) {
                if poll.holds(memory.block) {
                    traffic.scale(warps_of, lanes_of);
                }
            }
        }
        tally
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
        self.heat.add(&other.heat);
        self.grid_arrivals += other.grid_arrivals;
        self.barriers += other.barriers;
        self.ctas += other.ctas;
        self.warps += other.warps;
    }
}

/// Of what went round a loop, what came into it.
#[derive(Clone, Copy)]
struct Part {
    part: u64,
    whole: u64,
}

impl Part {
    fn new(part: u64, whole: u64) -> Self {
        Self { part: part.min(whole), whole: whole.max(1) }
    }

    /// So much of a count.
    fn of(self, count: u64) -> u64 {
        (u128::from(count) * u128::from(self.part) / u128::from(self.whole)) as u64
    }
}

impl Traffic {
    /// Leaves so much of everything but of what nobody had touched before: of bytes by lanes, since the lanes
    /// of a warp need not see a change in the same round, of all else by warps.
    fn scale(&mut self, warps: Part, lanes: Part) {
        let counts = [
            &mut self.load_fetched,
            &mut self.load_passes,
            &mut self.shared_requests,
            &mut self.shared_wavefronts,
            &mut self.shared_conflicts,
            &mut self.shared_atomic_passes,
            &mut self.atomics,
        ];
        let of = |moved: &mut Moved| {
            for count in
                [&mut moved.requests, &mut moved.sectors, &mut moved.lines, &mut moved.partial]
            {
                *count = warps.of(*count);
            }
            moved.bytes = lanes.of(moved.bytes);
        };
        counts.into_iter().for_each(|count| *count = warps.of(*count));
        of(&mut self.load);
        of(&mut self.store);
    }

    pub fn add(&mut self, other: &Self) {
        self.load.add(&other.load);
        self.store.add(&other.store);
        self.load_fetched += other.load_fetched;
        self.load_passes += other.load_passes;
        self.shared_requests += other.shared_requests;
        self.shared_wavefronts += other.shared_wavefronts;
        self.shared_conflicts += other.shared_conflicts;
        self.shared_low_bits |= other.shared_low_bits;
        self.local_requests += other.local_requests;
        self.local_sectors += other.local_sectors;
        self.local_lines += other.local_lines;
        self.local_written += other.local_written;
        self.constant_requests += other.constant_requests;
        self.constant_words += other.constant_words;
        self.atomics += other.atomics;
        self.shared_atomic_passes += other.shared_atomic_passes;
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
        self.lines += sectors.lines;
        self.partial += if bytes < 32 * sectors.touched { sectors.touched } else { 0 };
        self.fresh += sectors.fresh;
        self.bytes += bytes;
    }

    pub fn add(&mut self, other: &Self) {
        self.requests += other.requests;
        self.sectors += other.sectors;
        self.lines += other.lines;
        self.partial += other.partial;
        self.fresh += other.fresh;
        self.bytes += other.bytes;
    }
}

impl Sectors {
    pub fn add(&mut self, other: Self) {
        self.touched += other.touched;
        self.lines += other.lines;
        self.fresh += other.fresh;
    }
}

/// Distinct sectors of one request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sectors {
    pub touched: u64,
    /// 128-byte lines that hold them.
    pub lines: u64,
    /// Of the sectors, the ones that nothing had touched before.
    pub fresh: u64,
}
