//! `cp.async`: copies from global to shared memory that a thread starts and later waits for
//! (PTX ISA 9.7.9.25.3).
//!
//! The bytes are read when the copy starts, and written when the thread waits for its group, no earlier:
//! a kernel that reads the destination without waiting, or without the barrier that tells it that
//! others have waited, sees what was there before, as it may on hardware.
//!
//! ```text
//! cp.async A; cp.async B; commit_group      group 0
//! cp.async C; commit_group                  group 1
//! wait_group 1                              all but the latest one: A and B are written
//! ```

use super::access::{copy_source, copy_target};
use super::{Core, Flow};
use crate::fault::Access;
use crate::fault::MemorySpace::{Global, Shared};
use crate::program::Inst;
use crate::sanitize;

/// `src-size` is given: so many bytes are read, the others are zero.
pub const SIZED: u32 = 1 << 8;
/// `ignore-src` is given: where it is true, all bytes are zero.
pub const IGNORED: u32 = 1 << 9;
/// Bytes of a copy: 4, 8 or 16.
pub const BYTES: u32 = 31;

/// Copies of one warp on their way.
#[derive(Default)]
pub struct Pending {
    copies: Vec<OnItsWay>,
    /// Groups that each lane has committed.
    committed: [u32; 32],
}

struct OnItsWay {
    lane: u8,
    bytes: u8,
    /// The lane's group that it belongs to.
    group: u32,
    /// Host address.
    to: u64,
    data: [u8; 16],
}

impl Pending {
    pub fn clear(&mut self) {
        self.copies.clear();
        self.committed = [0; 32];
    }

    /// Write what the lanes of `mask` wait for: all but their latest `allowed` groups; everything,
    /// committed or not, if `None`.
    fn deliver(&mut self, mask: u32, allowed: Option<u32>, mut landed: impl FnMut(&OnItsWay)) {
        let committed = self.committed;
        self.copies.retain(|copy| {
            let lane = usize::from(copy.lane);
            let due = allowed.is_none_or(|n| copy.group + n < committed[lane]);
            if mask >> lane & 1 == 0 || !due {
                return true;
            }
            let to = std::ptr::with_exposed_provenance_mut::<u8>(copy.to as usize);
            // SAFETY: checked when the copy started; shared memory lives as long as its CTA, and with
            // it this list.
            unsafe { std::ptr::copy_nonoverlapping(copy.data.as_ptr(), to, copy.bytes.into()) };
            landed(copy);
            false
        });
    }
}

/// `cp.async [a + imm], [b], bytes`: the destination in `a`, the source in `b`, `src-size` or
/// `ignore-src` in `c`.
///
/// # Safety
/// See [`super::Handler`].
pub unsafe fn copy(core: &mut Core, inst: &Inst) -> Flow {
    let bytes = inst.flags & BYTES;
    // SAFETY: lowering keeps slots within the file; `copy_target` and `copy_source` check.
    unsafe {
        let mut wanted = [bytes; 32];
        if inst.flags & (SIZED | IGNORED) != 0 {
            let c = core.read::<u32>(inst.c);
            for lane in 0..32 {
                wanted[lane] = match inst.flags & SIZED != 0 {
                    true => c[lane].min(bytes),
                    false if c[lane] == 0 => bytes,
                    false => 0,
                };
            }
        }
        let Some(to) = copy_target(core, inst, u64::from(bytes)) else { return Flow::Stop };
        let sources = core.read::<u64>(inst.b);
        let Some(data) = copy_source(core, inst, u64::from(bytes), &wanted) else {
            return Flow::Stop;
        };
        let mask = core.mask;
        let base = core.shared.expose_provenance() as u64;
        let watched = if core.sanitizer.is_some() { mask } else { 0 };
        for lane in (0..32).filter(|lane| watched >> lane & 1 == 1) {
            let (at, from) = (to[lane].wrapping_sub(base), sources[lane]);
            let wanted = u64::from(wanted[lane]);
            for (space, at, bytes, access) in [
                (Global, from, wanted, Access::Read),
                (Shared, at, u64::from(bytes), Access::Write),
            ] {
                if let Err(flow) = sanitize::range(core, lane, space, at, bytes, access) {
                    return flow;
                }
            }
        }
        let pending = &mut *core.pending;
        for lane in (0..32).filter(|lane| mask >> lane & 1 == 1) {
            pending.copies.push(OnItsWay {
                lane: lane as u8,
                bytes: bytes as u8,
                group: pending.committed[lane],
                to: to[lane],
                data: data[lane],
            });
        }
    }
    Flow::Next
}

/// Write what the lanes that run wait for.
fn deliver(core: &mut Core, allowed: Option<u32>) {
    let (mask, base) = (core.mask, core.shared.expose_provenance() as u64);
    // SAFETY: the warp that runs set it.
    let pending = unsafe { &mut *core.pending };
    let sanitizer = &mut core.sanitizer;
    pending.deliver(mask, allowed, |copy| {
        if let Some(sanitizer) = sanitizer {
            sanitizer.landed(copy.lane.into(), copy.to.wrapping_sub(base), copy.bytes.into());
        }
    });
}

/// `cp.async.commit_group`.
///
/// # Safety
/// See [`super::Handler`].
pub unsafe fn commit(core: &mut Core, _: &Inst) -> Flow {
    // SAFETY: the warp that runs set it.
    let pending = unsafe { &mut *core.pending };
    for lane in (0..32).filter(|lane| core.mask >> lane & 1 == 1) {
        pending.committed[lane] += 1;
    }
    Flow::Next
}

/// `cp.async.wait_group imm`.
///
/// # Safety
/// See [`super::Handler`].
pub unsafe fn wait_group(core: &mut Core, inst: &Inst) -> Flow {
    deliver(core, Some(inst.imm as u32));
    Flow::Next
}

/// `cp.async.wait_all`.
///
/// # Safety
/// See [`super::Handler`].
pub unsafe fn wait_all(core: &mut Core, _: &Inst) -> Flow {
    deliver(core, None);
    Flow::Next
}
