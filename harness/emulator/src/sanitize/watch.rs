//! Around each instruction: what it is about to do, what it has done.

use super::access::access;
use super::clash::Party;
use super::fault::Accessed;
use super::rule::Source;
use super::{Action, Effect, Rule, Sanitizer};
use crate::exec::{Core, Flow};
use crate::fault::{Access, MemorySpace, Use};
use crate::program::{Exit, Inst, SLOT};

/// Whatever ran to its end has [`Flow::Next`]; a finding stops the launch.
pub type Verdict = Result<(), Flow>;

pub fn lanes(mask: u32) -> impl Iterator<Item = u32> {
    let mut left = mask;
    std::iter::from_fn(move || {
        let lane = (left != 0).then(|| left.trailing_zeros())?;
        left &= left - 1;
        Some(lane)
    })
}

/// Run `f` with the sanitizer of `core`, which it may use beside it.
#[inline(always)]
fn with(core: &mut Core, f: impl FnOnce(&mut Sanitizer, &mut Core) -> Verdict) -> Verdict {
    let Some(mut sanitizer) = core.sanitizer.take() else { return Ok(()) };
    let verdict = f(&mut sanitizer, core);
    core.sanitizer = Some(sanitizer);
    verdict
}

/// How many instructions from the one at `ip` on, in its block, need not be looked at: they make values of
/// values, and all are defined.
///
/// # Safety
/// As for the instruction's handler.
#[inline(always)]
pub unsafe fn quiet(core: &Core, ip: u32) -> usize {
    // SAFETY: the warp that runs set them.
    if unsafe { (*core.defined).all_defined() && (*core.in_flight).is_empty() } {
        core.program.effects[ip as usize].quiet.into()
    } else {
        0
    }
}

/// Whether the instruction at `ip` has to be looked at before and after: not one that goes to memory where
/// nothing can be wrong.
///
/// # Safety
/// As for the instruction's handler.
#[inline(always)]
pub unsafe fn matters(core: &mut Core, inst: &Inst, ip: u32) -> bool {
    // SAFETY: the warp that runs set it.
    if unsafe { !(*core.defined).all_defined() || !(*core.in_flight).is_empty() } {
        return true;
    }
    let (touch, access) = match core.program.effects[ip as usize].action {
        Action::Load(touch) => (touch, Access::Read),
        Action::Store(touch) => (touch, Access::Write),
        _ => return true,
    };
    let Some(mut sanitizer) = core.sanitizer.take() else { return false };
    sanitizer.ip = ip;
    // SAFETY: passed on.
    let well = unsafe { (sanitizer.is_well)(&mut sanitizer, core, inst, touch, access) };
    core.sanitizer = Some(sanitizer);
    !well
}

/// Look at what the instruction at `ip` is about to do.
///
/// # Safety
/// As for the instruction's handler.
pub unsafe fn before(core: &mut Core, inst: &Inst, ip: u32) -> Verdict {
    let effect = core.program.effects[ip as usize];
    if let Some(sanitizer) = &mut core.sanitizer {
        sanitizer.ip = ip;
    }
    if effect.action != Action::Sums {
        with(core, |sanitizer, core| sums_are_there(sanitizer, core, effect))?;
    }
    match effect.action {
        Action::Load(touch) => with(core, |sanitizer, core| {
            // SAFETY: passed on.
            unsafe { access(sanitizer, core, inst, effect, touch, Access::Read) }
        }),
        Action::Store(touch) => with(core, |sanitizer, core| {
            // SAFETY: passed on.
            unsafe { access(sanitizer, core, inst, effect, touch, Access::Write) }
        }),
        Action::Atomic(touch) => with(core, |sanitizer, core| {
            // SAFETY: passed on.
            unsafe { access(sanitizer, core, inst, effect, touch, Access::Atomic) }
        }),
        Action::Bits(rule) => with(core, |sanitizer, core| {
            // Now, as the result may take the place of a source.
            // SAFETY: passed on.
            unsafe { make(sanitizer, core, inst, ip, rule) };
            Ok(())
        }),
        Action::Fence => with(core, |sanitizer, _| {
            sanitizer.grid.fence();
            Ok(())
        }),
        _ => Ok(()),
    }
}

/// Whether the instruction leaves alone the registers whose sums are in flight.
fn sums_are_there(sanitizer: &mut Sanitizer, core: &mut Core, effect: Effect) -> Verdict {
    // SAFETY: the warp that runs set it.
    let in_flight = unsafe { &*core.in_flight };
    if in_flight.is_empty() {
        return Ok(());
    }
    let program = core.program;
    let of = |slots: &[u32]| slots.iter().find_map(|slot| in_flight.issued(program, *slot));
    let (ip, access) = match (of(program.read_by(effect)), of(program.written_by(effect))) {
        (Some(ip), _) => (ip, Access::Read),
        (None, Some(ip)) => (ip, Access::Write),
        (None, None) => return Ok(()),
    };
    sanitizer.sums_in_flight(core, ip, access);
    Err(Flow::Stop)
}

/// Which bits of its result will be undefined, and because of what.
///
/// # Safety
/// As for the instruction's handler.
unsafe fn make(sanitizer: &mut Sanitizer, core: &Core, inst: &Inst, ip: u32, rule: Rule) {
    // SAFETY: the warp that runs set it.
    let registers = unsafe { &*core.defined };
    let effect = core.program.effects[ip as usize];
    let slots = [inst.a, inst.b, inst.c];
    let value = |k: usize, lane: u32| -> u64 {
        // SAFETY: lowering keeps slots within the file, and `wide` says which are two.
        unsafe {
            match effect.wide[k + 1] {
                true => (*core.lanes_of::<u64>(slots[k]))[lane as usize],
                false => (*core.lanes_of::<u32>(slots[k]))[lane as usize].into(),
            }
        }
    };
    let of = |wide: bool| if wide { u64::MAX } else { u32::MAX.into() };
    let source = |k: usize, lane: u32| Source {
        value: value(k, lane),
        undefined: registers.bits(slots[k] / SLOT as u32, lane) & of(effect.wide[k + 1]),
    };
    let mut made = [0; 32];
    for lane in lanes(core.mask) {
        let undefined = rule.undefined([0, 1, 2].map(|k| source(k, lane)));
        made[lane as usize] = undefined & of(effect.wide[0]);
    }
    let (sources, from) = registers.any(core.program.read_by(effect), core.mask);
    let from = if sources == 0 { ip } else { from };
    sanitizer.made = (made, from);
}

/// What the instruction at `ip` has made of what.
///
/// # Safety
/// As for the instruction's handler, which has run.
pub unsafe fn after(core: &mut Core, inst: &Inst, ip: u32) {
    let program = core.program;
    let effect = program.effects[ip as usize];
    // SAFETY: the warp that runs set it.
    let registers = unsafe { &mut *core.defined };
    let (written, read) = (program.written_by(effect), program.read_by(effect));
    let mask = core.mask;
    match effect.action {
        Action::Lanes => {
            let (undefined, source) = registers.any(read, mask);
            written.iter().for_each(|&to| registers.set(to, mask, undefined, source));
        }
        Action::Across => {
            // Lanes are not followed from one to another: only where no lane has anything.
            let (undefined, source) = registers.any(read, mask);
            let all = if undefined == mask { mask } else { 0 };
            written.iter().for_each(|&to| registers.set(to, mask, all, source));
        }
        Action::Shuffle => {
            let absent = core.sanitizer.as_deref().map_or(0, |sanitizer| sanitizer.absent);
            let (undefined, source) = registers.any(read, mask);
            let (lanes, source) = match undefined == mask {
                true => (mask, source),
                false => (absent, ip),
            };
            // The predicate, which comes second, says something of every lane.
            for (index, &to) in written.iter().enumerate() {
                let lanes = if index == 0 || undefined == mask { lanes } else { 0 };
                registers.set(to, mask, lanes, source);
            }
        }
        Action::Bits(_) => {
            if let Some(sanitizer) = core.sanitizer.as_deref() {
                let (bits, source) = &sanitizer.made;
                written.iter().for_each(|&to| registers.set_bits(to, mask, bits, *source));
            }
        }
        Action::Load(touch) => {
            let bits = u64::MAX >> (64 - 8 * u32::from(touch.bytes.clamp(1, 8)));
            let sanitizer = core.sanitizer.as_deref();
            for (element, &to) in written.iter().enumerate() {
                let undefined = sanitizer.map_or(0, |s| s.loaded[element & 31]);
                registers.set_part(to, mask, undefined, bits, ip);
            }
        }
        Action::WarpSync => {
            // SAFETY: lowering keeps slots within the file.
            let named = unsafe { core.read::<u32>(inst.a) };
            // Each lane says whom it waits for: the tiles of a group do so at one instruction.
            let mut lanes = mask;
            while lanes != 0 {
                let first = lanes.trailing_zeros();
                let members = named[first as usize & 31] | 1 << first;
                met(core, members);
                lanes &= !members;
            }
        }
        Action::TensorLoad => {}
        Action::Fresh
        | Action::Sums
        | Action::Atomic(_)
        | Action::Store(_)
        | Action::Fence
        | Action::Copy => {
            written.iter().for_each(|&to| registers.set(to, mask, 0, 0));
        }
    }
}

/// These lanes of the warp have waited for each other.
pub fn met(core: &mut Core, members: u32) {
    let live = core.live;
    if let Some(sanitizer) = &mut core.sanitizer
        && let Some(block) = &mut sanitizer.block
    {
        block.warp_sync(sanitizer.warp as usize, members, live);
    }
}

/// The lanes are about to leave a block by `exit`.
pub fn leaving(core: &mut Core, exit: &Exit) -> Verdict {
    let (Exit::Branch { predicate: slot, .. } | Exit::Switch { index: slot, .. }) = exit else {
        return Ok(());
    };
    // SAFETY: the warp that runs set it, or it is null.
    let Some(registers) = (unsafe { core.defined.as_ref() }) else { return Ok(()) };
    let slot = *slot / SLOT as u32;
    let bad = registers.undefined(slot) & core.mask;
    if bad == 0 {
        return Ok(());
    }
    let source = registers.source(slot);
    with(core, |sanitizer, core| {
        sanitizer.undefined(core, Use::Branch, source, bad.trailing_zeros());
        Err(Flow::Stop)
    })
}

/// A stretch that one lane's instruction names, as copies do: `at` is a global address, or an offset in
/// the CTA's own shared memory.
///
/// # Errors
/// [`Flow::Stop`], with the fault recorded for `lane`.
pub fn range(
    core: &mut Core,
    lane: usize,
    space: MemorySpace,
    at: u64,
    bytes: u64,
    access: Access,
) -> Verdict {
    with(core, |sanitizer, core| {
        let here = Accessed { space, at, bytes, access, lane: lane as u32 };
        let action = core.program.effects.get(sanitizer.ip as usize).map(|effect| effect.action);
        let copies = action == Some(Action::Copy);
        let strong = access == Access::Atomic;
        if space == MemorySpace::Shared {
            let Some(mut block) = sanitizer.block.take() else { return Ok(()) };
            let (warp, lane, ip) = (sanitizer.warp, lane as u32, sanitizer.ip);
            let party = Party { warp, lane, ip, strong, copies: copies && access != Access::Read };
            let clash = block.note(party, at, bytes, access);
            if access != Access::Read {
                block.define(at, bytes, true);
            }
            sanitizer.block = Some(block);
            if let Some(clash) = clash {
                sanitizer.race_in_block(core, here, &clash);
                return Err(Flow::Stop);
            }
            return Ok(());
        }
        let Some(index) = core.memory.locate(at) else { return Ok(()) };
        let range = core.memory.range(index);
        let mut notes = sanitizer.grid.notes(range, index, access, sanitizer.ip, strong);
        if let Some(clash) = notes.add(at, bytes) {
            sanitizer.race_in_grid(core, here, clash);
            return Err(Flow::Stop);
        }
        if access != Access::Read {
            range.define(at, bytes);
        }
        Ok(())
    })
}
