//! The products that kernels of this field are made of, with AVX-512: floats into `f32` sums
//! (`floats.rs`) and packed FP4 with block scales (`fp4.rs`).
//!
//! These give the bits of `dot.rs` and `block.rs`, where the rules are explained, in an order that suits
//! vectors of 512 bits, and only where nothing is out of the ordinary: with infinities, NaN or exponents
//! near the ends of `f32` they decline, and the others do the work.
//!
//! A vector is a column of the sums: 16 rows, in the order in which transposing in place leaves them. A
//! register of a fragment is two vectors of 16 lanes, and those of rows `g` and of rows `g + 8` together
//! are four, `z`; within a vector four lanes `t` follow each other for each of four rows `i`:
//!
//! ```text
//! z = 0: lanes 0…15 of the first register     4·i + t  holds  row i,      word t
//!     1: lanes 16…31                                          row i + 4
//!     2, 3: the same of the second register                   rows i + 8, i + 12
//! transposed, vector t:   4·i + z  holds  row i + 4·z, word t        z = 0, 1, 2, 3
//! ```
//!
//! It is its own inverse, and does for A (words), C and D (columns) alike. Single elements of B and its
//! scales come from memory, where an operand may be one number for all lanes.

mod elements;
mod floats;
mod fp4;
mod fragments;
mod left;
mod right;

pub use fragments::Fragments;

use std::arch::x86_64::*;

use super::fragment::{Operands, Register};
use super::{Element, Multiply};

/// Rounding towards zero.
const CUT: i32 = _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC;

/// Largest exponent of C that is done here: products are kept below it, so sums stay finite.
const MOST: i32 = 100;

/// 32 lanes, where single ones are read from.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Lanes<T>([T; 32]);

/// Multiply, or decline.
///
/// # Safety
/// The operands must be valid, as many as `form` says, and the processor must have
/// the features of [`crate::exec::Level::Widest`].
#[inline(always)]
pub unsafe fn multiply(
    fragments: &mut Option<Box<Fragments>>,
    form: &Multiply,
    operands: &Operands,
) -> bool {
    // SAFETY: passed on.
    unsafe {
        match form.a {
            Element::PackedE2m1 => fp4::multiply(form, operands),
            _ => floats::multiply(fragments, form, operands),
        }
    }
}

/// The two halves of a register.
///
/// # Safety
/// `register` must be valid.
#[inline]
#[target_feature(enable = "avx512f")]
unsafe fn halves(register: *const Register) -> [__m512i; 2] {
    // SAFETY: by the contract; a register has 32 lanes, aligned to 128 bytes.
    unsafe {
        let lanes = register.cast::<__m512i>();
        [*lanes, *lanes.add(1)]
    }
}

/// Four vectors of four rows by four words, as in the module's picture, and back.
#[inline]
#[target_feature(enable = "avx512f")]
fn transpose(z: [__m512i; 4]) -> [__m512i; 4] {
    let low = [_mm512_unpacklo_epi32(z[0], z[1]), _mm512_unpacklo_epi32(z[2], z[3])];
    let high = [_mm512_unpackhi_epi32(z[0], z[1]), _mm512_unpackhi_epi32(z[2], z[3])];
    [
        _mm512_unpacklo_epi64(low[0], low[1]),
        _mm512_unpackhi_epi64(low[0], low[1]),
        _mm512_unpacklo_epi64(high[0], high[1]),
        _mm512_unpackhi_epi64(high[0], high[1]),
    ]
}

/// Words `4·r` to `4·r + 3` of 16 rows, from the two registers of A that hold them, or columns from two
/// of C.
///
/// # Safety
/// The registers must be valid.
#[inline]
#[target_feature(enable = "avx512f")]
unsafe fn tall(upper: *const Register, lower: *const Register) -> [__m512i; 4] {
    // SAFETY: by the contract.
    let ([a, b], [c, d]) = unsafe { (halves(upper), halves(lower)) };
    transpose([a, b, c, d])
}

/// The columns of C.
///
/// # Safety
/// `registers` must be four, and valid.
#[inline]
#[target_feature(enable = "avx512f")]
unsafe fn sums(registers: &[*const Register]) -> [__m512; 8] {
    let mut out = [_mm512_setzero_ps(); 8];
    for odd in 0..2 {
        // SAFETY: by the contract.
        let columns = unsafe { tall(registers[odd], registers[odd + 2]) };
        for t in 0..4 {
            out[2 * t + odd] = _mm512_castsi512_ps(columns[t]);
        }
    }
    out
}

/// Store the columns of D.
///
/// # Safety
/// As for [`sums`].
#[inline]
#[target_feature(enable = "avx512f")]
unsafe fn store(registers: &[*mut Register], sums: &[__m512; 8]) {
    for odd in 0..2 {
        let column = |t: usize| _mm512_castps_si512(sums[2 * t + odd]);
        let [a, b, c, d] = transpose([column(0), column(1), column(2), column(3)]);
        for (register, halves) in [(registers[odd], [a, b]), (registers[odd + 2], [c, d])] {
            // SAFETY: by the contract; as in `halves`.
            unsafe {
                let lanes = register.cast::<__m512i>();
                *lanes = halves[0];
                *lanes.add(1) = halves[1];
            }
        }
    }
}

/// Exponents that C is aligned by: of zero and of subnormals, that of the smallest normal number. As
/// floats, since those are fewer instructions to come by and to scale with.
#[inline]
#[target_feature(enable = "avx512f")]
fn exponent(c: __m512) -> __m512 {
    _mm512_max_ps(_mm512_getexp_ps(c), every(-126.0))
}

/// Whether every sum is finite and below `2^(MOST + 1)`.
#[inline]
#[target_feature(enable = "avx512f")]
fn moderate(c: &[__m512; 8]) -> bool {
    let mut largest = all(0);
    for column in c {
        let magnitude = _mm512_and_si512(_mm512_castps_si512(*column), all(i32::MAX));
        largest = _mm512_max_epi32(largest, magnitude);
    }
    _mm512_cmpge_epi32_mask(largest, all((MOST + 1 + 127) << 23)) == 0
}

/// `2^exponent` of a whole number, or of 127 where it is more.
#[inline]
#[target_feature(enable = "avx512f")]
fn power(exponent: __m512) -> __m512 {
    _mm512_scalef_ps(every(1.0), _mm512_min_ps(exponent, every(127.0)))
}

#[inline]
#[target_feature(enable = "avx512f")]
fn all(value: i32) -> __m512i {
    _mm512_set1_epi32(value)
}

#[inline]
#[target_feature(enable = "avx512f")]
fn every(value: f32) -> __m512 {
    _mm512_set1_ps(value)
}
