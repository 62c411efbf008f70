//! Products of floats into `f32` sums, 16 rows at a time (the rules: `dot.rs`). Elements come in pairs
//! (`pairs.rs`).
//!
//! With the exponents of pairs as pairs of `i16`, one addition and one maximum find the largest of 32
//! products. Then a product is two multiplications (both exact), a conversion that cuts it off, and an
//! addition: four instructions for 16 of them. At two a cycle that is 256 cycles for m16n8k16, and the rest is as
//! much again (measured: `docs/emulator.md`).
//!
//! Sixteen cut products stay below `2^31`, since factors have significands below 2 and 25 bits are kept.
//! Where a sum of more leaves `i32`, that is noticed, and the product is left to `dot.rs`.

use std::arch::x86_64::*;
use std::mem::MaybeUninit;

use super::pairs::{Pair, lag, pairs, pairs_of};
use super::{CUT, Lanes, all, every, exponent, halves, moderate, power, store, sums, tall};
use crate::exec::Core;
use crate::exec::matrix::element::{Accumulator, Element};
use crate::exec::matrix::fragment::Operands;
use crate::exec::matrix::{Multiply, block};
use crate::program::Slot;

/// Most pairs in a row of A.
const PAIRS: usize = 16;

/// Products whose cut values an `i32` holds the sum of.
const CHUNK: usize = 16;

/// Exponents of block scales that are done here: scaled products are then far from the ends of `f32`.
const SCALES: i32 = 40;

/// Pairs of A by their number: values of the lower and the upper halves, and exponents. Only as many as
/// the form has are ever written, as clearing the rest would take a fifth of the time of all.
struct Left {
    low: [MaybeUninit<__m512>; PAIRS],
    high: [MaybeUninit<__m512>; PAIRS],
    exponents: [MaybeUninit<__m512i>; PAIRS],
}

/// Pairs of B by register, and pair of a word: lane `4·column + t` for the word `t` of the register.
struct Right {
    low: [Lanes<f32>; 4],
    high: [Lanes<f32>; 4],
    exponents: [Lanes<i32>; 4],
}

/// Exponents of the block scales, as floats.
struct Offsets {
    row: __m512,
    column: [f32; 8],
}

/// # Safety
/// As for [`super::multiply`].
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")]
pub unsafe fn multiply(core: &mut Core, form: &Multiply, operands: &Operands) -> bool {
    let wide = form.c == Accumulator::F32 && form.d == Accumulator::F32;
    let each = pairs_of(form.a);
    if !wide || form.rule.converted || form.rows != 16 || form.is_quad() || each != pairs_of(form.b)
    {
        return false;
    }
    // SAFETY: by the contract.
    let mut c = unsafe { sums(core, operands.c) };
    let mut special = !moderate(&c);
    let mut a = Left {
        low: [MaybeUninit::uninit(); PAIRS],
        high: [MaybeUninit::uninit(); PAIRS],
        exponents: [MaybeUninit::uninit(); PAIRS],
    };
    for r in 0..operands.a.len() / 2 {
        // SAFETY: as above.
        let words = unsafe { tall(core, operands.a[2 * r], operands.a[2 * r + 1]) };
        for (t, word) in words.into_iter().enumerate() {
            let write = |p: usize, (low, high, exponents): Pair| {
                let at = (each * (4 * r + t) + p) % PAIRS;
                a.low[at].write(low);
                a.high[at].write(high);
                a.exponents[at].write(exponents);
            };
            // SAFETY: this function has the features.
            special |= unsafe { pairs(form.a, word, write) };
        }
    }
    let mut b = MaybeUninit::<Right>::uninit();
    for (r, &slot) in operands.b.iter().enumerate().take(2) {
        // SAFETY: as above.
        for (half, word) in unsafe { halves(core, slot) }.into_iter().enumerate() {
            let write = |p: usize, (low, high, exponents): Pair| {
                let (at, b) = (each * r + p, b.as_mut_ptr());
                // SAFETY: half of 32 lanes, aligned to 64 bytes.
                unsafe {
                    let first = 32 * at + 16 * half;
                    _mm512_store_ps((&raw mut (*b).low).cast::<f32>().add(first), low);
                    _mm512_store_ps((&raw mut (*b).high).cast::<f32>().add(first), high);
                    let to = (&raw mut (*b).exponents).cast::<i32>().add(first);
                    _mm512_store_si512(to.cast(), exponents);
                }
            };
            // SAFETY: this function has the features.
            special |= unsafe { pairs(form.b, word, write) };
        }
    }
    // SAFETY: as above.
    let Some(offsets) = (unsafe { offsets(core, form, operands.scales) }) else { return false };
    if special {
        return false;
    }
    let words = 4 * operands.b.len();
    let single = form.a == Element::Tf32;
    let steps = if form.rule.halves { 2 } else { 1 };
    for step in 0..steps {
        let first = step * words / steps;
        let sums = Sums { form, first, offsets: &offsets, a: &a, b: b.as_ptr() };
        // SAFETY: A and B have these words, each of so many pairs.
        let inside = unsafe {
            match (words / steps, each, single) {
                (2, 1, true) => sums.add::<2, 1, true>(&mut c),
                (4, 1, true) => sums.add::<4, 1, true>(&mut c),
                (8, 1, true) => sums.add::<8, 1, true>(&mut c),
                (2, 1, false) => sums.add::<2, 1, false>(&mut c),
                (4, 1, false) => sums.add::<4, 1, false>(&mut c),
                (8, 1, false) => sums.add::<8, 1, false>(&mut c),
                (2, 2, false) => sums.add::<2, 2, false>(&mut c),
                (4, 2, false) => sums.add::<4, 2, false>(&mut c),
                (8, 2, false) => sums.add::<8, 2, false>(&mut c),
                _ => false,
            }
        };
        if !inside {
            return false;
        }
    }
    // SAFETY: as above.
    unsafe { store(core, operands.d, &c) };
    true
}

/// Exponents of the block scales, if they are moderate.
///
/// # Safety
/// `scales` must be the scales' registers, where the form has them.
#[inline]
#[target_feature(enable = "avx512f")]
unsafe fn offsets(core: &Core, form: &Multiply, scales: &[Slot]) -> Option<Offsets> {
    let mut out = Offsets { row: _mm512_setzero_ps(), column: [0.0; 8] };
    if form.scale.is_none() {
        return Some(out);
    }
    // SAFETY: by the contract.
    let bytes = unsafe { block::bytes(core, scales, 1) };
    let exponent = |byte: u8| {
        let exponent = i32::from(byte) - 127;
        (exponent.abs() <= SCALES).then_some(exponent as f32)
    };
    let mut rows = [0.0; 16];
    for (at, row) in rows.iter_mut().enumerate() {
        // Vector lane 4·i + z is row i + 4·z.
        *row = exponent(bytes.a[0][at / 4 + 4 * (at % 4)])?;
    }
    for (column, out) in out.column.iter_mut().enumerate() {
        *out = exponent(bytes.b[0][column])?;
    }
    // SAFETY: 16 floats.
    out.row = unsafe { _mm512_loadu_ps(rows.as_ptr()) };
    Some(out)
}

struct Sums<'a> {
    form: &'a Multiply,
    /// First word.
    first: usize,
    offsets: &'a Offsets,
    a: &'a Left,
    b: *const Right,
}

impl Sums<'_> {
    /// Add the products of `WORDS` words of `EACH` pairs to C and round, or say that a sum left its range.
    ///
    /// # Safety
    /// A and B must have been written from the first word on, within a register of B or from its beginning.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")]
    unsafe fn add<const WORDS: usize, const EACH: usize, const SINGLE: bool>(
        &self,
        c: &mut [__m512; 8],
    ) -> bool {
        let Self { form, first, offsets, a, b } = *self;
        let fraction = form.rule.fraction as f32;
        let lag = lag(form) as f32;
        let mut outside = _mm512_setzero_si512();
        let mut sum_of = |x, y| {
            let sum = _mm512_add_epi32(x, y);
            let left = _mm512_and_si512(_mm512_xor_si512(x, sum), _mm512_xor_si512(y, sum));
            outside = _mm512_or_si512(outside, left);
            sum
        };
        // SAFETY: by the contract: pairs of these words, and lanes of registers that follow each other.
        let (low, high, exponents, low_b, high_b, exponents_b) = unsafe {
            let pair = EACH * first;
            let lane = 32 * EACH * (first / 4) + first % 4;
            (
                a.low.as_ptr().cast::<__m512>().add(pair),
                a.high.as_ptr().cast::<__m512>().add(pair),
                a.exponents.as_ptr().cast::<__m512i>().add(pair),
                (&raw const (*b).low).cast::<f32>().add(lane),
                (&raw const (*b).high).cast::<f32>().add(lane),
                (&raw const (*b).exponents).cast::<i32>().add(lane),
            )
        };
        for (column, c) in c.iter_mut().enumerate() {
            // Where B has pair `p` of this column.
            let place = |p: usize| {
                let (word, part) = (p / EACH, p % EACH);
                32 * (EACH * (word / 4) + part) + 4 * column + word % 4
            };
            let mut top = all(i32::from(i16::MIN) << 16 | 0x8000);
            for p in 0..WORDS * EACH {
                // SAFETY: as above.
                let (a, b) = unsafe { (*exponents.add(p), *exponents_b.add(place(p))) };
                top = _mm512_max_epi16(top, _mm512_add_epi16(a, all(b)));
            }
            let lower = _mm512_srai_epi32::<16>(_mm512_slli_epi32::<16>(top));
            let top = _mm512_max_epi32(lower, _mm512_srai_epi32::<16>(top));
            let offset = _mm512_add_ps(offsets.row, every(offsets.column[column]));
            let top = _mm512_add_ps(_mm512_cvtepi32_ps(top), offset);
            let largest = _mm512_max_ps(top, exponent(*c));
            let up = _mm512_sub_ps(every(fraction), largest);
            let scale = power(_mm512_add_ps(up, _mm512_add_ps(offset, every(lag))));
            let cut = |a: __m512, b: f32| {
                let product = _mm512_mul_ps(a, every(b));
                _mm512_cvttps_epi32(_mm512_mul_ps(product, scale))
            };
            let mut total = _mm512_cvttps_epi32(_mm512_scalef_ps(*c, up));
            let chunk = if SINGLE { CHUNK } else { CHUNK / 2 };
            for start in (0..WORDS * EACH).step_by(chunk) {
                // Two chains, as an addition waits for the one before.
                let mut part = [_mm512_setzero_si512(); 2];
                for p in start..(WORDS * EACH).min(start + chunk) {
                    // SAFETY: as above.
                    let (a, b) = unsafe { (*low.add(p), *low_b.add(place(p))) };
                    part[0] = _mm512_add_epi32(part[0], cut(a, b));
                    if !SINGLE {
                        // SAFETY: as above.
                        let (a, b) = unsafe { (*high.add(p), *high_b.add(place(p))) };
                        part[1] = _mm512_add_epi32(part[1], cut(a, b));
                    }
                }
                total = sum_of(total, _mm512_add_epi32(part[0], part[1]));
            }
            let rounded = _mm512_cvt_roundepi32_ps::<CUT>(total);
            let down = _mm512_sub_ps(largest, every(fraction));
            *c = _mm512_scalef_round_ps::<CUT>(rounded, down);
        }
        _mm512_movepi32_mask(outside) == 0
    }
}
