//! What becomes of a NaN. The manual says it of single precision (0x7fffffff, PTX ISA 9.7.3) and
//! leaves the rest to the hardware; this is what an H200 does, read off it for every pair of NaNs.
//!
//! A double keeps the sign and the payload of one operand, and becomes quiet. Which operand, where
//! several are NaN, is the instruction's: the second of a sum or product, the first of a quotient,
//! `b`, `c`, `a` of `fma`. What is not a number without there having been one is negative.

/// An invalid operation's.
const INVALID: u64 = 0xfff8_0000_0000_0000;
const QUIET: u64 = 1 << 51;
/// What single precision gives, widened.
pub const WIDENED: u64 = 0x7fff_ffff_e000_0000;

pub fn quiet(x: f64) -> f64 {
    f64::from_bits(x.to_bits() | QUIET)
}

/// `result`, or the NaN it is: that of the first of `operands` that is one.
#[inline(always)]
pub fn double<const N: usize>(result: f64, operands: [f64; N]) -> f64 {
    if !result.is_nan() {
        return result;
    }
    let nan = operands.into_iter().find(|x| x.is_nan());
    nan.map_or(f64::from_bits(INVALID), quiet)
}

/// A single as a double.
pub fn widen(x: f32) -> f64 {
    if !x.is_nan() {
        return f64::from(x);
    }
    let bits = u64::from(x.to_bits());
    let sign = (bits & 0x8000_0000) << 32;
    f64::from_bits(sign | f64::INFINITY.to_bits() | QUIET | (bits & 0x7f_ffff) << 29)
}

/// A double's NaN in a format of 1 + `exponent` + `mantissa` bits: the top of the payload.
pub fn narrow(x: f64, exponent: u32, mantissa: u32) -> u32 {
    let bits = x.to_bits();
    let sign = (bits >> 63) << (exponent + mantissa);
    let infinity = ((1 << exponent) - 1) << mantissa;
    let payload = ((bits | QUIET) & (u64::MAX >> 12)) >> (52 - mantissa);
    (sign | infinity | payload) as u32
}
