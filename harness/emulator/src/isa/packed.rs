//! Two or four numbers in one register: `f32x2`, `s16x2`, `u16x2` (PTX ISA 9.7.1.24-26, 9.7.3).

use super::rounding::{finish, flush_if, fma};
use super::{Row, flag, row};
use crate::exec::op;

#[rustfmt::skip]
pub const ROWS: &[Row] = &[
    row!("add .{rn|rz|rm|rp}? .ftz? .f32x2", "w=w,w", Float, op!(|f, a: u64, b: u64| -> u64 { pair(a, b, 0, |a, b, _| finish(f, super::rounding::add(f, flush_if(f, a), flush_if(f, b)))) })),
    row!("sub .{rn|rz|rm|rp}? .ftz? .f32x2", "w=w,w", Float, op!(|f, a: u64, b: u64| -> u64 { pair(a, b, 0, |a, b, _| finish(f, super::rounding::add(f, flush_if(f, a), -flush_if(f, b)))) })),
    row!("mul .{rn|rz|rm|rp}? .ftz? .f32x2", "w=w,w", Float, op!(|f, a: u64, b: u64| -> u64 { pair(a, b, 0, |a, b, _| finish(f, super::rounding::mul(f, flush_if(f, a), flush_if(f, b)))) })),
    row!("fma .{rn|rz|rm|rp} .ftz? .f32x2", "w=w,w,w", Float, op!(|f, a: u64, b: u64, c: u64| -> u64 { pair(a, b, c, |a, b, c| finish(f, fma(f, flush_if(f, a), flush_if(f, b), flush_if(f, c)))) })),
    row!("add .{u16x2|s16x2}", "n=n,n", Integer, op!(|_, a: u32, b: u32| -> u32 { halves(a, b, |a, b| a.wrapping_add(b)) })),
    row!("min .u16x2", "n=n,n", Integer, op!(|_, a: u32, b: u32| -> u32 { halves(a, b, u16::min) })),
    row!("max .u16x2", "n=n,n", Integer, op!(|_, a: u32, b: u32| -> u32 { halves(a, b, u16::max) })),
    row!("min .relu? .s16x2", "n=n,n", Integer, op!(|f, a: u32, b: u32| -> u32 { halves(a, b, |a, b| relu(f, (a as i16).min(b as i16))) })),
    row!("max .relu? .s16x2", "n=n,n", Integer, op!(|f, a: u32, b: u32| -> u32 { halves(a, b, |a, b| relu(f, (a as i16).max(b as i16))) })),
];

#[inline(always)]
fn pair(a: u64, b: u64, c: u64, f: impl Fn(f32, f32, f32) -> f32) -> u64 {
    let low = f(f32::from_bits(a as u32), f32::from_bits(b as u32), f32::from_bits(c as u32));
    let high = f(
        f32::from_bits((a >> 32) as u32),
        f32::from_bits((b >> 32) as u32),
        f32::from_bits((c >> 32) as u32),
    );
    u64::from(canonical(high)) << 32 | u64::from(canonical(low))
}

#[inline(always)]
fn canonical(x: f32) -> u32 {
    if x.is_nan() { 0x7fff_ffff } else { x.to_bits() }
}

#[inline(always)]
fn halves(a: u32, b: u32, f: impl Fn(u16, u16) -> u16) -> u32 {
    u32::from(f((a >> 16) as u16, (b >> 16) as u16)) << 16 | u32::from(f(a as u16, b as u16))
}

#[inline(always)]
fn relu(flags: u32, x: i16) -> u16 {
    (if flags & flag::RELU != 0 { x.max(0) } else { x }) as u16
}
