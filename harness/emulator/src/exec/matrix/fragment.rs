//! Registers to matrices and back.

use crate::exec::Core;
use crate::program::Slot;

/// Registers of one `mma`, by matrix.
pub struct Operands<'a> {
    pub a: &'a [Slot],
    pub b: &'a [Slot],
    pub c: &'a [Slot],
    pub d: &'a [Slot],
    /// Scales of A, byte and thread selectors; the same for B.
    pub scales: &'a [Slot],
}

/// Most words that a row of A or a column of B has.
pub const WORDS: usize = 8;

/// A by words: `[w][row]`, so that what is done to 16 rows is done to neighbours.
pub type ByRow = [[u32; 16]; WORDS];
/// B by columns: `[column][w]`.
pub type ByColumn = [[u32; WORDS]; 8];
/// C and D: `[column][row]`.
pub type Sums<T> = [[T; 16]; 8];

/// # Safety
/// `slots` must be registers of the warp, at most four, or two if there are 8 rows.
#[inline(always)]
pub unsafe fn rows(core: &Core, slots: &[Slot], rows: usize) -> ByRow {
    let mut out = [[0; 16]; WORDS];
    let halves = rows / 8;
    for (r, &slot) in slots.iter().enumerate() {
        // SAFETY: by the contract.
        let lanes = unsafe { &*core.lanes_of::<u32>(slot) };
        for t in 0..4 {
            let to = &mut out[(t + 4 * (r / halves)) % WORDS][8 * (r % halves)..][..8];
            for g in 0..8 {
                to[g] = lanes[4 * g + t];
            }
        }
    }
    out
}

/// # Safety
/// `slots` must be registers of the warp, at most two.
#[inline(always)]
pub unsafe fn columns(core: &Core, slots: &[Slot]) -> ByColumn {
    let mut out = [[0; WORDS]; 8];
    for (r, &slot) in slots.iter().enumerate().take(WORDS / 4) {
        // SAFETY: by the contract.
        let lanes = unsafe { &*core.lanes_of::<u32>(slot) };
        for g in 0..8 {
            out[g][4 * r..][..4].copy_from_slice(&lanes[4 * g..][..4]);
        }
    }
    out
}

/// Accumulators of 32 bits.
///
/// # Safety
/// `slots` must be registers of the warp, at most four.
#[inline(always)]
pub unsafe fn sums(core: &Core, slots: &[Slot]) -> Sums<u32> {
    let mut out = [[0; 16]; 8];
    for (i, &slot) in slots.iter().enumerate().take(4) {
        // SAFETY: by the contract.
        let lanes = unsafe { &*core.lanes_of::<u32>(slot) };
        for t in 0..4 {
            let to = &mut out[2 * t + i % 2][8 * (i / 2)..][..8];
            for g in 0..8 {
                to[g] = lanes[4 * g + t];
            }
        }
    }
    out
}

/// Store accumulators of 32 bits.
///
/// # Safety
/// As for [`sums`].
#[inline(always)]
pub unsafe fn store_sums(core: &mut Core, slots: &[Slot], sums: &Sums<u32>) {
    for (i, &slot) in slots.iter().enumerate().take(4) {
        // SAFETY: by the contract.
        let lanes = unsafe { &mut *core.lanes_of::<u32>(slot) };
        for t in 0..4 {
            let from = &sums[2 * t + i % 2][8 * (i / 2)..][..8];
            for g in 0..8 {
                lanes[4 * g + t] = from[g];
            }
        }
    }
}

/// Accumulators of 16 bits, two in a register.
///
/// # Safety
/// `slots` must be registers of the warp, at most two.
pub unsafe fn halves(core: &Core, slots: &[Slot]) -> Sums<u16> {
    let mut out = [[0; 16]; 8];
    for (r, &slot) in slots.iter().enumerate().take(2) {
        // SAFETY: by the contract.
        let lanes = unsafe { &*core.lanes_of::<u32>(slot) };
        for (lane, word) in lanes.iter().enumerate() {
            let (row, column) = (lane / 4 + 8 * r, 2 * (lane % 4));
            out[column][row] = *word as u16;
            out[column + 1][row] = (*word >> 16) as u16;
        }
    }
    out
}

/// Store accumulators of 16 bits.
///
/// # Safety
/// As for [`halves`].
pub unsafe fn store_halves(core: &mut Core, slots: &[Slot], sums: &Sums<u16>) {
    for (r, &slot) in slots.iter().enumerate().take(2) {
        // SAFETY: by the contract.
        let lanes = unsafe { &mut *core.lanes_of::<u32>(slot) };
        for (lane, word) in lanes.iter_mut().enumerate() {
            let (row, column) = (lane / 4 + 8 * r, 2 * (lane % 4));
            *word = u32::from(sums[column][row]) | u32::from(sums[column + 1][row]) << 16;
        }
    }
}
