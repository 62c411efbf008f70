//! Approximate functions (PTX ISA 9.7.3.9-25, 9.7.4.10-11).
//!
//! The hardware's tables are not published, only bounds. Here each is evaluated in `f64` and rounded
//! once, which is within every bound: the result a perfect unit would give. On a GPU the last bit
//! can differ, so nothing should depend on it; the problems' checks do not.

use super::nan::double;
use super::rounding::flush_if;
use super::{Row, row};
use crate::exec::{op, rare};
use formats::{bf16, f16};

#[rustfmt::skip]
pub const ROWS: &[Row] = &[
    row!("rcp .approx .ftz? .f32", "n=n", Special, op!(|f, a: f32| -> f32 { flush_if(f, 1.0 / flush_if(f, a)) })),
    row!("sqrt .approx .ftz? .f32", "n=n", Special, op!(|f, a: f32| -> f32 { flush_if(f, flush_if(f, a).sqrt()) })),
    row!("rsqrt .approx .ftz? .f32", "n=n", Special, op!(|f, a: f32| -> f32 { flush_if(f, (1.0 / f64::from(flush_if(f, a)).sqrt()) as f32) })),
    row!("ex2 .approx .ftz? .f32", "n=n", Special, op!(|f, a: f32| -> f32 { flush_if(f, exp2(flush_if(f, a))) })),
    row!("lg2 .approx .ftz? .f32", "n=n", Special, rare!(|f, a: f32| -> f32 { flush_if(f, f64::from(flush_if(f, a)).log2() as f32) })),
    row!("sin .approx .ftz? .f32", "n=n", Special, rare!(|f, a: f32| -> f32 { flush_if(f, f64::from(flush_if(f, a)).sin() as f32) })),
    row!("cos .approx .ftz? .f32", "n=n", Special, rare!(|f, a: f32| -> f32 { flush_if(f, f64::from(flush_if(f, a)).cos() as f32) })),
    row!("tanh .approx .f32", "n=n", Special, rare!(|_, a: f32| -> f32 { if a.is_subnormal() { a } else { f64::from(a).tanh() as f32 } })),
    // With `.ftz`, only the upper halves count; the lower half of the result is zero (9.7.3.14, 9.7.3.18).
    row!("rcp .approx .ftz .f64", "w=w", Special, rare!(|_, a: f64| -> u64 { high_half(1.0 / upper(a)) })),
    row!("rsqrt .approx .ftz .f64", "w=w", Special, rare!(|_, a: f64| -> u64 { high_half(1.0 / upper(a).sqrt()) })),
    // Without it, all 53 bits, of subnormals too (9.7.3.17).
    row!("rsqrt .approx .f64", "w=w", Special, rare!(|_, a: f64| -> f64 { double(reciprocal_root(a), [a]) })),
    row!("ex2 .approx .f16", "h=h", Special, rare!(|_, a: u32| -> u32 { half(a, exp2) })),
    row!("ex2 .approx .f16x2", "n=n", Special, rare!(|_, a: u32| -> u32 { half(a & 0xffff, exp2) | half(a >> 16, exp2) << 16 })),
    row!("ex2 .approx .ftz .bf16", "h=h", Special, rare!(|_, a: u32| -> u32 { brain(a, exp2) })),
    row!("ex2 .approx .ftz .bf16x2", "n=n", Special, rare!(|_, a: u32| -> u32 { brain(a & 0xffff, exp2) | brain(a >> 16, exp2) << 16 })),
    row!("tanh .approx .f16", "h=h", Special, rare!(|_, a: u32| -> u32 { half(a, tanh) })),
    row!("tanh .approx .f16x2", "n=n", Special, rare!(|_, a: u32| -> u32 { half(a & 0xffff, tanh) | half(a >> 16, tanh) << 16 })),
    row!("tanh .approx .bf16", "h=h", Special, rare!(|_, a: u32| -> u32 { brain(a, tanh) })),
    row!("tanh .approx .bf16x2", "n=n", Special, rare!(|_, a: u32| -> u32 { brain(a & 0xffff, tanh) | brain(a >> 16, tanh) << 16 })),
];

/// 2^x. A polynomial, so that lanes stay vectors: `x = n + r` with `|r| <= 1/2`, and 2^r by its
/// series to the twelfth power, whose rest is below 2^-53; the one rounding that counts is to f32.
#[inline(always)]
pub fn exp2(x: f32) -> f32 {
    const LN2_POWERS: [f64; 13] = [
        1.0,
        std::f64::consts::LN_2,
        0.240_226_506_959_100_72,
        0.055_504_108_664_821_58,
        0.009_618_129_107_628_477,
        0.001_333_355_814_642_844_3,
        0.000_154_035_303_933_816_1,
        1.525_273_380_405_984e-5,
        1.321_548_679_014_430_8e-6,
        1.017_808_600_923_969_9e-7,
        7.054_911_620_801_121e-9,
        4.445_538_271_870_812e-10,
        2.567_843_599_348_819_4e-11,
    ];
    let wide = f64::from(x.clamp(-200.0, 200.0));
    // Adding 1.5 * 2^52 leaves the nearest integer in the last bits of the mantissa.
    let shifted = wide + 6_755_399_441_055_744.0;
    let n = shifted - 6_755_399_441_055_744.0;
    let r = wide - n;
    let mut sum = LN2_POWERS[12];
    let mut k = 12;
    while k > 0 {
        k -= 1;
        sum = sum.mul_add(r, LN2_POWERS[k]);
    }
    let exponent = shifted.to_bits().wrapping_add(1023) << 52;
    let power = f64::from_bits(exponent) * sum;
    if x.is_nan() { x } else { power as f32 }
}

/// 1/√a, off by little more than half a unit in the last place: the quotient of the rounded root, corrected
/// by what both roundings left, which `fma` gives exactly.
///
/// ```text
/// s = √a rounded    t = a - s²     √a = s (1 + t / 2a), nearly
/// q = 1/s rounded   u = 1 - q s    1/√a = q (1 + u) (1 - t / 2a), nearly
/// ```
fn reciprocal_root(a: f64) -> f64 {
    // 2^108 makes a subnormal normal; the root of its reciprocal is 2^-54 of what is wanted.
    const UP: f64 = f64::from_bits((1023 + 108) << 52);
    const BACK: f64 = f64::from_bits((1023 + 54) << 52);
    let (a, scale) = if a.is_subnormal() { (a * UP, BACK) } else { (a, 1.0) };
    let s = a.sqrt();
    let q = 1.0 / s;
    if !(q.is_normal() && s.is_finite()) {
        return q;
    }
    let (t, u) = ((-s).mul_add(s, a), (-q).mul_add(s, 1.0));
    q.mul_add(u - t / (2.0 * a), q) * scale
}

fn tanh(x: f32) -> f32 {
    f64::from(x).tanh() as f32
}

fn half(a: u32, f: impl Fn(f32) -> f32) -> u32 {
    u32::from(f16::encode(f(f16::decode(a as u16))))
}

fn brain(a: u32, f: impl Fn(f32) -> f32) -> u32 {
    u32::from(bf16::encode(f(bf16::decode(a as u16))))
}

/// Its upper half as a number, zero for a subnormal.
fn upper(a: f64) -> f64 {
    let half = f64::from_bits(a.to_bits() & 0xffff_ffff_0000_0000);
    if half.is_subnormal() { half * 0.0 } else { half }
}

fn high_half(x: f64) -> u64 {
    if x.is_nan() {
        return 0x7fff_ffff_0000_0000;
    }
    let flushed = if x.is_subnormal() { x.to_bits() & 1 << 63 } else { x.to_bits() };
    flushed & 0xffff_ffff_0000_0000
}
