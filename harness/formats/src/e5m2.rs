//! E5M2 (OCP 8-bit floating point; PTX `.e5m2x2`): the upper byte of an f16. Largest 57344.

use crate::minifloat::{INFINITY, nearest, stochastic};

pub const MAX: f32 = 57344.0;
pub const NAN: u8 = 0x7f;

const MAX_BITS: u32 = MAX.to_bits();

/// `cvt.rn.satfinite.e5m2x2.f32`, one element: beyond 57344 and infinity give ±57344, NaN gives
/// 0x7f.
#[inline]
pub fn encode(x: f32) -> u8 {
    let bits = x.to_bits();
    let abs = bits & 0x7fff_ffff;
    let sign = (bits >> 24) & 0x80;
    let clamped = if abs > MAX_BITS { MAX_BITS } else { abs };
    let code = nearest::<2, 15>(clamped) | sign;
    if abs > INFINITY { NAN } else { code as u8 }
}

/// `cvt.rs.satfinite.e5m2x4.f32`, one element with its 16 random bits.
#[inline]
pub fn encode_stochastic(x: f32, random: u16) -> u8 {
    let bits = x.to_bits();
    let abs = bits & 0x7fff_ffff;
    if abs > INFINITY {
        return NAN;
    }
    let sign = (bits >> 24) & 0x80;
    (stochastic::<2, 15>(abs.min(MAX_BITS), u32::from(random), 16) | sign) as u8
}

/// Exact; 0x7c is infinity, 0x7d to 0x7f and their negatives give the canonical NaN.
#[inline]
pub fn decode(code: u8) -> f32 {
    crate::f16::decode(u16::from(code) << 8)
}
