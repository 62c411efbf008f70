//! Sparse A: of every few elements along K some are stored, and metadata say which (PTX ISA 9.7.15.6; what is only
//! drawn there is as for `mma.sp`, 9.7.14.6).
//!
//! ```text
//! 16 bits   two of four    four bits of metadata are two places: 0b1101 stores elements 1 and 3
//! 8 bits    two of four    the same
//! 32 bits   one of two     four bits, 0b0100 for the first, 0b1110 for the second
//!
//!  4 bits   four of eight  the same, of pairs (`tcgen05` only)
//!
//! metadata of wgmma for row g + 8·h, chunk c of K, lane 4·g + t:
//!   16 and 32 bits, 8 chunks    t = 2·selector + c / 4    bit 16·h + 4·(c mod 4)
//!   8 bits, 16 chunks           t = h + 2·(c / 8)         bit 4·(c mod 8)
//! ```
//!
//! The product is then a dense one of twice the K, of which absent elements are no summands.

use super::fragment::{Present, Register};

/// Registers of a row's 64 bytes.
pub const EXPANDED: usize = 8;

/// A row's chunks of K, of elements with so many bytes (pairs of four bits have one).
fn chunks(each: usize) -> usize {
    if each == 1 { 16 } else { 8 }
}

/// [`expand`] by the metadata of a warp's registers.
pub fn expand_by_lanes(
    stored: &[Register; 4],
    metadata: &[u32; 32],
    selector: usize,
    bits: usize,
) -> ([Register; EXPANDED], Present) {
    expand(stored, bits, |row, chunk| {
        let (g, h) = (row % 8, row / 8);
        let (t, bit) = match bits {
            ..=8 => (h + 2 * (chunk / 8), 4 * (chunk % 8)),
            _ => (2 * selector + chunk / 4, 16 * h + 4 * (chunk % 4)),
        };
        metadata[(4 * g + t) % 32] >> bit
    })
}

/// Put the elements of `bits` that four registers store where four bits of metadata by row and chunk say; the others
/// are zero, and not present.
pub fn expand(
    stored: &[Register; 4],
    bits: usize,
    four: impl Fn(usize, usize) -> u32,
) -> ([Register; EXPANDED], Present) {
    let mut out = [Register([0; 32]); EXPANDED];
    let mut present = [0; 64];
    let each = (bits / 8).max(1);
    for row in 0..16 {
        let mut from = [0u8; 32];
        for (word, bytes) in from.chunks_exact_mut(4).enumerate() {
            let (register, lane) = place(row, word);
            bytes.copy_from_slice(&stored[register].0[lane].to_le_bytes());
        }
        let mut to = [0u8; 64];
        let mut put = |element: usize, k: usize| {
            to[k * each..][..each].copy_from_slice(&from[element * each..][..each]);
            present[k] |= 1 << row;
        };
        for chunk in 0..chunks(each) {
            let four = (four(row, chunk) & 15) as usize;
            if each == 4 {
                put(chunk, 2 * chunk + (four & 3) / 2);
            } else {
                put(2 * chunk, 4 * chunk + (four & 3));
                put(2 * chunk + 1, 4 * chunk + (four >> 2));
            }
        }
        for (word, bytes) in to.chunks_exact(4).enumerate() {
            let (register, lane) = place(row, word);
            out[register].0[lane] = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
        }
    }
    (out, present)
}

/// Register and lane of a word of a row of A.
fn place(row: usize, word: usize) -> (usize, usize) {
    (row / 8 + 2 * (word / 4), 4 * (row % 8) + word % 4)
}
