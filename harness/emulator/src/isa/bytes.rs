//! Instructions on the bytes of a word: `prmt` and `dp4a` (PTX ISA 9.7.8.7, 9.7.1.23).
//!
//! Kernels for narrow formats live on them (tables of sixteen values in two registers, four products at a
//! time), and lane by lane they cost twenty times an addition. Vectors of bytes do both:
//!
//! ```text
//! prmt   nibbles of c, a byte each:  s = 0..7 picks, 8 more copies the sign
//!        s & 3, and the word's place in the vector, picks from a and from b; s & 4 chooses; s & 8 spreads the sign
//! dp4a   even bytes and odd bytes as 16-bit numbers, products of pairs added up, twice
//! ```

#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::*;

use super::{Row, row};
#[cfg(target_arch = "x86_64")]
use crate::exec::WIDE;
use crate::exec::{Op3, each_lane, element_wise, rare};

#[rustfmt::skip]
pub const ROWS: &[Row] = &[
    row!("prmt .b32", "n=n,n,n", Integer, { use Permute as O; element_wise!(op3) }),
    row!("prmt .b32 .f4e", "n=n,n,n", Integer, rare!(|_, a: u32, b: u32, c: u32| -> u32 { permute(a, b, [0x3210, 0x4321, 0x5432, 0x6543][c as usize & 3]) })),
    row!("prmt .b32 .b4e", "n=n,n,n", Integer, rare!(|_, a: u32, b: u32, c: u32| -> u32 { permute(a, b, [0x5670, 0x6701, 0x7012, 0x0123][c as usize & 3]) })),
    row!("prmt .b32 .rc8", "n=n,n,n", Integer, rare!(|_, a: u32, b: u32, c: u32| -> u32 { permute(a, b, [0x0000, 0x1111, 0x2222, 0x3333][c as usize & 3]) })),
    row!("prmt .b32 .ecl", "n=n,n,n", Integer, rare!(|_, a: u32, b: u32, c: u32| -> u32 { permute(a, b, [0x3210, 0x3211, 0x3222, 0x3333][c as usize & 3]) })),
    row!("prmt .b32 .ecr", "n=n,n,n", Integer, rare!(|_, a: u32, b: u32, c: u32| -> u32 { permute(a, b, [0x0000, 0x1110, 0x2210, 0x3210][c as usize & 3]) })),
    row!("prmt .b32 .rc16", "n=n,n,n", Integer, rare!(|_, a: u32, b: u32, c: u32| -> u32 { permute(a, b, [0x1010, 0x3232, 0x1010, 0x3232][c as usize & 3]) })),
    row!("dp4a .u32 .u32", "n=n,n,n", Integer, { type O = Dot<false, false>; element_wise!(op3) }),
    row!("dp4a .s32 .s32", "n=n,n,n", Integer, { type O = Dot<true, true>; element_wise!(op3) }),
    row!("dp4a .u32 .s32", "n=n,n,n", Integer, { type O = Dot<false, true>; element_wise!(op3) }),
    row!("dp4a .s32 .u32", "n=n,n,n", Integer, { type O = Dot<true, false>; element_wise!(op3) }),
];

/// `prmt` (9.7.8.7): each nibble of `c` picks a byte of `b:a`, or eight copies of its sign.
#[inline(always)]
fn permute(a: u32, b: u32, c: u32) -> u32 {
    let bytes = u64::from(b) << 32 | u64::from(a);
    let mut out = 0;
    let mut k = 0;
    while k < 4 {
        let select = c >> (4 * k) & 0xf;
        let byte = (bytes >> (8 * (select & 7))) as u8;
        let byte = if select & 8 != 0 { (byte as i8 >> 7) as u8 } else { byte };
        out |= u32::from(byte) << (8 * k);
        k += 1;
    }
    out
}

struct Permute;

impl Op3 for Permute {
    type D = u32;
    type A = u32;
    type B = u32;
    type C = u32;

    #[inline(always)]
    fn f(_: u32, a: u32, b: u32, c: u32) -> u32 {
        permute(a, b, c)
    }

    #[inline(always)]
    fn chunk<const N: usize>(flags: u32, a: &[u32; N], b: &[u32; N], c: &[u32; N]) -> [u32; N] {
        #[cfg(target_arch = "x86_64")]
        if N == WIDE {
            // SAFETY: chunks of this size are handled in code for AVX2 only.
            return unsafe { each_vector(a, b, c, |a, b, c| permute_vector(a, b, c)) };
        }
        each_lane::<Self, N>(flags, a, b, c)
    }
}

/// A sum of four products of bytes, signed in the first factor, in the second.
struct Dot<const A: bool, const B: bool>;

impl<const A: bool, const B: bool> Op3 for Dot<A, B> {
    type D = u32;
    type A = u32;
    type B = u32;
    type C = u32;

    #[inline(always)]
    fn f(_: u32, a: u32, b: u32, c: u32) -> u32 {
        let byte = |word: u32, k: u32, signed: bool| {
            let byte = (word >> (8 * k)) as u8;
            if signed { i32::from(byte as i8) } else { i32::from(byte) }
        };
        (0..4).fold(c, |sum, k| sum.wrapping_add((byte(a, k, A) * byte(b, k, B)) as u32))
    }

    #[inline(always)]
    fn chunk<const N: usize>(flags: u32, a: &[u32; N], b: &[u32; N], c: &[u32; N]) -> [u32; N] {
        #[cfg(target_arch = "x86_64")]
        if N == WIDE {
            // SAFETY: as in `Permute`.
            return unsafe { each_vector(a, b, c, |a, b, c| dot_vector::<A, B>(a, b, c)) };
        }
        each_lane::<Self, N>(flags, a, b, c)
    }
}

/// Eight lanes at a time.
///
/// # Safety
/// The processor must have AVX2.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
unsafe fn each_vector<const N: usize>(
    a: &[u32; N],
    b: &[u32; N],
    c: &[u32; N],
    f: impl Fn(__m256i, __m256i, __m256i) -> __m256i,
) -> [u32; N] {
    let mut out = [0; N];
    for k in (0..N).step_by(8) {
        // SAFETY: vectors of eight lanes tile `N`, by the contract.
        unsafe {
            let load = |of: &[u32; N]| _mm256_loadu_si256(of.as_ptr().add(k).cast());
            _mm256_storeu_si256(out.as_mut_ptr().add(k).cast(), f(load(a), load(b), load(c)));
        }
    }
    out
}

/// # Safety
/// The processor must have AVX2.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
unsafe fn permute_vector(a: __m256i, b: __m256i, c: __m256i) -> __m256i {
    // SAFETY: by the contract.
    unsafe {
        let four = _mm256_and_si256(c, _mm256_set1_epi32(0xffff));
        let spread = _mm256_or_si256(four, _mm256_slli_epi32::<8>(four));
        let pairs = _mm256_and_si256(spread, _mm256_set1_epi32(0x00ff_00ff));
        let spread = _mm256_or_si256(pairs, _mm256_slli_epi32::<4>(pairs));
        let select = _mm256_and_si256(spread, _mm256_set1_epi8(15));
        let words = _mm256_setr_epi32(
            0,
            0x0404_0404,
            0x0808_0808,
            0x0c0c_0c0c,
            0,
            0x0404_0404,
            0x0808_0808,
            0x0c0c_0c0c,
        );
        let at = _mm256_or_si256(_mm256_and_si256(select, _mm256_set1_epi8(3)), words);
        let (of_a, of_b) = (_mm256_shuffle_epi8(a, at), _mm256_shuffle_epi8(b, at));
        // What chooses is the highest bit of each byte.
        let byte = _mm256_blendv_epi8(of_a, of_b, _mm256_slli_epi16::<5>(select));
        let sign = _mm256_cmpgt_epi8(_mm256_setzero_si256(), byte);
        _mm256_blendv_epi8(byte, sign, _mm256_slli_epi16::<4>(select))
    }
}

/// # Safety
/// The processor must have AVX2.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
unsafe fn dot_vector<const A: bool, const B: bool>(a: __m256i, b: __m256i, c: __m256i) -> __m256i {
    // SAFETY: by the contract.
    unsafe {
        let halves = |words: __m256i, signed: bool| {
            if signed {
                [
                    _mm256_srai_epi16::<8>(_mm256_slli_epi16::<8>(words)),
                    _mm256_srai_epi16::<8>(words),
                ]
            } else {
                [_mm256_and_si256(words, _mm256_set1_epi16(0xff)), _mm256_srli_epi16::<8>(words)]
            }
        };
        let ([even_a, odd_a], [even_b, odd_b]) = (halves(a, A), halves(b, B));
        let even = _mm256_madd_epi16(even_a, even_b);
        let odd = _mm256_madd_epi16(odd_a, odd_b);
        _mm256_add_epi32(c, _mm256_add_epi32(even, odd))
    }
}
