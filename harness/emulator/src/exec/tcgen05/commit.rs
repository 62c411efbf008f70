//! `tcgen05.commit`: an mbarrier is told when what the thread asked for is done (PTX ISA 9.7.16.11).

use super::queue::{Operation, Queued};
use crate::exec::access::{Span, span};
use crate::exec::bulk::{MULTICAST, lanes, narrow, wide};
use crate::exec::store_async::GENERIC;
use crate::exec::{Core, Flow};
use crate::fault::Access;
use crate::memory::SHARED_WINDOW;
use crate::program::Inst;

/// `tcgen05.commit [mbar]{, mask}`: both stand in the list.
///
/// # Safety
/// See [`crate::exec::Handler`].
pub unsafe fn commit(core: &mut Core, inst: &Inst) -> Flow {
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
    let &[at, ref mask @ ..] = program.list(inst) else { return Ok(()) };
    // SAFETY: lowering keeps slots within the file.
    let at = unsafe {
        match inst.flags & GENERIC != 0 {
            // Public kernels give a shared address in 64 bits without saying so.
            true => match wide(core, at, lane) {
                address if address < SHARED_WINDOW && address >> 32 == 0 => {
                    Span::Shared(address as u32)
                }
                address => Span::Global(address),
            },
            false => Span::Shared(narrow(core, at, lane)),
        }
    };
    let mut spans = vec![at];
    if inst.flags & MULTICAST != 0 {
        // SAFETY: as above.
        let mask = mask.first().map_or(0, |&slot| unsafe { narrow(core, slot, lane) });
        let offset = match at {
            Span::Global(address) if address >= SHARED_WINDOW => {
                Span::Shared((address - SHARED_WINDOW) as u32)
            }
            span => span,
        };
        spans = (0..16).filter(|rank| mask >> rank & 1 == 1).map(|r| offset.at(Some(r))).collect();
    }
    let mut objects = Vec::new();
    for at in spans {
        objects.push(span(core, inst, lane, at, 8, 8, Access::Atomic)?);
    }
    if let Some(sanitizer) = &mut core.sanitizer {
        // Whoever learns of it knows of all that this thread did before (9.7.16.6.2).
        objects.iter().for_each(|&object| sanitizer.told(object, false));
    }
    let thread = (core.cluster_rank, core.warp, lane as u32);
    let operation = Operation::Arrive(objects);
    let ip = core.sanitizer.as_ref().map_or(0, |sanitizer| sanitizer.ip);
    core.tensor.queue.push(Queued { operation, thread, columns: Vec::new(), ip });
    Ok(())
}
