//! Loads, stores and atomics, lane by lane.

use super::block::ELSEWHERE;
use super::clash::Party;
use super::fault::Accessed;
use super::watch::{Verdict, lanes};
use super::{Effect, Sanitizer, Touch};
use crate::exec::access::{GLOBAL, LOCAL, SHARED};
use crate::exec::{Core, Flow};
use crate::fault::{Access, MemorySpace, Use};
use crate::isa::flag;
use crate::memory::{LOCAL_WINDOW, SHARED_WINDOW, WINDOWS};
use crate::program::{Inst, SLOT};

/// Where a lane's bytes are.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Shared(u64),
    Global(u64),
    /// The thread's own, or nowhere: whoever executes the access says so.
    Other,
}

/// # Safety
/// As for the instruction's handler.
unsafe fn places(core: &Core, inst: &Inst, bytes: u64) -> [Place; 32] {
    let mut places = [Place::Other; 32];
    let own = SHARED_WINDOW + u64::from(core.shared_base);
    let space = (inst.flags >> flag::SPACE_SHIFT) as u8 & 3;
    // SAFETY: lowering keeps slots within the file; the space says how wide the address is.
    let addresses: [u64; 32] = unsafe {
        if space == SHARED {
            let imm = (inst.imm as u32).wrapping_sub(core.shared_base);
            core.read::<u32>(inst.a).map(|a| u64::from(a.wrapping_add(imm)))
        } else {
            core.read::<u64>(inst.a).map(|a| a.wrapping_add(inst.imm))
        }
    };
    for (place, address) in places.iter_mut().zip(addresses) {
        let inside = |offset: u64| offset.saturating_add(bytes) <= core.shared_len;
        *place = if space == SHARED {
            if inside(address) { Place::Shared(address) } else { Place::Other }
        } else if address < WINDOWS || space == GLOBAL {
            Place::Global(address)
        } else if address < LOCAL_WINDOW && inside(address.wrapping_sub(own)) {
            Place::Shared(address - own)
        } else {
            Place::Other
        };
    }
    places
}

/// An instruction's access by one lane.
#[derive(Clone, Copy)]
struct Step<'a> {
    inst: &'a Inst,
    touch: Touch,
    places: &'a [Place; 32],
    here: Accessed,
    /// What it stores is undefined.
    lost: bool,
}

impl Step<'_> {
    /// The bytes that a lane stores.
    fn stores(&self, core: &Core, lane: usize) -> [u8; 32] {
        let mut value = [0u8; 32];
        let bytes = usize::from(self.touch.bytes);
        for (element, &slot) in core.list(self.inst).iter().enumerate() {
            // SAFETY: lowering keeps slots within the file; elements of 8 bytes have wide ones.
            let bits = unsafe {
                match bytes {
                    8 => (*core.lanes_of::<u64>(slot))[lane],
                    _ => u64::from((*core.lanes_of::<u32>(slot))[lane]),
                }
            };
            if let Some(part) = value.get_mut(element * bytes..(element + 1) * bytes) {
                part.copy_from_slice(&bits.to_le_bytes()[..bytes]);
            }
        }
        value
    }

    /// An earlier lane of `mask` that stores another value to the same place in global memory: the
    /// hardware does not say which of them stays. (Shared memory's order finds this by itself.)
    fn contradicted(&self, core: &Core, mask: u32) -> Option<u32> {
        let Accessed { at, lane, .. } = self.here;
        let same = |other: &u32| {
            let Place::Global(there) = self.places[*other as usize] else { return false };
            there == at && self.stores(core, *other as usize) != self.stores(core, lane as usize)
        };
        lanes(mask & ((1 << lane) - 1)).find(same)
    }

    /// It stores what is there already, at this host address.
    fn changes_nothing(&self, core: &Core, host: u64) -> bool {
        let Accessed { bytes, lane, .. } = self.here;
        let value = self.stores(core, lane as usize);
        let at = std::ptr::with_exposed_provenance::<u8>(host as usize);
        // SAFETY: the caller found the bytes inside shared memory, or inside an allocation.
        let there = unsafe { std::slice::from_raw_parts(at, bytes as usize) };
        there == &value[..bytes as usize]
    }
}

/// # Safety
/// As for the instruction's handler.
pub unsafe fn access(
    sanitizer: &mut Sanitizer,
    core: &mut Core,
    inst: &Inst,
    effect: Effect,
    touch: Touch,
    access: Access,
) -> Verdict {
    // SAFETY: the warp that runs set it.
    let registers = unsafe { &mut *core.defined };
    let mask = core.mask;
    let address = inst.a / SLOT as u32;
    let bad = registers.undefined(address) & mask;
    if bad != 0 {
        sanitizer.undefined(core, Use::Address, registers.source(address), bad.trailing_zeros());
        return Err(Flow::Stop);
    }
    let bytes = touch.all();
    let operands = core.program.read_by(effect);
    let bits = u64::MAX >> (64 - 8 * u32::from(touch.bytes.clamp(1, 8)));
    let (stored, source) = registers.any_of(&operands[operands.len().min(1)..], mask, bits);
    let undefined = if access == Access::Write { stored } else { 0 };
    if stored != 0 && sanitizer.is_quotient(core, source) {
        // Memory does not keep where it came from.
        sanitizer.undefined(core, Use::Store, source, stored.trailing_zeros());
        return Err(Flow::Stop);
    }
    if access == Access::Read {
        sanitizer.loaded = [0; 32];
    }
    if (inst.flags >> flag::SPACE_SHIFT) as u8 & 3 == LOCAL {
        return Ok(());
    }
    // Where all is defined this was asked already.
    let asked = undefined != 0 || registers.all_defined();
    // SAFETY: passed on.
    if !asked && unsafe { (sanitizer.is_well)(sanitizer, core, inst, touch, access) } {
        return Ok(());
    }
    // SAFETY: passed on.
    let places = unsafe { places(core, inst, bytes) };
    let mut before = None;
    for lane in lanes(mask) {
        let place = places[lane as usize];
        // Lanes that read the same are one reader.
        if let Some(before) = before.replace(lane).filter(|_| access == Access::Read)
            && places[before as usize] == place
        {
            for element in &mut sanitizer.loaded[..touch.count.into()] {
                *element |= (*element >> before & 1) << lane;
            }
            continue;
        }
        let here = match place {
            Place::Shared(at) => Accessed { space: MemorySpace::Shared, at, bytes, access, lane },
            Place::Global(at) => Accessed { space: MemorySpace::Global, at, bytes, access, lane },
            Place::Other => continue,
        };
        let lost = undefined >> lane & 1 == 1;
        if lost && here.space == MemorySpace::Global {
            sanitizer.undefined(core, Use::Store, source, lane);
            return Err(Flow::Stop);
        }
        let step = Step { inst, touch, places: &places, here, lost };
        if access == Access::Write
            && let Some(other) = step.contradicted(core, mask)
        {
            sanitizer.lanes_disagree(core, here, other);
            return Err(Flow::Stop);
        }
        if here.space == MemorySpace::Shared {
            sanitizer.shared(core, step)?;
        } else {
            sanitizer.global(core, step)?;
        }
    }
    Ok(())
}

impl Sanitizer {
    fn shared(&mut self, core: &mut Core, step: Step) -> Verdict {
        let Some(mut block) = self.block.take() else { return Ok(()) };
        let Step { touch, here, .. } = step;
        let Accessed { at, bytes, access, lane, .. } = here;
        let host = core.shared.expose_provenance() as u64 + at;
        let warp = self.warp as usize;
        if touch.strong && access != Access::Write {
            block.acquire(warp, lane as usize, host);
        }
        let defined = block.is_defined(at, bytes);
        let harmless = access == Access::Write && defined && step.changes_nothing(core, host);
        let mut clash = None;
        if !harmless {
            let party =
                Party { warp: self.warp, lane, ip: self.ip, strong: touch.shares(), copies: false };
            clash = block.note(party, at, bytes, access).filter(|clash| {
                // Lanes that store the same to the same place at once do no harm.
                let other = clash.thread.map_or(0, |(_, lane)| lane as usize & 31);
                let together = matches!(step.places[other], Place::Shared(there) if there == at);
                let same = || step.stores(core, other) == step.stores(core, lane as usize);
                !(clash.at_once && together && same())
            });
        }
        match access {
            Access::Read => {
                self.note_loaded(core, here, touch, |at, bytes| !block.is_defined(at, bytes))
            }
            _ => block.define(at, bytes, !step.lost),
        }
        if touch.strong && access != Access::Read {
            block.release(warp, host);
        }
        self.block = Some(block);
        if let Some(clash) = clash {
            self.race_in_block(core, here, &clash);
            return Err(Flow::Stop);
        }
        if access == Access::Atomic && !defined && !touch.replaces {
            self.undefined_update(core, here);
            return Err(Flow::Stop);
        }
        Ok(())
    }

    fn global(&mut self, core: &mut Core, step: Step) -> Verdict {
        let Step { touch, here, .. } = step;
        let Accessed { at, bytes, access, lane, .. } = here;
        let memory = core.memory;
        let holds = |index: &usize| memory.range(*index).holds(at, bytes);
        let index = self.range.filter(holds).or_else(|| memory.locate(at).filter(holds));
        self.range = index;
        let Some(index) = index else { return Ok(()) };
        let range = memory.range(index);
        if touch.releases {
            self.grid.fence();
        }
        if touch.strong {
            if access != Access::Write {
                self.grid.acquire(at);
            }
            if access != Access::Read {
                self.grid.release(at);
            }
            if let Some(block) = &mut self.block {
                block.acquire(self.warp as usize, lane as usize, ELSEWHERE);
                block.release(self.warp as usize, ELSEWHERE);
            }
        }
        let defined = range.is_defined(at, bytes);
        let harmless =
            access == Access::Write && defined && step.changes_nothing(core, memory.host(at));
        let mut notes = self.grid.notes(range, index, access, self.ip, touch.shares());
        if !harmless && let Some(clash) = notes.add(at, bytes) {
            self.race_in_grid(core, here, clash);
            return Err(Flow::Stop);
        }
        match access {
            Access::Read => {
                self.note_loaded(core, here, touch, |at, bytes| !range.is_defined(at, bytes));
            }
            _ => range.define(at, bytes),
        }
        if access == Access::Atomic && !defined && !touch.replaces {
            self.undefined_update(core, here);
            return Err(Flow::Stop);
        }
        Ok(())
    }

    /// Keep which elements of a load get nothing defined.
    fn note_loaded(
        &mut self,
        core: &Core,
        here: Accessed,
        touch: Touch,
        undefined: impl Fn(u64, u64) -> bool,
    ) {
        let size = u64::from(touch.bytes);
        for element in 0..u64::from(touch.count) {
            let at = here.at + element * size;
            if undefined(at, size) {
                self.loaded[element as usize & 31] |= 1 << here.lane;
                self.remember(core, Accessed { at, bytes: size, ..here });
            }
        }
    }
}
