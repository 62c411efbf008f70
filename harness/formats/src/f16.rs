//! IEEE binary16 (PTX `.f16`).

use crate::Round;
use crate::minifloat::{CANONICAL_NAN, INFINITY, directed, nearest, stochastic, widen};

pub const MAX: f32 = 65504.0;
pub const NAN: u16 = 0x7fff;

const INFINITY_CODE: u32 = 0x7c00;

/// `cvt.rn.f16.f32`: nearest even; NaN gives the canonical 0x7fff.
#[inline]
pub fn encode(x: f32) -> u16 {
    const TWO_TO_16: u32 = 0x4780_0000;
    let bits = x.to_bits();
    let abs = bits & 0x7fff_ffff;
    let clamped = if abs > TWO_TO_16 { TWO_TO_16 } else { abs };
    let code = nearest::<10, 15>(clamped) | ((bits >> 16) & 0x8000);
    if abs > INFINITY { NAN } else { code as u16 }
}

/// `cvt.{rn,rz,rm,rp}.f16.f32`.
#[inline]
pub fn encode_with(x: f32, round: Round) -> u16 {
    let bits = x.to_bits();
    let abs = bits & 0x7fff_ffff;
    let negative = bits >> 31 == 1;
    let magnitude = if abs > INFINITY {
        return NAN;
    } else if abs == INFINITY {
        INFINITY_CODE
    } else {
        let limit = INFINITY_CODE - u32::from(!round.overflows(negative));
        directed::<10, 15>(abs, negative, round).min(limit)
    };
    (magnitude | ((bits >> 16) & 0x8000)) as u16
}

/// `cvt.rs.f16x2.f32`, one element with its 13 random bits.
#[inline]
pub fn encode_stochastic(x: f32, random: u16) -> u16 {
    let bits = x.to_bits();
    let abs = bits & 0x7fff_ffff;
    if abs > INFINITY {
        return NAN;
    }
    let magnitude = stochastic::<10, 15>(abs, u32::from(random), 13).min(INFINITY_CODE);
    (magnitude | ((bits >> 16) & 0x8000)) as u16
}

/// `.satfinite`: an infinity becomes the largest finite value of its sign.
#[inline]
pub fn saturate_finite(code: u16) -> u16 {
    if code & 0x7fff == 0x7c00 { code - 1 } else { code }
}

/// `cvt.f32.f16`; exact. A NaN becomes the canonical one.
#[inline]
pub fn decode(code: u16) -> f32 {
    let wide = u32::from(code);
    let magnitude = wide & 0x7fff;
    let sign = (wide & 0x8000) << 16;
    let finite = widen::<10, 15>(magnitude).to_bits();
    let bits = if magnitude == INFINITY_CODE { INFINITY } else { finite };
    if magnitude > INFINITY_CODE { CANONICAL_NAN } else { f32::from_bits(bits | sign) }
}
