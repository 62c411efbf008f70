//! Tensor maps that kernels change: `tensormap.replace` and `tensormap.cp_fenceproxy`
//! (PTX ISA 9.7.9.28, 9.7.13.16).
//!
//! A kernel with a problem for each group copies a map to shared memory, puts the group's address, extents and
//! strides in, and copies it to global memory, where tensor copies look:
//!
//! ```text
//! tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [s], 1, %r     extent of dimension 1
//! tensormap.cp_fenceproxy….sync.aligned [g], [s], 128                    once for the warp
//! fence.proxy.tensormap::generic.acquire.gpu [g], 128                    nothing is kept of maps here
//! ```

use super::access::{Span, span};
use super::bulk::{lanes, move_bytes, narrow, wide};
use super::matrix::whole_warp;
use super::{Core, Flow};
use crate::fault::{Access, FaultKind};
use crate::memory::{MAP_BYTES, MapField, TensorMap};
use crate::program::Inst;

/// In the flags, beside the [`MapField`]: the map lies in shared memory.
pub const SHARED: u32 = 1 << 8;

/// Where maps may lie (PTX ISA 5.5.8, as of `CUtensorMap`).
const ALIGNMENT: u64 = 64;

/// `tensormap.replace`: the map's address and the value stand in the list, `imm` is the ordinal.
///
/// # Safety
/// See [`super::Handler`].
pub unsafe fn replace(core: &mut Core, inst: &Inst) -> Flow {
    for lane in lanes(core.mask) {
        // SAFETY: passed on.
        if let Err(flow) = unsafe { one(core, inst, lane) } {
            return flow;
        }
    }
    Flow::Next
}

unsafe fn one(core: &mut Core, inst: &Inst, lane: usize) -> Result<(), Flow> {
    let program = core.program;
    let &[map, value] = program.list(inst) else { return Ok(()) };
    let field = MapField::ALL[(inst.flags & 0xff) as usize % MapField::ALL.len()];
    // SAFETY: lowering keeps slots within the file, and values are as wide as the field's.
    let (map, value) = unsafe {
        let map = match inst.flags & SHARED != 0 {
            true => Span::Shared(narrow(core, map, lane)),
            false => Span::Global(wide(core, map, lane)),
        };
        let value = match field.is_wide() {
            true => wide(core, value, lane),
            false => u64::from(narrow(core, value, lane)),
        };
        (map, value)
    };
    let at = span(core, inst, lane, map, MAP_BYTES as u64, ALIGNMENT, Access::Write)?;
    let map = std::ptr::with_exposed_provenance_mut::<[u8; MAP_BYTES]>(at as usize);
    // SAFETY: `span` found the bytes.
    let mut bytes = unsafe { map.read() };
    match TensorMap::replace(&mut bytes, field, inst.imm as usize, value) {
        // SAFETY: as above.
        Ok(()) => unsafe { map.write(bytes) },
        Err(what) => {
            let message = format!("{what} (PTX ISA 9.7.9.28)");
            return Err(core.stop(FaultKind::Illegal { message }, lane as u32));
        }
    }
    Ok(())
}

/// `tensormap.cp_fenceproxy`: global and shared address stand in the list.
///
/// # Safety
/// See [`super::Handler`].
pub unsafe fn publish(core: &mut Core, inst: &Inst) -> Flow {
    // SAFETY: passed on.
    unsafe { for_the_warp(core, inst) }.err().unwrap_or(Flow::Next)
}

unsafe fn for_the_warp(core: &mut Core, inst: &Inst) -> Result<(), Flow> {
    whole_warp(core)?;
    let program = core.program;
    let &[to, from] = program.list(inst) else { return Ok(()) };
    let bytes = MAP_BYTES as u64;
    // SAFETY: lowering keeps slots within the file; `span` finds the bytes.
    unsafe {
        let (to, from) = (Span::Global(wide(core, to, 0)), Span::Shared(narrow(core, from, 0)));
        let from = span(core, inst, 0, from, bytes, ALIGNMENT, Access::Read)?;
        let to = span(core, inst, 0, to, bytes, ALIGNMENT, Access::Write)?;
        move_bytes(from, to, bytes);
    }
    Ok(())
}
