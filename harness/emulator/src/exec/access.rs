//! Loads and stores: 32 addresses, one check.
//!
//! Every access is checked exactly: each lane's bytes must lie inside one live allocation (or inside
//! the CTA's shared memory, or the thread's local memory) and be aligned to their size (PTX ISA
//! 6.4.1: a misaligned vector access is an error, and the hardware traps). The common cases pay
//! little for it:
//!
//! ```text
//! addresses   base, base+4, base+8, …   all lanes     one range check, one copy
//!             anything inside the allocation this instruction hit last   one range check, 32 reads
//!             anything else                            lane by lane
//! ```
//!
//! Counting follows the hardware: a warp instruction is one request, and what it costs is the
//! number of distinct 32-byte sectors its lanes touch (shared memory: passes over the 32 banks).

use super::{Core, Flow};
use crate::fault::{Access, FaultKind, MemorySpace, Near};
use crate::isa::flag;
use crate::memory::{AllocationKind, LOCAL_WINDOW, SECTOR, SHARED_WINDOW, WINDOWS};
use crate::program::{Inst, Slot};

/// A memory element and the register lane it fills.
pub trait Element: Copy + Default {
    /// `u32` for elements up to 32 bits, else `u64`.
    type Lane: super::Lane;
    const BYTES: u64 = size_of::<Self>() as u64;
    fn widen(self) -> Self::Lane;
    fn narrow(lane: Self::Lane) -> Self;
}

macro_rules! elements {
    ($($t:ty => $lane:ty);*) => { $(
        impl Element for $t {
            type Lane = $lane;
            #[inline(always)]
            fn widen(self) -> $lane { self as $lane }
            #[inline(always)]
            fn narrow(lane: $lane) -> $t { lane as $t }
        }
    )* };
}
elements!(u8 => u32; u16 => u32; u32 => u32; u64 => u64);

/// Spaces as an instruction names them; `GENERIC` is decided by the address.
pub const GLOBAL: u8 = 0;
pub const SHARED: u8 = 1;
pub const LOCAL: u8 = 2;
pub const GENERIC: u8 = 3;

/// The lanes' addresses. Inactive lanes repeat the first active one, so that whatever holds for all
/// 32 entries holds for the active lanes.
pub struct Addresses {
    pub of: [u64; 32],
    /// Lowest, and highest plus one element.
    pub low: u64,
    pub high: u64,
    /// All lanes are active and lane `l` is `l` accesses after lane 0.
    pub contiguous: bool,
}

impl Addresses {
    /// # Safety
    /// See [`super::Handler`].
    #[inline(always)]
    unsafe fn gather<const NARROW: bool>(core: &Core, inst: &Inst, bytes: u64) -> Self {
        let mut of = [0u64; 32];
        // SAFETY: by the contract.
        unsafe {
            if NARROW {
                let from = core.read::<u32>(inst.a);
                for l in 0..32 {
                    of[l] = u64::from(from[l].wrapping_add(inst.imm as u32));
                }
            } else {
                let from = core.read::<u64>(inst.a);
                for l in 0..32 {
                    of[l] = from[l].wrapping_add(inst.imm);
                }
            }
        }
        if core.mask == u32::MAX {
            let mut off = 0;
            for (l, address) in of.iter().enumerate() {
                off |= address ^ of[0].wrapping_add(l as u64 * bytes);
            }
            if off == 0 {
                let high = of[31].wrapping_add(bytes);
                return Self { low: of[0], high, of, contiguous: true };
            }
        } else {
            let first = of[core.mask.trailing_zeros() as usize & 31];
            for l in 0..32 {
                of[l] = super::Lane::blend(core.lane_masks[l], of[l], first);
            }
        }
        let mut low = of[0];
        let mut high = of[0];
        for &address in &of {
            low = low.min(address);
            high = high.max(address);
        }
        Self { low, high: high.saturating_add(bytes), of, contiguous: false }
    }

    /// Take `base` off every address: from a window to an offset.
    fn rebase(&mut self, base: u64) {
        self.of.iter_mut().for_each(|address| *address -= base);
        self.low -= base;
        self.high -= base;
    }

    fn misaligned(&self, bytes: u64) -> bool {
        self.of.iter().fold(0, |any, address| any | address) & (bytes - 1) != 0
    }

    /// Distinct sectors touched, each reported once with an address inside.
    #[inline]
    fn sectors(&self, mut each: impl FnMut(u64)) -> u64 {
        let mut ids = [0u64; 32];
        let mut ordered = true;
        for l in 0..32 {
            ids[l] = self.of[l] / SECTOR;
            ordered &= l == 0 || ids[l] >= ids[l - 1];
        }
        if !ordered {
            ids.sort_unstable();
        }
        let mut count = 0;
        let mut last = u64::MAX;
        for id in ids {
            if id != last {
                each(id * SECTOR);
                count += 1;
                last = id;
            }
        }
        count
    }
}

#[inline(always)]
fn active(mask: u32) -> impl Iterator<Item = usize> {
    let mut rest = mask;
    std::iter::from_fn(move || {
        if rest == 0 {
            return None;
        }
        let lane = rest.trailing_zeros() as usize;
        rest &= rest - 1;
        Some(lane)
    })
}

fn access_word(write: bool) -> Access {
    if write { Access::Write } else { Access::Read }
}

/// Check a warp's access to global memory; true if every active lane may go ahead.
#[inline(always)]
pub fn admit_global(
    core: &mut Core,
    inst: &Inst,
    at: &Addresses,
    bytes: u64,
    access: Access,
) -> bool {
    let write = access != Access::Read;
    let entry = &core.caches[inst.cache as usize];
    let hit = at.low >= entry.base && at.high <= entry.end && (!write || entry.writable);
    if !hit && !find_allocation(core, inst, at, bytes, access) {
        return false;
    }
    if at.misaligned(bytes) {
        return misaligned(core, at, bytes, access, MemorySpace::Global);
    }
    if core.counting {
        count_global(core, inst, at, bytes, access);
    }
    true
}

/// The slow way: refill the instruction's cache entry, or check lane by lane.
#[cold]
fn find_allocation(
    core: &mut Core,
    inst: &Inst,
    at: &Addresses,
    bytes: u64,
    access: Access,
) -> bool {
    let write = access != Access::Read;
    for lane in active(core.mask) {
        let address = at.of[lane];
        let found = core.memory.locate(address).map(|index| core.memory.range(index));
        let Some(range) = found.filter(|range| address.saturating_add(bytes) <= range.end()) else {
            let kind = out_of_bounds(core, address, bytes, access);
            core.stop(kind, lane as u32);
            return false;
        };
        let writable = range.info.kind != AllocationKind::Constant;
        if write && !writable {
            let name = range.info.name.clone();
            core.stop(FaultKind::ReadOnly { name }, lane as u32);
            return false;
        }
        let entry = &mut core.caches[inst.cache as usize];
        if address < entry.base || address >= entry.end {
            entry.base = range.info.base;
            entry.end = range.end();
            entry.writable = writable;
            entry.range = Some(range.clone());
        }
        if at.low >= entry.base && at.high <= entry.end {
            return true;
        }
    }
    true
}

fn out_of_bounds(core: &Core, address: u64, bytes: u64, access: Access) -> FaultKind {
    let near = |info: &crate::memory::AllocationInfo, freed| Near {
        name: info.name.clone(),
        len: info.len,
        offset: address.wrapping_sub(info.base) as i64,
        freed,
    };
    /// Farther than this from every array, naming one would mislead.
    const FAR: u64 = 1 << 30;
    let found = match core.memory.freed(address) {
        Some(info) => Some(near(info, true)),
        None => core
            .memory
            .nearest(address)
            .filter(|info| {
                info.base.abs_diff(address) < info.len + FAR
                    || (info.base + info.len).abs_diff(address) < FAR
            })
            .map(|info| near(info, false)),
    };
    FaultKind::OutOfBounds {
        access,
        space: MemorySpace::Global,
        address,
        bytes: bytes as u32,
        near: found,
    }
}

#[cold]
fn misaligned(
    core: &mut Core,
    at: &Addresses,
    bytes: u64,
    access: Access,
    space: MemorySpace,
) -> bool {
    let lane = active(core.mask).find(|&lane| at.of[lane] % bytes != 0).unwrap_or(0);
    let kind = FaultKind::Misaligned { access, space, address: at.of[lane], bytes: bytes as u32 };
    core.stop(kind, lane as u32);
    false
}

#[inline]
fn count_global(core: &mut Core, inst: &Inst, at: &Addresses, bytes: u64, access: Access) {
    let write = access != Access::Read;
    let wanted = u64::from(core.mask.count_ones()) * bytes;
    let entry = &core.caches[inst.cache as usize];
    let whole = entry.range.as_ref().filter(|_| at.low >= entry.base && at.high <= entry.end);
    let sectors = match whole {
        Some(range) if at.contiguous => {
            range.touch(write, at.low, at.high - 1);
            (at.high - 1) / SECTOR - at.low / SECTOR + 1
        }
        Some(range) => at.sectors(|address| {
            let inside = address.max(entry.base);
            range.touch(write, inside, inside);
        }),
        None => at.sectors(|address| {
            let inside = core
                .memory
                .locate(address)
                .map(|index| (core.memory.range(index), address))
                .or_else(|| {
                    let last = address + SECTOR - 1;
                    core.memory.locate(last).map(|index| (core.memory.range(index), last))
                });
            if let Some((range, address)) = inside {
                range.touch(write, address, address);
            }
        }),
    };
    let tally = &mut core.tally;
    if access == Access::Atomic {
        tally.atomics += 1;
    }
    if write {
        tally.global_store_requests += 1;
        tally.global_store_sectors += sectors;
        tally.global_store_bytes += wanted;
    } else {
        tally.global_load_requests += 1;
        tally.global_load_sectors += sectors;
        tally.global_load_bytes += wanted;
    }
}

/// Check a warp's access to shared memory, whose addresses are offsets.
#[inline(always)]
pub fn admit_shared(core: &mut Core, at: &Addresses, bytes: u64, access: Access) -> bool {
    if at.high > core.shared_len {
        return outside_window(core, at, bytes, access, MemorySpace::Shared, core.shared_len);
    }
    if at.misaligned(bytes) {
        return misaligned(core, at, bytes, access, MemorySpace::Shared);
    }
    if core.counting {
        core.tally.shared_requests += 1;
        core.tally.shared_wavefronts += wavefronts(core.mask, at, bytes);
    }
    true
}

#[cold]
fn outside_window(
    core: &mut Core,
    at: &Addresses,
    bytes: u64,
    access: Access,
    space: MemorySpace,
    len: u64,
) -> bool {
    let over = |lane: &usize| at.of[*lane].saturating_add(bytes) > len;
    let lane = active(core.mask).find(over).unwrap_or(0);
    let address = at.of[lane];
    let name = match space {
        MemorySpace::Shared => "shared memory of the block",
        _ => "local memory of the thread",
    };
    let near = Near { name: name.to_owned(), len, offset: address as i64, freed: false };
    let kind =
        FaultKind::OutOfBounds { access, space, address, bytes: bytes as u32, near: Some(near) };
    core.stop(kind, lane as u32);
    false
}

/// Passes over the 32 four-byte banks: lanes that want different words of one bank take turns, lanes
/// that want the same word share. Eight-byte accesses go by half warps, 16-byte ones by quarters.
fn wavefronts(mask: u32, at: &Addresses, bytes: u64) -> u64 {
    if at.contiguous {
        return (32 * bytes).div_ceil(128);
    }
    let group = match bytes {
        0..=4 => 32,
        8 => 16,
        16 => 8,
        _ => 4,
    };
    let mut total = 0;
    for first in (0..32).step_by(group) {
        let lanes = (mask >> first) & (!0u32 >> (32 - group));
        if lanes == 0 {
            continue;
        }
        let mut words = [[u64::MAX; 32]; 32];
        let mut depth = [0u8; 32];
        for lane in active(lanes) {
            let from = at.of[first + lane] / 4;
            for word in from..from + bytes.div_ceil(4) {
                let bank = (word % 32) as usize;
                let seen = depth[bank] as usize;
                if !words[bank][..seen].contains(&word) && seen < 32 {
                    words[bank][seen] = word;
                    depth[bank] += 1;
                }
            }
        }
        total += u64::from(depth.into_iter().max().unwrap_or(0));
    }
    total
}

#[inline(always)]
fn admit_local(core: &mut Core, at: &Addresses, bytes: u64, access: Access) -> bool {
    if at.high > core.local_len {
        return outside_window(core, at, bytes, access, MemorySpace::Local, core.local_len);
    }
    if at.misaligned(bytes) {
        return misaligned(core, at, bytes, access, MemorySpace::Local);
    }
    if core.counting {
        // The hardware interleaves lanes word by word, so a uniform offset is fully coalesced.
        core.tally.local_requests += 1;
        core.tally.local_sectors += bytes.div_ceil(4) * 4;
    }
    true
}

/// Where the lanes' bytes are: lane `l` at `base + of[l] + l * stride`.
///
/// Addresses stay integers until the access: a global address came from an allocation that exposed
/// it, through any arithmetic the kernel liked.
struct Place {
    base: u64,
    stride: u64,
}

impl Place {
    #[inline(always)]
    fn at(&self, offset: u64) -> *mut u8 {
        std::ptr::with_exposed_provenance_mut(self.base.wrapping_add(offset) as usize)
    }

    #[inline(always)]
    fn of_lane(&self, at: &Addresses, lane: usize) -> *mut u8 {
        self.at(at.of[lane].wrapping_add(lane as u64 * self.stride))
    }
}

/// Check an access and find its bytes. On `Err` the fault is recorded.
#[inline(always)]
unsafe fn place<const SPACE: u8>(
    core: &mut Core,
    inst: &Inst,
    at: &mut Addresses,
    bytes: u64,
    write: bool,
) -> Result<Place, ()> {
    let access = access_word(write);
    match SPACE {
        GLOBAL if admit_global(core, inst, at, bytes, access) => Ok(Place { base: 0, stride: 0 }),
        SHARED if admit_shared(core, at, bytes, access) => {
            Ok(Place { base: core.shared.expose_provenance() as u64, stride: 0 })
        }
        LOCAL if admit_local(core, at, bytes, access) => {
            Ok(Place { base: core.local.expose_provenance() as u64, stride: core.local_len })
        }
        // SAFETY: passed on.
        GENERIC => unsafe { place_generic(core, inst, at, bytes, write) },
        _ => Err(()),
    }
}

/// A generic address is what its window says (PTX ISA 5.2).
unsafe fn place_generic(
    core: &mut Core,
    inst: &Inst,
    at: &mut Addresses,
    bytes: u64,
    write: bool,
) -> Result<Place, ()> {
    // SAFETY: passed on.
    unsafe {
        if at.high <= WINDOWS {
            place::<GLOBAL>(core, inst, at, bytes, write)
        } else if at.low >= LOCAL_WINDOW {
            at.rebase(LOCAL_WINDOW);
            at.contiguous = false;
            place::<LOCAL>(core, inst, at, bytes, write)
        } else if at.low >= SHARED_WINDOW && at.high <= LOCAL_WINDOW {
            at.rebase(SHARED_WINDOW);
            place::<SHARED>(core, inst, at, bytes, write)
        } else {
            core.unsupported("one instruction whose lanes point into different memories");
            Err(())
        }
    }
}

/// Longest vector: eight elements (PTX ISA 9.7.9.8, `.v8.b32` from sm_100 on).
const LONGEST: usize = 8;

#[inline(always)]
fn slots(core: &Core, inst: &Inst) -> ([Slot; LONGEST], usize) {
    let mut of = [0; LONGEST];
    let count = inst.d as usize;
    of[..count].copy_from_slice(core.list(inst));
    (of, count)
}

/// `ld`: `inst.d` elements for each lane, from `[a + imm]` into the slots of the list.
///
/// # Safety
/// See [`super::Handler`].
#[inline(always)]
pub unsafe fn load<E: Element, const SPACE: u8, const NARROW: bool>(
    core: &mut Core,
    inst: &Inst,
) -> Flow {
    let (to, count) = slots(core, inst);
    let bytes = E::BYTES * count as u64;
    // SAFETY: `place` lets pass only addresses whose bytes are readable; slots are in the file.
    unsafe {
        let mut at = Addresses::gather::<NARROW>(core, inst, bytes);
        let Ok(place) = place::<SPACE>(core, inst, &mut at, bytes, false) else {
            return Flow::Stop;
        };
        if at.contiguous && place.stride == 0 {
            let from = place.at(at.low).cast::<E>().cast_const();
            match count {
                1 => unpack::<E, 1>(core, &to, from),
                2 => unpack::<E, 2>(core, &to, from),
                4 => unpack::<E, 4>(core, &to, from),
                _ => unpack::<E, 8>(core, &to, from),
            }
        } else {
            for lane in active(core.mask) {
                let from = place.of_lane(&at, lane).cast::<E>();
                for (v, &slot) in to[..count].iter().enumerate() {
                    (*core.lanes_of::<E::Lane>(slot))[lane] = from.add(v).read().widen();
                }
            }
        }
    }
    Flow::Next
}

/// 32 consecutive vectors of `V` elements into `V` registers.
#[inline(always)]
unsafe fn unpack<E: Element, const V: usize>(core: &Core, to: &[Slot; LONGEST], from: *const E) {
    // SAFETY: the caller checked `32 * V` elements; destinations are registers, not `from`.
    unsafe {
        for v in 0..V {
            let to = &mut *core.lanes_of::<E::Lane>(to[v]);
            for (l, lane) in to.iter_mut().enumerate() {
                *lane = from.add(l * V + v).read().widen();
            }
        }
    }
}

/// `st`: the slots of the list to `[a + imm]`.
///
/// # Safety
/// See [`super::Handler`].
#[inline(always)]
pub unsafe fn store<E: Element, const SPACE: u8, const NARROW: bool>(
    core: &mut Core,
    inst: &Inst,
) -> Flow {
    let (of, count) = slots(core, inst);
    let bytes = E::BYTES * count as u64;
    // SAFETY: as in `load`, for writing.
    unsafe {
        let mut at = Addresses::gather::<NARROW>(core, inst, bytes);
        let Ok(place) = place::<SPACE>(core, inst, &mut at, bytes, true) else {
            return Flow::Stop;
        };
        if at.contiguous && place.stride == 0 {
            let to = place.at(at.low).cast::<E>();
            match count {
                1 => pack::<E, 1>(core, &of, to),
                2 => pack::<E, 2>(core, &of, to),
                4 => pack::<E, 4>(core, &of, to),
                _ => pack::<E, 8>(core, &of, to),
            }
        } else {
            for lane in active(core.mask) {
                let to = place.of_lane(&at, lane).cast::<E>();
                for (v, &slot) in of[..count].iter().enumerate() {
                    to.add(v).write(E::narrow((*core.lanes_of::<E::Lane>(slot))[lane]));
                }
            }
        }
    }
    Flow::Next
}

#[inline(always)]
unsafe fn pack<E: Element, const V: usize>(core: &Core, of: &[Slot; LONGEST], to: *mut E) {
    // SAFETY: as in `unpack`.
    unsafe {
        for v in 0..V {
            let from = &*core.lanes_of::<E::Lane>(of[v]);
            for (l, lane) in from.iter().enumerate() {
                to.add(l * V + v).write(E::narrow(*lane));
            }
        }
    }
}

/// An atomic update of one element: the old value and the operands to the new value.
pub trait Update {
    type E: Element;
    fn f(
        flags: u32,
        old: Self::E,
        b: <Self::E as Element>::Lane,
        c: <Self::E as Element>::Lane,
    ) -> Self::E;
}

/// `atom` and `red` (PTX ISA 9.7.13.5-6): `dst = [a + imm]; [a + imm] = f(dst, b, c)`, lane by lane.
/// Lanes go in order; other CTAs run on other host threads, so each update is a compare-and-swap.
/// The space, the address width and whether the old value is wanted stand in the flags.
///
/// # Safety
/// See [`super::Handler`].
pub unsafe fn atomic<U: Update>(core: &mut Core, inst: &Inst) -> Flow
where
    U::E: Swap,
{
    let bytes = U::E::BYTES;
    // SAFETY: as in `store`.
    unsafe {
        let Ok((at, place)) = place_atomic(core, inst, bytes) else { return Flow::Stop };
        let b = core.read::<<U::E as Element>::Lane>(inst.b);
        let c = core.read::<<U::E as Element>::Lane>(inst.c);
        for lane in active(core.mask) {
            let to = place.of_lane(&at, lane).cast::<U::E>();
            let old = U::E::swap(to, |old| U::f(inst.flags, old, b[lane], c[lane]));
            if inst.flags & flag::KEEP != 0 {
                (*core.lanes_of::<<U::E as Element>::Lane>(inst.dst))[lane] = old.widen();
            }
        }
    }
    Flow::Next
}

#[inline(never)]
unsafe fn place_atomic(core: &mut Core, inst: &Inst, bytes: u64) -> Result<(Addresses, Place), ()> {
    // SAFETY: passed on.
    unsafe {
        let mut at = if inst.flags & flag::NARROW != 0 {
            Addresses::gather::<true>(core, inst, bytes)
        } else {
            Addresses::gather::<false>(core, inst, bytes)
        };
        let place = match (inst.flags >> flag::SPACE_SHIFT) as u8 & 3 {
            GLOBAL => place::<GLOBAL>(core, inst, &mut at, bytes, true),
            SHARED => place::<SHARED>(core, inst, &mut at, bytes, true),
            LOCAL => place::<LOCAL>(core, inst, &mut at, bytes, true),
            _ => place::<GENERIC>(core, inst, &mut at, bytes, true),
        }?;
        if core.counting {
            core.tally.atomics += 1;
        }
        Ok((at, place))
    }
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
