//! Stores and reductions that tell an `mbarrier` when they have arrived (PTX ISA 9.7.9.12, 9.7.13.7),
//! and the filling of a stretch of shared memory (9.7.9.13).
//!
//! ```text
//! st.async…v2.u32 [a], {x, y}, [mbar]     writes 8 bytes to a CTA of the cluster, then counts 8 bytes
//! red.async…add.u64 [a], x, [mbar]        adds there, then counts 8 bytes
//! ```
//!
//! Like bulk copies they are done at once. What the manual leaves undefined is a fault: without a
//! cluster there is nobody to send to, the barrier must be the receiver's, and a reduction is for
//! another CTA than the one that asks for it.

use super::access::{Span, span};
use super::bulk::{lanes, narrow, signal, wide};
use super::{Core, Flow, reduction};
use crate::fault::{Access, FaultKind};
use crate::memory::SHARED_WINDOW;
use crate::program::{Inst, Slot};

/// In the flags: addresses are generic, 64 bits wide; else of the cluster's shared memory.
pub const GENERIC: u32 = 1 << 0;
/// What is there is combined with the value: `imm` says how, as [`reduction`] has it.
pub const REDUCES: u32 = 1 << 1;
/// Elements have 8 bytes rather than 4.
pub const DOUBLE: u32 = 1 << 2;

/// Destination, barrier and values stand in the list.
///
/// # Safety
/// See [`super::Handler`].
pub unsafe fn store(core: &mut Core, inst: &Inst) -> Flow {
    let program = core.program;
    let &[to, barrier, ref values @ ..] = program.list(inst) else { return Flow::Next };
    for lane in lanes(core.mask) {
        // SAFETY: lowering keeps slots within the file.
        if let Err(flow) = unsafe { one(core, inst, (to, barrier), values, lane) } {
            return flow;
        }
    }
    Flow::Next
}

unsafe fn one(
    core: &mut Core,
    inst: &Inst,
    (to, barrier): (Slot, Slot),
    values: &[Slot],
    lane: usize,
) -> Result<(), Flow> {
    let size = if inst.flags & DOUBLE != 0 { 8 } else { 4 };
    let bytes = (size * values.len()) as u64;
    let reduces = inst.flags & REDUCES != 0;
    // SAFETY: by the contract of `store`, here and below.
    unsafe {
        let (to, barrier) = (shared(core, inst, to, lane)?, shared(core, inst, barrier, lane)?);
        undefined_by_the_manual(core, (to, barrier), reduces, lane)?;
        // At most four elements of 4 bytes, or two of 8.
        let mut value = [0u64; 2];
        let source = (&raw mut value).expose_provenance() as u64;
        for (element, &slot) in values.iter().enumerate().take(16 / size) {
            let at = (&raw mut value).cast::<u8>().add(element * size);
            match size {
                8 => at.cast::<u64>().write(wide(core, slot, lane)),
                _ => at.cast::<u32>().write(narrow(core, slot, lane)),
            }
        }
        let access = if reduces { Access::Atomic } else { Access::Write };
        let target = span(core, inst, lane, Span::Shared(to), bytes, bytes, access)?;
        match reduces {
            true => reduction::combine(inst.imm, target, source, bytes),
            false => super::bulk::move_bytes(source, target, bytes),
        }
        signal(core, inst, lane, barrier, bytes)
    }
}

/// The shared address in a register, from a generic one where the flags say so.
///
/// # Safety
/// As for [`store`].
unsafe fn shared(core: &mut Core, inst: &Inst, slot: Slot, lane: usize) -> Result<u32, Flow> {
    if inst.flags & GENERIC == 0 {
        // SAFETY: by the contract.
        return Ok(unsafe { narrow(core, slot, lane) });
    }
    // SAFETY: as above.
    let address = unsafe { wide(core, slot, lane) };
    let offset = address.checked_sub(SHARED_WINDOW).and_then(|offset| u32::try_from(offset).ok());
    offset.ok_or_else(|| {
        let message = format!("names {address:#x} as a place in the cluster's shared memory");
        core.stop(FaultKind::BrokenBarrier { message }, lane as u32)
    })
}

fn undefined_by_the_manual(
    core: &mut Core,
    (to, barrier): (u32, u32),
    reduces: bool,
    lane: usize,
) -> Result<(), Flow> {
    let memory_of = |address: u32| core.shared_at(address).0;
    let own = core.shared.expose_provenance() as u64;
    let message = if core.peers.len() < 2 {
        "stores asynchronously in a launch without clusters"
    } else if memory_of(to) != memory_of(barrier) {
        "stores to one block of the cluster and tells the mbarrier of another"
    } else if reduces && memory_of(to) == own {
        "reduces asynchronously in its own block's shared memory; red.async is for another's"
    } else {
        return Ok(());
    };
    Err(core.stop(FaultKind::BrokenBarrier { message: message.to_owned() }, lane as u32))
}

/// Multiples of this are filled (PTX ISA 9.7.9.13). The manual says so of the size; that addresses have
/// to be, too, is a choice.
const UNIT: u64 = 8;
const LARGEST: u64 = 16 << 20;

/// `st.bulk [a], size, 0`: address and size stand in the list.
///
/// # Safety
/// See [`super::Handler`].
pub unsafe fn fill(core: &mut Core, inst: &Inst) -> Flow {
    let program = core.program;
    let &[to, size] = program.list(inst) else { return Flow::Next };
    for lane in lanes(core.mask) {
        // SAFETY: lowering keeps slots within the file; `span` finds the bytes.
        unsafe {
            let to = match shared(core, inst, to, lane) {
                Ok(to) => to,
                Err(flow) => return flow,
            };
            let bytes = u64::from(narrow(core, size, lane));
            if !bytes.is_multiple_of(UNIT) || bytes > LARGEST {
                return core.unsupported("st.bulk of a size that is no multiple of 8 up to 2^24");
            }
            match span(core, inst, lane, Span::Shared(to), bytes, UNIT, Access::Write) {
                Ok(target) => std::ptr::with_exposed_provenance_mut::<u8>(target as usize)
                    .write_bytes(0, bytes as usize),
                Err(flow) => return flow,
            }
        }
    }
    Flow::Next
}
