//! `clusterlaunchcontrol`: a cluster takes over the work of one that has not begun (PTX ISA 9.7.13.17).
//!
//! `try_cancel` writes 16 bytes, and tells an mbarrier of them. What they hold is opaque; ours:
//!
//! ```text
//! word 0        1 if a cluster was cancelled: it will not begin
//! words 1 … 3   the index of its first CTA
//! ```
//!
//! The cluster is the next that a host thread would have begun. A launch whose order is left to chance gives
//! none away, which is an answer that a kernel must expect at any time.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::access::{Span, span};
use super::bulk::{MULTICAST, lanes, narrow, signal};
use super::{Core, Flow, Launch};
use crate::fault::Access;
use crate::program::Inst;

/// Bytes of an answer.
const BYTES: u64 = 16;

/// Clusters of a launch that have not begun.
pub struct Waiting<'a> {
    launch: &'a Launch<'a>,
    next: &'a AtomicU64,
}

impl<'a> Waiting<'a> {
    pub fn new(launch: &'a Launch<'a>, next: &'a AtomicU64) -> Self {
        Self { launch, next }
    }

    /// The index of the first CTA of the next cluster, which will not begin.
    fn take(&self) -> Option<[u32; 3]> {
        if self.launch.seed.is_some() {
            return None;
        }
        let size = self.launch.cluster_size().max(1);
        let clusters = self.launch.ctas() / size;
        let next = |number: u64| (number < clusters).then_some(number + 1);
        let taken = self.next.fetch_update(Relaxed, Relaxed, next).ok()?;
        Some(self.launch.index_of(taken * size))
    }
}

/// `clusterlaunchcontrol.try_cancel [a], [mbar]`: both stand in the list.
///
/// # Safety
/// See [`super::Handler`].
pub unsafe fn try_cancel(core: &mut Core, inst: &Inst) -> Flow {
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
    let &[to, barrier] = program.list(inst) else { return Ok(()) };
    // SAFETY: lowering keeps slots within the file.
    let (to, barrier) = unsafe { (narrow(core, to, lane), narrow(core, barrier, lane)) };
    let answer = match core.waiting.take() {
        Some([x, y, z]) => [1, x, y, z],
        None => [0; 4],
    };
    let receivers: Vec<Option<u32>> = match inst.flags & MULTICAST != 0 {
        true => (0..core.tensor.memories.len() as u32).map(Some).collect(),
        false => vec![None],
    };
    for rank in receivers {
        let at = span(core, inst, lane, Span::Shared(to).at(rank), BYTES, BYTES, Access::Write)?;
        // SAFETY: `span` found the bytes, aligned.
        unsafe {
            std::ptr::with_exposed_provenance_mut::<[u32; 4]>(at as usize).write(answer);
            signal(core, inst, lane, Span::Shared(barrier).at(rank).offset(), BYTES)?;
        }
    }
    Ok(())
}
