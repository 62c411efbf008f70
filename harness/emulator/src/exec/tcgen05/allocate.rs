//! `tcgen05.alloc`, `.dealloc` and `.relinquish_alloc_permit` (PTX ISA 9.7.16.7.1).
//!
//! Each CTA has all of an SM's tensor memory to itself here, so an allocation waits for its own CTA only: one that
//! does not fit is executed again until another warp has freed what it lacks. With `.cta_group::2` a warp of each CTA of the pair executes them; both ask for
//! the same and get the same, each when it comes.

use super::{illegal, own_memory, uniform};
use crate::exec::access::{Span, span};
use crate::exec::bulk::{narrow, wide};
use crate::exec::matrix::whole_warp;
use crate::exec::store_async::GENERIC;
use crate::exec::{Asked, Core, Flow};
use crate::fault::Access;
use crate::program::Inst;

const SECTION: &str = "9.7.16.7.1";

/// `tcgen05.alloc [a], count`: both stand in the list.
///
/// # Safety
/// See [`crate::exec::Handler`].
pub unsafe fn allocate(core: &mut Core, inst: &Inst) -> Flow {
    // SAFETY: passed on.
    unsafe { to_shared(core, inst) }.err().unwrap_or(Flow::Next)
}

unsafe fn to_shared(core: &mut Core, inst: &Inst) -> Result<(), Flow> {
    whole_warp(core)?;
    let program = core.program;
    let &[to, count] = program.list(inst) else { return Ok(()) };
    // SAFETY: lowering keeps slots within the file; `span` finds the four bytes.
    unsafe {
        let count = uniform(core, count, "column counts")?;
        let to = match inst.flags & GENERIC != 0 {
            true => Span::Global(wide(core, to, 0)),
            false => Span::Shared(narrow(core, to, 0)),
        };
        let host = span(core, inst, 0, to, 4, 4, Access::Write)?;
        let first = {
            let ip = core.sanitizer.as_ref().map_or(0, |sanitizer| sanitizer.ip);
            own_memory(core).allocate(count, ip)
        };
        let Some(first) = first.map_err(|message| illegal(core, SECTION, &message))? else {
            core.polled = Some(Asked::Columns(count));
            return Err(Flow::Again);
        };
        std::ptr::with_exposed_provenance_mut::<u32>(host as usize).write(first);
    }
    Ok(())
}

/// `tcgen05.dealloc address, count`.
///
/// # Safety
/// See [`crate::exec::Handler`].
pub unsafe fn free(core: &mut Core, inst: &Inst) -> Flow {
    // SAFETY: passed on.
    unsafe { named(core, inst) }.err().unwrap_or(Flow::Next)
}

unsafe fn named(core: &mut Core, inst: &Inst) -> Result<(), Flow> {
    whole_warp(core)?;
    let program = core.program;
    let &[address, count] = program.list(inst) else { return Ok(()) };
    // SAFETY: lowering keeps slots within the file.
    let (address, count) = unsafe {
        (uniform(core, address, "tensor memory addresses")?, uniform(core, count, "column counts")?)
    };
    super::at_rest(core, (address & 0xffff, count), Access::Write, true)?;
    let freed = own_memory(core).free(address, count);
    freed.map_err(|message| illegal(core, SECTION, &message))
}

/// `tcgen05.relinquish_alloc_permit`.
///
/// # Safety
/// See [`crate::exec::Handler`].
pub unsafe fn relinquish(core: &mut Core, _: &Inst) -> Flow {
    if let Err(flow) = whole_warp(core) {
        return flow;
    }
    own_memory(core).relinquish();
    Flow::Next
}
