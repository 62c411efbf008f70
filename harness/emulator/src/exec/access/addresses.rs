//! Thirty-two addresses at once.
//!
//! What is asked of them is asked of all lanes together, with bit operations that vectorise: the
//! `or` of the addresses has the low bits of the worst alignment, the `or` of the differences from
//! an arithmetic sequence is zero if they are one, and the sign of `(offset | limit - offset)` says
//! whether any lies outside.

use crate::exec::{Core, Lane};
use crate::program::Inst;

/// Lanes of a mask, lowest first.
#[inline(always)]
pub fn active(mask: u32) -> impl Iterator<Item = usize> {
    let mut rest = mask;
    std::iter::from_fn(move || {
        if rest == 0 {
            return None;
        }
        let lane = rest.trailing_zeros() as usize;
        rest &= rest - 1;
        Some(lane)
    })
}

/// Addresses of 64 bits. Inactive lanes repeat the first active one, so that whatever holds for all
/// 32 entries holds for the active lanes.
pub struct Addresses {
    pub of: [u64; 32],
    /// All lanes are active and lane `l` is `l` accesses after lane 0.
    pub contiguous: bool,
}

impl Addresses {
    /// `[a + imm]` of an access of `bytes` a lane.
    ///
    /// # Safety
    /// See [`crate::exec::Handler`].
    #[inline(always)]
    pub unsafe fn gather(core: &Core, inst: &Inst, bytes: u64) -> Self {
        // Filled in place: to move 32 addresses about costs more than to find them.
        let mut at = Self { of: [0; 32], contiguous: false };
        // SAFETY: lowering keeps slots within the file.
        let from = unsafe { &*core.lanes_of::<u64>(inst.a) };
        if core.mask == u32::MAX {
            let first = from[0];
            let mut off = 0;
            for l in 0..32 {
                at.of[l] = from[l].wrapping_add(inst.imm);
                off |= from[l] ^ first.wrapping_add(l as u64 * bytes);
            }
            at.contiguous = off == 0;
        } else {
            let first = from[core.mask.trailing_zeros() as usize & 31];
            for l in 0..32 {
                let address = Lane::blend(core.lane_masks[l], from[l], first);
                at.of[l] = address.wrapping_add(inst.imm);
            }
        }
        at
    }

    #[inline(always)]
    pub fn misaligned(&self, bytes: u64) -> bool {
        self.of.iter().fold(0, |any, address| any | address) & (bytes - 1) != 0
    }

    /// Whether no address is below the one before. They must be those of allocations, which are below the
    /// middle of all addresses.
    #[inline(always)]
    pub fn ascend(&self) -> bool {
        let mut below = 0;
        for l in 0..31 {
            below |= self.of[l + 1].wrapping_sub(self.of[l]);
        }
        below >> 63 == 0
    }

    /// Whether `bytes` from every address lie in `base..end`.
    #[inline(always)]
    pub fn within(&self, base: u64, end: u64, bytes: u64) -> bool {
        let limit = (end - base).wrapping_sub(bytes);
        if self.contiguous {
            let span = 31 * bytes;
            let offset = self.of[0].wrapping_sub(base);
            return (offset
                | limit.wrapping_sub(span)
                | limit.wrapping_sub(span).wrapping_sub(offset))
                >> 63
                == 0;
        }
        let mut outside = limit;
        for address in self.of {
            let offset = address.wrapping_sub(base);
            outside |= offset | limit.wrapping_sub(offset);
        }
        outside >> 63 == 0
    }

    pub fn low(&self) -> u64 {
        self.of.iter().copied().min().unwrap_or(0)
    }

    pub fn high(&self) -> u64 {
        self.of.iter().copied().max().unwrap_or(0)
    }

    /// As offsets from `window`; the highest value for what is no offset.
    pub fn offsets(&self, window: u64) -> Offsets {
        let mut of = [0; 32];
        for l in 0..32 {
            of[l] = u32::try_from(self.of[l].wrapping_sub(window)).unwrap_or(u32::MAX);
        }
        Offsets { of, contiguous: self.contiguous }
    }
}

/// Offsets of 32 bits into shared or local memory; inactive lanes as in [`Addresses`].
pub struct Offsets {
    pub of: [u32; 32],
    pub contiguous: bool,
}

impl Offsets {
    /// As [`Addresses::gather`], counted from the address `base`.
    ///
    /// # Safety
    /// See [`crate::exec::Handler`].
    #[inline(always)]
    pub unsafe fn gather(core: &Core, inst: &Inst, bytes: u32, base: u32) -> Self {
        let imm = (inst.imm as u32).wrapping_sub(base);
        let mut at = Self { of: [0; 32], contiguous: false };
        // SAFETY: lowering keeps slots within the file.
        let from = unsafe { &*core.lanes_of::<u32>(inst.a) };
        if core.mask == u32::MAX {
            let first = from[0];
            let mut off = 0;
            for l in 0..32 {
                at.of[l] = from[l].wrapping_add(imm);
                off |= from[l] ^ first.wrapping_add(l as u32 * bytes);
            }
            at.contiguous = off == 0;
        } else {
            let first = from[core.mask.trailing_zeros() as usize & 31];
            for l in 0..32 {
                let address = Lane::blend(core.lane_masks[l], from[l], first);
                at.of[l] = address.wrapping_add(imm);
            }
        }
        at
    }

    /// Whether any of them lies in the shared memory of another CTA of the cluster.
    pub fn leave_the_block(&self) -> bool {
        self.of.iter().fold(0, |any, offset| any | offset) >> super::RANK_SHIFT != 0
    }

    /// Bits that any of them has.
    #[inline(always)]
    pub fn any(&self) -> u32 {
        self.of.iter().fold(0, |any, offset| any | offset)
    }

    #[inline(always)]
    pub fn misaligned(&self, bytes: u32) -> bool {
        self.of.iter().fold(0, |any, offset| any | offset) & (bytes - 1) != 0
    }

    #[inline(always)]
    pub fn within(&self, len: u64, bytes: u32) -> bool {
        let highest = self.of.iter().fold(0, |high, &offset| offset.max(high));
        u64::from(highest) + u64::from(bytes) <= len
    }
}
