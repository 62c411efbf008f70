//! Products of floats into `f32` sums, 16 rows at a time (the rules: `dot.rs`), of fragments taken apart
//! (`fragments.rs`).
//!
//! A product is two multiplications (both exact), a conversion that cuts it off, and an addition: four
//! instructions for 16 of them, and 512 for m16n8k16. What they are aligned by comes of bytes: a
//! subtraction and a maximum for 16 rows and four columns at once (`elements.rs`). The field of an `f32`'s
//! exponent is then what all the rest is done with, where it stands:
//!
//! ```text
//! largest = max(byte << 23, |C|), cut to its field       of C the exponent is the field itself
//! up      = (fraction + 254 << 23) - largest             2^(fraction - exponent), what C is scaled by
//! down    = largest - (fraction << 23)                   and its inverse
//! ```
//!
//! Sixteen cut products stay below `2^31`, since factors have significands below 2 and 25 bits are kept.
//! Where a sum of more leaves `i32`, or C has infinities, NaN or numbers very small or large, that is noticed,
//! and the product is left to `dot.rs`.

use std::arch::x86_64::*;

use super::elements::lag;
use super::left::Left;
use super::right::Right;
use super::{CUT, Fragments, all, store, sums};
use crate::exec::matrix::element::Accumulator;
use crate::exec::matrix::fragment::{Operands, Register};
use crate::exec::matrix::{Multiply, Rule, block};

/// Products whose cut values an `i32` holds the sum of.
const CHUNK: usize = 16;

/// Exponents of block scales that are done here.
const SCALES: i32 = 23;

/// C is zero, or from `2^-64` to below `2^101`. Below, what the hardware takes for the exponent of zero
/// (-126, with the other factor's and the scales' added) would count; above, the scales' would make
/// products' scales leave `f32`.
const LEAST: i32 = (127 - 64) << 23;
const MOST: i32 = (127 + 101) << 23;

/// The field of the least exponent that sums are aligned by, where C and all products are zero: the
/// inverse of its power is an `f32`, too.
const FLOOR: i32 = 27;

/// The field of an exponent.
const FIELD: i32 = 0xff << 23;

/// What exponents of products are more by than those of their factors, in fields: block scales, and the lag
/// of narrow formats.
struct Offsets {
    row: __m512i,
    column: [i32; 8],
}

/// # Safety
/// As for [`super::multiply`].
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")]
pub unsafe fn multiply(
    fragments: &mut Option<Box<Fragments>>,
    form: &Multiply,
    operands: &Operands,
) -> bool {
    let wide = form.c == Accumulator::F32 && form.d == Accumulator::F32;
    let alike = form.a == form.b || form.a.bits() == 8 && form.b.bits() == 8;
    if !wide || !alike || form.rule.converted || form.rows != 16 || form.is_quad() {
        return false;
    }
    let fragments = fragments.get_or_insert_with(Fragments::none);
    // SAFETY: passed on.
    unsafe { product(fragments, form, operands) }.is_some()
}

/// # Safety
/// As for [`super::multiply`].
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")]
unsafe fn product(fragments: &mut Fragments, form: &Multiply, operands: &Operands) -> Option<()> {
    // SAFETY: by the contract.
    let (a, b) = unsafe { fragments.both([form.a, form.b], operands)? };
    // Elements of 8 bits have a lag, some of zero, and may have scales.
    let plain = form.a.bits() > 8;
    let offsets = if plain {
        Offsets { row: all(0), column: [0; 8] }
    } else {
        // SAFETY: by the contract.
        unsafe { offsets(form, operands.scales)? }
    };
    // SAFETY: by the contract.
    let mut c = unsafe { sums(operands.c) };
    let steps = if form.rule.halves { 2 } else { 1 };
    let depth = form.depth / steps;
    for step in 0..steps {
        let sums = Step { rule: form.rule, offsets: &offsets, first: step * depth, a, b };
        let inside = match (depth, plain) {
            (4, true) => sums.add::<4, true>(&mut c),
            (8, true) => sums.add::<8, true>(&mut c),
            (16, true) => sums.add::<16, true>(&mut c),
            (16, false) => sums.add::<16, false>(&mut c),
            (32, true) => sums.add::<32, true>(&mut c),
            (32, false) => sums.add::<32, false>(&mut c),
            (64, false) => sums.add::<64, false>(&mut c),
            _ => false,
        };
        if !inside {
            return None;
        }
    }
    // SAFETY: by the contract.
    unsafe { store(operands.d, &c) };
    Some(())
}

/// What exponents are more by, if block scales are moderate.
///
/// # Safety
/// `scales` must be the scales' registers, where the form has them.
#[inline]
#[target_feature(enable = "avx512f")]
unsafe fn offsets(form: &Multiply, scales: &[*const Register]) -> Option<Offsets> {
    let mut out = Offsets { row: all(lag(form) << 23), column: [0; 8] };
    if form.scale.is_none() {
        return Some(out);
    }
    // SAFETY: by the contract.
    let bytes = unsafe { block::bytes(scales, 1) };
    let exponent = |byte: u8| {
        let exponent = i32::from(byte) - 127;
        (exponent.abs() <= SCALES).then_some(exponent << 23)
    };
    let mut rows = [0; 16];
    for (at, row) in rows.iter_mut().enumerate() {
        // Vector lane 4·i + z is row i + 4·z.
        *row = exponent(bytes.a[0][at / 4 + 4 * (at % 4)])?;
    }
    for (column, out) in out.column.iter_mut().enumerate() {
        *out = exponent(bytes.b[0][column])?;
    }
    // SAFETY: 16 words.
    out.row = _mm512_add_epi32(out.row, unsafe { _mm512_loadu_si512(rows.as_ptr().cast()) });
    Some(out)
}

/// A part of K that is added at once.
struct Step<'a> {
    rule: Rule,
    offsets: &'a Offsets,
    /// Its first element.
    first: usize,
    a: &'a Left,
    b: &'a Right,
}

impl Step<'_> {
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")]
    fn add<const K: usize, const PLAIN: bool>(&self, c: &mut [__m512; 8]) -> bool {
        let &Step { rule, offsets, first, a, b } = self;
        Stretch::<K>::at(first, a, b)
            .is_some_and(|from| Products::<K, PLAIN> { rule, offsets, from }.add(c))
    }
}

/// Elements of A and B from one on: of fixed numbers, for the compiler to see that nothing is to be checked.
#[derive(Clone, Copy)]
struct Stretch<'a, const K: usize> {
    values_a: &'a [__m512; K],
    exponents_a: &'a [__m512i; K],
    /// Element `8·i + j` of column `n` is `64·i + 8·n + j`.
    values_b: *const f32,
    exponents_b: [&'a [u32; K]; 2],
}

impl<'a, const K: usize> Stretch<'a, K> {
    /// `None` where there are not so many, or they begin within eight and go beyond.
    fn at(first: usize, a: &'a Left, b: &'a Right) -> Option<Self> {
        let exponents_b = |group: usize| b.exponents[group].get(first..)?.first_chunk();
        let values_b = b.values.as_flattened().as_flattened();
        let (begin, last) = (64 * (first / 8) + first % 8, 64 * ((K - 1) / 8) + 56 + (K - 1) % 8);
        let all_there = first.is_multiple_of(K.min(8)) && begin + last < values_b.len();
        all_there.then_some(())?;
        Some(Self {
            values_a: a.values.get(first..)?.first_chunk()?,
            exponents_a: a.exponents.get(first..)?.first_chunk()?,
            values_b: values_b.get(begin..)?.as_ptr(),
            exponents_b: [exponents_b(0)?, exponents_b(1)?],
        })
    }

    /// The larger of exponents of a group's products with element `k` and of those `before`: for 16 rows a
    /// byte for each of four columns.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw")]
    fn larger(&self, group: usize, k: usize, before: __m512i) -> __m512i {
        let b = all(self.exponents_b[group][k] as i32);
        _mm512_max_epu8(before, _mm512_subs_epu8(self.exponents_a[k], b))
    }

    /// A column's products with element `k`, cut off.
    ///
    /// # Safety
    /// There must be such an element and column.
    #[inline]
    #[target_feature(enable = "avx512f")]
    unsafe fn cut(&self, k: usize, column: usize, scale: __m512) -> __m512i {
        // SAFETY: by the contract, and what was looked at when this was made.
        let b = unsafe { *self.values_b.add(64 * (k / 8) + 8 * column + k % 8) };
        let product = _mm512_mul_ps(self.values_a[k], _mm512_set1_ps(b));
        _mm512_cvttps_epi32(_mm512_mul_ps(product, scale))
    }
}

/// What must not have happened.
struct Watch {
    /// Sums that left their range have the highest bit.
    outside: __m512i,
    /// The largest magnitude of C, and the least less 1: zero is then the largest number.
    most: __m512i,
    least: __m512i,
}

/// Products of `K` elements, to be added to C. `PLAIN`: there are no offsets.
struct Products<'a, const K: usize, const PLAIN: bool> {
    rule: Rule,
    offsets: &'a Offsets,
    from: Stretch<'a, K>,
}

impl<const K: usize, const PLAIN: bool> Products<'_, K, PLAIN> {
    /// Add them and round, or say that something is not done here.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")]
    fn add(&self, c: &mut [__m512; 8]) -> bool {
        let mut watch = Watch { outside: all(0), most: all(0), least: all(-1) };
        let mut bytes = all(0);
        for k in 0..K {
            bytes = self.from.larger(0, k, bytes);
        }
        let (first, second) = c.split_at_mut(4);
        let bytes = self.four::<0>(bytes, first, &mut watch);
        self.four::<1>(bytes, second, &mut watch);
        _mm512_movepi32_mask(watch.outside) == 0
            && _mm512_cmpge_epi32_mask(watch.most, all(MOST)) == 0
            && _mm512_cmplt_epu32_mask(watch.least, all(LEAST - 1)) == 0
    }

    /// Four columns, whose largest exponents are `bytes`. Gives those of the other four, which are found on
    /// the way: these instructions all go to one port, and while it is busy the others multiply.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")]
    fn four<const GROUP: usize>(
        &self,
        mut bytes: __m512i,
        c: &mut [__m512],
        watch: &mut Watch,
    ) -> __m512i {
        let fraction = self.rule.fraction;
        let highest = ((fraction + 254) as u32) << 23;
        if PLAIN {
            bytes = _mm512_max_epu8(bytes, _mm512_set1_epi8(FLOOR as i8));
        }
        let mut total = [all(0); 4];
        let mut scale = [_mm512_setzero_ps(); 4];
        let mut down = [_mm512_setzero_ps(); 4];
        // The highest byte first: moved down by one it is where the field of an `f32` is.
        for at in (0..4).rev() {
            let magnitude = _mm512_and_si512(_mm512_castps_si512(c[at]), all(i32::MAX));
            watch.most = _mm512_max_epi32(watch.most, magnitude);
            watch.least = _mm512_min_epu32(watch.least, _mm512_sub_epi32(magnitude, all(1)));

            // What lies below the field decides nothing.
            let mut top = _mm512_srli_epi32::<1>(bytes);
            bytes = _mm512_slli_epi32::<8>(bytes);
            let column = all(self.offsets.column[4 * GROUP + at]);
            let offset = _mm512_add_epi32(self.offsets.row, column);
            let nonzero = if PLAIN { 0 } else { _mm512_test_epi32_mask(top, all(FIELD)) };
            if !PLAIN {
                top = _mm512_mask_add_epi32(all(FLOOR << 23), nonzero, top, offset);
            }
            let largest = _mm512_and_si512(larger(top, magnitude), all(FIELD));
            let up = _mm512_sub_epi32(all(highest as i32), largest);
            let of_products =
                if PLAIN { up } else { _mm512_mask_add_epi32(up, nonzero, up, offset) };
            scale[at] = _mm512_castsi512_ps(of_products);
            down[at] = _mm512_castsi512_ps(_mm512_sub_epi32(largest, all(fraction << 23)));
            total[at] = _mm512_cvttps_epi32(_mm512_mul_ps(c[at], _mm512_castsi512_ps(up)));
        }
        let kept = _mm512_castsi512_ps(all(self.rule.mask() as i32));
        let mut others = all(0);
        for chunk in 0..K.div_ceil(CHUNK) {
            let mut part = [all(0); 4];
            for k in CHUNK * chunk..K.min(CHUNK * (chunk + 1)) {
                for at in 0..4 {
                    // SAFETY: there are `K` elements and eight columns.
                    let cut = unsafe { self.from.cut(k, 4 * GROUP + at, scale[at]) };
                    part[at] = _mm512_add_epi32(part[at], cut);
                }
                if GROUP == 0 {
                    others = self.from.larger(1, k, others);
                }
            }
            for (total, part) in total.iter_mut().zip(part) {
                let sum = _mm512_add_epi32(*total, part);
                // Both of one sign, the sum of the other.
                let left = _mm512_ternarylogic_epi32::<0x42>(*total, part, sum);
                watch.outside = _mm512_or_si512(watch.outside, left);
                *total = sum;
            }
        }
        for at in 0..4 {
            let sum = _mm512_mul_ps(_mm512_cvt_roundepi32_ps::<CUT>(total[at]), down[at]);
            // Only sums of 8-bit elements have fewer bits than an `f32`.
            c[at] = if PLAIN { sum } else { _mm512_and_ps(sum, kept) };
        }
        others
    }
}

/// The larger of numbers that are not negative; of those with 255 in the field the second.
#[inline]
#[target_feature(enable = "avx512f")]
fn larger(x: __m512i, y: __m512i) -> __m512i {
    _mm512_castps_si512(_mm512_max_ps(_mm512_castsi512_ps(x), _mm512_castsi512_ps(y)))
}
