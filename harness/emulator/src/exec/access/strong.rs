//! Strong loads and stores, and fences (PTX ISA 8, Memory Consistency Model).
//!
//! CTAs run on several host threads, so what the model promises between them the host's atomics must give:
//!
//! ```text
//! ld.relaxed, ld.volatile, ld.mmio      an atomic load of each element, relaxed       (8.3: strong)
//! ld.acquire, st.release                the same, acquire or release
//! fence.sc, membar                      a sequentially consistent fence               (8.8, Fence-SC)
//! fence.acq_rel, .acquire, .release     a fence of both kinds
//! atom, red                             sequentially consistent, which is more than asked
//! ```
//!
//! All threads of a CTA, and of a cluster, run on one host thread in turns. So accesses to shared and local
//! memory, and fences of the scopes `.cta` and `.cluster`, need nothing: program order of the host thread
//! is stronger than what they ask.
//!
//! Weak accesses stay plain reads and writes of raw pointers. In a program without data races, strong
//! accesses and fences put any two weak accesses that conflict in order (8.10.1), and since those are atomics
//! here, that order is the host's happens-before. In a program with one the values are undefined by PTX, too
//! (the sanitizer finds it); on the host it remains a race of naturally aligned elements behind calls
//! through function pointers, of which the compiler sees one side at a time.

use std::sync::MutexGuard;
use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering, fence};

use super::addresses::active;
use super::atomic::lock_wide;
use super::{Element, Found, place_in_named_space, pointer};
use crate::exec::{Core, Flow};
use crate::fault::Access;
use crate::isa::flag;
use crate::program::Inst;

/// An element that one atomic of the host reads or writes.
pub trait Whole: Element {
    /// # Safety
    /// `from` must be valid and aligned.
    unsafe fn load(from: *mut Self, order: Ordering) -> Self;
    /// # Safety
    /// As for [`Self::load`].
    unsafe fn store(self, to: *mut Self, order: Ordering);
}

macro_rules! whole {
    ($($t:ty, $atomic:ident);*) => { $(
        impl Whole for $t {
            #[inline(always)]
            unsafe fn load(from: *mut Self, order: Ordering) -> Self {
                // SAFETY: by the contract.
                unsafe { $atomic::from_ptr(from) }.load(order)
            }
            #[inline(always)]
            unsafe fn store(self, to: *mut Self, order: Ordering) {
                // SAFETY: by the contract.
                unsafe { $atomic::from_ptr(to) }.store(self, order);
            }
        }
    )* };
}
whole!(u8, AtomicU8; u16, AtomicU16; u32, AtomicU32; u64, AtomicU64);

/// Elements of 128 bits are two of 64, which nobody may see half of.
fn whole_pair(inst: &Inst) -> Option<MutexGuard<'static, ()>> {
    (inst.flags & flag::PAIRED != 0).then(lock_wide)
}

/// `ld` with `.relaxed`, `.acquire`, `.volatile` or `.mmio`: as [`super::load`], each element by an atomic.
///
/// # Safety
/// See [`crate::exec::Handler`].
pub unsafe fn strong_load<E: Whole>(core: &mut Core, inst: &Inst) -> Flow {
    let order = if inst.flags & flag::ORDERED != 0 { Ordering::Acquire } else { Ordering::Relaxed };
    // SAFETY: `hosts_of` lets pass only addresses whose bytes are readable and aligned; the list's slots
    // are of the file.
    unsafe {
        let Some(hosts) = hosts_of(core, inst, E::BYTES, Access::Read) else { return Flow::Stop };
        let pair = whole_pair(inst);
        for lane in active(core.mask) {
            let from = pointer(hosts[lane]).cast::<E>();
            for (index, &slot) in core.list(inst).iter().enumerate() {
                let value = E::load(from.add(index), order);
                (*core.lanes_of::<E::Lane>(slot))[lane] = value.widen();
            }
        }
        drop(pair);
    }
    Flow::Next
}

/// `st` with `.relaxed`, `.release`, `.volatile` or `.mmio`.
///
/// # Safety
/// See [`crate::exec::Handler`].
pub unsafe fn strong_store<E: Whole>(core: &mut Core, inst: &Inst) -> Flow {
    let order = if inst.flags & flag::ORDERED != 0 { Ordering::Release } else { Ordering::Relaxed };
    // SAFETY: as in `strong_load`, for writing.
    unsafe {
        let Some(hosts) = hosts_of(core, inst, E::BYTES, Access::Write) else { return Flow::Stop };
        let pair = whole_pair(inst);
        for lane in active(core.mask) {
            let to = pointer(hosts[lane]).cast::<E>();
            for (index, &slot) in core.list(inst).iter().enumerate() {
                let value = (*core.lanes_of::<E::Lane>(slot))[lane];
                E::narrow(value).store(to.add(index), order);
            }
        }
        drop(pair);
    }
    Flow::Next
}

/// The host address of each active lane's elements, of `bytes` each.
#[inline(never)]
unsafe fn hosts_of(core: &mut Core, inst: &Inst, bytes: u64, access: Access) -> Option<[u64; 32]> {
    let bytes = bytes * u64::from(inst.d);
    let mut hosts = [0; 32];
    // SAFETY: passed on.
    match unsafe { place_in_named_space(core, inst, bytes, access, &mut hosts) } {
        Found::Fault => return None,
        Found::Run(first) => (0..32).for_each(|l| hosts[l] = first + bytes * l as u64),
        Found::Scattered => {}
    }
    Some(hosts)
}

/// `fence.sc` and `membar` of the GPU's scope or wider.
///
/// # Safety
/// See [`crate::exec::Handler`].
pub unsafe fn fence_sc(_: &mut Core, _: &Inst) -> Flow {
    fence(Ordering::SeqCst);
    Flow::Next
}

/// The other fences of the GPU's scope or wider.
///
/// # Safety
/// See [`crate::exec::Handler`].
pub unsafe fn fence_acq_rel(_: &mut Core, _: &Inst) -> Flow {
    fence(Ordering::AcqRel);
    Flow::Next
}
