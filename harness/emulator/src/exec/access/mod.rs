//! Loads, stores and atomics: 32 addresses, one check.
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

mod addresses;
mod atomic;
mod global;
#[cfg(target_arch = "x86_64")]
mod near;
mod span;
mod strong;
mod window;

pub use atomic::{Swap, Update, atomic, atomic_vector, exchange_wide};
#[cfg(target_arch = "x86_64")]
pub use near::load_near;
pub use span::{RANK_SHIFT, Span, span};
pub use strong::{fence_acq_rel, fence_sc, strong_load, strong_store};
pub use window::near;

use super::{Core, Flow, Lane};
use crate::fault::{Access, FaultKind, MemorySpace, Near};
use crate::isa::flag;
use crate::memory::{LOCAL_WINDOW, SHARED_WINDOW, WINDOWS};
use crate::program::Inst;
use addresses::{Addresses, Offsets, active};

/// A memory element and the register lane it fills.
pub trait Element: Copy + Default {
    /// `u32` for elements up to 32 bits, else `u64`.
    type Lane: Lane;
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

/// Spaces as an instruction names them. Addresses have 64 bits in `GLOBAL` and `GENERIC`, 32 in the
/// windows; `GENERIC` is decided by the address.
pub const GLOBAL: u8 = 0;
pub const SHARED: u8 = 1;
pub const LOCAL: u8 = 2;
pub const GENERIC: u8 = 3;

/// The CTA's shared memory as an array, and where in it an offset lies.
pub fn shared_array(core: &Core, offset: u64) -> Near {
    near(core, MemorySpace::Shared, offset)
}

#[cold]
fn misaligned(
    core: &mut Core,
    of: impl Fn(usize) -> u64,
    bytes: u64,
    access: Access,
    space: MemorySpace,
) -> bool {
    let lane = active(core.mask).find(|&lane| !of(lane).is_multiple_of(bytes)).unwrap_or(0);
    let address = of(lane);
    let near = match space {
        MemorySpace::Global => core.memory.locate(address).map(|index| {
            let info = &core.memory.range(index).info;
            let offset = (address - info.base) as i64;
            Near { name: info.name.clone(), len: info.len, offset, freed: false }
        }),
        _ => Some(near(core, space, address)),
    };
    let kind = FaultKind::Misaligned { access, space, address, bytes: bytes as u32, near };
    core.stop(kind, lane as u32);
    false
}

/// Where the lanes' bytes turned out to be.
enum Found {
    /// Lane `l` has them at the `l`-th host address.
    Scattered,
    /// They follow each other from here.
    Run(u64),
    /// Nowhere: the fault is recorded.
    Fault,
}

/// Addresses stay integers until the access: a global address came from an allocation that exposed
/// it, through any arithmetic the kernel liked.
#[inline(always)]
fn pointer(address: u64) -> *mut u8 {
    std::ptr::with_exposed_provenance_mut(address as usize)
}

/// Check an access of `bytes` a lane and find its bytes. The host addresses go to `hosts` rather
/// than into the answer: moving arrays about costs more than the access.
#[inline(always)]
unsafe fn place<const SPACE: u8>(
    core: &mut Core,
    inst: &Inst,
    bytes: u64,
    access: Access,
    hosts: &mut [u64; 32],
) -> Found {
    // SAFETY: passed on.
    unsafe {
        match SPACE {
            GLOBAL => {
                let at = Addresses::gather(core, inst, bytes);
                if !global::admit(core, inst, &at, bytes, access) {
                    return Found::Fault;
                }
                if at.contiguous {
                    return Found::Run(core.memory.host(at.of[0]));
                }
                core.memory.window.hosts(&at.of, hosts);
                Found::Scattered
            }
            SHARED | LOCAL => {
                let base = if SPACE == SHARED { core.shared_base } else { 0 };
                let at = Offsets::gather(core, inst, bytes as u32, base);
                place_in_window::<SPACE>(core, inst, &at, bytes as u32, access, hosts)
            }
            _ => place_generic(core, inst, bytes, access, hosts),
        }
    }
}

/// As [`place`], in the space that the instruction's flags name.
#[inline(always)]
unsafe fn place_in_named_space(
    core: &mut Core,
    inst: &Inst,
    bytes: u64,
    access: Access,
    hosts: &mut [u64; 32],
) -> Found {
    // SAFETY: passed on.
    unsafe {
        match (inst.flags >> flag::SPACE_SHIFT) as u8 & 3 {
            GLOBAL => place::<GLOBAL>(core, inst, bytes, access, hosts),
            SHARED => place::<SHARED>(core, inst, bytes, access, hosts),
            LOCAL => place::<LOCAL>(core, inst, bytes, access, hosts),
            _ => place::<GENERIC>(core, inst, bytes, access, hosts),
        }
    }
}

#[inline(always)]
fn place_in_window<const SPACE: u8>(
    core: &mut Core,
    inst: &Inst,
    at: &Offsets,
    bytes: u32,
    access: Access,
    hosts: &mut [u64; 32],
) -> Found {
    if SPACE == SHARED && !core.peers.is_empty() && at.leave_the_block() {
        return place_in_cluster(core, inst, at, bytes, access, hosts);
    }
    let admitted = if SPACE == SHARED {
        window::admit_shared(core, inst, at, bytes, access)
    } else {
        window::admit_local(core, inst, at, bytes, access)
    };
    if !admitted {
        return Found::Fault;
    }
    if SPACE == SHARED {
        let base = core.shared.expose_provenance() as u64;
        if at.contiguous {
            return Found::Run(base + u64::from(at.of[0]));
        }
        for l in 0..32 {
            hosts[l] = base + u64::from(at.of[l]);
        }
    } else {
        // Each lane has local memory of its own, one behind the other.
        let base = core.local.expose_provenance() as u64;
        for l in 0..32 {
            hosts[l] = base + u64::from(at.of[l]) + l as u64 * core.local_len;
        }
    }
    Found::Scattered
}

/// Shared memory of a cluster: lanes may each mean another CTA's (PTX ISA 5.1.7).
#[cold]
#[inline(never)]
fn place_in_cluster(
    core: &mut Core,
    inst: &Inst,
    at: &Offsets,
    bytes: u32,
    access: Access,
    hosts: &mut [u64; 32],
) -> Found {
    for l in active(core.mask) {
        let place = Span::Shared(at.of[l].wrapping_add(core.shared_base));
        match span(core, inst, l, place, u64::from(bytes), u64::from(bytes), access) {
            Ok(host) => hosts[l] = host,
            Err(_) => return Found::Fault,
        }
    }
    spread(hosts, core.mask);
    if core.counting {
        let traffic = &mut core.tally.traffic[inst.cache as usize];
        traffic.shared_requests += 1;
        traffic.shared_wavefronts += 1;
    }
    Found::Scattered
}

/// Inactive lanes repeat the first active one, as in [`Addresses`].
fn spread(hosts: &mut [u64; 32], mask: u32) {
    let first = hosts[mask.trailing_zeros() as usize & 31];
    active(!mask).for_each(|l| hosts[l] = first);
}

/// A generic address is what its window says (PTX ISA 5.2).
#[inline(never)]
unsafe fn place_generic(
    core: &mut Core,
    inst: &Inst,
    bytes: u64,
    access: Access,
    hosts: &mut [u64; 32],
) -> Found {
    // SAFETY: passed on.
    let at = unsafe { Addresses::gather(core, inst, bytes) };
    let (low, high) = (at.low(), at.high());
    if high < WINDOWS {
        if !global::admit(core, inst, &at, bytes, access) {
            return Found::Fault;
        }
        core.memory.window.hosts(&at.of, hosts);
        Found::Scattered
    } else if low >= LOCAL_WINDOW {
        let at = at.offsets(LOCAL_WINDOW);
        place_in_window::<LOCAL>(core, inst, &at, bytes as u32, access, hosts)
    } else if low >= SHARED_WINDOW && high < LOCAL_WINDOW {
        let mut at = at.offsets(SHARED_WINDOW);
        at.of.iter_mut().for_each(|offset| *offset = offset.wrapping_sub(core.shared_base));
        place_in_window::<SHARED>(core, inst, &at, bytes as u32, access, hosts)
    } else {
        // SAFETY: passed on.
        unsafe { place_in_several(core, inst, &at, bytes, access, hosts) }
    }
}

/// Lanes that point into different memories: those of each together, and counted as a request of theirs.
#[cold]
#[inline(never)]
unsafe fn place_in_several(
    core: &mut Core,
    inst: &Inst,
    at: &Addresses,
    bytes: u64,
    access: Access,
    hosts: &mut [u64; 32],
) -> Found {
    let whole = core.mask;
    let mut rest = whole;
    while rest != 0 {
        let memory = space_of(at.of[rest.trailing_zeros() as usize & 31]);
        let same = |lane: &usize| space_of(at.of[*lane]) == memory;
        let group = active(rest).filter(same).fold(0, |group, lane| group | 1 << lane);
        let mut found = [0; 32];
        core.set_mask(group);
        // SAFETY: passed on. Of one memory now, so that this comes here no second time.
        let place = unsafe { place_generic(core, inst, bytes, access, &mut found) };
        core.set_mask(whole);
        match place {
            Found::Fault => return Found::Fault,
            Found::Run(first) => active(group).for_each(|l| hosts[l] = first + bytes * l as u64),
            Found::Scattered => active(group).for_each(|l| hosts[l] = found[l]),
        }
        rest &= !group;
    }
    spread(hosts, whole);
    Found::Scattered
}

/// Which memory a generic address lies in.
fn space_of(address: u64) -> u8 {
    match address {
        LOCAL_WINDOW.. => LOCAL,
        SHARED_WINDOW.. => SHARED,
        _ => GLOBAL,
    }
}

/// `ld`: `V` elements for each lane, from `[a + imm]` into the slots of the list.
///
/// # Safety
/// See [`super::Handler`].
#[inline(always)]
pub unsafe fn load<E: Element, const V: usize, const SPACE: u8>(
    core: &mut Core,
    inst: &Inst,
) -> Flow {
    let bytes = E::BYTES * V as u64;
    let to = core.list(inst).as_ptr();
    let mut hosts = [0u64; 32];
    // SAFETY: `place` lets pass only addresses whose bytes are readable; the list has `V` slots of
    // the file. Inactive lanes read too: their address is as good as that of an active one, and a
    // branch for each lane costs more.
    unsafe {
        match place::<SPACE>(core, inst, bytes, Access::Read, &mut hosts) {
            Found::Fault => return Flow::Stop,
            Found::Run(from) => {
                let from = pointer(from).cast::<E>().cast_const();
                for v in 0..V {
                    let to = &mut *core.lanes_of::<E::Lane>(*to.add(v));
                    for (l, lane) in to.iter_mut().enumerate() {
                        *lane = from.add(l * V + v).read().widen();
                    }
                }
            }
            Found::Scattered => {
                for v in 0..V {
                    let mut lanes = [E::Lane::ZERO; 32];
                    for l in 0..32 {
                        lanes[l] = pointer(hosts[l]).cast::<E>().add(v).read().widen();
                    }
                    core.write(*to.add(v), &lanes);
                }
            }
        }
    }
    Flow::Next
}

/// `st`: the slots of the list to `[a + imm]`.
///
/// # Safety
/// See [`super::Handler`].
#[inline(always)]
pub unsafe fn store<E: Element, const V: usize, const SPACE: u8>(
    core: &mut Core,
    inst: &Inst,
) -> Flow {
    let bytes = E::BYTES * V as u64;
    let of = core.list(inst).as_ptr();
    let mut hosts = [0u64; 32];
    // SAFETY: as in `load`, for writing, and only by active lanes.
    unsafe {
        match place::<SPACE>(core, inst, bytes, Access::Write, &mut hosts) {
            Found::Fault => return Flow::Stop,
            Found::Run(to) => {
                let to = pointer(to).cast::<E>();
                for v in 0..V {
                    let from = &*core.lanes_of::<E::Lane>(*of.add(v));
                    for (l, lane) in from.iter().enumerate() {
                        to.add(l * V + v).write(E::narrow(*lane));
                    }
                }
            }
            Found::Scattered => {
                for lane in active(core.mask) {
                    let to = pointer(hosts[lane]).cast::<E>();
                    for v in 0..V {
                        let from = &*core.lanes_of::<E::Lane>(*of.add(v));
                        to.add(v).write(E::narrow(from[lane]));
                    }
                }
            }
        }
    }
    Flow::Next
}

/// Rows of 16 bytes in shared memory at `[a + imm]` of the first `count` lanes, each aligned to
/// its size: read into `rows`, or written from them.
///
/// # Safety
/// See [`crate::exec::Handler`].
pub unsafe fn row_of_shared(
    core: &mut Core,
    inst: &Inst,
    count: usize,
    access: Access,
    rows: &mut [[u8; 16]; 32],
) -> Result<(), Flow> {
    let whole = core.mask;
    core.set_mask(u32::MAX >> (32 - count.clamp(1, 32)));
    // SAFETY: passed on.
    let hosts = unsafe { shared_hosts(core, inst, 16, access) };
    core.set_mask(whole);
    let hosts = hosts.ok_or(Flow::Stop)?;
    let base = core.shared.expose_provenance() as u64;
    for (lane, (row, host)) in rows.iter_mut().zip(hosts).take(count).enumerate() {
        crate::sanitize::range(core, lane, MemorySpace::Shared, host - base, 16, access)?;
        let at = pointer(host).cast::<[u8; 16]>();
        // SAFETY: `place` lets pass only addresses whose 16 bytes may be read, or written.
        unsafe {
            match access {
                Access::Read => *row = at.read(),
                _ => at.write(*row),
            }
        }
    }
    Ok(())
}

/// Host addresses of `bytes` at `[a + imm]` of shared memory, to be written later.
///
/// # Safety
/// See [`crate::exec::Handler`].
pub unsafe fn copy_target(core: &mut Core, inst: &Inst, bytes: u64) -> Option<[u64; 32]> {
    // SAFETY: passed on.
    unsafe { shared_hosts(core, inst, bytes, Access::Write) }
}

/// Host addresses of the 64-bit objects at `[a + imm]` in shared memory.
///
/// # Safety
/// See [`crate::exec::Handler`].
pub unsafe fn objects(core: &mut Core, inst: &Inst) -> Option<[u64; 32]> {
    // SAFETY: passed on.
    unsafe { shared_hosts(core, inst, 8, Access::Atomic) }
}

#[inline(never)]
unsafe fn shared_hosts(
    core: &mut Core,
    inst: &Inst,
    bytes: u64,
    access: Access,
) -> Option<[u64; 32]> {
    let mut hosts = [0u64; 32];
    // SAFETY: passed on.
    let found = unsafe {
        if (inst.flags >> flag::SPACE_SHIFT) as u8 & 3 == SHARED {
            place::<SHARED>(core, inst, bytes, access, &mut hosts)
        } else {
            place_generic(core, inst, bytes, access, &mut hosts)
        }
    };
    match found {
        Found::Fault => return None,
        Found::Run(from) => (0..32).for_each(|l| hosts[l] = from + bytes * l as u64),
        Found::Scattered => {}
    }
    Some(hosts)
}

/// The bytes that `cp.async` reads: the first `wanted` of `bytes` at the global address in `b`, zeros
/// behind them.
///
/// # Safety
/// See [`crate::exec::Handler`].
pub unsafe fn copy_source(
    core: &mut Core,
    inst: &Inst,
    bytes: u64,
    wanted: &[u32; 32],
) -> Option<[[u8; 16]; 32]> {
    let mut data = [[0u8; 16]; 32];
    let whole = core.mask;
    let source = Inst { a: inst.b, imm: 0, ..*inst };
    // Lanes that read everything together, then those that read less, each by itself and byte by
    // byte: their last bytes may lie outside.
    let full = active(whole).filter(|&l| u64::from(wanted[l]) == bytes).fold(0, |m, l| m | 1 << l);
    let partial = active(whole & !full).filter(|&l| wanted[l] > 0);
    let mut groups = vec![(full, 0, bytes)];
    groups.extend(partial.flat_map(|l| (0..u64::from(wanted[l])).map(move |at| (1 << l, at, 1))));
    for (mask, offset, bytes) in groups {
        if mask == 0 {
            continue;
        }
        let mut hosts = [0u64; 32];
        core.set_mask(mask);
        let part = Inst { imm: offset, ..source };
        // SAFETY: passed on.
        let found = unsafe { place::<GLOBAL>(core, &part, bytes, Access::Read, &mut hosts) };
        core.set_mask(whole);
        match found {
            Found::Fault => return None,
            Found::Run(from) => (0..32).for_each(|l| hosts[l] = from + bytes * l as u64),
            Found::Scattered => {}
        }
        for l in active(mask) {
            let to = &mut data[l][offset as usize..][..bytes as usize];
            // SAFETY: `place` lets pass only addresses whose bytes are readable.
            unsafe { pointer(hosts[l]).copy_to_nonoverlapping(to.as_mut_ptr(), to.len()) };
        }
    }
    Some(data)
}
