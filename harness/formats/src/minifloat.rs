//! What all formats with a smaller exponent range than f32 share.
//!
//! A format with `MAN` mantissa bits and exponent bias `BIAS` has its least normal number at
//! 2^(1-BIAS) and below it a constant step of 2^(1-BIAS-MAN). Exponent and mantissa fields together
//! form an integer that counts the representable magnitudes upward, so a carry out of the mantissa
//! runs into the exponent by itself. Both functions return that integer.
//!
//! ```text
//! E2M1 (MAN 1, BIAS 1):  0   .5   1   1.5   2   3   4   6
//!                        0    1   2    3    4   5   6   7
//! ```

use crate::Round;

/// The magnitude of f32 bits `abs` (sign cleared, finite), to nearest even, without a limit above.
///
/// Normal results: add half of the last place less one, and the last kept bit, then cut (the tie
/// thus carries only into an odd significand). Subnormal results: add a power of two whose own last
/// place is the wanted step; the FPU rounds, and the difference of the bits is the count. Both are
/// computed and one is selected, so loops over this vectorise.
#[inline(always)]
pub(crate) fn nearest<const MAN: u32, const BIAS: u32>(abs: u32) -> u32 {
    let cut = 23 - MAN;
    let least_normal = (128 - BIAS) << 23;
    let step_from = (151 - BIAS - MAN) << 23;
    let subnormal = (f32::from_bits(abs) + f32::from_bits(step_from)).to_bits() - step_from;
    let rounded = abs.wrapping_add((1 << (cut - 1)) - 1).wrapping_add((abs >> cut) & 1);
    let normal = rounded.wrapping_sub((127 - BIAS) << 23) >> cut;
    if abs < least_normal { subnormal } else { normal }
}

/// The same in any mode, digit by digit. Also without a limit above.
#[inline(always)]
pub(crate) fn directed<const MAN: u32, const BIAS: u32>(
    abs: u32,
    negative: bool,
    round: Round,
) -> u32 {
    let (kept, rest, shift) = split::<MAN, BIAS>(abs);
    kept + u32::from(round.increments(negative, kept, rest, shift))
}

/// Stochastic rounding (`.rs`): the upper `width` of the bits cut off and the `width` random bits
/// are added, and a carry moves the magnitude away from zero.
///
/// Where exactly the hardware aligns the random bits for a subnormal result is not documented
/// (PTX ISA 9.7.9.21 shows the normal case); aligned to the top of what is cut off, the probability
/// is right in both cases.
#[inline(always)]
pub(crate) fn stochastic<const MAN: u32, const BIAS: u32>(
    abs: u32,
    random: u32,
    width: u32,
) -> u32 {
    let (kept, rest, shift) = split::<MAN, BIAS>(abs);
    let random = u64::from(random & ((1 << width) - 1));
    // Both as fractions of 2^32.
    let sum = (u64::from(rest) << (32 - shift)) + (random << (32 - width));
    kept + (sum >> 32) as u32
}

/// Truncated magnitude, what was cut off, and by how many bits (1 to 31).
#[inline(always)]
fn split<const MAN: u32, const BIAS: u32>(abs: u32) -> (u32, u32, u32) {
    let least_exponent = 128 - BIAS;
    let exponent = abs >> 23;
    let hidden = u32::from(exponent != 0) << 23;
    let significand = (abs & 0x007f_ffff) | hidden;
    let below = least_exponent.saturating_sub(exponent.max(1));
    let above = exponent.saturating_sub(least_exponent);
    let shift = (23 - MAN + below).min(31);
    let kept = (significand >> shift) + (above << MAN);
    (kept, significand & ((1 << shift) - 1), shift)
}

/// The f32 of a magnitude with an ordinary (finite) exponent; exact.
#[inline(always)]
pub(crate) fn widen<const MAN: u32, const BIAS: u32>(magnitude: u32) -> f32 {
    let shifted = magnitude << (23 - MAN);
    let least_normal = (128 - BIAS) << 23;
    // A subnormal 0.m·2^(1-BIAS) is (1.m - 1)·2^(1-BIAS): the subtraction normalises it.
    let subnormal = f32::from_bits(shifted + least_normal) - f32::from_bits(least_normal);
    let normal = f32::from_bits(shifted + ((127 - BIAS) << 23));
    if magnitude < 1 << MAN { subnormal } else { normal }
}

/// The NaN that PTX conversions produce (PTX ISA 9.7.3: canonical NaN).
pub(crate) const CANONICAL_NAN: f32 = f32::from_bits(0x7fff_ffff);

pub(crate) const INFINITY: u32 = 0x7f80_0000;
