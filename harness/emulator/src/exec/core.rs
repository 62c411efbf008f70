//! What an instruction sees: the registers of the warp that runs now, the memories, the counters.
//!
//! There is one [`Core`] per host thread. Switching warps swaps a pointer and a mask.

use std::sync::{Arc, Mutex};

use super::clock::Clock;
use super::l1::L1;
use super::launch_control::Waiting;
use super::schedule_rng::ScheduleRng;
use super::{Lane, Tally, tcgen05};
use crate::fault::FaultKind;
use crate::memory::{Range, Snapshot};
use crate::program::{Inst, Program, Slot};
use crate::sanitize::Sanitizer;

/// The allocation that a memory instruction hit last. Most instructions walk one array, so one
/// entry for each makes the bounds check two comparisons.
#[derive(Clone, Default)]
pub struct CacheEntry {
    pub base: u64,
    pub end: u64,
    pub writable: bool,
    pub range: Option<Arc<Range>>,
}

/// What a warp waits for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wait {
    /// Barrier number.
    pub barrier: u32,
    /// Threads that take part; 0 for all of the CTA.
    pub threads: u32,
    /// `bar.arrive`: counted, and on it goes.
    pub arrive_only: bool,
    /// `bar.red`: a predicate of all threads is wanted.
    pub reduces: bool,
}

impl std::fmt::Display for Wait {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (self.barrier, self.threads) {
            (super::CLUSTER, _) => f.write_str("waits at the cluster's barrier"),
            (barrier, 0) => write!(f, "waits at barrier {barrier} for all threads"),
            (barrier, threads) => write!(f, "waits at barrier {barrier} for {threads} threads"),
        }
    }
}

/// What a warp may ask for again and again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asked {
    /// The `mbarrier` at this host address.
    Mbarrier(u64),
    /// So many columns of tensor memory.
    Columns(u32),
}

#[repr(C, align(64))]
pub struct Core<'a> {
    /// `mask` as lanes: all ones where active.
    pub lane_masks: [u32; 32],
    pub registers: *mut u8,
    /// Lanes that execute.
    pub mask: u32,
    /// Lanes of the warp that have not ended.
    pub live: u32,
    pub program: &'a Program,
    pub memory: &'a Snapshot,
    pub caches: Vec<CacheEntry>,
    pub shared: *mut u8,
    pub shared_len: u64,
    /// Host address and length of the shared memory of each CTA of the cluster, by rank.
    pub peers: Vec<(u64, u64)>,
    /// Local memory of the warp: lane by lane, `local_len` bytes each.
    pub local: *mut u8,
    pub local_len: u64,
    /// The warp's asynchronous copies.
    pub pending: *mut super::copy_async::Pending,
    /// The warp's sums of `wgmma` that nobody has waited for.
    pub in_flight: *mut super::matrix::InFlight,
    /// Which of the warp's registers hold something, where the launch is sanitized.
    pub defined: *mut crate::sanitize::Registers,
    /// Matrix fragments taken apart, once there are some.
    pub fragments: Option<Box<super::matrix::Fragments>>,
    pub sanitizer: Option<Box<Sanitizer>>,
    /// Where the order of things is left to chance.
    pub schedule: Option<ScheduleRng>,
    /// What the launch has printed.
    pub output: &'a Mutex<Vec<u8>>,
    pub counting: bool,
    pub tally: Tally,
    /// Of the CTA that runs, where it is counted.
    pub l1: L1,
    pub wait: Wait,
    /// Set with [`super::Flow::Stop`]: what, and in which lane.
    pub fault: Option<Box<(FaultKind, u32)>>,
    /// Lanes that a `.sync` instruction waits for, with [`super::Flow::Rendezvous`]; those that
    /// share a mask, with [`super::Flow::Apart`].
    pub wanted: u32,
    /// What a wait has just found not ready.
    pub polled: Option<Asked>,
    pub cta_index: [u32; 3],
    /// Number of the CTA in its cluster.
    pub cluster_rank: u32,
    /// Number of the warp in its CTA.
    pub warp: u32,
    /// Clusters that have not begun.
    pub waiting: Waiting<'a>,
    /// Tensor memory of the cluster, and what is under way in it.
    pub tensor: tcgen05::Pipe,
    /// Where the CTA's shared memory begins among the shared addresses of its cluster.
    pub shared_base: u32,
    pub clock: Clock,
}

impl Core<'_> {
    /// The 32 lanes of a register.
    ///
    /// # Safety
    /// `slot` must be within the register file, and even-sized where `T` has 64 bits.
    #[inline(always)]
    pub unsafe fn lanes_of<T: Lane>(&self, slot: Slot) -> *mut [T; 32] {
        // SAFETY: by the contract.
        unsafe { self.registers.add(slot as usize).cast() }
    }

    /// A copy of the 32 lanes of a register.
    ///
    /// # Safety
    /// As for [`Self::lanes_of`].
    #[inline(always)]
    pub unsafe fn read<T: Lane>(&self, slot: Slot) -> [T; 32] {
        // SAFETY: by the contract.
        unsafe { *self.lanes_of(slot) }
    }

    /// Store `new` in the active lanes.
    ///
    /// # Safety
    /// As for [`Self::lanes_of`].
    #[inline(always)]
    pub unsafe fn write<T: Lane>(&mut self, slot: Slot, new: &[T; 32]) {
        // SAFETY: by the contract.
        unsafe {
            let to = self.lanes_of::<T>(slot);
            if self.mask == u32::MAX {
                *to = *new;
            } else {
                for l in 0..32 {
                    (*to)[l] = T::blend(self.lane_masks[l], new[l], (*to)[l]);
                }
            }
        }
    }

    /// The lanes whose predicate is set, active or not.
    ///
    /// # Safety
    /// As for [`Self::lanes_of`].
    #[inline(always)]
    pub unsafe fn predicate(&self, slot: Slot) -> u32 {
        // SAFETY: by the contract.
        bits_of(unsafe { &*self.lanes_of::<u32>(slot) })
    }

    #[inline]
    pub fn set_mask(&mut self, mask: u32) {
        if mask != self.mask {
            self.mask = mask;
            for (l, lane) in self.lane_masks.iter_mut().enumerate() {
                *lane = 0u32.wrapping_sub(mask >> l & 1);
            }
        }
    }

    /// Host address and length of the shared memory that a shared address lies in, and its offset there:
    /// beyond the end, if the cluster has no such CTA.
    pub fn shared_at(&self, address: u32) -> (u64, u64, u32) {
        let rank = (address >> super::access::RANK_SHIFT) as usize;
        let offset = address & ((1 << super::access::RANK_SHIFT) - 1);
        match self.peers.get(rank) {
            Some(&(base, len)) => (base, len, offset),
            None => (self.shared.expose_provenance() as u64, self.shared_len, address),
        }
    }

    /// Record a fault of `lane`.
    #[cold]
    pub fn stop(&mut self, kind: FaultKind, lane: u32) -> super::Flow {
        self.fault = Some(Box::new((kind, lane)));
        super::Flow::Stop
    }

    #[cold]
    pub fn unsupported(&mut self, what: &str) -> super::Flow {
        let lane = self.mask.trailing_zeros();
        self.stop(FaultKind::Unsupported { what: what.to_owned() }, lane)
    }

    #[inline(always)]
    pub fn list(&self, inst: &Inst) -> &[Slot] {
        self.program.list(inst)
    }
}

/// Bit `l` is the top bit of lane `l`: predicates are all ones or zero.
#[inline(always)]
pub fn bits_of(lanes: &[u32; 32]) -> u32 {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_mm_loadu_ps, _mm_movemask_ps};
        let mut bits = 0u32;
        for k in 0..8 {
            // SAFETY: SSE is part of x86-64; the load stays within the array.
            let four = unsafe { _mm_movemask_ps(_mm_loadu_ps(lanes.as_ptr().add(4 * k).cast())) };
            bits |= (four as u32) << (4 * k);
        }
        bits
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        let mut bits = 0;
        for (l, lane) in lanes.iter().enumerate() {
            bits |= (lane >> 31) << l;
        }
        bits
    }
}
