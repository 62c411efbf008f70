//! bfloat16 (PTX `.bf16`): the upper half of an f32.

use crate::Round;
use crate::minifloat::INFINITY;

pub const NAN: u16 = 0x7fff;

/// `cvt.rn.bf16.f32`: nearest even; NaN gives the canonical 0x7fff.
#[inline]
pub fn encode(x: f32) -> u16 {
    let bits = x.to_bits();
    let rounded = bits.wrapping_add(0x7fff + ((bits >> 16) & 1)) >> 16;
    if bits & 0x7fff_ffff > INFINITY { NAN } else { rounded as u16 }
}

/// `cvt.{rn,rz,rm,rp}.bf16.f32`.
#[inline]
pub fn encode_with(x: f32, round: Round) -> u16 {
    let bits = x.to_bits();
    if bits & 0x7fff_ffff > INFINITY {
        return NAN;
    }
    let up = round.increments(bits >> 31 == 1, bits >> 16, bits & 0xffff, 16);
    ((bits >> 16) + u32::from(up)) as u16
}

/// `cvt.rs.bf16x2.f32`, one element with its 16 random bits.
#[inline]
pub fn encode_stochastic(x: f32, random: u16) -> u16 {
    let bits = x.to_bits();
    let abs = bits & 0x7fff_ffff;
    if abs > INFINITY {
        return NAN;
    }
    let magnitude = (abs + u32::from(random)).min(INFINITY) >> 16;
    (magnitude | ((bits >> 16) & 0x8000)) as u16
}

/// `.satfinite`: an infinity becomes the largest finite value of its sign.
#[inline]
pub fn saturate_finite(code: u16) -> u16 {
    if code & 0x7fff == 0x7f80 { code - 1 } else { code }
}

/// Exact; a NaN keeps its payload (what `cvt.f32.bf16` makes of it is not specified).
#[inline]
pub fn decode(code: u16) -> f32 {
    f32::from_bits(u32::from(code) << 16)
}
