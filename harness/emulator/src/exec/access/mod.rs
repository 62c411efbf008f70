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
mod window;

pub use atomic::{Update, atomic};

use super::{Core, Flow, Lane};
use crate::fault::{Access, FaultKind, MemorySpace};
use crate::memory::{LOCAL_WINDOW, SHARED_WINDOW, WINDOWS};
use crate::program::{Inst, Slot};
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

#[cold]
fn misaligned(
    core: &mut Core,
    of: impl Fn(usize) -> u64,
    bytes: u64,
    access: Access,
    space: MemorySpace,
) -> bool {
    let lane = active(core.mask).find(|&lane| of(lane) % bytes != 0).unwrap_or(0);
    let kind = FaultKind::Misaligned { access, space, address: of(lane), bytes: bytes as u32 };
    core.stop(kind, lane as u32);
    false
}

/// Where the lanes' bytes are, checked: a host address for each lane.
///
/// Addresses stay integers until the access: a global address came from an allocation that exposed
/// it, through any arithmetic the kernel liked.
enum Place {
    Global(Addresses),
    /// Offsets from `base`, lane `l` further by `l * stride`.
    Window {
        at: Offsets,
        base: u64,
        stride: u64,
    },
}

impl Place {
    #[inline(always)]
    fn of_lane(&self, lane: usize) -> *mut u8 {
        let address = match self {
            Self::Global(at) => at.of[lane],
            Self::Window { at, base, stride } => {
                base + u64::from(at.of[lane]) + lane as u64 * stride
            }
        };
        std::ptr::with_exposed_provenance_mut(address as usize)
    }

    /// The first lane's address, if the lanes' bytes follow each other.
    #[inline(always)]
    fn run(&self) -> Option<*mut u8> {
        let contiguous = match self {
            Self::Global(at) => at.contiguous,
            Self::Window { at, stride, .. } => at.contiguous && *stride == 0,
        };
        contiguous.then(|| self.of_lane(0))
    }
}

/// Check an access and find its bytes. `None`: the fault is recorded.
#[inline(always)]
unsafe fn place<const SPACE: u8>(
    core: &mut Core,
    inst: &Inst,
    bytes: u64,
    access: Access,
) -> Option<Place> {
    // SAFETY: passed on.
    unsafe {
        match SPACE {
            GLOBAL => {
                let at = Addresses::gather(core, inst, bytes);
                global::admit(core, inst, &at, bytes, access).then_some(Place::Global(at))
            }
            SHARED | LOCAL => {
                let at = Offsets::gather(core, inst, bytes as u32);
                place_in_window(core, at, bytes as u32, access, SPACE == SHARED)
            }
            _ => place_generic(core, inst, bytes, access),
        }
    }
}

#[inline(always)]
fn place_in_window(
    core: &mut Core,
    at: Offsets,
    bytes: u32,
    access: Access,
    shared: bool,
) -> Option<Place> {
    if shared {
        let base = core.shared.expose_provenance() as u64;
        window::admit_shared(core, &at, bytes, access).then_some(Place::Window {
            at,
            base,
            stride: 0,
        })
    } else {
        let base = core.local.expose_provenance() as u64;
        let stride = core.local_len;
        window::admit_local(core, &at, bytes, access).then_some(Place::Window { at, base, stride })
    }
}

/// A generic address is what its window says (PTX ISA 5.2).
#[inline(never)]
unsafe fn place_generic(core: &mut Core, inst: &Inst, bytes: u64, access: Access) -> Option<Place> {
    // SAFETY: passed on.
    let at = unsafe { Addresses::gather(core, inst, bytes) };
    let (low, high) = (at.low(), at.high());
    if high < WINDOWS {
        global::admit(core, inst, &at, bytes, access).then_some(Place::Global(at))
    } else if low >= LOCAL_WINDOW {
        place_in_window(core, at.offsets(LOCAL_WINDOW), bytes as u32, access, false)
    } else if low >= SHARED_WINDOW && high < LOCAL_WINDOW {
        place_in_window(core, at.offsets(SHARED_WINDOW), bytes as u32, access, true)
    } else {
        core.unsupported("one instruction whose lanes point into different memories");
        None
    }
}

/// Longest vector: eight elements (PTX ISA 9.7.9.8, `.v8.b32` from sm_100 on).
const LONGEST: usize = 8;

#[inline(always)]
fn slots(core: &Core, inst: &Inst) -> ([Slot; LONGEST], usize) {
    let mut of = [0; LONGEST];
    let count = (inst.d as usize).min(LONGEST);
    of[..count].copy_from_slice(&core.list(inst)[..count]);
    (of, count)
}

/// `ld`: `inst.d` elements for each lane, from `[a + imm]` into the slots of the list.
///
/// # Safety
/// See [`super::Handler`].
#[inline(always)]
pub unsafe fn load<E: Element, const SPACE: u8>(core: &mut Core, inst: &Inst) -> Flow {
    let (to, count) = slots(core, inst);
    let bytes = E::BYTES * count as u64;
    // SAFETY: `place` lets pass only addresses whose bytes are readable; slots are in the file.
    unsafe {
        let Some(place) = place::<SPACE>(core, inst, bytes, Access::Read) else {
            return Flow::Stop;
        };
        if let Some(from) = place.run() {
            let from = from.cast::<E>().cast_const();
            match count {
                1 => unpack::<E, 1>(core, &to, from),
                2 => unpack::<E, 2>(core, &to, from),
                4 => unpack::<E, 4>(core, &to, from),
                _ => unpack::<E, 8>(core, &to, from),
            }
        } else if count == 1 && core.mask == u32::MAX {
            let to = core.lanes_of::<E::Lane>(to[0]);
            for lane in 0..32 {
                (*to)[lane] = place.of_lane(lane).cast::<E>().read().widen();
            }
        } else {
            for lane in active(core.mask) {
                let from = place.of_lane(lane).cast::<E>();
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
pub unsafe fn store<E: Element, const SPACE: u8>(core: &mut Core, inst: &Inst) -> Flow {
    let (of, count) = slots(core, inst);
    let bytes = E::BYTES * count as u64;
    // SAFETY: as in `load`, for writing.
    unsafe {
        let Some(place) = place::<SPACE>(core, inst, bytes, Access::Write) else {
            return Flow::Stop;
        };
        if let Some(to) = place.run() {
            let to = to.cast::<E>();
            match count {
                1 => pack::<E, 1>(core, &of, to),
                2 => pack::<E, 2>(core, &of, to),
                4 => pack::<E, 4>(core, &of, to),
                _ => pack::<E, 8>(core, &of, to),
            }
        } else if count == 1 && core.mask == u32::MAX {
            let from = core.lanes_of::<E::Lane>(of[0]);
            for lane in 0..32 {
                place.of_lane(lane).cast::<E>().write(E::narrow((*from)[lane]));
            }
        } else {
            for lane in active(core.mask) {
                let to = place.of_lane(lane).cast::<E>();
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
