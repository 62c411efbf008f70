//! Products of floats, added up as the tensor cores do (no manual says how; found by experiment:
//! Fasi and others, "Numerical behavior of NVIDIA tensor cores", 2021, and Li and others, "MMA-Sim:
//! Bit-accurate reference model of tensor cores and matrix cores", 2025).
//!
//! Products are exact. All of them and C are shifted to the largest exponent among them, cut off
//! (not rounded) some bits below it, added exactly, and the sum is cut off to `f32`, or rounded to
//! even for `f16`. The exponent of a product is the sum of its factors' exponents, whatever the
//! product's leading digit. With 25 bits kept, as since Hopper:
//!
//! ```text
//! A = [1.5, 2⁻¹⁴], B = [1.5, 2⁻¹²·1.5], C = 0:   products 2.25 (exponent 0) and 1.5·2⁻²⁶
//! the second has its leading bit 26 below the largest exponent, 0: it is cut off whole
//! D = 2.25
//! ```
//!
//! Hopper has no FP8 in `mma` (only in `wgmma`): it converts to `f16` and multiplies twice, first the lower
//! two elements of every word, then the upper two, beginning at zero; C is added last, as by an `add`.
//! That, and all the rest for `sm_90`, was seen bit for bit on an H200 (`scripts/conform/matrix.cu`: 21
//! forms, 28 rounds of 128 sums, infinities and NaN among them).
//!
//! Ampere and Ada keep 24 bits, and where K fills their datapath twice they do it in two steps. What is
//! not known: the alignment of FP6 and FP4 subnormals within `.kind::f8f6f4`; here it is the one of
//! their own format. On a GPU of another generation than the module was compiled for, the last bits
//! differ.
//!
//! The arithmetic is on 16 rows at once. Scaled by a power of two, a product of two `f16` or FP8 numbers
//! is an exact `f32`, and cutting it off is the conversion to an integer. `bf16` and `tf32` have more
//! exponents than an `f32` can be scaled by, so for them it is all done in `f64`.

use super::element::{Accumulator, Element, Term, ZERO_EXPONENT, term};
use super::fragment::{self, ByColumn, ByRow, Operands, Sums};
use super::{Multiply, Rule};

/// A of at most `DEPTH` elements in a row, as `[k][row]`.
struct Left<const DEPTH: usize> {
    value: [[f32; 16]; DEPTH],
    exponent: [[i32; 16]; DEPTH],
}

/// B as `[column][k]`.
struct Right<const DEPTH: usize> {
    value: [[f32; DEPTH]; 8],
    exponent: [[i32; DEPTH]; 8],
}

/// The exponent of an element that sparse A does not have: its product is not among the summands, however
/// small the others are, and whatever B has there.
const ABSENT: i32 = i32::MIN / 4;

/// C, by columns.
#[derive(Clone)]
struct Third {
    value: Sums<f32>,
    exponent: Sums<i32>,
}

/// Exponents of the block scales.
#[derive(Default)]
struct Offsets {
    row: [i32; 16],
    column: [i32; 8],
}

/// Products of floats.
///
/// # Safety
/// The operands must be valid registers, as many as `form` says.
#[inline(always)]
pub unsafe fn multiply(form: &Multiply, operands: &Operands) {
    // SAFETY: passed on.
    unsafe {
        match form.depth {
            0..=32 => multiply_to::<32>(form, operands),
            _ => multiply_to::<64>(form, operands),
        }
    }
}

/// # Safety
/// As for [`multiply`].
#[inline(always)]
unsafe fn multiply_to<const DEPTH: usize>(form: &Multiply, operands: &Operands) {
    let mut special = false;
    // SAFETY: by the contract.
    let (a, b) = unsafe { (fragment::rows(operands.a, form.rows), fragment::columns(operands.b)) };
    let mut a = left::<DEPTH>(form, &a, &mut special);
    let b = right::<DEPTH>(form, &b, &mut special);
    if let Some(present) = operands.present {
        for k in 0..form.depth.min(DEPTH) {
            for row in 0..16 {
                if present[k] >> row & 1 == 0 {
                    a.exponent[k][row] = ABSENT;
                }
            }
        }
    }
    // SAFETY: by the contract.
    let mut c = unsafe { third(form, operands, &mut special) };
    let mut offsets = Offsets::default();
    if form.scale.is_some() {
        // SAFETY: by the contract.
        let scales = unsafe { super::block::bytes(operands.scales, 1) };
        for row in 0..16 {
            offsets.row[row] = i32::from(scales.a[0][row]) - 127;
            special |= scales.a[0][row] == 0xff;
        }
        for column in 0..8 {
            offsets.column[column] = i32::from(scales.b[0][column]) - 127;
            special |= scales.b[0][column] == 0xff;
        }
    }
    let third = c.clone();
    if form.rule.converted {
        c = Third { value: [[0.0; 16]; 8], exponent: [[ZERO_EXPONENT; 16]; 8] };
    }
    let steps = if form.rule.halves { 2 } else { 1 };
    let depth = form.depth / steps;
    for step in 0..steps {
        let range = step * depth..(step + 1) * depth;
        let sum = if special {
            one_by_one(form, &a, &b, &c, &offsets, range)
        } else if form.a.is_narrow() {
            all_at_once::<f32, DEPTH>(form.rule, &a, &b, &c, &offsets, range)
        } else {
            all_at_once::<f64, DEPTH>(form.rule, &a, &b, &c, &offsets, range)
        };
        for column in 0..8 {
            for row in 0..16 {
                c.value[column][row] = form.rule.cut(settle(sum[column][row], form.d));
            }
        }
        if step + 1 < steps {
            exponents(&mut c, form.d);
        }
    }
    if form.rule.converted {
        for column in 0..8 {
            for row in 0..16 {
                let sum = f64::from(c.value[column][row]) + f64::from(third.value[column][row]);
                c.value[column][row] = rounded(sum, form.d);
            }
        }
    }
    // SAFETY: by the contract.
    unsafe {
        if form.d == Accumulator::F16 {
            let code = |x: &f32| formats::f16::encode(*x);
            let sums = c.value.each_ref().map(|column| column.each_ref().map(code));
            fragment::store_halves(operands.d, &sums);
        } else {
            let sums = c.value.map(|column| column.map(f32::to_bits));
            fragment::store_sums(operands.d, &sums);
        }
    }
}

#[inline(always)]
fn left<const DEPTH: usize>(form: &Multiply, words: &ByRow, special: &mut bool) -> Left<DEPTH> {
    let mut out = Left { value: [[0.0; 16]; DEPTH], exponent: [[0; 16]; DEPTH] };
    let per_word = 32 / form.a.bits();
    let used = (form.depth / per_word).min(fragment::WORDS);
    match form.a.bytes() {
        Some(table) => {
            for w in 0..used {
                for row in 0..16 {
                    for (j, byte) in words[w][row].to_le_bytes().into_iter().enumerate() {
                        let term = converted(form, table[usize::from(byte)]);
                        *special |= !term.value.is_finite();
                        let k = place(form, 4 * w + j);
                        out.value[k][row] = term.value;
                        out.exponent[k][row] = term.exponent;
                    }
                }
            }
        }
        None => {
            for w in 0..used {
                for part in 0..per_word {
                    let k = per_word * w + part;
                    let mut any = false;
                    for row in 0..16 {
                        let term = unpack(form.a, words[w][row], part);
                        any |= !term.value.is_finite();
                        out.value[k][row] = term.value;
                        out.exponent[k][row] = term.exponent;
                    }
                    *special |= any;
                }
            }
        }
    }
    out
}

#[inline(always)]
fn right<const DEPTH: usize>(
    form: &Multiply,
    words: &ByColumn,
    special: &mut bool,
) -> Right<DEPTH> {
    let mut out = Right { value: [[0.0; DEPTH]; 8], exponent: [[0; DEPTH]; 8] };
    let per_word = 32 / form.b.bits();
    let used = (form.depth / per_word).min(fragment::WORDS);
    for column in 0..8 {
        for w in 0..used {
            for part in 0..per_word {
                let word = words[column][w];
                let term = match form.b.bytes() {
                    Some(table) => converted(form, table[(word >> (8 * part) & 0xff) as usize]),
                    None => unpack(form.b, word, part),
                };
                *special |= !term.value.is_finite();
                let k = place(form, per_word * w + part);
                out.value[column][k] = term.value;
                out.exponent[column][k] = term.exponent;
            }
        }
    }
    out
}

/// Where element `k` of a row stands among the summands.
#[inline(always)]
fn place(form: &Multiply, k: usize) -> usize {
    if form.rule.converted { k / 4 * 2 + k % 2 + k % 4 / 2 * (form.depth / 2) } else { k }
}

/// An FP8 number as the `f16` that it becomes, whose subnormals begin lower.
#[inline(always)]
fn converted(form: &Multiply, of: Term) -> Term {
    if form.rule.converted { term(of.value, -14) } else { of }
}

/// Element `part` of a word of 16-bit or 32-bit elements.
#[inline(always)]
pub fn unpack(element: Element, word: u32, part: usize) -> Term {
    let half = word >> (16 * part) & 0xffff;
    match element {
        Element::F16 => {
            // The exponent moved to its place in an `f32` is too small by 112; the multiplication
            // makes subnormals normal, too. Infinity and NaN become large numbers, seen below.
            let scaled = f32::from_bits((half & 0x7fff) << 13) * POWER_112;
            let value = f32::from_bits(scaled.to_bits() | (half & 0x8000) << 16);
            let field = (half >> 10 & 31) as i32;
            let exponent = if half & 0x7fff == 0 { ZERO_EXPONENT } else { field.max(1) - 15 };
            Term {
                value: if field == 31 { formats::f16::decode(half as u16) } else { value },
                exponent,
            }
        }
        Element::Bf16 => term(f32::from_bits(half << 16), -126),
        // The lowest 13 bits are not looked at (PTX ISA 9.7.14.2).
        _ => term(f32::from_bits(word & 0xffff_e000), -126),
    }
}

const POWER_112: f32 = f32::from_bits((112 + 127) << 23);

#[inline(always)]
unsafe fn third(form: &Multiply, operands: &Operands, special: &mut bool) -> Third {
    let mut out = Third { value: [[0.0; 16]; 8], exponent: [[0; 16]; 8] };
    // SAFETY: by the contract of `multiply`.
    unsafe {
        if form.c == Accumulator::F16 {
            let halves = fragment::halves(operands.c);
            out.value = halves.map(|column| column.map(formats::f16::decode));
        } else {
            let sums = fragment::sums(operands.c);
            out.value = sums.map(|column| column.map(f32::from_bits));
        }
    }
    for column in &out.value {
        *special |= column.iter().any(|x| !x.is_finite());
    }
    exponents(&mut out, form.c);
    out
}

#[inline(always)]
fn exponents(c: &mut Third, accumulator: Accumulator) {
    let least = if accumulator == Accumulator::F16 { -14 } else { -126 };
    for column in 0..8 {
        for row in 0..16 {
            c.exponent[column][row] = term(c.value[column][row], least).exponent;
        }
    }
}

/// What products are computed in.
trait Real: Copy {
    /// What they are cut off to.
    type Cut: Copy;
    /// `2^exponent`, within its range.
    fn power(exponent: i32) -> Self;
    /// `a · b · scale`, cut off towards zero.
    ///
    /// # Safety
    /// The magnitude must be below `2^31` for `f32`.
    unsafe fn cut(a: f32, b: f32, scale: Self) -> Self::Cut;
    fn add(a: Self::Cut, b: Self::Cut) -> Self::Cut;
    const NOTHING: Self::Cut;
    fn sum(cut: Self::Cut) -> f64;
}

impl Real for f32 {
    type Cut = i32;
    const NOTHING: i32 = 0;
    #[inline(always)]
    fn power(exponent: i32) -> Self {
        Self::from_bits(((exponent.clamp(-126, 127) + 127) as u32) << 23)
    }
    #[inline(always)]
    unsafe fn cut(a: f32, b: f32, scale: f32) -> i32 {
        // SAFETY: by the contract.
        unsafe { (a * b * scale).to_int_unchecked() }
    }
    #[inline(always)]
    fn add(a: i32, b: i32) -> i32 {
        a.wrapping_add(b)
    }
    #[inline(always)]
    fn sum(cut: i32) -> f64 {
        f64::from(cut)
    }
}

impl Real for f64 {
    type Cut = f64;
    const NOTHING: f64 = 0.0;
    #[inline(always)]
    fn power(exponent: i32) -> Self {
        Self::from_bits(((exponent.clamp(-1022, 1023) + 1023) as u64) << 52)
    }
    #[inline(always)]
    unsafe fn cut(a: f32, b: f32, scale: f64) -> f64 {
        (f64::from(a) * f64::from(b) * scale).trunc()
    }
    #[inline(always)]
    fn add(a: f64, b: f64) -> f64 {
        a + b
    }
    #[inline(always)]
    fn sum(cut: f64) -> f64 {
        cut
    }
}

/// Products that an `i32` can hold the sum of: each is below `2^27`.
const CHUNK: usize = 15;

#[inline(always)]
fn all_at_once<R: Real, const DEPTH: usize>(
    rule: Rule,
    a: &Left<DEPTH>,
    b: &Right<DEPTH>,
    c: &Third,
    offsets: &Offsets,
    range: std::ops::Range<usize>,
) -> Sums<f64> {
    let mut out = [[0.0; 16]; 8];
    for column in 0..8 {
        let mut top = [i32::MIN; 16];
        for k in range.clone() {
            let eb = b.exponent[column][k];
            for row in 0..16 {
                top[row] = top[row].max(a.exponent[k][row] + eb);
            }
        }
        let mut largest = [0; 16];
        let mut scale = [R::power(0); 16];
        for row in 0..16 {
            let offset = offsets.row[row] + offsets.column[column];
            largest[row] = (top[row] + offset).max(c.exponent[column][row]);
            scale[row] = R::power(rule.fraction + offset - largest[row]);
        }
        let mut sum = [0.0; 16];
        let mut first = range.start;
        while first < range.end {
            let last = range.end.min(first + CHUNK);
            let mut part = [R::NOTHING; 16];
            for k in first..last {
                let factor = b.value[column][k];
                for row in 0..16 {
                    // SAFETY: factors are finite, and scaled to be below `2^(fraction + 2)`: their
                    // exponents are at most `top`, their significands below 2.
                    let cut = unsafe { R::cut(a.value[k][row], factor, scale[row]) };
                    part[row] = R::add(part[row], cut);
                }
            }
            for row in 0..16 {
                sum[row] += R::sum(part[row]);
            }
            first = last;
        }
        for row in 0..16 {
            let c = f64::from(c.value[column][row]);
            let total = sum[row] + (c * f64::power(rule.fraction - largest[row])).trunc();
            out[column][row] = total * f64::power(largest[row] - rule.fraction);
        }
    }
    out
}

/// As [`all_at_once`], where there are infinities or NaN.
#[cold]
#[inline(never)]
fn one_by_one<const DEPTH: usize>(
    form: &Multiply,
    a: &Left<DEPTH>,
    b: &Right<DEPTH>,
    c: &Third,
    offsets: &Offsets,
    range: std::ops::Range<usize>,
) -> Sums<f64> {
    let mut out = [[0.0; 16]; 8];
    for column in 0..8 {
        for row in 0..16 {
            let offset = offsets.row[row] + offsets.column[column];
            let present = range.clone().filter(|&k| a.exponent[k][row] != ABSENT);
            let terms = present.map(|k| {
                let (a, ea) = (a.value[k][row], a.exponent[k][row]);
                let (b, eb) = (b.value[column][k], b.exponent[column][k]);
                (f64::from(a) * f64::from(b), ea + eb)
            });
            let c = (c.value[column][row], c.exponent[column][row]);
            let nan = offsets.row[row] == 128 || offsets.column[column] == 128;
            out[column][row] = if nan { f64::NAN } else { one(form.rule, terms, offset, c) };
        }
    }
    out
}

/// One element: products with their exponents, to be scaled by `2^offset`, and C.
pub fn one(
    rule: Rule,
    terms: impl Iterator<Item = (f64, i32)> + Clone,
    offset: i32,
    c: (f32, i32),
) -> f64 {
    let plain: f64 = terms.clone().map(|(product, _)| product).sum::<f64>() + f64::from(c.0);
    if !plain.is_finite() {
        return plain;
    }
    let top = terms.clone().map(|(_, exponent)| exponent + offset).max().unwrap_or(c.1);
    let largest = top.max(c.1);
    let products =
        terms.map(|(product, _)| (product * f64::power(rule.fraction + offset - largest)).trunc());
    let sum =
        products.sum::<f64>() + (f64::from(c.0) * f64::power(rule.fraction - largest)).trunc();
    sum * f64::power(largest - rule.fraction)
}

/// The exact sum as D holds it: cut off to `f32`, or rounded to `f16`.
#[inline(always)]
pub fn settle(exact: f64, accumulator: Accumulator) -> f32 {
    if accumulator == Accumulator::F16 {
        let code = formats::f16::encode(formats::f64_to_f32_odd(exact));
        return formats::f16::decode(code);
    }
    let rounded = exact as f32;
    let over = f64::from(rounded).abs() > exact.abs() && exact.abs() < BEYOND;
    let cut = f32::from_bits(rounded.to_bits() - u32::from(over));
    if exact.is_nan() { f32::from_bits(0x7fff_ffff) } else { cut }
}

/// A sum of two numbers, as an `add` rounds it.
fn rounded(sum: f64, accumulator: Accumulator) -> f32 {
    if accumulator == Accumulator::F16 {
        return settle(sum, accumulator);
    }
    if sum.is_nan() { f32::from_bits(0x7fff_ffff) } else { sum as f32 }
}

/// `2^128`: what is no less becomes infinity.
const BEYOND: f64 = f64::from_bits((1023 + 128) << 52);
