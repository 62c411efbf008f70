//! TF32 (PTX `.tf32`): an f32 with 10 mantissa bits, kept in 32 bits whose low 13 are zero.

use crate::Round;
use crate::minifloat::{CANONICAL_NAN, INFINITY};

const CUT: u32 = 13;
const KEPT: u32 = !0 << CUT;

/// `cvt.{rn,rz}.tf32.f32`. NaN gives the canonical NaN, all 32 bits of it.
#[inline]
pub fn encode_with(x: f32, round: Round) -> f32 {
    let bits = x.to_bits();
    if bits & 0x7fff_ffff > INFINITY {
        return CANONICAL_NAN;
    }
    let up = round.increments(bits >> 31 == 1, bits >> CUT, bits & !KEPT, CUT);
    f32::from_bits(((bits >> CUT) + u32::from(up)) << CUT)
}

/// `cvt.rna.tf32.f32`: to nearest, ties away from zero.
#[inline]
pub fn encode_ties_away(x: f32) -> f32 {
    let bits = x.to_bits();
    let rounded = bits.wrapping_add(1 << (CUT - 1)) & KEPT;
    if bits & 0x7fff_ffff >= INFINITY {
        return if bits & 0x7fff_ffff > INFINITY { CANONICAL_NAN } else { x };
    }
    f32::from_bits(rounded)
}

/// `.satfinite`: an infinity becomes the largest finite tf32 of its sign.
#[inline]
pub fn saturate_finite(x: f32) -> f32 {
    if x.is_infinite() { f32::from_bits((0x7f7f_ffff & KEPT) | (x.to_bits() & 1 << 31)) } else { x }
}

/// What a tensor core reads of an f32: the low 13 bits are ignored (PTX ISA 9.7.14.5.1).
#[inline]
pub fn truncate(x: f32) -> f32 {
    f32::from_bits(x.to_bits() & KEPT)
}
