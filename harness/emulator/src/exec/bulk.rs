//! Bulk copies: whole stretches of memory, moved by a unit of its own that tells an `mbarrier` when
//! they have arrived (PTX ISA 9.7.9.25.4).
//!
//! Each active lane starts a copy (a kernel elects one). It is done at once, and the bytes are counted
//! at the barrier; what a kernel reads before it waits is therefore newer here than on hardware may be.

use super::access::{Span, span};
use super::{Core, Flow, mbarrier};
use crate::fault::Access;
use crate::program::{Inst, Slot};

/// From global memory to shared, in the flags; else the other way.
pub const TO_SHARED: u32 = 1 << 0;
/// From shared memory to that of another CTA of the cluster.
pub const BETWEEN_SHARED: u32 = 1 << 1;
/// The list ends with a mask of CTAs that all get the bytes.
pub const MULTICAST: u32 = 1 << 2;
/// The destination is combined with the source: see [`super::reduction`].
pub const REDUCES: u32 = 1 << 3;

/// Sizes and addresses are multiples of this (PTX ISA 9.7.9.25.4.1).
const UNIT: u64 = 16;

/// Lanes of `mask`.
pub fn lanes(mask: u32) -> impl Iterator<Item = usize> {
    (0..32).filter(move |lane| mask >> lane & 1 == 1)
}

/// A 32-bit operand of one lane.
///
/// # Safety
/// `slot` must be within the register file.
pub unsafe fn narrow(core: &Core, slot: Slot, lane: usize) -> u32 {
    // SAFETY: by the contract.
    unsafe { (*core.lanes_of::<u32>(slot))[lane] }
}

/// A 64-bit operand of one lane.
///
/// # Safety
/// As for [`narrow`].
pub unsafe fn wide(core: &Core, slot: Slot, lane: usize) -> u64 {
    // SAFETY: by the contract.
    unsafe { (*core.lanes_of::<u64>(slot))[lane] }
}

/// `cp.async.bulk`: destination, source, size, barrier, and a mask of CTAs stand in the list; shared
/// addresses have 32 bits, global ones 64.
///
/// # Safety
/// See [`super::Handler`].
pub unsafe fn copy(core: &mut Core, inst: &Inst) -> Flow {
    let program = core.program;
    let list = program.list(inst);
    for lane in lanes(core.mask) {
        // SAFETY: lowering keeps slots within the file.
        if let Err(flow) = unsafe { one(core, inst, list, lane) } {
            return flow;
        }
    }
    Flow::Next
}

unsafe fn one(core: &mut Core, inst: &Inst, list: &[Slot], lane: usize) -> Result<(), Flow> {
    let &[to, from, size, ref rest @ ..] = list else { return Ok(()) };
    // SAFETY: by the contract of `copy`, here and below.
    unsafe {
        let bytes = u64::from(narrow(core, size, lane));
        if !bytes.is_multiple_of(UNIT) {
            return Err(core.unsupported("a bulk copy of a size that is no multiple of 16"));
        }
        let shared = |core: &Core, slot| Span::Shared(narrow(core, slot, lane));
        let global = |core: &Core, slot| Span::Global(wide(core, slot, lane));
        let (source, target) = if inst.flags & TO_SHARED != 0 {
            (global(core, from), shared(core, to))
        } else if inst.flags & BETWEEN_SHARED != 0 {
            (shared(core, from), shared(core, to))
        } else {
            (shared(core, from), global(core, to))
        };
        let source = span(core, inst, lane, source, bytes, UNIT, Access::Read)?;
        if inst.flags & REDUCES != 0 {
            let target = span(core, inst, lane, target, bytes, UNIT, Access::Atomic)?;
            super::reduction::combine(inst.imm, target, source, bytes);
            if let Some(&barrier) = rest.first() {
                signal(core, inst, lane, narrow(core, barrier, lane), bytes)?;
            }
            return Ok(());
        }
        let Some(&barrier) = rest.first() else {
            let target = span(core, inst, lane, target, bytes, UNIT, Access::Write)?;
            move_bytes(source, target, bytes);
            return Ok(());
        };
        let barrier = narrow(core, barrier, lane);
        for rank in receivers(core, inst, rest.get(1).copied(), lane) {
            let target = span(core, inst, lane, target.at(rank), bytes, UNIT, Access::Write)?;
            move_bytes(source, target, bytes);
            signal(core, inst, lane, Span::Shared(barrier).at(rank).offset(), bytes)?;
        }
    }
    Ok(())
}

/// The CTAs that get a copy: those of the mask, or the one that the address names.
///
/// # Safety
/// As for [`narrow`].
pub unsafe fn receivers(
    core: &Core,
    inst: &Inst,
    mask: Option<Slot>,
    lane: usize,
) -> Vec<Option<u32>> {
    match mask.filter(|_| inst.flags & MULTICAST != 0) {
        // SAFETY: by the contract.
        Some(slot) => lanes(unsafe { narrow(core, slot, lane) } & 0xffff)
            .map(|rank| Some(rank as u32))
            .collect(),
        None => vec![None],
    }
}

/// Count `bytes` at the barrier at a shared address.
///
/// # Safety
/// As for [`copy`].
pub unsafe fn signal(
    core: &mut Core,
    inst: &Inst,
    lane: usize,
    barrier: u32,
    bytes: u64,
) -> Result<(), Flow> {
    let host = span(core, inst, lane, Span::Shared(barrier), 8, 8, Access::Atomic)?;
    // SAFETY: `span` found eight bytes of shared memory there.
    unsafe { mbarrier::complete(core, host, lane, bytes as u32) }
}

/// # Safety
/// Both host addresses must be valid for `bytes`.
pub unsafe fn move_bytes(from: u64, to: u64, bytes: u64) {
    let from = std::ptr::with_exposed_provenance::<u8>(from as usize);
    let to = std::ptr::with_exposed_provenance_mut::<u8>(to as usize);
    // SAFETY: by the contract; they may overlap.
    unsafe { std::ptr::copy(from, to, bytes as usize) };
}
