//! The instructions of a block, one after another, for the lanes of a split.

use super::{Core, Flow, Lane};
use crate::program::{Exit, Inst, Writes};
use crate::sanitize;

/// Run straight-line code with all lanes active.
///
/// # Safety
/// See [`super::Handler`].
#[inline]
pub unsafe fn run_all(core: &mut Core, code: &[Inst], ip: &mut u32) -> Flow {
    for (done, inst) in code.iter().enumerate() {
        // SAFETY: passed on.
        let flow = unsafe { (inst.run)(core, inst) };
        if flow != Flow::Next {
            *ip += done as u32;
            return flow;
        }
    }
    *ip += code.len() as u32;
    Flow::Next
}

/// Run straight-line code with some lanes active: where an instruction writes all lanes, the others
/// get their values back.
///
/// # Safety
/// See [`super::Handler`].
pub unsafe fn run_some(core: &mut Core, code: &[Inst], ip: &mut u32) -> Flow {
    for inst in code {
        // SAFETY: passed on.
        let flow = unsafe { run_masked(core, inst) };
        if flow != Flow::Next {
            return flow;
        }
        *ip += 1;
    }
    Flow::Next
}

/// Run straight-line code with the sanitizer looking on where it matters, up to the branch at its end.
///
/// # Safety
/// See [`super::Handler`].
pub unsafe fn run_watched(core: &mut Core, code: &[Inst], exit: &Exit, ip: &mut u32) -> Flow {
    let mut rest = code;
    while let Some((inst, others)) = rest.split_first() {
        // SAFETY: passed on.
        let flow = unsafe {
            let quiet = sanitize::quiet(core, *ip);
            if let Some((unwatched, others)) = rest.split_at_checked(quiet).filter(|_| quiet > 0) {
                rest = others;
                if core.mask == u32::MAX {
                    run_all(core, unwatched, ip)
                } else {
                    run_some(core, unwatched, ip)
                }
            } else {
                rest = others;
                let flow = run_one_watched(core, inst, *ip);
                *ip += u32::from(flow == Flow::Next);
                flow
            }
        };
        if flow != Flow::Next {
            return flow;
        }
    }
    sanitize::leaving(core, exit).err().unwrap_or(Flow::Next)
}

#[inline]
unsafe fn run_one_watched(core: &mut Core, inst: &Inst, ip: u32) -> Flow {
    // SAFETY: passed on.
    unsafe {
        let watched = sanitize::matters(core, inst, ip);
        if watched && let Err(flow) = sanitize::before(core, inst, ip) {
            return flow;
        }
        let flow =
            if core.mask == u32::MAX { (inst.run)(core, inst) } else { run_masked(core, inst) };
        if watched && !matches!(flow, Flow::Stop | Flow::Rendezvous) {
            sanitize::after(core, inst, ip);
        }
        flow
    }
}

#[inline]
unsafe fn run_masked(core: &mut Core, inst: &Inst) -> Flow {
    // SAFETY: passed on; destinations are registers of the width that `writes` says.
    unsafe {
        match inst.writes {
            Writes::Active => (inst.run)(core, inst),
            Writes::AllNarrow => keeping::<u32>(core, inst),
            Writes::AllWide => keeping::<u64>(core, inst),
        }
    }
}

#[inline]
unsafe fn keeping<T: Lane>(core: &mut Core, inst: &Inst) -> Flow {
    // SAFETY: passed on.
    unsafe {
        let before = core.read::<T>(inst.dst);
        let flow = (inst.run)(core, inst);
        let after = &mut *core.lanes_of::<T>(inst.dst);
        for l in 0..32 {
            after[l] = T::blend(core.lane_masks[l], after[l], before[l]);
        }
        flow
    }
}
