//! Instructions that look across the lanes of a warp (PTX ISA 9.7.9.6, 9.7.13.9-12).
//!
//! A `.sync` instruction waits for every lane of its mask that has not ended. In a converged warp
//! they are all here; where some are missing the handler asks for a rendezvous, and the warp runs
//! its other lanes first (see `warp.rs`).
//!
//! What the manual leaves undefined is done as an H200 does it (`tests/shuffles.rs` holds what was
//! measured), and the sanitizer says that it is undefined:
//!
//! - A lane that takes no part, because it has ended or is elsewhere, has the value 0 for who asks it. The
//!   predicate says whether the lane asked is in range, and no more.
//! - Lanes that execute the instruction together take part together, whether a mask names them or not:
//!   `__shfl_xor_sync(0xffff, x, 16)` by a whole warp exchanges its halves. (Where the lanes that the mask
//!   does name were ahead at another `.sync` instruction, the card reported an illegal instruction.)

use super::{Core, Flow};
use crate::fault::FaultKind;
use crate::isa::flag;
use crate::program::Inst;

/// The lanes that take part, or the flow that answers instead.
#[inline(always)]
unsafe fn members(core: &mut Core, mask_slot: crate::program::Slot) -> Result<u32, Flow> {
    // SAFETY: lowering keeps slots within the file.
    let masks = unsafe { core.read::<u32>(mask_slot) };
    let first = core.mask.trailing_zeros() & 31;
    let mask = masks[first as usize];
    if mask == u32::MAX && core.mask == core.live {
        return Ok(core.live);
    }
    let group = (0..32).filter(|&l| masks[l] == mask).fold(0, |group, l| group | 1 << l);
    if core.mask & !group != 0 {
        core.wanted = core.mask & group;
        return Err(Flow::Apart);
    }
    let outside = core.mask & !mask;
    if outside != 0 && core.sanitizer.is_some() {
        return Err(core.stop(FaultKind::OutsideMask { mask }, outside.trailing_zeros()));
    }
    let wanted = mask & core.live;
    // Who is not in the mask waits for nobody.
    if core.mask & mask != 0 && wanted & !core.mask != 0 {
        core.wanted = wanted;
        return Err(Flow::Rendezvous);
    }
    Ok(core.mask)
}

/// As [`members`], of lanes that exchange values: those here do so across different masks, unless one of
/// them has to wait for somebody first.
#[inline(always)]
unsafe fn partners(core: &mut Core, mask_slot: crate::program::Slot) -> Result<u32, Flow> {
    // SAFETY: lowering keeps slots within the file.
    let masks = unsafe { &*core.lanes_of::<u32>(mask_slot) };
    let mut named = 0;
    for (lane, mask) in masks.iter().enumerate() {
        named |= core.lane_masks[lane] & mask;
    }
    let all_here = named & core.live & !core.mask == 0 && core.mask & !named == 0;
    // SAFETY: passed on.
    if all_here { Ok(core.mask) } else { unsafe { members(core, mask_slot) } }
}

/// Modes of `shfl`.
pub const UP: u8 = 0;
pub const DOWN: u8 = 1;
pub const BFLY: u8 = 2;
pub const IDX: u8 = 3;

/// `shfl.sync.mode.b32 dst|d, a, b, c, mask`: `imm` is the slot of the mask. First where each lane
/// reads from and whether that is inside its segment, for all lanes as vectors; then the reads.
///
/// # Safety
/// See [`super::Handler`].
#[inline(always)]
pub unsafe fn shfl<const MODE: u8>(core: &mut Core, inst: &Inst) -> Flow {
    // SAFETY: lowering keeps slots within the file.
    unsafe {
        let present = match partners(core, inst.imm as u32) {
            Ok(mask) => mask,
            Err(flow) => return flow,
        };
        let a = core.read::<u32>(inst.a);
        let b = &*core.lanes_of::<u32>(inst.b);
        let c = &*core.lanes_of::<u32>(inst.c);
        let mut source = [0u32; 32];
        let mut inside = [0u32; 32];
        for l in 0..32u32 {
            let i = l as usize;
            let (b, clamp, segment) = (b[i] & 31, c[i] & 31, c[i] >> 8 & 31);
            let limit = (l & segment) | (clamp & !segment);
            let (from, ok) = match MODE {
                UP => (l.wrapping_sub(b), l as i32 - b as i32 >= limit as i32),
                DOWN => (l + b, l + b <= limit),
                BFLY => (l ^ b, l ^ b <= limit),
                _ => {
                    let from = (l & segment) | (b & !segment);
                    (from, from <= limit)
                }
            };
            inside[i] = if ok { u32::MAX } else { 0 };
            // Out of range: the lane's own value.
            source[i] = if ok { from & 31 } else { l };
        }
        let mut out = [0u32; 32];
        if present == u32::MAX {
            for i in 0..32 {
                out[i] = a[source[i] as usize & 31];
            }
        } else {
            for i in 0..32 {
                let from = source[i] as usize & 31;
                out[i] = if present >> from & 1 == 1 { a[from] } else { 0 };
            }
        }
        if core.sanitizer.is_some() {
            note_undefined(core, inst, present, &source);
        }
        core.write(inst.dst, &out);
        if inst.d != 0 {
            core.write(inst.d, &inside);
        }
    }
    Flow::Next
}

/// Tell the sanitizer which lanes ask one that takes no part, or that their mask does not name.
#[cold]
#[inline(never)]
unsafe fn note_undefined(core: &mut Core, inst: &Inst, present: u32, source: &[u32; 32]) {
    // SAFETY: lowering keeps slots within the file.
    let masks = unsafe { core.read::<u32>(inst.imm as u32) };
    let partners = |lane: usize| masks[lane] & present;
    let asks_in_vain = |lane: &usize| partners(*lane) >> (source[*lane] & 31) & 1 == 0;
    let lanes = (0..32).filter(asks_in_vain).fold(0, |lanes, lane| lanes | 1 << lane);
    if let Some(sanitizer) = &mut core.sanitizer {
        sanitizer.shuffled(lanes & core.mask);
    }
}

/// `vote.sync`: predicate in `a`, mask in `b`.
///
/// # Safety
/// See [`super::Handler`].
#[inline(always)]
pub unsafe fn vote(core: &mut Core, inst: &Inst) -> Flow {
    // SAFETY: lowering keeps slots within the file.
    unsafe {
        let present = match members(core, inst.b) {
            Ok(mask) => mask,
            Err(flow) => return flow,
        };
        let mut set = core.predicate(inst.a);
        if inst.flags & flag::NOT != 0 {
            set = !set;
        }
        set &= present;
        let all_ones = |yes: bool| if yes { u32::MAX } else { 0 };
        let result = if inst.flags & flag::BALLOT != 0 {
            set
        } else if inst.flags & flag::ALL != 0 {
            all_ones(set == present)
        } else if inst.flags & flag::ANY != 0 {
            all_ones(set != 0)
        } else {
            all_ones(set == 0 || set == present)
        };
        core.write(inst.dst, &[result; 32]);
    }
    Flow::Next
}

/// `redux.sync.op` (PTX ISA 9.7.13.12): one fold over the lanes of the mask.
///
/// # Safety
/// See [`super::Handler`].
#[inline(always)]
pub unsafe fn redux(core: &mut Core, inst: &Inst, fold: impl Fn(u32, u32) -> u32) -> Flow {
    // SAFETY: lowering keeps slots within the file.
    unsafe {
        let present = match members(core, inst.b) {
            Ok(mask) => mask,
            Err(flow) => return flow,
        };
        let a = core.read::<u32>(inst.a);
        let mut lanes = (0..32usize).filter(|l| present >> l & 1 == 1).map(|l| a[l]);
        let first = lanes.next().unwrap_or(0);
        let result = lanes.fold(first, fold);
        core.write(inst.dst, &[result; 32]);
    }
    Flow::Next
}

/// `redux.sync.min.f32`: NaN only where all are, or where `.NaN` asks for one.
///
/// # Safety
/// See [`super::Handler`].
pub unsafe fn redux_f32(core: &mut Core, inst: &Inst, pick: fn(f32, f32) -> f32) -> Flow {
    let flags = inst.flags;
    let value = |bits| {
        let x = f32::from_bits(bits);
        if flags & flag::ABS != 0 { x.abs() } else { x }
    };
    let fold = |a, b| {
        let (a, b) = (value(a), value(b));
        let picked = if flags & flag::NAN != 0 && (a.is_nan() || b.is_nan()) {
            f32::NAN
        } else {
            pick(a, b)
        };
        if picked.is_nan() { CANONICAL_NAN } else { picked.to_bits() }
    };
    // Once more with itself, for the case of a single lane.
    // SAFETY: passed on.
    unsafe { redux(core, inst, |a, b| fold(fold(a, a), b)) }
}

/// The NaN that arithmetic gives (PTX ISA 9.7.3).
const CANONICAL_NAN: u32 = 0x7fff_ffff;

/// `match.any.sync.b32`: for each lane the mask of lanes with its value.
///
/// # Safety
/// See [`super::Handler`].
#[inline(always)]
pub unsafe fn match_lanes<T: super::Lane + PartialEq>(core: &mut Core, inst: &Inst) -> Flow {
    // SAFETY: lowering keeps slots within the file.
    unsafe {
        let present = match members(core, inst.b) {
            Ok(mask) => mask,
            Err(flow) => return flow,
        };
        let a = core.read::<T>(inst.a);
        let mut out = [0u32; 32];
        let lanes = || (0..32usize).filter(|l| present >> l & 1 == 1);
        for l in lanes() {
            out[l] = lanes().filter(|&m| a[m] == a[l]).fold(0, |mask, m| mask | 1 << m);
        }
        if inst.flags & flag::ALL != 0 {
            let same = lanes().all(|l| out[l] == present);
            out = [if same { present } else { 0 }; 32];
            if inst.d != 0 {
                core.write(inst.d, &[if same { u32::MAX } else { 0 }; 32]);
            }
        }
        core.write(inst.dst, &out);
    }
    Flow::Next
}

/// `bar.warp.sync mask`, mask in `a`.
///
/// # Safety
/// See [`super::Handler`].
#[inline(always)]
pub unsafe fn warp_sync(core: &mut Core, inst: &Inst) -> Flow {
    // SAFETY: lowering keeps slots within the file.
    match unsafe { members(core, inst.a) } {
        Ok(_) => Flow::Next,
        Err(flow) => flow,
    }
}

/// `elect.sync`: the lowest lane of the mask leads. `dst` gets its number, `d` the predicate.
///
/// # Safety
/// See [`super::Handler`].
#[inline(always)]
pub unsafe fn elect(core: &mut Core, inst: &Inst) -> Flow {
    // SAFETY: lowering keeps slots within the file.
    unsafe {
        let present = match members(core, inst.a) {
            Ok(mask) => mask,
            Err(flow) => return flow,
        };
        let leader = present.trailing_zeros();
        let mut leads = [0u32; 32];
        leads[leader as usize & 31] = u32::MAX;
        if inst.dst != 0 {
            core.write(inst.dst, &[leader; 32]);
        }
        core.write(inst.d, &leads);
    }
    Flow::Next
}

/// `activemask.b32`.
///
/// # Safety
/// See [`super::Handler`].
#[inline(always)]
pub unsafe fn active_mask(core: &mut Core, inst: &Inst) -> Flow {
    let mask = core.mask;
    // SAFETY: lowering keeps slots within the file.
    unsafe { core.write(inst.dst, &[mask; 32]) };
    Flow::Next
}
