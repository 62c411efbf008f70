//! Half precision, f16 and bf16, single and in pairs (PTX ISA 9.7.4).
//!
//! An operation is done in `f32` and rounded once: products of two such numbers are exact there, and
//! sums are exact or innocuous under double rounding (24 bits are at least 2 * 11 + 2; Figueroa,
//! "When is double rounding innocuous?", 1995). A fused multiply-add needs `f64` in the middle,
//! rounded to odd on the way to `f32`.

use formats::{bf16, f16};

use super::float::{maximum, minimum, ones};
use super::rounding::saturate;
use super::{Class, Kind, Row, flag, row};
use crate::exec::{op, rare};

/// What tells f16 from bf16.
pub trait Format {
    fn decode(code: u16) -> f32;
    fn encode(x: f32) -> u16;
    const NAN: u16 = 0x7fff;
    /// Bits of the exponent, to find subnormals.
    const EXPONENT: u16;
}

pub struct F16;
pub struct Bf16;

impl Format for F16 {
    const EXPONENT: u16 = 0x7c00;
    #[inline(always)]
    fn decode(code: u16) -> f32 {
        f16::decode(code)
    }
    #[inline(always)]
    fn encode(x: f32) -> u16 {
        f16::encode(x)
    }
}

impl Format for Bf16 {
    const EXPONENT: u16 = 0x7f80;
    #[inline(always)]
    fn decode(code: u16) -> f32 {
        bf16::decode(code)
    }
    #[inline(always)]
    fn encode(x: f32) -> u16 {
        bf16::encode(x)
    }
}

/// A code to its value, flushed if `.ftz` says so.
#[inline(always)]
fn value<F: Format>(flags: u32, code: u16) -> f32 {
    let code = if flags & flag::FTZ != 0 && code & F::EXPONENT == 0 { code & 0x8000 } else { code };
    F::decode(code)
}

/// A result to its code: `.sat`, `.relu` and `.ftz`, NaN canonical.
#[inline(always)]
fn code<F: Format>(flags: u32, x: f32) -> u16 {
    let x = if flags & flag::SAT != 0 { saturate(x) } else { x };
    let x = if flags & flag::RELU != 0 && x < 0.0 { 0.0 } else { x };
    let code = if x.is_nan() { F::NAN } else { F::encode(x) };
    let code = if flags & flag::RELU != 0 && code == 0x8000 { 0 } else { code };
    if flags & flag::FTZ != 0 && code & F::EXPONENT == 0 { code & 0x8000 } else { code }
}

/// `a * b + c` as `f32`, such that rounding it to 16 bits rounds the exact value.
#[inline(always)]
fn fused(a: f32, b: f32, c: f32) -> f32 {
    let product = f64::from(a) * f64::from(b);
    let c = f64::from(c);
    let sum = product + c;
    // The error of the sum decides ties: fold it into the last bit (rounding to odd).
    let bb = sum - product;
    let error = (product - (sum - bb)) + (c - bb);
    let bits = sum.to_bits();
    let odd = if error != 0.0 && bits & 1 == 0 && sum.is_finite() {
        f64::from_bits(if (error > 0.0) == (sum > 0.0) { bits + 1 } else { bits - 1 })
    } else {
        sum
    };
    formats::f64_to_f32_odd(odd)
}

#[inline(always)]
fn extremum<F: Format>(flags: u32, a: u16, b: u16, pick: impl Fn(f32, f32) -> f32) -> u16 {
    let (x, y) = (value::<F>(flags, a), value::<F>(flags, b));
    if flags & flag::NAN != 0 && (x.is_nan() || y.is_nan()) {
        return F::NAN;
    }
    let sign = (a ^ b) & 0x8000;
    let (x, y) = if flags & flag::ABS != 0 { (x.abs(), y.abs()) } else { (x, y) };
    let picked = code::<F>(flags & !flag::FTZ, pick(x, y));
    if flags & flag::XORSIGN != 0 { picked | sign } else { picked }
}

#[inline(always)]
fn both(a: u32, f: impl Fn(u16) -> u16) -> u32 {
    u32::from(f(a as u16)) | u32::from(f((a >> 16) as u16)) << 16
}

#[inline(always)]
fn both2(a: u32, b: u32, f: impl Fn(u16, u16) -> u16) -> u32 {
    u32::from(f(a as u16, b as u16)) | u32::from(f((a >> 16) as u16, (b >> 16) as u16)) << 16
}

#[inline(always)]
fn both3(a: u32, b: u32, c: u32, f: impl Fn(u16, u16, u16) -> u16) -> u32 {
    u32::from(f(a as u16, b as u16, c as u16))
        | u32::from(f((a >> 16) as u16, (b >> 16) as u16, (c >> 16) as u16)) << 16
}

/// Single and paired form of an operation of two operands.
macro_rules! binary {
    ($name:literal, $modifiers:literal, $types:literal, $F:ty, |$f:ident, $a:ident, $b:ident| $body:expr) => {
        [
            row!(
                concat!($name, $modifiers, " .", $types),
                "h=h,h",
                Half,
                op!(|$f, a: u32, b: u32| -> u32 {
                    let ($a, $b) = (a as u16, b as u16);
                    u32::from($body)
                })
            ),
            row!(
                concat!($name, $modifiers, " .", $types, "x2"),
                "n=n,n",
                Half,
                op!(|$f, a: u32, b: u32| -> u32 { both2(a, b, |$a, $b| $body) })
            ),
        ]
    };
}

macro_rules! fma {
    ($types:literal, $F:ty) => {
        [
            row!(
                concat!("fma .rn .ftz? .sat? .relu? .oob? .", $types),
                "h=h,h,h",
                Half,
                op!(|f, a: u32, b: u32, c: u32| -> u32 {
                    u32::from(code::<$F>(
                        f,
                        fused(
                            value::<$F>(f, a as u16),
                            value::<$F>(f, b as u16),
                            value::<$F>(f, c as u16),
                        ),
                    ))
                })
            ),
            row!(
                concat!("fma .rn .ftz? .sat? .relu? .oob? .", $types, "x2"),
                "n=n,n,n",
                Half,
                op!(|f, a: u32, b: u32, c: u32| -> u32 {
                    both3(a, b, c, |a, b, c| {
                        code::<$F>(
                            f,
                            fused(value::<$F>(f, a), value::<$F>(f, b), value::<$F>(f, c)),
                        )
                    })
                })
            ),
        ]
    };
}

macro_rules! unary {
    ($types:literal, $F:ty, $pair:expr) => {
        [
            row!(
                concat!("neg .ftz? .", $types),
                "h=h",
                Half,
                op!(|f, a: u32| -> u32 { u32::from(signed::<$F>(f, a as u16, |a| a ^ 0x8000)) })
            ),
            row!(
                concat!("neg .ftz? .", $types, "x2"),
                "n=n",
                Half,
                op!(|f, a: u32| -> u32 { both(a, |a| $pair(f, a, |a| a ^ 0x8000)) })
            ),
            row!(
                concat!("abs .ftz? .", $types),
                "h=h",
                Half,
                op!(|f, a: u32| -> u32 { u32::from(signed::<$F>(f, a as u16, |a| a & 0x7fff)) })
            ),
            row!(
                concat!("abs .ftz? .", $types, "x2"),
                "n=n",
                Half,
                op!(|f, a: u32| -> u32 { both(a, |a| $pair(f, a, |a| a & 0x7fff)) })
            ),
        ]
    };
}

/// `neg` and `abs` of a code; of a NaN, the canonical one.
#[inline(always)]
fn signed<F: Format>(flags: u32, code: u16, sign: impl Fn(u16) -> u16) -> u16 {
    if code & 0x7fff > F::EXPONENT { F::NAN } else { sign(flushed::<F>(flags, code)) }
}

/// The same of one of two `f16`, which an H200 does not look at: a NaN keeps its bits.
#[inline(always)]
fn signed_f16x2(flags: u32, code: u16, sign: impl Fn(u16) -> u16) -> u16 {
    sign(flushed::<F16>(flags, code))
}

#[inline(always)]
fn flushed<F: Format>(flags: u32, code: u16) -> u16 {
    if flags & flag::FTZ != 0 && code & F::EXPONENT == 0 { code & 0x8000 } else { code }
}

#[rustfmt::skip]
const BINARY: &[[Row; 2]] = &[
    binary!("add", " .rn? .ftz? .sat?", "f16", F16, |f, a, b| code::<F16>(f, value::<F16>(f, a) + value::<F16>(f, b))),
    binary!("sub", " .rn? .ftz? .sat?", "f16", F16, |f, a, b| code::<F16>(f, value::<F16>(f, a) - value::<F16>(f, b))),
    binary!("mul", " .rn? .ftz? .sat?", "f16", F16, |f, a, b| code::<F16>(f, value::<F16>(f, a) * value::<F16>(f, b))),
    binary!("add", " .rn?", "bf16", Bf16, |f, a, b| code::<Bf16>(f, sum_odd(value::<Bf16>(f, a), value::<Bf16>(f, b)))),
    binary!("sub", " .rn?", "bf16", Bf16, |f, a, b| code::<Bf16>(f, sum_odd(value::<Bf16>(f, a), -value::<Bf16>(f, b)))),
    binary!("mul", " .rn?", "bf16", Bf16, |f, a, b| code::<Bf16>(f, value::<Bf16>(f, a) * value::<Bf16>(f, b))),
    binary!("min", " .ftz? .NaN? .xorsign? .abs?", "f16", F16, |f, a, b| extremum::<F16>(f, a, b, minimum)),
    binary!("max", " .ftz? .NaN? .xorsign? .abs?", "f16", F16, |f, a, b| extremum::<F16>(f, a, b, maximum)),
    binary!("min", " .NaN? .xorsign? .abs?", "bf16", Bf16, |f, a, b| extremum::<Bf16>(f, a, b, minimum)),
    binary!("max", " .NaN? .xorsign? .abs?", "bf16", Bf16, |f, a, b| extremum::<Bf16>(f, a, b, maximum)),
    fma!("f16", F16),
    fma!("bf16", Bf16),
];

#[rustfmt::skip]
const UNARY: &[[Row; 4]] = &[unary!("f16", F16, signed_f16x2), unary!("bf16", Bf16, signed::<Bf16>)];

/// A sum of two bf16 numbers can need more bits than f32 has; rounded to odd it rounds rightly.
#[inline(always)]
fn sum_odd(a: f32, b: f32) -> f32 {
    formats::f64_to_f32_odd(f64::from(a) + f64::from(b))
}

#[rustfmt::skip]
pub const ARITHMETIC: &[Row] = BINARY.as_flattened();
#[rustfmt::skip]
pub const SIGNS: &[Row] = UNARY.as_flattened();

/// `setp` on halves (9.7.7.2).
macro_rules! compare {
    ($cmp:literal, |$a:ident, $b:ident| $body:expr) => {
        [
            Row {
                form: concat!("setp .", $cmp, " .{and|or|xor}? .ftz? .f16"),
                class: Class::Compare,
                kind: Kind::Compare(
                    "p=h,h",
                    rare!(|f, a: u32, b: u32| -> u32 {
                        let ($a, $b) = (value::<F16>(f, a as u16), value::<F16>(f, b as u16));
                        ones($body)
                    }),
                ),
            },
            Row {
                form: concat!("setp .", $cmp, " .{and|or|xor}? .bf16"),
                class: Class::Compare,
                kind: Kind::Compare(
                    "p=h,h",
                    rare!(|f, a: u32, b: u32| -> u32 {
                        let ($a, $b) = (value::<Bf16>(f, a as u16), value::<Bf16>(f, b as u16));
                        ones($body)
                    }),
                ),
            },
        ]
    };
}

#[rustfmt::skip]
const COMPARE: &[[Row; 2]] = &[
    compare!("eq", |a, b| a == b),
    compare!("ne", |a, b| (a < b) | (a > b)),
    compare!("lt", |a, b| a < b),
    compare!("le", |a, b| a <= b),
    compare!("gt", |a, b| a > b),
    compare!("ge", |a, b| a >= b),
    compare!("equ", |a, b| !((a < b) | (a > b))),
    compare!("neu", |a, b| a != b),
    compare!("ltu", |a, b| !(a >= b)),
    compare!("leu", |a, b| !(a > b)),
    compare!("gtu", |a, b| !(a <= b)),
    compare!("geu", |a, b| !(a < b)),
    compare!("num", |a, b| !(a.is_nan() | b.is_nan())),
    compare!("nan", |a, b| a.is_nan() | b.is_nan()),
];

#[rustfmt::skip]
pub const COMPARISONS: &[Row] = COMPARE.as_flattened();

/// `atom.add` of a half (always with subnormals).
pub fn sum_of<F: Format>(a: u16, b: u16) -> u16 {
    code::<F>(0, sum_odd(F::decode(a), F::decode(b)))
}

/// `atom.add` of a pair of halves.
pub fn sum_of_pairs<F: Format>(a: u32, b: u32) -> u32 {
    both2(a, b, sum_of::<F>)
}

/// `atom.min` of a half.
pub fn min_of<F: Format>(a: u16, b: u16) -> u16 {
    extremum::<F>(0, a, b, minimum)
}

/// `atom.min` of a pair of halves.
pub fn min_of_pairs<F: Format>(a: u32, b: u32) -> u32 {
    both2(a, b, min_of::<F>)
}

/// `atom.max` of a half.
pub fn max_of<F: Format>(a: u16, b: u16) -> u16 {
    extremum::<F>(0, a, b, maximum)
}

/// `atom.max` of a pair of halves.
pub fn max_of_pairs<F: Format>(a: u32, b: u32) -> u32 {
    both2(a, b, max_of::<F>)
}
