//! E4M3 (OCP 8-bit floating point; PTX `.e4m3x2`): bias 7, largest 448, subnormal step 2⁻⁹, NaN at
//! 0x7f and 0xff, no infinity.
//!
//! As the block scale of NVFP4 it is called `ue4m3`: the same bytes, of which the sign bit is
//! ignored by the tensor core.

use crate::minifloat::{CANONICAL_NAN, INFINITY, nearest, stochastic, widen};

pub const MAX: f32 = 448.0;
pub const NAN: u8 = 0x7f;

const MAX_BITS: u32 = MAX.to_bits();

/// `cvt.rn.satfinite.e4m3x2.f32`, one element: beyond 448 and infinity give ±448, NaN gives 0x7f.
#[inline]
pub fn encode(x: f32) -> u8 {
    let bits = x.to_bits();
    let abs = bits & 0x7fff_ffff;
    let sign = (bits >> 24) & 0x80;
    let clamped = if abs > MAX_BITS { MAX_BITS } else { abs };
    let code = nearest::<3, 7>(clamped) | sign;
    if abs > INFINITY { NAN } else { code as u8 }
}

/// `cvt.rs.satfinite.e4m3x4.f32`, one element with its 16 random bits.
#[inline]
pub fn encode_stochastic(x: f32, random: u16) -> u8 {
    let bits = x.to_bits();
    let abs = bits & 0x7fff_ffff;
    if abs > INFINITY {
        return NAN;
    }
    let sign = (bits >> 24) & 0x80;
    (stochastic::<3, 7>(abs.min(MAX_BITS), u32::from(random), 16) | sign) as u8
}

/// Exact; 0x7f and 0xff give the canonical NaN.
#[inline]
pub fn decode(code: u8) -> f32 {
    let wide = u32::from(code);
    let value = f32::from_bits(widen::<3, 7>(wide & 0x7f).to_bits() | ((wide & 0x80) << 24));
    if wide & 0x7f == 0x7f { CANONICAL_NAN } else { value }
}

/// As an unsigned scale: the sign bit is ignored.
#[inline]
pub fn decode_scale(code: u8) -> f32 {
    decode(code & 0x7f)
}
