//! E2M1, the four bits of FP4 (OCP Microscaling 1.0, 5.3.3; PTX `.e2m1x2`).
//!
//! ```text
//! code      0    1    2    3    4    5    6    7      8…15: the negatives, 8 is -0
//! value     0   0.5   1   1.5   2    3    4    6
//! midpoint   0.25 0.75 1.25 1.75 2.5  3.5   5
//! tie goes to  0    2    2    4    4    6    6        (the even code)
//! ```

use crate::minifloat::{INFINITY, nearest, stochastic};

/// Value of the codes 0 to 7.
pub const MAGNITUDES: [f32; 8] = [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0];

/// Halfway between the neighbours `MAGNITUDES[i]` and `MAGNITUDES[i + 1]`.
pub const MIDPOINTS: [f32; 7] = [0.25, 0.75, 1.25, 1.75, 2.5, 3.5, 5.0];

pub const MAX: f32 = 6.0;

const MAX_BITS: u32 = 0x40c0_0000;

/// `cvt.rn.satfinite.e2m1x2.f32`, one element. In 0 to 15.
///
/// Nearest even; the sign survives a result of zero (-0.1 gives 8); beyond 6 and infinity give ±6;
/// NaN gives +6.
#[inline]
pub fn encode(x: f32) -> u8 {
    let bits = x.to_bits();
    let abs = bits & 0x7fff_ffff;
    let sign = if abs > INFINITY { 0 } else { (bits >> 28) & 8 };
    let clamped = if abs > MAX_BITS { MAX_BITS } else { abs };
    (nearest::<1, 1>(clamped) | sign) as u8
}

/// `cvt.rs.satfinite.e2m1x4.f32`, one element with its 8 random bits.
#[inline]
pub fn encode_stochastic(x: f32, random: u8) -> u8 {
    let bits = x.to_bits();
    let abs = bits & 0x7fff_ffff;
    let sign = if abs > INFINITY { 0 } else { (bits >> 28) & 8 };
    (stochastic::<1, 1>(abs.min(MAX_BITS), u32::from(random), 8) | sign) as u8
}

/// Value of the low four bits of `code`; exact.
#[inline]
pub fn decode(code: u8) -> f32 {
    let code = u32::from(code);
    // Codes 2 to 7 are a two-bit exponent and one mantissa bit: shifted under an f32 exponent they
    // are the value. Codes 0 and 1 are 0 and 0.5.
    let magnitude = code & 7;
    let normal = (magnitude << 22) + (126 << 23);
    let bits = if magnitude < 2 { magnitude * 0x3f00_0000 } else { normal };
    f32::from_bits(bits | ((code & 8) << 28))
}
