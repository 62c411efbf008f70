//! E3M2: six bits in the low end of a byte (OCP Microscaling 1.0, 5.3.2: subnormal step 0.0625, no NaN, no infinity; PTX `.e3m2x2`).

use crate::minifloat::{INFINITY, nearest, stochastic, widen};

pub const MAX: f32 = 28.0;

const MAX_BITS: u32 = MAX.to_bits();

/// `cvt.rn.satfinite.e3m2x2.f32`, one element. In 0 to 63; NaN gives +28.0.
#[inline]
pub fn encode(x: f32) -> u8 {
    let bits = x.to_bits();
    let abs = bits & 0x7fff_ffff;
    let sign = if abs > INFINITY { 0 } else { (bits >> 26) & 0x20 };
    let clamped = if abs > MAX_BITS { MAX_BITS } else { abs };
    (nearest::<2, 3>(clamped) | sign) as u8
}

/// `cvt.rs.satfinite.e3m2x4.f32`, one element with its 16 random bits.
#[inline]
pub fn encode_stochastic(x: f32, random: u16) -> u8 {
    let bits = x.to_bits();
    let abs = bits & 0x7fff_ffff;
    let sign = if abs > INFINITY { 0 } else { (bits >> 26) & 0x20 };
    (stochastic::<2, 3>(abs.min(MAX_BITS), u32::from(random), 16) | sign) as u8
}

/// Value of the low six bits of `code`; exact.
#[inline]
pub fn decode(code: u8) -> f32 {
    let code = u32::from(code);
    f32::from_bits(widen::<2, 3>(code & 0x1f).to_bits() | ((code & 0x20) << 26))
}
