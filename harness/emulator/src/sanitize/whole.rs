//! Loads and stores of a whole warp at once, where all is well.
//!
//! What nearly every access asks is whether these bytes are all defined and whether nobody unknown to this
//! warp has used them. It is asked here for *runs* of lanes whose bytes follow each other; where an answer
//! is not the usual one, `access.rs` looks again from the first lane on, lane by lane, and finds out what
//! is wrong, if anything is. What has been noted until then does no harm: a lane orders itself.
//!
//! ```text
//! s[threadIdx.x]          0 4 8 12 … 124            one run
//! s[threadIdx.x / 16]     0 0 0 … 4 4 4             two runs, of the same bytes each
//! s[threadIdx.x % 16]     0 4 8 … 60 0 4 8 … 60     two runs, the second of which needs no second look
//! s[threadIdx.x * 33]     0 132 264 …               32 runs
//! ```

use super::block::{Block, Party};
use super::grid::Notes;
use super::watch::lanes;
use super::{Sanitizer, Touch};
use crate::exec::access::{Element, GLOBAL, SHARED};
use crate::exec::{Core, Level};
use crate::fault::{Access, MemorySpace};
use crate::isa::flag;
use crate::memory::{Range, SHARED_WINDOW, WINDOWS};
use crate::program::Inst;

/// Lanes whose bytes follow each other, or are the same.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Run {
    lane: u32,
    lanes: u32,
    same: bool,
}

impl Run {
    #[inline(always)]
    fn bytes(self, of_a_lane: u64) -> u64 {
        if self.same { of_a_lane } else { of_a_lane * u64::from(self.lanes) }
    }
}

/// The runs of a mask's lanes, in order. A bit for each lane says how the next one goes on.
#[derive(Clone, Copy)]
struct Runs {
    left: u32,
    follows: u32,
    same: u32,
}

impl Runs {
    #[inline(always)]
    fn of(at: &[u64; 32], mask: u32, bytes: u64) -> Self {
        let (mut follows, mut same) = (0, 0);
        for lane in 0..31 {
            let step = at[lane + 1].wrapping_sub(at[lane]);
            follows |= u32::from(step == bytes) << lane;
            same |= u32::from(step == 0) << lane;
        }
        let both = mask & mask >> 1;
        Self { left: mask, follows: follows & both, same: same & both }
    }
}

impl Iterator for Runs {
    type Item = Run;

    #[inline(always)]
    fn next(&mut self) -> Option<Run> {
        if self.left == 0 {
            return None;
        }
        let lane = self.left.trailing_zeros();
        if (self.follows | self.same) >> lane & 1 == 0 {
            self.left &= self.left - 1;
            return Some(Run { lane, lanes: 1, same: false });
        }
        let [follow, same] = [self.follows, self.same].map(|next| (next >> lane).trailing_ones());
        let lanes = 1 + follow.max(same);
        self.left &= !(((1u64 << lanes) - 1) << lane) as u32;
        Some(Run { lane, lanes, same: same > 0 })
    }
}

/// Whether `bytes` from every address lie in the `len` bytes from `base` on: the sign says if any does not.
#[inline(always)]
fn within(at: &[u64; 32], bytes: u64, base: u64, len: u64) -> bool {
    let limit = len.wrapping_sub(bytes);
    let outside = at.iter().fold(limit, |outside, at| {
        let offset = at.wrapping_sub(base);
        outside | offset | limit.wrapping_sub(offset)
    });
    outside >> 63 == 0
}

/// Where the active lanes go, if all go to the same memory: addresses, or offsets in shared memory. Other
/// lanes repeat the first active one.
///
/// # Safety
/// As for the instruction's handler.
#[inline(always)]
unsafe fn gather(core: &Core, inst: &Inst, bytes: u64, at: &mut [u64; 32]) -> Option<MemorySpace> {
    let space = (inst.flags >> flag::SPACE_SHIFT) as u8 & 3;
    // SAFETY: lowering keeps slots within the file; the space says how wide the address is.
    unsafe {
        if space == SHARED {
            let from = &*core.lanes_of::<u32>(inst.a);
            for (at, from) in at.iter_mut().zip(from) {
                *at = u64::from(from.wrapping_add(inst.imm as u32));
            }
        } else {
            let from = &*core.lanes_of::<u64>(inst.a);
            for (at, from) in at.iter_mut().zip(from) {
                *at = from.wrapping_add(inst.imm);
            }
        }
    }
    if core.mask != u32::MAX {
        let first = at[core.mask.trailing_zeros() as usize & 31];
        for lane in lanes(!core.mask) {
            at[lane as usize & 31] = first;
        }
    }
    if space == SHARED {
        return within(at, bytes, 0, core.shared_len).then_some(MemorySpace::Shared);
    }
    // The windows begin at a power of two.
    if space == GLOBAL || at.iter().fold(0, |any, at| any | at) < WINDOWS {
        return Some(MemorySpace::Global);
    }
    if within(at, bytes, SHARED_WINDOW, core.shared_len) {
        at.iter_mut().for_each(|at| *at -= SHARED_WINDOW);
        return Some(MemorySpace::Shared);
    }
    None
}

/// What is known of a memory's bytes.
trait Shadow {
    fn is_defined(&self, at: u64, bytes: u64) -> bool;
    fn is_defined_whole(&self, at: u64, bytes: u64) -> bool;
    fn define(&mut self, at: u64, bytes: u64);
    /// Note the access by the lanes of a run, `bytes` each; whether nothing is wrong with it.
    fn note(&mut self, run: Run, at: u64, bytes: u64) -> bool;
}

struct Shared<'a> {
    block: &'a mut Block,
    warp: u32,
    ip: u32,
    access: Access,
}

impl Shadow for Shared<'_> {
    #[inline(always)]
    fn is_defined(&self, at: u64, bytes: u64) -> bool {
        self.block.is_defined(at, bytes)
    }

    #[inline(always)]
    fn is_defined_whole(&self, at: u64, bytes: u64) -> bool {
        self.block.is_defined_whole(at, bytes)
    }

    #[inline(always)]
    fn define(&mut self, at: u64, bytes: u64) {
        self.block.define(at, bytes, true);
    }

    #[inline(always)]
    fn note(&mut self, run: Run, at: u64, bytes: u64) -> bool {
        let Run { lane, lanes, same } = run;
        let party = Party { warp: self.warp, lane, ip: self.ip, strong: false, copies: false };
        let lanes = if same { 1 } else { lanes };
        self.block.note_lanes(party, lanes, at, bytes, self.access).is_none()
    }
}

struct Global<'a> {
    notes: Notes<'a>,
    range: &'a Range,
}

impl Shadow for Global<'_> {
    #[inline(always)]
    fn is_defined(&self, at: u64, bytes: u64) -> bool {
        self.range.is_defined(at, bytes)
    }

    #[inline(always)]
    fn is_defined_whole(&self, at: u64, bytes: u64) -> bool {
        self.range.is_defined_whole(at, bytes)
    }

    #[inline(always)]
    fn define(&mut self, at: u64, bytes: u64) {
        self.range.define(at, bytes);
    }

    #[inline(always)]
    fn note(&mut self, run: Run, at: u64, bytes: u64) -> bool {
        self.notes.add(at, run.bytes(bytes)).is_none()
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
    if touch.strong || access == Access::Atomic {
        return false;
    }
    let bytes = touch.all();
    let mut at = [0; 32];
    // SAFETY: passed on.
    let space = unsafe { gather(core, inst, bytes, &mut at) };
    let accesses = Accesses { at: &at, mask: core.mask, touch, access };
    let (warp, ip) = (sanitizer.warp, sanitizer.ip);
    // SAFETY: passed on; the bytes have been found inside of shared memory, or are found here to be
    // inside of an allocation.
    unsafe {
        match space {
            Some(MemorySpace::Shared) => {
                let Some(block) = sanitizer.block.as_deref_mut() else { return false };
                let host = core.shared.expose_provenance() as u64;
                accesses.are_well(core, inst, host, &mut Shared { block, warp, ip, access })
            }
            Some(_) => {
                let memory = core.memory;
                let holds = |index: usize| {
                    let info = &memory.range(index).info;
                    within(&at, bytes, info.base, info.len)
                };
                let first = at[core.mask.trailing_zeros() as usize & 31];
                let index = match sanitizer.range {
                    Some(index) if holds(index) => index,
                    _ => match memory.locate(first) {
                        Some(index) if holds(index) => index,
                        _ => return false,
                    },
                };
                sanitizer.range = Some(index);
                let range = memory.range(index);
                let notes = sanitizer.grid.notes(range, index, access, ip, false);
                accesses.are_well(core, inst, 0, &mut Global { notes, range })
            }
            None => false,
        }
    }
}

/// An access by the lanes of a warp.
struct Accesses<'a> {
    at: &'a [u64; 32],
    mask: u32,
    touch: Touch,
    access: Access,
}

impl Accesses<'_> {
    /// # Safety
    /// The lanes' bytes must lie in memory, behind `host`; and as for the instruction's handler.
    #[inline(always)]
    unsafe fn are_well(
        &self,
        core: &Core,
        inst: &Inst,
        host: u64,
        shadow: &mut impl Shadow,
    ) -> bool {
        if self.access == Access::Read {
            return self.read(shadow);
        }
        // SAFETY: passed on.
        unsafe { self.write(core, inst, host, shadow) }
    }

    #[inline(always)]
    fn read(&self, shadow: &mut impl Shadow) -> bool {
        let bytes = self.touch.all();
        let mut latest = None;
        for run in Runs::of(self.at, self.mask, bytes) {
            let at = self.at[run.lane as usize & 31];
            // Lanes that read the same are one reader.
            if latest.replace((at, run.lanes, run.same)) == Some((at, run.lanes, run.same)) {
                continue;
            }
            if !shadow.is_defined_whole(at, run.bytes(bytes)) || !shadow.note(run, at, bytes) {
                return false;
            }
        }
        true
    }

    /// # Safety
    /// As for [`Self::are_well`].
    #[inline(always)]
    unsafe fn write(&self, core: &Core, inst: &Inst, host: u64, shadow: &mut impl Shadow) -> bool {
        let bytes = self.touch.all();
        let runs = Runs::of(self.at, self.mask, bytes);
        let mut end = 0;
        for run in runs {
            let at = self.at[run.lane as usize & 31];
            // Two lanes may store to one place.
            if run.same || at < end {
                return false;
            }
            end = at + run.bytes(bytes);
        }
        // A store that changes nothing harms nobody.
        // SAFETY: passed on.
        let mut noted = unsafe { self.changing(core, inst, host) };
        if runs.into_iter().any(|run| !shadow.is_defined_whole(self.first(run), run.bytes(bytes))) {
            let blank = |lane: &u32| !shadow.is_defined(self.at[*lane as usize & 31], bytes);
            noted |= lanes(self.mask).filter(blank).fold(0, |mask, lane| mask | 1 << lane);
        }
        for run in Runs::of(self.at, noted, bytes) {
            if !shadow.note(run, self.first(run), bytes) {
                return false;
            }
        }
        runs.for_each(|run| shadow.define(self.first(run), run.bytes(bytes)));
        true
    }

    #[inline(always)]
    fn first(&self, run: Run) -> u64 {
        self.at[run.lane as usize & 31]
    }

    /// Lanes that store something else than what is there.
    ///
    /// # Safety
    /// As for [`Self::are_well`].
    #[inline(always)]
    unsafe fn changing(&self, core: &Core, inst: &Inst, host: u64) -> u32 {
        // SAFETY: passed on.
        unsafe {
            match self.touch.bytes {
                1 => self.differing::<u8>(core, inst, host),
                2 => self.differing::<u16>(core, inst, host),
                4 => self.differing::<u32>(core, inst, host),
                8 => self.differing::<u64>(core, inst, host),
                _ => self.mask,
            }
        }
    }

    #[inline(always)]
    unsafe fn differing<E: Element + PartialEq>(&self, core: &Core, inst: &Inst, host: u64) -> u32 {
        let mut differing = 0;
        for (element, &slot) in core.list(inst).iter().enumerate() {
            // SAFETY: lowering keeps slots within the file, and gives elements those of their width.
            let from = unsafe { &*core.lanes_of::<E::Lane>(slot) };
            for lane in lanes(self.mask) {
                let at = host + self.at[lane as usize & 31] + element as u64 * E::BYTES;
                let at = std::ptr::with_exposed_provenance::<E>(at as usize);
                // SAFETY: the lane's bytes lie in memory.
                let there = unsafe { at.read_unaligned() };
                differing |= u32::from(there != E::narrow(from[lane as usize & 31])) << lane;
            }
        }
        differing
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runs(at: impl Fn(u64) -> u64, mask: u32) -> Vec<(u32, u32, bool)> {
        let at = std::array::from_fn(|lane| at(lane as u64));
        Runs::of(&at, mask, 4).map(|run| (run.lane, run.lanes, run.same)).collect()
    }

    #[test]
    fn lanes_in_a_row_are_a_run() {
        assert_eq!(runs(|lane| 4 * lane, u32::MAX), [(0, 32, false)]);
        assert_eq!(runs(|lane| lane / 16, u32::MAX), [(0, 16, true), (16, 16, true)]);
        assert_eq!(runs(|lane| 4 * (lane % 16), u32::MAX), [(0, 16, false), (16, 16, false)]);
        assert_eq!(runs(|lane| 8 * lane, 0b1011), [(0, 1, false), (1, 1, false), (3, 1, false)]);
        assert_eq!(runs(|lane| 4 * lane, 0xf000_00f0), [(4, 4, false), (28, 4, false)]);
        assert_eq!(runs(|_| 0, 0), []);
    }
}
