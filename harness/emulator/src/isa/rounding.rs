//! Directed rounding and flushing, without touching the processor's rounding mode.
//!
//! A sum or product of `f32` is computed in `f64` with its rounding error, the two are combined by
//! *rounding to odd* (truncate, and set the last bit if anything was cut off), and that is rounded
//! once more to `f32`. Rounding to odd keeps enough to make the second rounding right in every mode
//! (Boldo and Melquiond, "Emulation of FMA and correctly rounded sums", IEEE TC 2008).

use super::flag;

/// A subnormal as a zero of its sign (`.ftz`, PTX ISA 9.7.3).
#[inline(always)]
pub fn flush(x: f32) -> f32 {
    let bits = x.to_bits();
    f32::from_bits(if bits & 0x7f80_0000 == 0 { bits & 0x8000_0000 } else { bits })
}

#[inline(always)]
pub fn flush_if(flags: u32, x: f32) -> f32 {
    if flags & flag::FTZ != 0 { flush(x) } else { x }
}

/// `.sat`: clamp to [0, 1], NaN to +0.
#[inline(always)]
pub fn saturate(x: f32) -> f32 {
    if x > 0.0 { if x < 1.0 { x } else { 1.0 } } else { 0.0 }
}

/// `.ftz` and `.sat` of a result.
#[inline(always)]
pub fn finish(flags: u32, x: f32) -> f32 {
    let x = flush_if(flags, x);
    if flags & flag::SAT != 0 { saturate(x) } else { x }
}

#[inline(always)]
pub fn directed(flags: u32) -> bool {
    flags & (flag::RZ | flag::RM | flag::RP) != 0
}

/// `s + error` (with `|error|` at most half a last place of `s`), rounded to odd.
fn odd(s: f64, error: f64) -> f64 {
    let bits = s.to_bits();
    if error == 0.0 || !s.is_finite() || bits & 1 == 1 {
        return s;
    }
    f64::from_bits(if (error > 0.0) == (s > 0.0) { bits + 1 } else { bits - 1 })
}

/// Exact error of `a + b` (Knuth's TwoSum).
fn sum_error(a: f64, b: f64, s: f64) -> f64 {
    let bb = s - a;
    (a - (s - bb)) + (b - bb)
}

/// `x` to `f32` in the flags' rounding mode.
pub fn narrow(flags: u32, x: f64) -> f32 {
    let near = x as f32;
    if !directed(flags) || x.is_nan() || x.is_infinite() {
        return near;
    }
    let back = f64::from(near);
    let down = (flags & flag::RM != 0) || (flags & flag::RZ != 0 && x > 0.0);
    if back > x && down {
        near.next_down()
    } else if back < x && !down {
        near.next_up()
    } else {
        near
    }
}

pub fn add(flags: u32, a: f32, b: f32) -> f32 {
    if !directed(flags) {
        return a + b;
    }
    let (a, b) = (f64::from(a), f64::from(b));
    let s = a + b;
    if s == 0.0 && a != 0.0 {
        // An exact cancellation is +0, but -0 when rounding down (IEEE 754, 6.3).
        return if flags & flag::RM != 0 { -0.0 } else { 0.0 };
    }
    if s == 0.0 && a.is_sign_negative() != b.is_sign_negative() {
        return if flags & flag::RM != 0 { -0.0 } else { 0.0 };
    }
    narrow(flags, odd(s, sum_error(a, b, s)))
}

pub fn mul(flags: u32, a: f32, b: f32) -> f32 {
    if directed(flags) { narrow(flags, f64::from(a) * f64::from(b)) } else { a * b }
}

pub fn fma(flags: u32, a: f32, b: f32, c: f32) -> f32 {
    if !directed(flags) {
        return a.mul_add(b, c);
    }
    let product = f64::from(a) * f64::from(b);
    let c = f64::from(c);
    let s = product + c;
    if s == 0.0 && (product != 0.0 || product.is_sign_negative() != c.is_sign_negative()) {
        return if flags & flag::RM != 0 { -0.0 } else { 0.0 };
    }
    narrow(flags, odd(s, sum_error(product, c, s)))
}

pub fn div(flags: u32, a: f32, b: f32) -> f32 {
    if !directed(flags) {
        return a / b;
    }
    let (a, b) = (f64::from(a), f64::from(b));
    let q = a / b;
    if b.is_infinite() {
        return q as f32;
    }
    let rest = (-q).mul_add(b, a);
    narrow(flags, odd(q, if b < 0.0 { -rest } else { rest }))
}

pub fn sqrt(flags: u32, a: f32) -> f32 {
    if !directed(flags) {
        return a.sqrt();
    }
    let a = f64::from(a);
    let q = a.sqrt();
    narrow(flags, odd(q, (-q).mul_add(q, a)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One and a bit below the last place: each mode goes its way.
    #[test]
    fn sums_are_rounded_once_in_every_mode() {
        let tiny = 2f32.powi(-60);
        assert_eq!(add(0, 1.0, tiny), 1.0);
        assert_eq!(add(flag::RP, 1.0, tiny), 1.0f32.next_up());
        assert_eq!(add(flag::RM, 1.0, -tiny), 1.0f32.next_down());
        assert_eq!(add(flag::RZ, -1.0, tiny), (-1.0f32).next_up());
        assert_eq!(add(flag::RM, 1.0, -1.0).to_bits(), (-0.0f32).to_bits());
        assert_eq!(fma(flag::RZ, f32::MAX, 2.0, 0.0), f32::MAX);
        assert_eq!(fma(flag::RP, f32::MAX, -2.0, 0.0), f32::MIN);
    }

    /// Halfway cases that two roundings would get wrong.
    #[test]
    fn no_double_rounding() {
        let a = 1.0 + 2f32.powi(-12);
        let c = 2f32.powi(-80);
        let exact_up = fma(flag::RP, a, a, c);
        assert_eq!(exact_up, (f64::from(a) * f64::from(a)) as f32 + f32::EPSILON);
        assert_eq!(div(flag::RZ, 1.0, 3.0), 0.333_333_3);
        assert_eq!(div(flag::RP, 1.0, 3.0), 0.333_333_34);
        assert_eq!(sqrt(flag::RM, 2.0), 2f32.sqrt().min(std::f32::consts::SQRT_2));
    }
}
