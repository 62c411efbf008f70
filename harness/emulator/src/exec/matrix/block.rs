//! Packed FP4 with block scales: `mma.m16n8k64` of `.kind::mxf4` and `.kind::mxf4nvf4`
//! (PTX ISA 9.7.14.3, 9.7.14.5.11).
//!
//! K = 64 is four groups of 16. (Of sparse A, K = 128 is four of 32, half of them zeros; that sums are the same
//! otherwise is a choice.) The dot product of a group is exact, and so is its product with the
//! significands of its two scales; the four and C are then aligned to the largest exponent, where a
//! group's exponent is the sum of its scales' exponents, cut off 35 bits below, added, and the
//! sum is cut off to `f32` (found by experiment, see `dot.rs`).
//!
//! Scales stand in a register of some lanes only. With `thread-id` s and `byte-id` b,
//!
//! ```text
//! scale_A of row q + 8·h     lane 4·q + 2·s + h     s in {0, 1}
//! scale_B of column n        lane 4·n + s           s in {0, 1, 2, 3}
//! one of them (1X): byte b    two (2X): bytes b and b + 1    four (4X): all
//! ```
//!
//! `E2M1` values are whole numbers of halves, so a group's dot product is a whole number of quarters, at
//! most 16·36·4 = 2304 of them: 16 bits hold it.

use super::dot::settle;
use super::element::{Accumulator, term};
use super::fragment::{self, Operands, Register};
use super::{Multiply, Scale, ScaleFormat};

pub const GROUPS: usize = 4;

/// Bits kept below the leading bit of the largest summand.
pub const FRACTION: i32 = 35;

/// Scale bytes by vector, `a[v][row]` and `b[v][column]`.
pub struct Bytes {
    pub a: [[u8; 16]; GROUPS],
    pub b: [[u8; 8]; GROUPS],
}

/// Scale bytes of the registers `[scale_A, byte-id, thread-id, scale_B, byte-id, thread-id]`.
///
/// # Safety
/// They must be valid.
#[inline(always)]
pub unsafe fn bytes(scales: &[*const Register], vectors: usize) -> Bytes {
    let mut out = Bytes { a: [[0; 16]; GROUPS], b: [[0; 8]; GROUPS] };
    let &[a, byte_a, thread_a, b, byte_b, thread_b] = scales else { return out };
    // SAFETY: by the contract.
    let read = |register: *const Register| unsafe { &(*register).0 };
    let (a, b) = (read(a), read(b));
    // Selectors are constants of the instruction, the same in every lane.
    let (byte_a, thread_a) = (read(byte_a)[0] & 3, read(thread_a)[0] as usize & 1);
    let (byte_b, thread_b) = (read(byte_b)[0] & 3, read(thread_b)[0] as usize & 3);
    for v in 0..vectors.min(GROUPS) {
        for q in 0..8 {
            for h in 0..2 {
                let word = a[4 * q + 2 * thread_a + h];
                out.a[v][q + 8 * h] = (word >> (8 * ((byte_a as usize + v) & 3))) as u8;
            }
        }
        for n in 0..8 {
            out.b[v][n] = (b[4 * n + thread_b] >> (8 * ((byte_b as usize + v) & 3))) as u8;
        }
    }
    out
}

/// A scale: its value, and the exponent it is aligned by.
#[inline(always)]
fn scale_of(format: ScaleFormat, byte: u8) -> (f64, i32) {
    match format {
        ScaleFormat::Ue8m0 => {
            let exponent = i32::from(byte) - 127;
            let value = f64::from_bits(((exponent + 1023) as u64) << 52);
            (if byte == 0xff { f64::NAN } else { value }, exponent)
        }
        ScaleFormat::Ue4m3 => {
            let term = term(formats::e4m3::decode(byte & 0x7f), -6);
            (f64::from(term.value), term.exponent)
        }
    }
}

/// # Safety
/// The operands must be valid registers, as many as `form` says.
#[inline(always)]
pub unsafe fn multiply(form: &Multiply, operands: &Operands) {
    // SAFETY: passed on.
    unsafe {
        match form.depth {
            0..=64 => multiply_groups::<16, 64>(form, operands),
            _ => multiply_groups::<32, 128>(form, operands),
        }
    }
}

/// Four groups of so many elements, `DEPTH` in all.
///
/// # Safety
/// As for [`multiply`].
#[inline(always)]
unsafe fn multiply_groups<const GROUP: usize, const DEPTH: usize>(
    form: &Multiply,
    operands: &Operands,
) {
    let Some(Scale { vectors, format }) = form.scale else { return };
    // SAFETY: by the contract.
    let (a, b, c, scales) = unsafe {
        (
            fragment::rows(operands.a, 16),
            fragment::columns(operands.b),
            fragment::sums(operands.c),
            bytes(operands.scales, vectors),
        )
    };
    let mut left = [[0i16; 16]; DEPTH];
    let mut right = [[0i16; 8]; DEPTH];
    for w in 0..DEPTH / 8 {
        let b: [u32; 8] = std::array::from_fn(|column| b[column][w]);
        for nibble in 0..8 {
            for row in 0..16 {
                left[8 * w + nibble][row] = halves(a[w][row] >> (4 * nibble));
            }
            for column in 0..8 {
                right[8 * w + nibble][column] = halves(b[column] >> (4 * nibble));
            }
        }
    }
    let mut scale_a = [([0.0; 16], [0; 16]); GROUPS];
    for group in 0..GROUPS {
        for row in 0..16 {
            let (value, exponent) = scale_of(format, scales.a[group * vectors / GROUPS][row]);
            scale_a[group].0[row] = value;
            scale_a[group].1[row] = exponent;
        }
    }
    let mut out = [[0u32; 16]; 8];
    for column in 0..8 {
        let c = c[column].map(f32::from_bits);
        let mut largest = c.map(|c| term(c, -126).exponent);
        let scale_b: [_; GROUPS] = std::array::from_fn(|group| {
            scale_of(format, scales.b[group * vectors / GROUPS][column])
        });
        for group in 0..GROUPS {
            for row in 0..16 {
                largest[row] = largest[row].max(scale_a[group].1[row] + scale_b[group].1);
            }
        }
        let align = largest.map(|e| power(FRACTION - e));
        let mut sum = [0.0; 16];
        for row in 0..16 {
            sum[row] = (f64::from(c[row]) * align[row]).trunc();
        }
        for group in 0..GROUPS {
            let mut dot = [0i16; 16];
            for k in GROUP * group..GROUP * (group + 1) {
                let factor = right[k][column];
                for row in 0..16 {
                    dot[row] += left[k][row] * factor;
                }
            }
            let quarter = scale_b[group].0 * 0.25;
            for row in 0..16 {
                let scaled = f64::from(dot[row]) * (scale_a[group].0[row] * quarter);
                sum[row] += (scaled * align[row]).trunc();
            }
        }
        for row in 0..16 {
            let exact = sum[row] * power(largest[row] - FRACTION);
            let exact = if c[row].is_infinite() { f64::from(c[row]) } else { exact };
            out[column][row] = settle(exact, Accumulator::F32).to_bits();
        }
    }
    // SAFETY: by the contract.
    unsafe { fragment::store_sums(operands.d, &out) };
}

#[inline(always)]
fn power(exponent: i32) -> f64 {
    f64::from_bits(((exponent + 1023) as u64) << 52)
}

/// Magnitudes of E2M1 in halves, a digit each: 0, 1, 2, 3, 4, 6, 8, 12.
const MAGNITUDES: u32 = 0xc864_3210;

/// An E2M1 number in the low four bits, as a whole number of halves.
#[inline(always)]
fn halves(bits: u32) -> i16 {
    let magnitude = (MAGNITUDES >> (4 * (bits & 7)) & 15) as i32;
    let sign = (bits << 28) as i32 >> 31;
    ((magnitude ^ sign) - sign) as i16
}
