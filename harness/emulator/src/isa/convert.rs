//! `cvt` (PTX ISA 9.7.9.21).
//!
//! Integers widen by their own sign and are cut to the destination's width; a destination narrower
//! than its register is extended by the destination's sign (9.4.1). Floats go to integers with
//! saturation, NaN to 0 (to the smallest number where source or destination has 64 bits). The
//! narrow formats are the crate `formats`', which is held to NVIDIA's headers bit for bit.

use formats::{Round, bf16, e2m1, e2m3, e3m2, e4m3, e5m2, e8m0, f16, tf32};

use super::nan::{self, quiet, widen};
use super::rounding::{finish, flush_if, narrow};
use super::{Row, flag, row};
use crate::exec::{op, rare};

/// An integer type as it lies in a lane.
trait Int {
    type Lane: crate::exec::Lane;
    const MIN: i128;
    const MAX: i128;
    fn get(lane: Self::Lane) -> i64;
    fn put(value: i64) -> Self::Lane;
    /// Exact, where `get` folds the upper half of `u64` onto the negative numbers.
    fn exact(lane: Self::Lane) -> i128;
}

macro_rules! ints {
    ($($name:ident: $t:ty, $lane:ty, $extended:ty);*) => { $(
        struct $name;
        impl Int for $name {
            type Lane = $lane;
            const MIN: i128 = <$t>::MIN as i128;
            const MAX: i128 = <$t>::MAX as i128;
            #[inline(always)]
            fn get(lane: $lane) -> i64 { lane as $t as i64 }
            #[inline(always)]
            fn put(value: i64) -> $lane { value as $t as $extended as $lane }
            #[inline(always)]
            fn exact(lane: $lane) -> i128 { lane as $t as i128 }
        }
    )* };
}
ints!(U8: u8, u32, u32; S8: i8, u32, i32; U16: u16, u32, u32; S16: i16, u32, i32;
      U32: u32, u32, u32; S32: i32, u32, i32; U64: u64, u64, u64; S64: i64, u64, i64);

fn clamped<D: Int>(value: i128) -> D::Lane {
    D::put(value.clamp(D::MIN, D::MAX) as i64)
}

macro_rules! from {
    ($D:ident $d:literal $dw:literal: $($S:ident $s:literal $sw:literal),*) => { [ $(
        row!(concat!("cvt .", $d, " .", $s), concat!($dw, "=", $sw), Convert,
            op!(|_, a: <$S as Int>::Lane| -> <$D as Int>::Lane { $D::put($S::get(a)) })),
        row!(concat!("cvt .sat .", $d, " .", $s), concat!($dw, "=", $sw), Convert,
            rare!(|_, a: <$S as Int>::Lane| -> <$D as Int>::Lane { clamped::<$D>($S::exact(a)) })),
    )* ] };
}

/// The forms into one integer type, from every other.
macro_rules! integers {
    ($($D:ident $d:literal $dw:literal),*) => {
        &[ $( from!($D $d $dw: U8 "u8" "n", S8 "s8" "n", U16 "u16" "n", S16 "s16" "n",
                    U32 "u32" "n", S32 "s32" "n", U64 "u64" "w", S64 "s64" "w") ),* ]
    };
}

const INTEGER_GRID: &[[Row; 16]] = integers!(U8 "u8" "n", S8 "s8" "x", U16 "u16" "n", S16 "s16" "x",
    U32 "u32" "n", S32 "s32" "n", U64 "u64" "w", S64 "s64" "w");
#[rustfmt::skip]
pub const INTEGERS: &[Row] = INTEGER_GRID.as_flattened();

/// To the nearest integer in the flags' direction; to even without one.
#[inline(always)]
fn integral(flags: u32, x: f64) -> f64 {
    if flags & flag::RZ != 0 {
        x.trunc()
    } else if flags & flag::RM != 0 {
        x.floor()
    } else if flags & flag::RP != 0 {
        x.ceil()
    } else {
        x.round_ties_even()
    }
}

/// A rounded float as an integer; `wide` if source or destination has 64 bits.
#[inline(always)]
fn to_int<D: Int>(flags: u32, x: f64, wide: bool) -> D::Lane {
    if x.is_nan() {
        // The top bit of the destination alone, where 64 bits are involved; else zero.
        let bits = 128 - (D::MAX - D::MIN).leading_zeros();
        return D::put(if wide { 1i64.wrapping_shl(bits - 1) } else { 0 });
    }
    let x = integral(flags, x);
    // `as` saturates.
    clamped::<D>(x as i128)
}

/// An integer as `f64` that rounds to narrower formats as the integer itself would.
#[inline(always)]
fn odd_f64(x: i128) -> f64 {
    let near = x as f64;
    let error = x - near as i128;
    let bits = near.to_bits();
    if error == 0 || bits & 1 == 1 {
        return near;
    }
    f64::from_bits(if (error > 0) == (near > 0.0) { bits + 1 } else { bits - 1 })
}

fn round_of(flags: u32) -> Round {
    if flags & flag::RZ != 0 {
        Round::TowardZero
    } else if flags & flag::RM != 0 {
        Round::Down
    } else if flags & flag::RP != 0 {
        Round::Up
    } else {
        Round::NearestEven
    }
}

#[inline(always)]
fn relu(flags: u32, x: f32) -> f32 {
    if flags & flag::RELU != 0 && x <= 0.0 { 0.0 } else { x }
}

#[inline(always)]
fn half(flags: u32, x: f32) -> u32 {
    let x = relu(flags, x);
    let code = if flags & (flag::RZ | flag::RM | flag::RP) == 0 {
        f16::encode(x)
    } else {
        f16::encode_with(x, round_of(flags))
    };
    let code = if flags & flag::SATFINITE != 0 { f16::saturate_finite(code) } else { code };
    let code = if flags & flag::SAT != 0 {
        f16::encode(super::rounding::saturate(f16::decode(code)))
    } else {
        code
    };
    u32::from(code)
}

#[inline(always)]
fn brain(flags: u32, x: f32) -> u32 {
    let x = relu(flags, x);
    let code = if flags & (flag::RZ | flag::RM | flag::RP) == 0 {
        bf16::encode(x)
    } else {
        bf16::encode_with(x, round_of(flags))
    };
    u32::from(if flags & flag::SATFINITE != 0 { bf16::saturate_finite(code) } else { code })
}

/// Floats to one integer type.
macro_rules! to_integer {
    ($($D:ident $d:literal $dw:literal $wide:literal),*) => { &[ $( [
        row!(concat!("cvt .{rni|rzi|rmi|rpi} .ftz? .sat? .", $d, " .f32"), concat!($dw, "=n"), Convert,
            rare!(|f, a: f32| -> <$D as Int>::Lane { to_int::<$D>(f, f64::from(flush_if(f, a)), $wide) })),
        row!(concat!("cvt .{rni|rzi|rmi|rpi} .sat? .", $d, " .f64"), concat!($dw, "=w"), Convert,
            rare!(|f, a: f64| -> <$D as Int>::Lane { to_int::<$D>(f, a, true) })),
        row!(concat!("cvt .{rni|rzi|rmi|rpi} .ftz? .sat? .", $d, " .f16"), concat!($dw, "=h"), Convert,
            rare!(|f, a: u32| -> <$D as Int>::Lane { to_int::<$D>(f, f64::from(f16::decode(a as u16)), $wide) })),
        row!(concat!("cvt .{rni|rzi|rmi|rpi} .ftz? .sat? .", $d, " .bf16"), concat!($dw, "=h"), Convert,
            rare!(|f, a: u32| -> <$D as Int>::Lane { to_int::<$D>(f, f64::from(bf16::decode(a as u16)), $wide) })),
    ] ),* ] };
}

#[rustfmt::skip]
pub const TO_INTEGER: &[[Row; 4]] = to_integer!(U8 "u8" "n" false, S8 "s8" "x" false,
    U16 "u16" "n" false, S16 "s16" "x" false, U32 "u32" "n" false, S32 "s32" "n" false,
    U64 "u64" "w" true, S64 "s64" "w" true);

/// One integer type to floats.
macro_rules! from_integer {
    ($($S:ident $s:literal $sw:literal),*) => { &[ $( [
        row!(concat!("cvt .{rn|rz|rm|rp} .ftz? .sat? .f32 .", $s), concat!("n=", $sw), Convert,
            rare!(|f, a: <$S as Int>::Lane| -> f32 { finish(f, narrow(f, odd_f64($S::exact(a)))) })),
        row!(concat!("cvt .{rn|rz|rm|rp} .sat? .f64 .", $s), concat!("w=", $sw), Convert,
            rare!(|f, a: <$S as Int>::Lane| -> f64 { saturate_if(f, wide_float(f, $S::exact(a))) })),
        row!(concat!("cvt .{rn|rz|rm|rp} .sat? .f16 .", $s), concat!("n=", $sw), Convert,
            rare!(|f, a: <$S as Int>::Lane| -> u32 { half(f, formats::f64_to_f32_odd(odd_f64($S::exact(a)))) })),
        row!(concat!("cvt .{rn|rz|rm|rp} .bf16 .", $s), concat!("n=", $sw), Convert,
            rare!(|f, a: <$S as Int>::Lane| -> u32 { brain(f, formats::f64_to_f32_odd(odd_f64($S::exact(a)))) })),
    ] ),* ] };
}

#[rustfmt::skip]
pub const FROM_INTEGER: &[[Row; 4]] = from_integer!(U8 "u8" "n", S8 "s8" "n", U16 "u16" "n",
    S16 "s16" "n", U32 "u32" "n", S32 "s32" "n", U64 "u64" "w", S64 "s64" "w");

/// An integer to `f64` in the flags' direction.
fn wide_float(flags: u32, x: i128) -> f64 {
    let near = x as f64;
    let error = x - near as i128;
    let down = (flags & flag::RM != 0) || (flags & flag::RZ != 0 && x > 0);
    let up = (flags & flag::RP != 0) || (flags & flag::RZ != 0 && x < 0);
    if error < 0 && down {
        near.next_down()
    } else if error > 0 && up {
        near.next_up()
    } else {
        near
    }
}

#[rustfmt::skip]
pub const BETWEEN: &[Row] = &[
    // The two that quantizers live on, ahead of the general forms: no flags, so they vectorise.
    row!("cvt .rzi .s32 .f32", "n=n", Convert, op!(|_, a: f32| -> i32 { a as i32 })),
    row!("cvt .rzi .u32 .f32", "n=n", Convert, op!(|_, a: f32| -> u32 { a as u32 })),
    row!("cvt .rn .f32 .s32", "n=n", Convert, op!(|_, a: i32| -> f32 { a as f32 })),
    row!("cvt .rn .f32 .u32", "n=n", Convert, op!(|_, a: u32| -> f32 { a as f32 })),
    row!("cvt .f32 .f16", "n=h", Convert, op!(|_, a: u32| -> f32 { f16::decode(a as u16) })),
    row!("cvt .ftz? .sat? .f32 .f16", "n=h", Convert, rare!(|f, a: u32| -> f32 { finish(f & !flag::FTZ, f16::decode(a as u16)) })),
    row!("cvt .f32 .bf16", "n=h", Convert, op!(|_, a: u32| -> u32 { a << 16 })),
    row!("cvt .{rn|rz|rm|rp}? .ftz? .f32 .bf16", "n=h", Convert, rare!(|f, a: u32| -> u32 { if f & flag::FTZ != 0 && a & 0x7f80 == 0 { a << 16 & 0x8000_0000 } else { a << 16 } })),
    row!("cvt .ftz? .sat .f64 .f32", "w=n", Convert, rare!(|f, a: f32| -> f64 { saturate_if(f, f64::from(flush_if(f, a))) })),
    row!("cvt .ftz? .f64 .f32", "w=n", Convert, op!(|f, a: f32| -> f64 { widen(flush_if(f, a)) })),
    row!("cvt .sat? .f64 .f16", "w=h", Convert, rare!(|f, a: u32| -> f64 { saturate_if(f, half_widened(f16::decode(a as u16))) })),
    row!("cvt .{rn|rz|rm|rp}? .f64 .bf16", "w=h", Convert, rare!(|_, a: u32| -> f64 { half_widened(bf16::decode(a as u16)) })),
    row!("cvt .{rn|rz|rm|rp} .ftz? .sat? .f32 .f64", "n=w", Convert, rare!(|f, a: f64| -> u32 { kept(f, a, 8, 23).unwrap_or_else(|| finish(f, narrow(f, a)).to_bits()) })),
    row!("cvt .rn .f16 .f32", "n=n", Convert, op!(|_, a: f32| -> u32 { u32::from(f16::encode(a)) })),
    row!("cvt .{rn|rz|rm|rp} .ftz? .relu? .sat? .satfinite? .f16 .f32", "n=n", Convert, rare!(|f, a: f32| -> u32 { half(f, flush_if(f, a)) })),
    row!("cvt .rn .bf16 .f32", "n=n", Convert, op!(|_, a: f32| -> u32 { u32::from(bf16::encode(a)) })),
    row!("cvt .{rn|rz|rm|rp} .ftz? .relu? .satfinite? .bf16 .f32", "n=n", Convert, rare!(|f, a: f32| -> u32 { brain(f, flush_if(f, a)) })),
    row!("cvt .{rn|rz|rm|rp} .sat? .f16 .f64", "n=w", Convert, rare!(|f, a: f64| -> u32 { kept(f, a, 5, 10).unwrap_or_else(|| half(f, formats::f64_to_f32_odd(a))) })),
    row!("cvt .{rn|rz|rm|rp} .bf16 .f64", "n=w", Convert, rare!(|f, a: f64| -> u32 { kept(f, a, 8, 7).unwrap_or_else(|| brain(f, formats::f64_to_f32_odd(a))) })),
    row!("cvt .{rn|rz|rm|rp}? .bf16 .f16", "n=h", Convert, rare!(|f, a: u32| -> u32 { brain(f, f16::decode(a as u16)) })),
    row!("cvt .{rn|rz|rm|rp}? .f16 .bf16", "n=h", Convert, rare!(|f, a: u32| -> u32 { half(f, bf16::decode(a as u16)) })),
    row!("cvt .{rni|rzi|rmi|rpi} .ftz? .sat? .f32 .f32", "n=n", Convert, rare!(|f, a: f32| -> f32 { let a = flush_if(f, a); finish(f, (integral(f, f64::from(a)) as f32).copysign(a)) })),
    row!("cvt .ftz? .sat? .f32 .f32", "n=n", Convert, rare!(|f, a: f32| -> f32 { finish(f, flush_if(f, a)) })),
    row!("cvt .{rni|rzi|rmi|rpi} .sat? .f64 .f64", "w=w", Convert, rare!(|f, a: f64| -> f64 { saturate_if(f, if a.is_nan() { quiet(a) } else { integral(f, a).copysign(a) }) })),
    row!("cvt .sat? .f64 .f64", "w=w", Convert, rare!(|f, a: f64| -> f64 { saturate_if(f, a) })),
    row!("cvt .f16 .f16", "h=h", Convert, rare!(|_, a: u32| -> u32 { a })),
    row!("cvt .sat .f16 .f16", "h=h", Convert, rare!(|f, a: u32| -> u32 { half(f, f16::decode(a as u16)) })),
    row!("cvt .bf16 .bf16", "h=h", Convert, rare!(|_, a: u32| -> u32 { a })),
    row!("cvt .{rni|rzi|rmi|rpi} .ftz? .sat? .f16 .f16", "n=h", Convert, rare!(|f, a: u32| -> u32 { let x = f16::decode(a as u16); half(f & !(flag::RZ | flag::RM | flag::RP), (integral(f, f64::from(x)) as f32).copysign(x)) })),
    row!("cvt .{rni|rzi|rmi|rpi} .bf16 .bf16", "n=h", Convert, rare!(|f, a: u32| -> u32 { let x = bf16::decode(a as u16); brain(0, (integral(f, f64::from(x)) as f32).copysign(x)) })),
    row!("cvt .rn .relu? .satfinite? .tf32 .f32", "n=n", Convert, rare!(|f, a: f32| -> u32 { tf32_of(f, a, tf32::encode_with(relu(f, a), Round::NearestEven), TF32_NAN) })),
    row!("cvt .rz .relu? .satfinite? .tf32 .f32", "n=n", Convert, rare!(|f, a: f32| -> u32 { tf32_of(f, a, tf32::encode_with(relu(f, a), Round::TowardZero), TF32_NAN) })),
    row!("cvt .rna .satfinite? .tf32 .f32", "n=n", Convert, rare!(|f, a: f32| -> u32 { tf32_of(f, a, tf32::encode_ties_away(a), a.to_bits() & TF32) })),
];

/// The bits of a single that TF32 has.
const TF32: u32 = 0xffff_e000;
const TF32_NAN: u32 = 0x7fff_e000;

/// The code of `x`, or `nan` where the operand `a` is one; `.satfinite` makes it the NaN of single
/// precision.
#[inline(always)]
fn tf32_of(flags: u32, a: f32, x: f32, nan: u32) -> u32 {
    match (a.is_nan(), flags & flag::SATFINITE != 0) {
        (true, false) => nan,
        (true, true) => 0x7fff_ffff,
        (false, true) => tf32::saturate_finite(x).to_bits(),
        (false, false) => x.to_bits(),
    }
}

/// A half as a double: a NaN by way of single precision's.
fn half_widened(x: f32) -> f64 {
    if x.is_nan() { f64::from_bits(nan::WIDENED) } else { f64::from(x) }
}

/// A double's NaN in a narrower format, but for `.sat`, which has none.
fn kept(flags: u32, x: f64, exponent: u32, mantissa: u32) -> Option<u32> {
    (x.is_nan() && flags & flag::SAT == 0).then(|| nan::narrow(x, exponent, mantissa))
}

/// The first source goes to the upper half: `cvt….e2m1x2.f32 d, a, b` packs `a << 4 | b`.
#[rustfmt::skip]
pub const NARROW: &[Row] = &[
    row!("cvt .rn .f16x2 .f32", "n=n,n", Convert, op!(|_, a: f32, b: f32| -> u32 { u32::from(f16::encode(a)) << 16 | u32::from(f16::encode(b)) })),
    row!("cvt .{rn|rz} .relu? .satfinite? .f16x2 .f32", "n=n,n", Convert, rare!(|f, a: f32, b: f32| -> u32 { half(f, a) << 16 | half(f, b) })),
    row!("cvt .rn .bf16x2 .f32", "n=n,n", Convert, op!(|_, a: f32, b: f32| -> u32 { u32::from(bf16::encode(a)) << 16 | u32::from(bf16::encode(b)) })),
    row!("cvt .{rn|rz} .relu? .satfinite? .bf16x2 .f32", "n=n,n", Convert, rare!(|f, a: f32, b: f32| -> u32 { brain(f, a) << 16 | brain(f, b) })),
    row!("cvt .rn .satfinite .relu? .e2m1x2 .f32", "n=n,n", Convert, op!(|f, a: f32, b: f32| -> u32 { u32::from(e2m1::encode(relu(f, a))) << 4 | u32::from(e2m1::encode(relu(f, b))) })),
    row!("cvt .rn .satfinite .relu? .e4m3x2 .f32", "n=n,n", Convert, op!(|f, a: f32, b: f32| -> u32 { u32::from(e4m3::encode(relu(f, a))) << 8 | u32::from(e4m3::encode(relu(f, b))) })),
    row!("cvt .rn .satfinite .relu? .e5m2x2 .f32", "n=n,n", Convert, rare!(|f, a: f32, b: f32| -> u32 { u32::from(e5m2::encode(relu(f, a))) << 8 | u32::from(e5m2::encode(relu(f, b))) })),
    row!("cvt .rn .satfinite .relu? .e2m3x2 .f32", "n=n,n", Convert, rare!(|f, a: f32, b: f32| -> u32 { u32::from(e2m3::encode(relu(f, a))) << 8 | u32::from(e2m3::encode(relu(f, b))) })),
    row!("cvt .rn .satfinite .relu? .e3m2x2 .f32", "n=n,n", Convert, rare!(|f, a: f32, b: f32| -> u32 { u32::from(e3m2::encode(relu(f, a))) << 8 | u32::from(e3m2::encode(relu(f, b))) })),
    row!("cvt .rz .satfinite .ue8m0x2 .f32", "n=n,n", Convert, rare!(|_, a: f32, b: f32| -> u32 { u32::from(e8m0::encode_toward_zero(a)) << 8 | u32::from(e8m0::encode_toward_zero(b)) })),
    row!("cvt .rp .satfinite .ue8m0x2 .f32", "n=n,n", Convert, rare!(|_, a: f32, b: f32| -> u32 { u32::from(e8m0::encode_up(a)) << 8 | u32::from(e8m0::encode_up(b)) })),
    row!("cvt .rz .ue8m0x2 .f32", "n=n,n", Convert, rare!(|_, a: f32, b: f32| -> u32 { u32::from(e8m0::encode_toward_zero_unsaturated(a)) << 8 | u32::from(e8m0::encode_toward_zero_unsaturated(b)) })),
    row!("cvt .rp .ue8m0x2 .f32", "n=n,n", Convert, rare!(|_, a: f32, b: f32| -> u32 { u32::from(e8m0::encode_up_unsaturated(a)) << 8 | u32::from(e8m0::encode_up_unsaturated(b)) })),
    row!("cvt .rz .satfinite .ue8m0x2 .bf16x2", "n=n", Convert, rare!(|_, a: u32| -> u32 { bytes(a, |x| e8m0::encode_toward_zero(bf16::decode(x))) })),
    row!("cvt .rp .satfinite .ue8m0x2 .bf16x2", "n=n", Convert, rare!(|_, a: u32| -> u32 { bytes(a, |x| e8m0::encode_up(bf16::decode(x))) })),
    row!("cvt .rz .ue8m0x2 .bf16x2", "n=n", Convert, rare!(|_, a: u32| -> u32 { bytes(a, |x| e8m0::encode_toward_zero_unsaturated(bf16::decode(x))) })),
    row!("cvt .rp .ue8m0x2 .bf16x2", "n=n", Convert, rare!(|_, a: u32| -> u32 { bytes(a, |x| e8m0::encode_up_unsaturated(bf16::decode(x))) })),
    row!("cvt .rn .satfinite .relu? .e4m3x2 .f16x2", "n=n", Convert, rare!(|f, a: u32| -> u32 { bytes(a, |x| e4m3::encode(relu(f, f16::decode(x)))) })),
    row!("cvt .rn .satfinite .relu? .e2m1x2 .f16x2", "n=n", Convert, rare!(|f, a: u32| -> u32 { let code = |x| u32::from(e2m1::encode(relu(f, f16::decode(x)))); code((a >> 16) as u16) << 4 | code(a as u16) })),
    row!("cvt .rn .satfinite .relu? .e5m2x2 .f16x2", "n=n", Convert, rare!(|f, a: u32| -> u32 { bytes(a, |x| e5m2::encode(relu(f, f16::decode(x)))) })),
    row!("cvt .rn .relu? .f16x2 .e2m1x2", "n=n", Convert, op!(|f, a: u32| -> u32 { half(f, e2m1::decode((a >> 4 & 15) as u8)) << 16 | half(f, e2m1::decode((a & 15) as u8)) })),
    row!("cvt .rn .relu? .f16x2 .e4m3x2", "n=h", Convert, op!(|f, a: u32| -> u32 { half(f, e4m3::decode((a >> 8) as u8)) << 16 | half(f, e4m3::decode(a as u8)) })),
    row!("cvt .rn .relu? .f16x2 .e5m2x2", "n=h", Convert, rare!(|f, a: u32| -> u32 { half(f, e5m2::decode((a >> 8) as u8)) << 16 | half(f, e5m2::decode(a as u8)) })),
    row!("cvt .rn .relu? .f16x2 .e2m3x2", "n=h", Convert, rare!(|f, a: u32| -> u32 { half(f, e2m3::decode((a >> 8) as u8)) << 16 | half(f, e2m3::decode(a as u8)) })),
    row!("cvt .rn .relu? .f16x2 .e3m2x2", "n=h", Convert, rare!(|f, a: u32| -> u32 { half(f, e3m2::decode((a >> 8) as u8)) << 16 | half(f, e3m2::decode(a as u8)) })),
    row!("cvt .rn .bf16x2 .ue8m0x2", "n=h", Convert, rare!(|_, a: u32| -> u32 { u32::from(e8m0::decode_bf16((a >> 8) as u8)) << 16 | u32::from(e8m0::decode_bf16(a as u8)) })),
];

/// `.sat` of a double.
fn saturate_if(flags: u32, x: f64) -> f64 {
    match x {
        _ if flags & flag::SAT == 0 => x,
        _ if x > 0.0 => x.min(1.0),
        // NaN, too.
        _ => 0.0,
    }
}

/// Both halves to bytes.
#[inline(always)]
fn bytes(a: u32, f: impl Fn(u16) -> u8) -> u32 {
    u32::from(f((a >> 16) as u16)) << 8 | u32::from(f(a as u16))
}
