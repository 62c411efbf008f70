//! Single and double precision arithmetic (PTX ISA 9.7.3).
//!
//! The plain forms stand first: they vectorise to one host instruction for eight lanes. Forms with
//! modifiers share one row each and look at their flags lane by lane.

use super::exact;
use super::nan::{double, quiet};
use super::rounding::{self, finish, flush_if};
use super::{Row, flag, row};
use crate::exec::{op, rare};

#[rustfmt::skip]
pub const ROWS: &[Row] = &[
    row!("add .rn? .f32", "n=n,n", Float, op!(hot |_, a: f32, b: f32| -> f32 { a + b })),
    row!("add .{rn|rz|rm|rp}? .ftz? .sat? .f32", "n=n,n", Float, rare!(|f, a: f32, b: f32| -> f32 { finish(f, rounding::add(f, flush_if(f, a), flush_if(f, b))) })),
    row!("sub .rn? .f32", "n=n,n", Float, op!(hot |_, a: f32, b: f32| -> f32 { a - b })),
    row!("sub .{rn|rz|rm|rp}? .ftz? .sat? .f32", "n=n,n", Float, rare!(|f, a: f32, b: f32| -> f32 { finish(f, rounding::add(f, flush_if(f, a), -flush_if(f, b))) })),
    row!("mul .rn? .f32", "n=n,n", Float, op!(hot |_, a: f32, b: f32| -> f32 { a * b })),
    row!("mul .{rn|rz|rm|rp}? .ftz? .sat? .f32", "n=n,n", Float, rare!(|f, a: f32, b: f32| -> f32 { finish(f, rounding::mul(f, flush_if(f, a), flush_if(f, b))) })),
    row!("fma .rn .f32", "n=n,n,n", Float, op!(hot |_, a: f32, b: f32, c: f32| -> f32 { a.mul_add(b, c) })),
    row!("fma .{rn|rz|rm|rp} .ftz? .sat? .f32", "n=n,n,n", Float, rare!(|f, a: f32, b: f32, c: f32| -> f32 { finish(f, rounding::fma(f, flush_if(f, a), flush_if(f, b), flush_if(f, c))) })),
    row!("mad .rn .f32", "n=n,n,n", Float, op!(hot |_, a: f32, b: f32, c: f32| -> f32 { a.mul_add(b, c) })),
    row!("mad .{rn|rz|rm|rp} .ftz? .sat? .f32", "n=n,n,n", Float, rare!(|f, a: f32, b: f32, c: f32| -> f32 { finish(f, rounding::fma(f, flush_if(f, a), flush_if(f, b), flush_if(f, c))) })),
    row!("div .{rn|rz|rm|rp} .ftz? .f32", "n=n,n", Float, rare!(|f, a: f32, b: f32| -> f32 { flush_if(f, rounding::div(f, flush_if(f, a), flush_if(f, b))) })),
    row!("div .full .ftz? .f32", "n=n,n", Special, rare!(|f, a: f32, b: f32| -> f32 { flush_if(f, flush_if(f, a) / flush_if(f, b)) })),
    row!("div .approx .ftz? .f32", "n=n,n", Special, rare!(|f, a: f32, b: f32| -> f32 { divide_approx(f, flush_if(f, a), flush_if(f, b)) })),
    row!("rcp .{rn|rz|rm|rp} .ftz? .f32", "n=n", Float, rare!(|f, a: f32| -> f32 { flush_if(f, rounding::div(f, 1.0, flush_if(f, a))) })),
    row!("sqrt .{rn|rz|rm|rp} .ftz? .f32", "n=n", Float, rare!(|f, a: f32| -> f32 { flush_if(f, rounding::sqrt(f, flush_if(f, a))) })),
    row!("neg .f32", "n=n", Float, op!(|_, a: u32| -> u32 { settled(a, a ^ 0x8000_0000) })),
    row!("neg .ftz .f32", "n=n", Float, op!(|_, a: f32| -> u32 { settled(a.to_bits(), rounding::flush(a).to_bits() ^ 0x8000_0000) })),
    row!("abs .f32", "n=n", Float, op!(|_, a: u32| -> u32 { settled(a, a & 0x7fff_ffff) })),
    row!("abs .ftz .f32", "n=n", Float, op!(|_, a: f32| -> u32 { settled(a.to_bits(), rounding::flush(a).to_bits() & 0x7fff_ffff) })),
    row!("copysign .f32", "n=n,n", Float, op!(|_, a: u32, b: u32| -> u32 { (a & 0x8000_0000) | (b & 0x7fff_ffff) })),
    row!("min .f32", "n=n,n", Float, op!(|_, a: f32, b: f32| -> f32 { minimum(a, b) })),
    row!("min .ftz? .NaN? .xorsign? .abs? .f32", "n=n,n", Float, rare!(|f, a: f32, b: f32| -> f32 { extremum(f, a, b, minimum) })),
    row!("min .ftz? .NaN? .abs? .f32", "n=n,n,n", Float, rare!(|f, a: f32, b: f32, c: f32| -> f32 { extremum(f, extremum(f, a, b, minimum), c, minimum) })),
    row!("max .f32", "n=n,n", Float, op!(|_, a: f32, b: f32| -> f32 { maximum(a, b) })),
    row!("max .ftz? .NaN? .xorsign? .abs? .f32", "n=n,n", Float, rare!(|f, a: f32, b: f32| -> f32 { extremum(f, a, b, maximum) })),
    row!("max .ftz? .NaN? .abs? .f32", "n=n,n,n", Float, rare!(|f, a: f32, b: f32, c: f32| -> f32 { extremum(f, extremum(f, a, b, maximum), c, maximum) })),
    row!("testp .finite .f32", "p=n", Compare, rare!(|_, a: f32| -> u32 { ones(a.is_finite()) })),
    row!("testp .infinite .f32", "p=n", Compare, rare!(|_, a: f32| -> u32 { ones(a.is_infinite()) })),
    row!("testp .number .f32", "p=n", Compare, rare!(|_, a: f32| -> u32 { ones(!a.is_nan()) })),
    row!("testp .notanumber .f32", "p=n", Compare, rare!(|_, a: f32| -> u32 { ones(a.is_nan()) })),
    row!("testp .normal .f32", "p=n", Compare, rare!(|_, a: f32| -> u32 { ones(a.is_normal() || a == 0.0) })),
    row!("testp .subnormal .f32", "p=n", Compare, rare!(|_, a: f32| -> u32 { ones(a.is_subnormal()) })),
    row!("testp .finite .f64", "p=w", Compare, rare!(|_, a: f64| -> u32 { ones(a.is_finite()) })),
    row!("testp .infinite .f64", "p=w", Compare, rare!(|_, a: f64| -> u32 { ones(a.is_infinite()) })),
    row!("testp .number .f64", "p=w", Compare, rare!(|_, a: f64| -> u32 { ones(!a.is_nan()) })),
    row!("testp .notanumber .f64", "p=w", Compare, rare!(|_, a: f64| -> u32 { ones(a.is_nan()) })),
    row!("testp .normal .f64", "p=w", Compare, rare!(|_, a: f64| -> u32 { ones(a.is_normal() || a == 0.0) })),
    row!("testp .subnormal .f64", "p=w", Compare, rare!(|_, a: f64| -> u32 { ones(a.is_subnormal()) })),
    row!("add .rn? .f64", "w=w,w", Double, op!(|_, a: f64, b: f64| -> f64 { double(a + b, [b, a]) })),
    row!("add .{rz|rm|rp} .f64", "w=w,w", Double, rare!(|f, a: f64, b: f64| -> f64 { double(exact::add(f, a, b), [b, a]) })),
    row!("sub .rn? .f64", "w=w,w", Double, op!(|_, a: f64, b: f64| -> f64 { double(a - b, [b, a]) })),
    row!("sub .{rz|rm|rp} .f64", "w=w,w", Double, rare!(|f, a: f64, b: f64| -> f64 { double(exact::add(f, a, -b), [b, a]) })),
    row!("mul .rn? .f64", "w=w,w", Double, op!(|_, a: f64, b: f64| -> f64 { double(a * b, [b, a]) })),
    row!("mul .{rz|rm|rp} .f64", "w=w,w", Double, rare!(|f, a: f64, b: f64| -> f64 { double(exact::mul(f, a, b), [b, a]) })),
    row!("fma .rn .f64", "w=w,w,w", Double, op!(|_, a: f64, b: f64, c: f64| -> f64 { double(a.mul_add(b, c), [b, c, a]) })),
    row!("fma .{rz|rm|rp} .f64", "w=w,w,w", Double, rare!(|f, a: f64, b: f64, c: f64| -> f64 { double(exact::fma(f, a, b, c), [b, c, a]) })),
    row!("mad .{rn|rz|rm|rp} .f64", "w=w,w,w", Double, rare!(|f, a: f64, b: f64, c: f64| -> f64 { double(exact::fma(f, a, b, c), [b, c, a]) })),
    row!("div .rn .f64", "w=w,w", Double, rare!(|_, a: f64, b: f64| -> f64 { double(a / b, [a, b]) })),
    row!("div .{rz|rm|rp} .f64", "w=w,w", Double, rare!(|f, a: f64, b: f64| -> f64 { double(exact::div(f, a, b), [a, b]) })),
    row!("rcp .rn .f64", "w=w", Double, rare!(|_, a: f64| -> f64 { double(1.0 / a, [a]) })),
    row!("rcp .{rz|rm|rp} .f64", "w=w", Double, rare!(|f, a: f64| -> f64 { double(exact::div(f, 1.0, a), [a]) })),
    row!("sqrt .rn .f64", "w=w", Double, rare!(|_, a: f64| -> f64 { double(a.sqrt(), [a]) })),
    row!("sqrt .{rz|rm|rp} .f64", "w=w", Double, rare!(|f, a: f64| -> f64 { double(exact::sqrt(f, a), [a]) })),
    row!("neg .f64", "w=w", Double, rare!(|_, a: f64| -> f64 { if a.is_nan() { quiet(a) } else { -a } })),
    row!("abs .f64", "w=w", Double, rare!(|_, a: f64| -> f64 { if a.is_nan() { quiet(a) } else { a.abs() } })),
    row!("copysign .f64", "w=w,w", Double, rare!(|_, a: u64, b: u64| -> u64 { (a & 1 << 63) | (b & !(1 << 63)) })),
    row!("min .f64", "w=w,w", Double, rare!(|_, a: f64, b: f64| -> f64 { if a.is_nan() { if b.is_nan() { quiet(b) } else { b } } else if b.is_nan() { a } else if a == b { f64::from_bits(a.to_bits() | b.to_bits()) } else if a < b { a } else { b } })),
    row!("max .f64", "w=w,w", Double, rare!(|_, a: f64, b: f64| -> f64 { if a.is_nan() { if b.is_nan() { quiet(b) } else { b } } else if b.is_nan() { a } else if a == b { f64::from_bits(a.to_bits() & b.to_bits()) } else if a > b { a } else { b } })),
];

#[inline(always)]
pub fn ones(yes: bool) -> u32 {
    if yes { u32::MAX } else { 0 }
}

/// A result, or the NaN of single precision where the operand was one.
#[inline(always)]
fn settled(operand: u32, result: u32) -> u32 {
    if operand & 0x7fff_ffff > 0x7f80_0000 { 0x7fff_ffff } else { result }
}

/// Of a number and a NaN the number; -0 is below +0 (9.7.3.11).
#[inline(always)]
pub fn minimum(a: f32, b: f32) -> f32 {
    let less = if a < b { a } else { b };
    let equal = f32::from_bits(a.to_bits() | b.to_bits());
    let numbers = if a == b { equal } else { less };
    if b.is_nan() { a } else { numbers }
}

#[inline(always)]
pub fn maximum(a: f32, b: f32) -> f32 {
    let more = if a > b { a } else { b };
    let equal = f32::from_bits(a.to_bits() & b.to_bits());
    let numbers = if a == b { equal } else { more };
    if b.is_nan() { a } else { numbers }
}

/// `min` and `max` with their modifiers. `.xorsign.abs` compares magnitudes and gives the result
/// the exclusive or of the signs.
#[inline(always)]
fn extremum(flags: u32, a: f32, b: f32, pick: impl Fn(f32, f32) -> f32) -> f32 {
    let (a, b) = (flush_if(flags, a), flush_if(flags, b));
    if flags & flag::NAN != 0 && (a.is_nan() || b.is_nan()) {
        return f32::NAN;
    }
    let sign = (a.to_bits() ^ b.to_bits()) & 0x8000_0000;
    let (a, b) = if flags & flag::ABS != 0 { (a.abs(), b.abs()) } else { (a, b) };
    let picked = pick(a, b);
    if flags & flag::XORSIGN != 0 { f32::from_bits(picked.to_bits() | sign) } else { picked }
}

/// `div.approx` (9.7.3.8): a divisor above 2^126 gives 0, as its reciprocal is flushed.
#[inline(always)]
fn divide_approx(flags: u32, a: f32, b: f32) -> f32 {
    let huge = f32::from_bits(0x7e80_0000);
    if b.abs() > huge && b.is_finite() {
        return if a.is_infinite() || a.is_nan() {
            f32::NAN
        } else {
            f32::from_bits((a.to_bits() ^ b.to_bits()) & 0x8000_0000)
        };
    }
    flush_if(flags, a / b)
}
