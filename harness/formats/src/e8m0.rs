//! E8M0, the block scale of MXFP4 (OCP Microscaling 1.0, 5.4.1; PTX `.ue8m0x2`): the exponent field
//! of an f32 and nothing else. Byte `e` is 2^(e-127), 255 is NaN, there is no zero and no sign.

use crate::minifloat::{CANONICAL_NAN, INFINITY};

pub const NAN: u8 = 0xff;

/// `cvt.rz.satfinite.ue8m0x2.f32`, one element: the exponent of `x`, its sign ignored. A subnormal
/// and zero give 0 (which is 2⁻¹²⁷, more than the value), infinity gives 254, NaN gives 255.
#[inline]
pub fn encode_toward_zero(x: f32) -> u8 {
    let abs = x.to_bits() & 0x7fff_ffff;
    let exponent = abs >> 23;
    if abs == INFINITY { 254 } else { exponent as u8 }
}

/// `cvt.rp.satfinite.ue8m0x2.f32`, one element: the least power of two that is not below `|x|`.
#[inline]
pub fn encode_up(x: f32) -> u8 {
    let abs = x.to_bits() & 0x7fff_ffff;
    // 2^-127 is the f32 subnormal 0x00400000; what is not above it stays 0.
    let inexact = abs & 0x007f_ffff != 0 && abs > 0x0040_0000;
    let raised = ((abs >> 23) + u32::from(inexact)).min(254);
    if abs > INFINITY { NAN } else { raised as u8 }
}

/// The same two without `.satfinite`: infinity, and what rounds up past 2¹²⁷, gives 255.
#[inline]
pub fn encode_toward_zero_unsaturated(x: f32) -> u8 {
    ((x.to_bits() & 0x7fff_ffff) >> 23) as u8
}

#[inline]
pub fn encode_up_unsaturated(x: f32) -> u8 {
    let abs = x.to_bits() & 0x7fff_ffff;
    let inexact = abs & 0x007f_ffff != 0 && abs > 0x0040_0000;
    if abs >= INFINITY { NAN } else { ((abs >> 23) + u32::from(inexact)) as u8 }
}

/// Exact; byte 0 is the f32 subnormal 2⁻¹²⁷.
#[inline]
pub fn decode(code: u8) -> f32 {
    let bits = if code == 0 { 0x0040_0000 } else { u32::from(code) << 23 };
    if code == NAN { CANONICAL_NAN } else { f32::from_bits(bits) }
}

/// `cvt.rn.bf16x2.ue8m0x2`, one element: bf16 bits. Exact.
#[inline]
pub fn decode_bf16(code: u8) -> u16 {
    match code {
        0 => 0x0040,
        NAN => 0x7fff,
        _ => u16::from(code) << 7,
    }
}
