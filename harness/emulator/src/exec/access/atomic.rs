//! Atomic updates (PTX ISA 9.7.13.5-6).

use std::sync::{Mutex, MutexGuard};

use super::addresses::{Addresses, active};
use super::{Element, Found, GENERIC, GLOBAL, place_in_named_space, pointer};
use crate::exec::{Core, Flow};
use crate::fault::Access;
use crate::isa::flag;
use crate::memory::AllocationKind;
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
        if let Err(flow) = hosts_of(core, inst, U::E::BYTES, &mut hosts) {
            return flow;
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

/// `atom` and `red` of vectors: the list has the old values' slots (if they are wanted), then the
/// operands'. Each element is updated by itself (PTX ISA 9.7.13.5), but the whole is aligned.
///
/// # Safety
/// See [`crate::exec::Handler`].
pub unsafe fn atomic_vector<U: Update>(core: &mut Core, inst: &Inst) -> Flow {
    let keep = inst.flags & flag::KEEP != 0;
    let count = inst.d as usize / if keep { 2 } else { 1 };
    let bytes = U::E::BYTES * count as u64;
    // SAFETY: as in `atomic`; the list's slots are of the file.
    unsafe {
        let mut hosts = [0; 32];
        if let Err(flow) = hosts_of(core, inst, bytes, &mut hosts) {
            return flow;
        }
        let list = core.program.list(inst);
        let (old, operands) = list.split_at(list.len() - count);
        for lane in active(core.mask) {
            for (index, &slot) in operands.iter().enumerate() {
                let operand = (*core.lanes_of::<<U::E as Element>::Lane>(slot))[lane];
                let to = pointer(hosts[lane]).cast::<U::E>().add(index);
                let before = U::E::swap(to, |old| U::f(old, operand, operand));
                if let Some(&slot) = old.get(index) {
                    (*core.lanes_of::<<U::E as Element>::Lane>(slot))[lane] = before.widen();
                }
            }
        }
    }
    Flow::Next
}

/// Whoever holds it may touch 128 bits: there is no atomic of that size in Rust for every host. An
/// atomic of another size on the same bytes at the same time would not see it.
static WIDE: Mutex<()> = Mutex::new(());

pub fn lock_wide() -> MutexGuard<'static, ()> {
    WIDE.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// `atom.exch.b128` and `atom.cas.b128`: the list has the old value's two slots, then those of the
/// new value, for `cas` after those of what it must be.
///
/// # Safety
/// See [`crate::exec::Handler`].
pub unsafe fn exchange_wide(core: &mut Core, inst: &Inst) -> Flow {
    // SAFETY: as in `atomic`; the list's slots are of the file.
    unsafe {
        let mut hosts = [0; 32];
        if let Err(flow) = hosts_of(core, inst, 16, &mut hosts) {
            return flow;
        }
        let list = core.program.list(inst);
        let (old, new, wanted) = match *list {
            [a, b, c, d] => ([a, b], [c, d], None),
            [a, b, c, d, e, f] => ([a, b], [e, f], Some([c, d])),
            _ => return core.unsupported("an exchange of this many registers"),
        };
        let number = |core: &Core, pair: [u32; 2], lane: usize| {
            pair.map(|slot| (*core.lanes_of::<u64>(slot))[lane])
        };
        for lane in active(core.mask) {
            let to = pointer(hosts[lane]).cast::<[u64; 2]>();
            let guard = lock_wide();
            let before = to.read();
            if wanted.is_none_or(|wanted| number(core, wanted, lane) == before) {
                to.write(number(core, new, lane));
            }
            drop(guard);
            for (slot, before) in old.into_iter().zip(before) {
                (*core.lanes_of::<u64>(slot))[lane] = before;
            }
        }
    }
    Flow::Next
}

/// The host address of each active lane's bytes.
unsafe fn hosts_of(
    core: &mut Core,
    inst: &Inst,
    bytes: u64,
    hosts: &mut [u64; 32],
) -> Result<(), Flow> {
    // SAFETY: passed on.
    match unsafe { place_atomic(core, inst, bytes, hosts) } {
        Found::Fault => return Err(Flow::Stop),
        Found::Run(first) => {
            for (l, host) in hosts.iter_mut().enumerate() {
                *host = first + l as u64 * bytes;
            }
        }
        Found::Scattered => {}
    }
    Ok(())
}

#[inline(never)]
unsafe fn place_atomic(core: &mut Core, inst: &Inst, bytes: u64, hosts: &mut [u64; 32]) -> Found {
    if core.counting {
        core.tally.traffic[inst.cache as usize].atomics += 1;
    }
    // SAFETY: passed on.
    let found = unsafe { place_in_named_space(core, inst, bytes, Access::Atomic, hosts) };
    let counted = core.counting && inst.flags & flag::POLLS == 0;
    if counted && !matches!(found, Found::Fault) {
        // SAFETY: passed on.
        unsafe { meet(core, inst, bytes, hosts, &found) };
    }
    found
}

/// Counts what an update waits for: of shared memory, lanes that want the same word; of global memory,
/// everybody who updates words close by.
unsafe fn meet(core: &mut Core, inst: &Inst, bytes: u64, hosts: &[u64; 32], found: &Found) {
    let space = (inst.flags >> flag::SPACE_SHIFT) as u8 & 3;
    let global = || {
        // SAFETY: passed on.
        let at = unsafe { Addresses::gather(core, inst, bytes) };
        active(core.mask).map(|lane| at.of[lane]).collect::<Vec<_>>()
    };
    let mut addresses = if space == GLOBAL || space == GENERIC { global() } else { Vec::new() };
    let range = addresses.first().and_then(|&first| core.memory.locate(first));
    let Some(range) = range.map(|index| core.memory.range(index)) else {
        let passes = match found {
            Found::Scattered => {
                most_wanted(active(core.mask).map(|lane| hosts[lane] / 4).collect())
            }
            _ => 1,
        };
        core.tally.traffic[inst.cache as usize].shared_atomic_passes += passes;
        return;
    };
    if range.info.kind == AllocationKind::GridBarrier {
        core.tally.grid_arrivals += addresses.len() as u64;
        return;
    }
    // Integers at an address that no lane chooses: the compiler adds the lanes up first.
    if inst.flags & flag::UNIFORM != 0 && inst.flags & flag::SUMS_FLOATS == 0 {
        addresses.truncate(1);
    }
    let contended = if inst.flags & flag::SUMS_FLOATS != 0 { CONTENDED_FLOAT } else { 8 };
    core.tally.heat.request(&mut addresses, contended);
}

/// Lanes that want the same word.
fn most_wanted(mut words: Vec<u64>) -> u64 {
    words.sort_unstable();
    words.chunk_by(|a, b| a == b).map(<[u64]>::len).max().unwrap_or(0) as u64
}

/// Eighths of a pass that an update of a float takes which another one waits for.
const CONTENDED_FLOAT: u64 = 19;
