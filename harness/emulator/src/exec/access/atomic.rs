//! Atomic updates (PTX ISA 9.7.13.5-6).

use super::addresses::active;
use super::{Element, Found, GLOBAL, LOCAL, SHARED, place, pointer};
use crate::exec::{Core, Flow};
use crate::fault::Access;
use crate::isa::flag;
use crate::program::Inst;

/// An update of one element: the old value and the operands to the new value.
pub trait Update {
    type E: Swap;
    fn f(old: Self::E, b: <Self::E as Element>::Lane, c: <Self::E as Element>::Lane) -> Self::E;
}

/// Replace a value atomically.
pub trait Swap: Element {
    /// The value before.
    ///
    /// # Safety
    /// `to` must be valid, aligned, and touched by others only atomically.
    unsafe fn swap(to: *mut Self, f: impl Fn(Self) -> Self) -> Self;
}

macro_rules! swaps {
    ($($t:ty, $atomic:ident);*) => { $(
        impl Swap for $t {
            #[inline(always)]
            unsafe fn swap(to: *mut Self, f: impl Fn(Self) -> Self) -> Self {
                use std::sync::atomic::{$atomic, Ordering::SeqCst};
                // SAFETY: by the contract.
                let cell = unsafe { $atomic::from_ptr(to) };
                let mut old = cell.load(SeqCst);
                while let Err(now) = cell.compare_exchange(old, f(old), SeqCst, SeqCst) {
                    old = now;
                }
                old
            }
        }
    )* };
}
swaps!(u16, AtomicU16; u32, AtomicU32; u64, AtomicU64);

/// `atom` and `red`: `dst = [a + imm]; [a + imm] = f(dst, b, c)`, lane by lane. Lanes go in order;
/// other CTAs run on other host threads, so each update is a compare-and-swap. The space, and
/// whether the old value is wanted, stand in the flags.
///
/// # Safety
/// See [`crate::exec::Handler`].
pub unsafe fn atomic<U: Update>(core: &mut Core, inst: &Inst) -> Flow {
    // SAFETY: `place_atomic` lets pass only addresses that may be written.
    unsafe {
        let mut hosts = [0; 32];
        match place_atomic(core, inst, U::E::BYTES, &mut hosts) {
            Found::Fault => return Flow::Stop,
            Found::Run(first) => {
                for (l, host) in hosts.iter_mut().enumerate() {
                    *host = first + l as u64 * U::E::BYTES;
                }
            }
            Found::Scattered => {}
        }
        let b = core.read::<<U::E as Element>::Lane>(inst.b);
        let c = core.read::<<U::E as Element>::Lane>(inst.c);
        for lane in active(core.mask) {
            let to = pointer(hosts[lane]).cast::<U::E>();
            let old = U::E::swap(to, |old| U::f(old, b[lane], c[lane]));
            if inst.flags & flag::KEEP != 0 {
                (*core.lanes_of::<<U::E as Element>::Lane>(inst.dst))[lane] = old.widen();
            }
        }
    }
    Flow::Next
}

#[inline(never)]
unsafe fn place_atomic(core: &mut Core, inst: &Inst, bytes: u64, hosts: &mut [u64; 32]) -> Found {
    if core.counting {
        core.tally.atomics += 1;
    }
    // SAFETY: passed on.
    unsafe {
        match (inst.flags >> flag::SPACE_SHIFT) as u8 & 3 {
            GLOBAL => place::<GLOBAL>(core, inst, bytes, Access::Atomic, hosts),
            SHARED => place::<SHARED>(core, inst, bytes, Access::Atomic, hosts),
            LOCAL => place::<LOCAL>(core, inst, bytes, Access::Atomic, hosts),
            _ => place::<{ super::GENERIC }>(core, inst, bytes, Access::Atomic, hosts),
        }
    }
}
