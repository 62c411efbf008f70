//! Registers to matrices and back.

/// The 32 lanes of a register of 32 bits, as they stand in a register file. As part of a matrix it is a block of eight rows
/// (or columns of B) by 16 bytes along K: lane `4·g + t` is word `t` of row `g`.
#[derive(Clone, Copy)]
#[repr(C, align(128))]
pub struct Register(pub [u32; 32]);

/// Registers of one product, by matrix: of a warp's file, or made of what lies in memory. Those of doubles are two,
/// one after the other.
#[derive(Clone, Copy)]
pub struct Operands<'a> {
    pub a: &'a [*const Register],
    pub b: &'a [*const Register],
    pub c: &'a [*const Register],
    /// They may be those of C.
    pub d: &'a [*mut Register],
    /// Scales of A, byte and thread selectors; the same for B.
    pub scales: &'a [*const Register],
    /// Of sparse A, the elements that are there.
    pub present: Option<&'a Present>,
}

/// By element along K, the rows of A that have it: a bit for each of 16.
pub type Present = [u16; 64];

/// Most words that a row of A or a column of B has.
pub const WORDS: usize = 16;

/// A by words: `[w][row]`, so that what is done to 16 rows is done to neighbours.
pub type ByRow = [[u32; 16]; WORDS];
/// B by columns: `[column][w]`.
pub type ByColumn = [[u32; WORDS]; 8];
/// C and D: `[column][row]`.
pub type Sums<T> = [[T; 16]; 8];

/// # Safety
/// They must be valid: at most eight, or four if there are 8 rows.
#[inline(always)]
pub unsafe fn rows(registers: &[*const Register], rows: usize) -> ByRow {
    let mut out = [[0; 16]; WORDS];
    let halves = rows / 8;
    for (r, &register) in registers.iter().enumerate() {
        // SAFETY: by the contract.
        let lanes = unsafe { &(*register).0 };
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
/// They must be valid, at most four.
#[inline(always)]
pub unsafe fn columns(registers: &[*const Register]) -> ByColumn {
    let mut out = [[0; WORDS]; 8];
    for (r, &register) in registers.iter().enumerate().take(WORDS / 4) {
        // SAFETY: by the contract.
        let lanes = unsafe { &(*register).0 };
        for g in 0..8 {
            out[g][4 * r..][..4].copy_from_slice(&lanes[4 * g..][..4]);
        }
    }
    out
}

/// Accumulators of 32 bits.
///
/// # Safety
/// They must be valid, at most four.
#[inline(always)]
pub unsafe fn sums(registers: &[*const Register]) -> Sums<u32> {
    let mut out = [[0; 16]; 8];
    for (i, &register) in registers.iter().enumerate().take(4) {
        // SAFETY: by the contract.
        let lanes = unsafe { &(*register).0 };
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
pub unsafe fn store_sums(registers: &[*mut Register], sums: &Sums<u32>) {
    for (i, &register) in registers.iter().enumerate().take(4) {
        // SAFETY: by the contract.
        let lanes = unsafe { &mut (*register).0 };
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
/// They must be valid, at most two.
pub unsafe fn halves(registers: &[*const Register]) -> Sums<u16> {
    let mut out = [[0; 16]; 8];
    for (r, &register) in registers.iter().enumerate().take(2) {
        // SAFETY: by the contract.
        let lanes = unsafe { &(*register).0 };
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
pub unsafe fn store_halves(registers: &[*mut Register], sums: &Sums<u16>) {
    for (r, &register) in registers.iter().enumerate().take(2) {
        // SAFETY: by the contract.
        let lanes = unsafe { &mut (*register).0 };
        for (lane, word) in lanes.iter_mut().enumerate() {
            let (row, column) = (lane / 4 + 8 * r, 2 * (lane % 4));
            *word = u32::from(sums[column][row]) | u32::from(sums[column + 1][row]) << 16;
        }
    }
}
