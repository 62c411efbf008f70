//! Elements of A and B on their way to products.
//!
//! A word of A or B holds one, two or four elements. All formats of at most 16 bits but `bf16` become
//! `f16` on the way, moved into its fields: their values are then off by a power of two, the same for
//! all, which the alignment makes up for. Elements come in *pairs*, the two halves of a word:
//!
//! ```text
//! f16    k = 2·w, 2·w + 1                 exponents as two i16 in a word: field - 15
//! FP8…   k = 4·w, 4·w + 2, then 4·w + 1, 4·w + 3              field - the format's own bias
//! bf16   as f16                           field - 127
//! tf32   k = w, and nothing
//! ```

use std::arch::x86_64::*;

use super::all;
use crate::exec::matrix::Multiply;
use crate::exec::matrix::element::{Element, ZERO_EXPONENT};

/// Exponents of `bf16` and `tf32` elements that are done here: products are then far from the ends of `f32`.
const NEAR: i16 = 50;

/// Instead of an element: its exponent is below all others.
const NOTHING: i32 = 0xc000_0000_u32 as i32;

/// Where the fields of an element narrower than `f16` go.
#[derive(Clone, Copy)]
struct Narrow {
    magnitude: i16,
    /// By how much it moves up, and the sign.
    shift: u32,
    sign: u32,
    bias: i16,
    /// A magnitude that is no number.
    nan: Option<i16>,
}

impl Narrow {
    fn of(element: Element) -> Option<Self> {
        let of = |magnitude, shift, sign, bias, nan| Self { magnitude, shift, sign, bias, nan };
        Some(match element {
            Element::E4m3 => of(0x7f, 7, 8, 7, Some(0x7f)),
            // Infinities have the highest field of `f16`, too.
            Element::E5m2 => of(0x7f, 8, 8, 15, None),
            Element::E3m2 => of(0x1f, 8, 10, 3, None),
            Element::E2m3 => of(0x1f, 7, 10, 1, None),
            Element::E2m1 => of(0x1c, 7, 10, 1, None),
            _ => return None,
        })
    }
}

/// By how many powers of two a product is too small, once both factors are `f16`.
pub fn lag(form: &Multiply) -> i32 {
    [form.a, form.b]
        .into_iter()
        .filter_map(Narrow::of)
        .map(|narrow| 15 - i32::from(narrow.bias))
        .sum()
}

/// Lower and upper elements, and exponents.
pub type Pair = (__m512, __m512, __m512i);

/// Exponents of numbers with fields of `f16`, and whether one is no number.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn small_exponents(halves: __m512i, bias: i16) -> (__m512i, bool) {
    let field = _mm512_and_si512(_mm512_srli_epi16::<10>(halves), _mm512_set1_epi16(31));
    let special = _mm512_cmpeq_epi16_mask(field, _mm512_set1_epi16(31)) != 0;
    let least = _mm512_max_epi16(field, _mm512_set1_epi16(1));
    let exponents = _mm512_sub_epi16(least, _mm512_set1_epi16(bias));
    let zero = _mm512_testn_epi16_mask(halves, _mm512_set1_epi16(0x7fff));
    let zeros = _mm512_set1_epi16(ZERO_EXPONENT as i16);
    (_mm512_mask_mov_epi16(exponents, zero, zeros), special)
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn half_pair(word: __m512i, bias: i16) -> (Pair, bool) {
    let (exponents, special) = small_exponents(word, bias);
    let low = _mm512_cvtph_ps(_mm512_cvtepi32_epi16(word));
    let high = _mm512_cvtph_ps(_mm512_cvtepi32_epi16(_mm512_srli_epi32::<16>(word)));
    ((low, high, exponents), special)
}

/// Four narrow elements of a word as two pairs.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn narrow_pairs(word: __m512i, narrow: Narrow) -> ([Pair; 2], bool) {
    let mut special = false;
    let mut pairs = [(_mm512_setzero_ps(), _mm512_setzero_ps(), word); 2];
    for (bytes, pair) in [word, _mm512_srli_epi16::<8>(word)].into_iter().zip(&mut pairs) {
        let magnitude = _mm512_and_si512(bytes, _mm512_set1_epi16(narrow.magnitude));
        if let Some(nan) = narrow.nan {
            special |= _mm512_cmpeq_epi16_mask(magnitude, _mm512_set1_epi16(nan)) != 0;
        }
        let up = |x, by: u32| _mm512_sll_epi16(x, _mm_cvtsi32_si128(by as i32));
        let sign = _mm512_and_si512(up(bytes, narrow.sign), _mm512_set1_epi16(i16::MIN));
        let half = _mm512_or_si512(up(magnitude, narrow.shift), sign);
        // The highest field is infinite in `f16` and E5M2 only; others do not reach it.
        let (floats, infinite) = half_pair(half, narrow.bias);
        special |= infinite;
        *pair = floats;
    }
    (pairs, special)
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn brain_pair(word: __m512i) -> (Pair, bool) {
    let field = _mm512_and_si512(_mm512_srli_epi16::<7>(word), _mm512_set1_epi16(0xff));
    let exponents =
        _mm512_sub_epi16(_mm512_max_epi16(field, _mm512_set1_epi16(1)), _mm512_set1_epi16(127));
    let zero = _mm512_testn_epi16_mask(word, _mm512_set1_epi16(0x7fff));
    let far =
        _mm512_mask_cmpgt_epi16_mask(!zero, _mm512_abs_epi16(exponents), _mm512_set1_epi16(NEAR));
    let zeros = _mm512_set1_epi16(ZERO_EXPONENT as i16);
    let exponents = _mm512_mask_mov_epi16(exponents, zero, zeros);
    let low = _mm512_castsi512_ps(_mm512_slli_epi32::<16>(word));
    let high = _mm512_castsi512_ps(_mm512_and_si512(word, all(0xffff_0000_u32 as i32)));
    ((low, high, exponents), far != 0)
}

/// One number in a word, its lowest 13 bits ignored.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn single_pair(word: __m512i) -> (Pair, bool) {
    let word = _mm512_and_si512(word, all(0xffff_e000_u32 as i32));
    let zero = _mm512_testn_epi32_mask(word, all(0x7fff_ffff));
    let field = _mm512_srli_epi32::<24>(_mm512_slli_epi32::<1>(word));
    let exponents = _mm512_sub_epi32(_mm512_max_epi32(field, all(1)), all(127));
    let far = _mm512_mask_cmpgt_epi32_mask(!zero, _mm512_abs_epi32(exponents), all(NEAR.into()));
    let exponents = _mm512_mask_mov_epi32(exponents, zero, all(ZERO_EXPONENT));
    let lower = _mm512_and_si512(exponents, all(0xffff));
    let pair =
        (_mm512_castsi512_ps(word), _mm512_setzero_ps(), _mm512_or_si512(lower, all(NOTHING)));
    (pair, far != 0)
}

/// The pairs of each word to `to`; true where one holds something special.
///
/// # Safety
/// The processor must have AVX-512 for words of 16 bits.
#[inline(always)]
pub unsafe fn pairs(element: Element, word: __m512i, mut to: impl FnMut(usize, Pair)) -> bool {
    // SAFETY: by the contract.
    unsafe {
        if let Some(narrow) = Narrow::of(element) {
            let (pairs, special) = narrow_pairs(word, narrow);
            to(0, pairs[0]);
            to(1, pairs[1]);
            return special;
        }
        let (pair, special) = match element {
            Element::F16 => half_pair(word, 15),
            Element::Bf16 => brain_pair(word),
            _ => single_pair(word),
        };
        to(0, pair);
        special
    }
}

/// How many pairs a word holds.
pub fn pairs_of(element: Element) -> usize {
    if Narrow::of(element).is_some() { 2 } else { 1 }
}
