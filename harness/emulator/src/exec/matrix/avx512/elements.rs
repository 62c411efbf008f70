//! Elements of A and B on their way to products: values as `f32`, exponents as bytes.
//!
//! A word of A or B holds one, two or four elements. All formats of at most 16 bits but `bf16` become
//! `f16` on the way, moved into its fields, which makes two words of one: their values are then off by a
//! power of two, the same for all, which the alignment makes up for ([`lag`]). Elements are numbered as they
//! come out of words. With `t` the word of a register as in the picture above, and `h` the half of a word:
//!
//! ```text
//! Half    f16                 k = 8·register + 2·t + h
//! Byte    FP8 and less        the same, of the even bytes, then of the odd ones of each register
//! Brain   bf16                k = 8·register + 4·h + t
//! Single  tf32                k = 4·register + t
//! ```
//!
//! The exponent of a product is the sum of its factors' exponents, and it is wanted as `f32` has it, 127
//! higher. So A has a byte a, B a byte b, and saturating subtraction gives a - b = `e + 127`, or 0 where a
//! factor is zero: that never is the largest.
//!
//! ```text
//! d = field - bottom          from 0 to span; outside, the numbers are left to `dot.rs`
//! a = d + 127 + span + 2·(bottom - bias), and 0 for zero
//! b = span - d, and 255 for zero
//! ```

use std::arch::x86_64::*;

use super::all;
use crate::exec::matrix::Multiply;
use crate::exec::matrix::element::Element;

/// What a word holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Two `f16`.
    Half,
    /// Four elements of 8 bits, as two words of `f16`.
    Byte,
    /// Two `bf16`.
    Brain,
    /// One `tf32`: the upper half is a `bf16` of the same exponent.
    Single,
}

/// Fields of exponents that are done here.
#[derive(Clone, Copy)]
struct Fields {
    shift: u32,
    bias: i16,
    bottom: i16,
    span: i16,
}

impl Kind {
    pub const ALL: [Self; 4] = [Self::Half, Self::Byte, Self::Brain, Self::Single];

    pub fn of(element: Element) -> Self {
        match element {
            Element::Bf16 => Self::Brain,
            Element::Tf32 => Self::Single,
            Element::F16 => Self::Half,
            _ => Self::Byte,
        }
    }

    /// All finite `f16`; of the others numbers from 2^-41 to 2^41. Zero has -126 for an exponent
    /// (`element.rs`), and however large the other factor, the product is then below all that are not zero.
    const fn fields(self) -> Fields {
        match self {
            Self::Half | Self::Byte => Fields { shift: 10, bias: 15, bottom: 1, span: 29 },
            _ => Fields { shift: 7, bias: 127, bottom: 127 - 41, span: 82 },
        }
    }

    /// Words that a word becomes.
    pub const fn parts(self) -> usize {
        if matches!(self, Self::Byte) { 2 } else { 1 }
    }

    /// Elements that four of these hold.
    pub const fn run(self) -> usize {
        if matches!(self, Self::Single) { 4 } else { 8 }
    }

    /// The first half of a word that is an element.
    pub const fn first_half(self) -> usize {
        if matches!(self, Self::Single) { 1 } else { 0 }
    }

    /// Where half `h` of word `t` stands among them.
    pub const fn place(self, t: usize, h: usize) -> usize {
        match self {
            Self::Half | Self::Byte => 2 * t + h,
            Self::Brain => 4 * h + t,
            Self::Single => t,
        }
    }
}

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
    let of = |element| Narrow::of(element).map_or(0, |narrow| 15 - i32::from(narrow.bias));
    of(form.a) + of(form.b)
}

/// A word's elements in as many words as its kind has parts. A NaN becomes one of `f16`.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
pub fn widened(kind: Kind, element: Element, word: __m512i) -> [__m512i; 2] {
    // Of `tf32` the lowest 13 bits are not looked at (PTX ISA 9.7.14.2).
    let ignored = if kind == Kind::Single { 0x1fff } else { 0 };
    let Some(narrow) = Narrow::of(element).filter(|_| kind == Kind::Byte) else {
        return [_mm512_andnot_si512(all(ignored), word), word];
    };
    let up = |x, by: u32| _mm512_sll_epi16(x, _mm_cvtsi32_si128(by as i32));
    let mut out = [word, _mm512_srli_epi16::<8>(word)];
    for bytes in &mut out {
        let magnitude = _mm512_and_si512(*bytes, _mm512_set1_epi16(narrow.magnitude));
        let sign = _mm512_and_si512(up(*bytes, narrow.sign), _mm512_set1_epi16(i16::MIN));
        *bytes = _mm512_or_si512(up(magnitude, narrow.shift), sign);
        if let Some(nan) = narrow.nan {
            let nan = _mm512_cmpeq_epi16_mask(magnitude, _mm512_set1_epi16(nan));
            *bytes = _mm512_mask_mov_epi16(*bytes, nan, _mm512_set1_epi16(0x7fff));
        }
    }
    out
}

/// Exponents of a word's halves: each `field - bottom`, and which are not zero.
#[derive(Clone, Copy)]
pub struct Distances {
    fields: Fields,
    distance: __m512i,
    nonzero: __mmask32,
}

impl Distances {
    /// Of a word that [`widened`] gives.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw")]
    pub fn of(kind: Kind, word: __m512i) -> Self {
        let fields = kind.fields();
        // What a `tf32` has below a `bf16` is its last bits. Only a subnormal has nothing else.
        let magnitude = match kind {
            Kind::Single => {
                let tail = _mm512_test_epi32_mask(word, all(0xffff));
                let one = _mm512_maskz_mov_epi32(tail, all(0x1_0000));
                _mm512_and_si512(_mm512_or_si512(word, one), all(0x7fff_0000))
            }
            _ => _mm512_and_si512(word, _mm512_set1_epi16(0x7fff)),
        };
        let nonzero = _mm512_test_epi16_mask(magnitude, magnitude);
        let least = _mm512_max_epu16(magnitude, _mm512_set1_epi16(1 << fields.shift));
        let field = _mm512_srl_epi16(least, _mm_cvtsi32_si128(fields.shift as i32));
        let bottom = _mm512_set1_epi16(fields.bottom);
        let distance = _mm512_maskz_sub_epi16(nonzero, field, bottom);
        Self { fields, distance, nonzero }
    }

    /// The larger of each, as a running maximum from zeros.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw")]
    pub fn furthest(&self, before: __m512i) -> __m512i {
        _mm512_max_epu16(before, self.distance)
    }

    /// Bytes of A, each in a half word.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw")]
    pub fn of_a(&self) -> __m512i {
        let Fields { bias, bottom, span, .. } = self.fields;
        let above = _mm512_set1_epi16(127 + span + 2 * (bottom - bias));
        _mm512_maskz_add_epi16(self.nonzero, self.distance, above)
    }

    /// Bytes of B, each in a half word.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw")]
    pub fn of_b(&self) -> __m512i {
        let span = _mm512_set1_epi16(self.fields.span);
        _mm512_mask_sub_epi16(_mm512_set1_epi16(255), self.nonzero, span, self.distance)
    }
}

/// Whether a running maximum of distances stayed among what is done here.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
pub fn are_near(kind: Kind, furthest: __m512i) -> bool {
    let span = _mm512_set1_epi16(kind.fields().span);
    _mm512_cmpgt_epu16_mask(furthest, span) == 0
}

/// The numbers of the lower and the upper halves of words.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
pub fn values(kind: Kind, word: __m512i) -> [__m512; 2] {
    match kind {
        Kind::Half | Kind::Byte => {
            // SAFETY: 64 bytes.
            let order = unsafe { _mm512_loadu_si512(SPLIT.as_ptr().cast()) };
            let split = _mm512_permutexvar_epi16(order, word);
            [
                _mm512_cvtph_ps(_mm512_castsi512_si256(split)),
                _mm512_cvtph_ps(_mm512_extracti64x4_epi64::<1>(split)),
            ]
        }
        Kind::Brain => {
            let upper = _mm512_and_si512(word, all(0xffff_0000_u32 as i32));
            let lower = _mm512_slli_epi32::<16>(word);
            [_mm512_castsi512_ps(lower), _mm512_castsi512_ps(upper)]
        }
        Kind::Single => [_mm512_castsi512_ps(word); 2],
    }
}

/// The halves of words, lower ones first.
static SPLIT: [u16; 32] = {
    let mut split = [0; 32];
    let mut lane = 0;
    while lane < 32 {
        split[lane] = (2 * (lane % 16) + lane / 16) as u16;
        lane += 1;
    }
    split
};
