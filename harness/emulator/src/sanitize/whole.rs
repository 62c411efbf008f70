//! Loads and stores of a whole warp at once, where all is well.
//!
//! What nearly every access asks is whether these bytes are all defined and whether nobody unknown to this
//! warp has used them. It is asked here for *runs* of lanes whose bytes follow each other; where an answer
//! is not the usual one, `access.rs` looks again from the first lane on, lane by lane, and finds out what
//! is wrong, if anything is. What has been noted until then does no harm: a lane orders itself.

use super::block::{Block, Party};
use super::grid::Notes;
use super::runs::{Run, Runs};
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
            for lane in 0..32 {
                let address = Lane::blend(core.lane_masks[lane], from[lane], from[first]);
                at[lane] = address.wrapping_add(inst.imm as u32);
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
        SHARED_WINDOW if space != GLOBAL => Some((MemorySpace::Shared, 0)),
        _ if space == GLOBAL || upper < WINDOWS => Some((MemorySpace::Global, upper)),
        _ => None,
    }
}

/// What is known of a memory's bytes.
trait Shadow {
    /// Whether the bytes are of this memory.
    fn holds(&self, at: u32, bytes: u64) -> bool;
    /// Whether somebody has written some of the bytes.
    fn is_defined(&self, at: u32, bytes: u64) -> bool;
    fn is_defined_whole(&self, at: u32, bytes: u64) -> bool;
    fn define(&mut self, at: u32, bytes: u64);
    /// Note the access by the lanes of a run, `bytes` each; whether nothing is wrong with it.
    fn note(&mut self, run: Run, at: u32, bytes: u64) -> bool;
}

struct Shared<'a> {
    block: &'a mut Block,
    len: u64,
    warp: u32,
    ip: u32,
    access: Access,
}

impl Shadow for Shared<'_> {
    #[inline(always)]
    fn holds(&self, at: u32, bytes: u64) -> bool {
        u64::from(at) + bytes <= self.len
    }

    #[inline(always)]
    fn is_defined(&self, at: u32, bytes: u64) -> bool {
        self.block.is_defined(at.into(), bytes)
    }

    #[inline(always)]
    fn is_defined_whole(&self, at: u32, bytes: u64) -> bool {
        self.block.is_defined_whole(at.into(), bytes)
    }

    #[inline(always)]
    fn define(&mut self, at: u32, bytes: u64) {
        self.block.define(at.into(), bytes, true);
    }

    #[inline(always)]
    fn note(&mut self, Run { lane, lanes, same }: Run, at: u32, bytes: u64) -> bool {
        let party = Party { warp: self.warp, lane, ip: self.ip, strong: false, copies: false };
        let lanes = if same { 1 } else { lanes };
        self.block.note_lanes(party, lanes, at.into(), bytes, self.access).is_none()
    }
}

struct Global<'a> {
    notes: Notes<'a>,
    range: &'a Range,
    /// Of all addresses, the upper half.
    upper: u64,
}

impl Shadow for Global<'_> {
    #[inline(always)]
    fn holds(&self, at: u32, bytes: u64) -> bool {
        self.range.holds(self.upper + u64::from(at), bytes)
    }

    #[inline(always)]
    fn is_defined(&self, at: u32, bytes: u64) -> bool {
        self.range.is_defined(self.upper + u64::from(at), bytes)
    }

    #[inline(always)]
    fn is_defined_whole(&self, at: u32, bytes: u64) -> bool {
        self.range.is_defined_whole(self.upper + u64::from(at), bytes)
    }

    #[inline(always)]
    fn define(&mut self, at: u32, bytes: u64) {
        self.range.define(self.upper + u64::from(at), bytes);
    }

    #[inline(always)]
    fn note(&mut self, Run { lanes, same, .. }: Run, at: u32, bytes: u64) -> bool {
        let lanes = if same { 1 } else { u64::from(lanes) };
        self.notes.add(self.upper + u64::from(at), bytes * lanes).is_none()
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
    if touch.strong || access == Access::Atomic {
        return false;
    }
    let mut at = [0; 32];
    // SAFETY: passed on.
    let Some((space, upper)) = (unsafe { gather(core, inst, &mut at) }) else { return false };
    let runs = sanitizer.shapes.runs(inst.a / SLOT as u32, &at, touch.all() as u32);
    let (warp, ip) = (sanitizer.warp, sanitizer.ip);
    if space == MemorySpace::Shared {
        let Some(block) = sanitizer.block.as_deref_mut() else { return false };
        let len = core.shared_len;
        let base = core.shared.expose_provenance() as u64;
        let accesses = Accesses { at: &at, base, runs, mask: core.mask, touch };
        // SAFETY: passed on.
        return unsafe {
            accesses.are_well(core, inst, &mut Shared { block, len, warp, ip, access }, access)
        };
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
    let notes = sanitizer.grid.notes(range, index, access, ip, false);
    let accesses = Accesses { at: &at, base: upper, runs, mask: core.mask, touch };
    // SAFETY: passed on.
    unsafe { accesses.are_well(core, inst, &mut Global { notes, range, upper }, access) }
}

/// An access by the lanes of a warp.
struct Accesses<'a> {
    at: &'a [u32; 32],
    /// What the lanes' places count from: an address of the host.
    base: u64,
    /// Of all lanes.
    runs: Runs,
    mask: u32,
    touch: Touch,
}

impl Accesses<'_> {
    /// # Safety
    /// As for the instruction's handler.
    #[inline(always)]
    unsafe fn are_well(
        &self,
        core: &Core,
        inst: &Inst,
        shadow: &mut impl Shadow,
        access: Access,
    ) -> bool {
        if access == Access::Read {
            return self.read(shadow);
        }
        // SAFETY: passed on.
        unsafe { self.write(core, inst, shadow) }
    }

    /// The first place of a run, and its bytes.
    #[inline(always)]
    fn stretch(&self, run: Run) -> (u32, u64) {
        let lanes = if run.same { 1 } else { run.lanes };
        (self.at[run.lane as usize & 31], self.touch.all() * u64::from(lanes))
    }

    #[inline(always)]
    fn read(&self, shadow: &mut impl Shadow) -> bool {
        let mut latest = None;
        for run in self.runs.among(self.mask) {
            let stretch = self.stretch(run);
            // Lanes that read the same are one reader.
            if latest.replace(stretch) == Some(stretch) {
                continue;
            }
            let (at, bytes) = stretch;
            let well = shadow.holds(at, bytes)
                && shadow.is_defined_whole(at, bytes)
                && shadow.note(run, at, self.touch.all());
            if !well {
                return false;
            }
        }
        true
    }

    /// # Safety
    /// As for [`Self::are_well`].
    #[inline(always)]
    unsafe fn write(&self, core: &Core, inst: &Inst, shadow: &mut impl Shadow) -> bool {
        let runs = self.runs.among(self.mask);
        let (mut behind, mut blank) = (0, 0);
        for run in runs {
            let (at, bytes) = self.stretch(run);
            // Two lanes may store to one place.
            if run.same || u64::from(at) < behind || !shadow.holds(at, bytes) {
                return false;
            }
            behind = u64::from(at) + bytes;
            if !shadow.is_defined_whole(at, bytes) {
                for lane in run.lane..run.lane + run.lanes {
                    let at = self.at[lane as usize & 31];
                    blank |= u32::from(!shadow.is_defined(at, self.touch.all())) << lane;
                }
            }
        }
        // A store that changes nothing harms nobody.
        // SAFETY: passed on; the lanes' bytes have been found in memory.
        let changing = unsafe { self.changing(core, inst) };
        for run in runs.among(blank | changing) {
            let (at, _) = self.stretch(run);
            if !shadow.note(run, at, self.touch.all()) {
                return false;
            }
        }
        for run in runs {
            let (at, bytes) = self.stretch(run);
            shadow.define(at, bytes);
        }
        true
    }

    /// Lanes that store something else than what is there.
    ///
    /// # Safety
    /// The lanes' bytes must lie in memory; and as for the instruction's handler.
    #[inline(always)]
    unsafe fn changing(&self, core: &Core, inst: &Inst) -> u32 {
        // SAFETY: passed on.
        unsafe {
            match self.touch.bytes {
                1 => self.differing::<u8>(core, inst),
                2 => self.differing::<u16>(core, inst),
                4 => self.differing::<u32>(core, inst),
                8 => self.differing::<u64>(core, inst),
                _ => self.mask,
            }
        }
    }

    /// # Safety
    /// As for [`Self::changing`].
    #[inline(always)]
    unsafe fn differing<E: Element + PartialEq>(&self, core: &Core, inst: &Inst) -> u32 {
        let mut differing = 0;
        for (element, &slot) in core.list(inst).iter().enumerate() {
            let base = self.base + element as u64 * E::BYTES;
            // SAFETY: lowering keeps slots within the file, and gives elements those of their width.
            let from = unsafe { &*core.lanes_of::<E::Lane>(slot) };
            // Inactive lanes stand where an active one does.
            for (lane, value) in from.iter().enumerate() {
                let at = base + u64::from(self.at[lane]);
                // SAFETY: the lanes' bytes lie in memory.
                let there =
                    unsafe { std::ptr::with_exposed_provenance::<E>(at as usize).read_unaligned() };
                differing |= u32::from(there != E::narrow(*value)) << lane;
            }
        }
        differing & self.mask
    }
}
