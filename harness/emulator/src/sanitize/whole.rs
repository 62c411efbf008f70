//! Loads and stores of a whole warp at once, where all is well.
//!
//! What nearly every access asks is whether these bytes are all defined and whether nobody unknown to this
//! warp has used them. It is asked here for all bytes from the lowest to the highest, and where they have
//! gaps, for *runs* of lanes whose bytes follow each other; where an answer is not the usual one, `access.rs`
//! looks again from the first lane on, lane by lane, and finds out what is wrong, if anything is. What has
//! been noted until then does no harm: a lane orders itself.

use super::block::Block;
use super::grid::Notes;
use super::shapes::{Footprint, Shape, Stretch};
use super::{Sanitizer, Touch};
use crate::exec::access::{Element, GLOBAL, LOCAL, SHARED};
use crate::exec::{Core, Lane, Level};
use crate::fault::{Access, MemorySpace};
use crate::isa::flag;
use crate::memory::{Range, SHARED_WINDOW, WINDOWS};
use crate::program::{Inst, SLOT};

/// Where the active lanes go, if all go to the same memory and not 4 GiB apart: the upper halves of their
/// addresses, or nothing for offsets in shared memory. Other lanes repeat the first active one.
///
/// # Safety
/// As for the instruction's handler.
#[inline(always)]
unsafe fn gather(core: &Core, inst: &Inst, at: &mut [u32; 32]) -> Option<(MemorySpace, u64)> {
    let space = (inst.flags >> flag::SPACE_SHIFT) as u8 & 3;
    let first = core.mask.trailing_zeros() as usize & 31;
    // SAFETY: lowering keeps slots within the file; the space says how wide the address is.
    let upper = unsafe {
        if space == SHARED {
            let from = &*core.lanes_of::<u32>(inst.a);
            let imm = (inst.imm as u32).wrapping_sub(core.shared_base);
            for lane in 0..32 {
                let address = Lane::blend(core.lane_masks[lane], from[lane], from[first]);
                at[lane] = address.wrapping_add(imm);
            }
            return Some((MemorySpace::Shared, 0));
        }
        let from = &*core.lanes_of::<u64>(inst.a);
        let upper = from[first].wrapping_add(inst.imm) >> 32 << 32;
        let mut others = 0;
        for lane in 0..32 {
            let address = Lane::blend(core.lane_masks[lane], from[lane], from[first]);
            let address = address.wrapping_add(inst.imm);
            others |= address ^ upper;
            at[lane] = address as u32;
        }
        if others >> 32 != 0 {
            return None;
        }
        upper
    };
    match upper {
        // The window is as long.
        SHARED_WINDOW if space != GLOBAL => {
            at.iter_mut().for_each(|offset| *offset = offset.wrapping_sub(core.shared_base));
            Some((MemorySpace::Shared, 0))
        }
        _ if space == GLOBAL || upper < WINDOWS => Some((MemorySpace::Global, upper)),
        _ => None,
    }
}

/// What is known of a memory's bytes.
trait Shadow {
    fn shape(&self, print: Footprint) -> &Shape;
    /// Whether somebody has written some of the bytes.
    fn is_defined(&self, at: u64, bytes: u64) -> bool;
    fn is_defined_whole(&self, at: u64, bytes: u64) -> bool;
    /// The same for what is between the lanes, too; no if that takes long to say.
    fn is_defined_throughout(&self, print: Footprint) -> bool;
    fn define(&mut self, at: u64, bytes: u64);
    /// Note the access; whether nothing is wrong with it.
    fn note(&mut self, print: Footprint, access: Access) -> bool;
}

struct Shared<'a> {
    block: &'a mut Block,
    warp: u32,
    ip: u32,
}

impl Shadow for Shared<'_> {
    #[inline(always)]
    fn shape(&self, print: Footprint) -> &Shape {
        self.block.shape(print)
    }

    #[inline(always)]
    fn is_defined(&self, at: u64, bytes: u64) -> bool {
        self.block.is_defined(at, bytes)
    }

    #[inline(always)]
    fn is_defined_whole(&self, at: u64, bytes: u64) -> bool {
        self.block.is_defined_whole(at, bytes)
    }

    #[inline(always)]
    fn is_defined_throughout(&self, print: Footprint) -> bool {
        print.is_narrow() && self.block.is_defined_whole(print.at, print.span)
    }

    #[inline(always)]
    fn define(&mut self, at: u64, bytes: u64) {
        self.block.define(at, bytes, true);
    }

    #[inline(always)]
    fn note(&mut self, print: Footprint, access: Access) -> bool {
        self.block.note_all(self.warp, self.ip, print, access)
    }
}

struct Global<'a> {
    notes: Notes<'a>,
    range: &'a Range,
}

impl Shadow for Global<'_> {
    #[inline(always)]
    fn shape(&self, print: Footprint) -> &Shape {
        self.notes.shape(print)
    }

    #[inline(always)]
    fn is_defined(&self, at: u64, bytes: u64) -> bool {
        self.range.is_defined(at, bytes)
    }

    #[inline(always)]
    fn is_defined_whole(&self, at: u64, bytes: u64) -> bool {
        self.range.is_defined_whole(at, bytes)
    }

    #[inline(always)]
    fn is_defined_throughout(&self, print: Footprint) -> bool {
        let range = self.range;
        range.is_all_defined() || print.is_narrow() && range.is_defined_whole(print.at, print.span)
    }

    #[inline(always)]
    fn define(&mut self, at: u64, bytes: u64) {
        self.range.define(at, bytes);
    }

    #[inline(always)]
    fn note(&mut self, print: Footprint, _: Access) -> bool {
        self.notes.add_all(print)
    }
}

/// [`is_well`], for the processor.
pub type IsWell = unsafe fn(&mut Sanitizer, &Core, &Inst, Touch, Access) -> bool;

/// [`is_well`] for this processor: questions to 32 addresses at once are vector code.
pub fn of_this_processor() -> IsWell {
    if Level::detect() == Level::Plain { is_well } else { is_well_wide }
}

/// # Safety
/// As for the instruction's handler, on a processor that has AVX2.
#[cfg_attr(target_arch = "x86_64", target_feature(enable = "avx2,bmi2,lzcnt,popcnt"))]
unsafe fn is_well_wide(
    sanitizer: &mut Sanitizer,
    core: &Core,
    inst: &Inst,
    touch: Touch,
    access: Access,
) -> bool {
    // SAFETY: passed on.
    unsafe { is_well(sanitizer, core, inst, touch, access) }
}

/// Whether nothing is wrong with a load or a store of defined values, and all that is loaded is defined.
/// If so, the access is noted.
///
/// # Safety
/// As for the instruction's handler.
#[inline(always)]
unsafe fn is_well(
    sanitizer: &mut Sanitizer,
    core: &Core,
    inst: &Inst,
    touch: Touch,
    access: Access,
) -> bool {
    // A thread's own memory counts as defined.
    if (inst.flags >> flag::SPACE_SHIFT) as u8 & 3 == LOCAL {
        return true;
    }
    if touch.shares() || access == Access::Atomic {
        return false;
    }
    let mut at = [0; 32];
    // SAFETY: passed on.
    let Some((space, upper)) = (unsafe { gather(core, inst, &mut at) }) else { return false };
    let (hint, bytes) = (inst.a / SLOT as u32, touch.all() as u32);
    let (warp, ip) = (sanitizer.warp, sanitizer.ip);
    if space == MemorySpace::Shared {
        let Some(block) = sanitizer.block.as_deref_mut() else { return false };
        let print = block.footprint(hint, &at, bytes, core.mask);
        if print.at + print.span > core.shared_len {
            return false;
        }
        let base = core.shared.expose_provenance() as u64;
        let accesses = Accesses { at: &at, base, print, touch };
        // SAFETY: passed on; the lanes' bytes have been found in memory.
        return unsafe { accesses.are_well(core, inst, Shared { block, warp, ip }, access) };
    }
    let memory = core.memory;
    let first = upper + u64::from(at[0]);
    let index = match sanitizer.range {
        Some(index) if memory.range(index).holds(first, 1) => index,
        _ => match memory.locate(first) {
            Some(index) => index,
            None => return false,
        },
    };
    sanitizer.range = Some(index);
    let range = memory.range(index);
    let mut notes = sanitizer.grid.notes(range, index, access, ip, false);
    let print = notes.footprint(hint, &at, bytes, core.mask);
    let print = Footprint { at: upper + print.at, ..print };
    // What goes around the end of the lower half is not where it seems to be.
    if print.at + print.span > upper + (1 << 32) || !range.holds(print.at, print.span) {
        return false;
    }
    let base = upper.wrapping_add(memory.host(first).wrapping_sub(first));
    let accesses = Accesses { at: &at, base, print, touch };
    // SAFETY: passed on; the lanes' bytes have been found in memory.
    unsafe { accesses.are_well(core, inst, Global { notes, range }, access) }
}

/// An access by the lanes of a warp.
struct Accesses<'a> {
    at: &'a [u32; 32],
    /// What the lanes' places count from: an address of the host.
    base: u64,
    print: Footprint,
    touch: Touch,
}

impl Accesses<'_> {
    /// # Safety
    /// The lanes' bytes must lie in memory; and as for the instruction's handler.
    #[inline(always)]
    unsafe fn are_well(
        &self,
        core: &Core,
        inst: &Inst,
        mut shadow: impl Shadow,
        access: Access,
    ) -> bool {
        let print = self.print;
        let whole = shadow.is_defined_throughout(print);
        if access == Access::Read {
            let defined = whole || {
                let mut stretches = shadow.shape(print).stretches(print, print.mask);
                stretches.all(|stretch| shadow.is_defined_whole(stretch.at, stretch.all()))
            };
            return defined && shadow.note(print, Access::Read);
        }
        // Two lanes may store to one place.
        if !shadow.shape(print).is_apart(print.mask) {
            return false;
        }
        let blank = if whole { 0 } else { self.blank(&shadow) };
        // A store that changes nothing harms nobody.
        // SAFETY: passed on.
        let noted = blank | unsafe { self.changing(core, inst) };
        if noted != 0 && !shadow.note(Footprint { mask: noted, ..print }, Access::Write) {
            return false;
        }
        if !whole {
            self.define(&mut shadow);
        }
        true
    }

    /// Lanes that store where nobody has written yet.
    #[inline(never)]
    fn blank(&self, shadow: &impl Shadow) -> u32 {
        let print = self.print;
        let mut blank = 0;
        for Stretch { lane, lanes, at, bytes } in shadow.shape(print).stretches(print, print.mask) {
            for later in 0..lanes {
                let defined = shadow.is_defined(at + u64::from(later) * bytes, bytes);
                blank |= u32::from(!defined) << (lane + later);
            }
        }
        blank
    }

    #[inline(never)]
    fn define(&self, shadow: &mut impl Shadow) {
        let shape = shadow.shape(self.print).clone();
        for stretch in shape.stretches(self.print, self.print.mask) {
            shadow.define(stretch.at, stretch.all());
        }
    }

    /// Lanes that store something else than what is there.
    ///
    /// # Safety
    /// As for [`Self::are_well`].
    #[inline(always)]
    unsafe fn changing(&self, core: &Core, inst: &Inst) -> u32 {
        // SAFETY: passed on.
        unsafe {
            match self.touch.bytes {
                1 => self.differing::<u8>(core, inst),
                2 => self.differing::<u16>(core, inst),
                4 => self.differing::<u32>(core, inst),
                8 => self.differing::<u64>(core, inst),
                _ => self.print.mask,
            }
        }
    }

    /// # Safety
    /// As for [`Self::are_well`].
    #[inline(always)]
    unsafe fn differing<E: Element + PartialEq>(&self, core: &Core, inst: &Inst) -> u32 {
        let mut differing = 0;
        for (element, &slot) in core.list(inst).iter().enumerate() {
            let base = self.base.wrapping_add(element as u64 * E::BYTES);
            // SAFETY: lowering keeps slots within the file, and gives elements those of their width.
            let from = unsafe { &*core.lanes_of::<E::Lane>(slot) };
            // Inactive lanes stand where an active one does.
            for (lane, value) in from.iter().enumerate() {
                let at = base.wrapping_add(u64::from(self.at[lane]));
                // SAFETY: the lanes' bytes lie in memory.
                let there =
                    unsafe { std::ptr::with_exposed_provenance::<E>(at as usize).read_unaligned() };
                differing |= u32::from(there != E::narrow(*value)) << lane;
            }
        }
        differing & self.print.mask
    }
}
