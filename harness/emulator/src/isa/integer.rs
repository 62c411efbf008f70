//! Integer arithmetic, logic, shifts and bit fields (PTX ISA 9.7.1, 9.7.2, 9.7.8).
//!
//! A 16-bit register is a lane whose upper half is zero; every form that fills one keeps it so.

use super::{Row, row};
use crate::exec::{op, rare};

/// A 16-bit value as a signed number.
#[inline(always)]
fn s16(x: u32) -> i32 {
    i32::from(x as u16 as i16)
}

#[inline(always)]
fn u16_of(x: i32) -> u32 {
    u32::from(x as u16)
}

/// Sign of lane bits, in two's complement.
#[inline(always)]
fn s24(x: u32) -> i32 {
    (x << 8) as i32 >> 8
}

/// Bits 47 to 16 of a product of 24 bits.
#[inline(always)]
fn high24(a: u32, b: u32) -> i32 {
    (i64::from(s24(a)) * i64::from(s24(b)) >> 16) as i32
}

#[rustfmt::skip]
pub const ROWS: &[Row] = &[
    row!("add .{u32|s32|b32}", "n=n,n", Integer, op!(hot |_, a: u32, b: u32| -> u32 { a.wrapping_add(b) })),
    row!("add .sat .s32", "n=n,n", Integer, op!(|_, a: i32, b: i32| -> i32 { a.saturating_add(b) })),
    row!("add .{u64|s64}", "w=w,w", Integer, op!(hot |_, a: u64, b: u64| -> u64 { a.wrapping_add(b) })),
    row!("add .{u16|s16}", "h=h,h", Integer, op!(|_, a: u32, b: u32| -> u32 { a.wrapping_add(b) & 0xffff })),
    row!("sub .{u32|s32}", "n=n,n", Integer, op!(hot |_, a: u32, b: u32| -> u32 { a.wrapping_sub(b) })),
    row!("sub .sat .s32", "n=n,n", Integer, op!(|_, a: i32, b: i32| -> i32 { a.saturating_sub(b) })),
    row!("sub .{u64|s64}", "w=w,w", Integer, op!(|_, a: u64, b: u64| -> u64 { a.wrapping_sub(b) })),
    row!("sub .{u16|s16}", "h=h,h", Integer, op!(|_, a: u32, b: u32| -> u32 { a.wrapping_sub(b) & 0xffff })),
    row!("mul .lo .{u32|s32}", "n=n,n", Integer, op!(hot |_, a: u32, b: u32| -> u32 { a.wrapping_mul(b) })),
    row!("mul .lo .{u64|s64}", "w=w,w", Integer, op!(|_, a: u64, b: u64| -> u64 { a.wrapping_mul(b) })),
    row!("mul .lo .{u16|s16}", "h=h,h", Integer, op!(|_, a: u32, b: u32| -> u32 { a.wrapping_mul(b) & 0xffff })),
    row!("mul .hi .u32", "n=n,n", Integer, op!(|_, a: u32, b: u32| -> u32 { (u64::from(a) * u64::from(b) >> 32) as u32 })),
    row!("mul .hi .s32", "n=n,n", Integer, op!(|_, a: i32, b: i32| -> i32 { (i64::from(a) * i64::from(b) >> 32) as i32 })),
    row!("mul .hi .u64", "w=w,w", Integer, rare!(|_, a: u64, b: u64| -> u64 { (u128::from(a) * u128::from(b) >> 64) as u64 })),
    row!("mul .hi .s64", "w=w,w", Integer, rare!(|_, a: i64, b: i64| -> i64 { (i128::from(a) * i128::from(b) >> 64) as i64 })),
    row!("mul .hi .u16", "h=h,h", Integer, op!(|_, a: u32, b: u32| -> u32 { a * b >> 16 })),
    row!("mul .hi .s16", "h=h,h", Integer, op!(|_, a: u32, b: u32| -> u32 { u16_of(s16(a) * s16(b) >> 16) })),
    row!("mul .wide .u32", "w=n,n", Integer, op!(hot |_, a: u32, b: u32| -> u64 { u64::from(a) * u64::from(b) })),
    row!("mul .wide .s32", "w=n,n", Integer, op!(hot |_, a: i32, b: i32| -> i64 { i64::from(a) * i64::from(b) })),
    row!("mul .wide .u16", "n=h,h", Integer, op!(|_, a: u32, b: u32| -> u32 { a.wrapping_mul(b) })),
    row!("mul .wide .s16", "n=h,h", Integer, op!(|_, a: u32, b: u32| -> i32 { s16(a) * s16(b) })),
    row!("mad .lo .{u32|s32}", "n=n,n,n", Integer, op!(hot |_, a: u32, b: u32, c: u32| -> u32 { a.wrapping_mul(b).wrapping_add(c) })),
    row!("mad .lo .{u64|s64}", "w=w,w,w", Integer, op!(|_, a: u64, b: u64, c: u64| -> u64 { a.wrapping_mul(b).wrapping_add(c) })),
    row!("mad .lo .{u16|s16}", "h=h,h,h", Integer, op!(|_, a: u32, b: u32, c: u32| -> u32 { a.wrapping_mul(b).wrapping_add(c) & 0xffff })),
    row!("mad .hi .u32", "n=n,n,n", Integer, rare!(|_, a: u32, b: u32, c: u32| -> u32 { ((u64::from(a) * u64::from(b) >> 32) as u32).wrapping_add(c) })),
    row!("mad .hi .u16", "h=h,h,h", Integer, rare!(|_, a: u32, b: u32, c: u32| -> u32 { (a * b >> 16).wrapping_add(c) & 0xffff })),
    row!("mad .hi .s16", "h=h,h,h", Integer, rare!(|_, a: u32, b: u32, c: u32| -> u32 { u16_of((s16(a) * s16(b) >> 16).wrapping_add(c as i32)) })),
    row!("mad .hi .s32", "n=n,n,n", Integer, rare!(|_, a: i32, b: i32, c: i32| -> i32 { ((i64::from(a) * i64::from(b) >> 32) as i32).wrapping_add(c) })),
    row!("mad .hi .sat .s32", "n=n,n,n", Integer, rare!(|_, a: i32, b: i32, c: i32| -> i32 { ((i64::from(a) * i64::from(b) >> 32) as i32).saturating_add(c) })),
    row!("mad .hi .u64", "w=w,w,w", Integer, rare!(|_, a: u64, b: u64, c: u64| -> u64 { ((u128::from(a) * u128::from(b) >> 64) as u64).wrapping_add(c) })),
    row!("mad .hi .s64", "w=w,w,w", Integer, rare!(|_, a: i64, b: i64, c: i64| -> i64 { ((i128::from(a) * i128::from(b) >> 64) as i64).wrapping_add(c) })),
    row!("mad .wide .u32", "w=n,n,w", Integer, op!(|_, a: u32, b: u32, c: u64| -> u64 { (u64::from(a) * u64::from(b)).wrapping_add(c) })),
    row!("mad .wide .s32", "w=n,n,w", Integer, op!(hot |_, a: i32, b: i32, c: i64| -> i64 { (i64::from(a) * i64::from(b)).wrapping_add(c) })),
    row!("mad .wide .u16", "n=h,h,n", Integer, op!(|_, a: u32, b: u32, c: u32| -> u32 { a.wrapping_mul(b).wrapping_add(c) })),
    row!("mad .wide .s16", "n=h,h,n", Integer, op!(|_, a: u32, b: u32, c: i32| -> i32 { (s16(a) * s16(b)).wrapping_add(c) })),
    row!("mul24 .lo .u32", "n=n,n", Integer, rare!(|_, a: u32, b: u32| -> u32 { (a & 0xff_ffff).wrapping_mul(b & 0xff_ffff) })),
    row!("mul24 .lo .s32", "n=n,n", Integer, rare!(|_, a: u32, b: u32| -> i32 { s24(a).wrapping_mul(s24(b)) })),
    // The upper form gives bits 47 to 16 of the product (9.7.1.5-6).
    row!("mul24 .hi .u32", "n=n,n", Integer, rare!(|_, a: u32, b: u32| -> u32 { (u64::from(a & 0xff_ffff) * u64::from(b & 0xff_ffff) >> 16) as u32 })),
    row!("mul24 .hi .s32", "n=n,n", Integer, rare!(|_, a: u32, b: u32| -> i32 { high24(a, b) })),
    row!("mad24 .lo .u32", "n=n,n,n", Integer, rare!(|_, a: u32, b: u32, c: u32| -> u32 { (a & 0xff_ffff).wrapping_mul(b & 0xff_ffff).wrapping_add(c) })),
    row!("mad24 .lo .s32", "n=n,n,n", Integer, rare!(|_, a: u32, b: u32, c: i32| -> i32 { s24(a).wrapping_mul(s24(b)).wrapping_add(c) })),
    row!("mad24 .hi .u32", "n=n,n,n", Integer, rare!(|_, a: u32, b: u32, c: u32| -> u32 { ((u64::from(a & 0xff_ffff) * u64::from(b & 0xff_ffff) >> 16) as u32).wrapping_add(c) })),
    row!("mad24 .hi .s32", "n=n,n,n", Integer, rare!(|_, a: u32, b: u32, c: i32| -> i32 { high24(a, b).wrapping_add(c) })),
    row!("mad24 .hi .sat .s32", "n=n,n,n", Integer, rare!(|_, a: u32, b: u32, c: i32| -> i32 { high24(a, b).saturating_add(c) })),
    // Division by zero has no defined result (9.7.1.8); GPUs are said to give all ones, which was not verified.
    row!("div .u32", "n=n,n", Integer, rare!(|_, a: u32, b: u32| -> u32 { a.checked_div(b).unwrap_or(u32::MAX) })),
    row!("div .s32", "n=n,n", Integer, rare!(|_, a: i32, b: i32| -> i32 { if b == 0 { -1 } else { a.wrapping_div(b) } })),
    row!("div .u64", "w=w,w", Integer, rare!(|_, a: u64, b: u64| -> u64 { a.checked_div(b).unwrap_or(u64::MAX) })),
    row!("div .s64", "w=w,w", Integer, rare!(|_, a: i64, b: i64| -> i64 { if b == 0 { -1 } else { a.wrapping_div(b) } })),
    row!("div .u16", "h=h,h", Integer, rare!(|_, a: u32, b: u32| -> u32 { a.checked_div(b).unwrap_or(0xffff) })),
    row!("div .s16", "h=h,h", Integer, rare!(|_, a: u32, b: u32| -> u32 { if b == 0 { 0xffff } else { u16_of(s16(a).wrapping_div(s16(b))) } })),
    row!("rem .u32", "n=n,n", Integer, rare!(|_, a: u32, b: u32| -> u32 { a.checked_rem(b).unwrap_or(u32::MAX) })),
    row!("rem .s32", "n=n,n", Integer, rare!(|_, a: i32, b: i32| -> i32 { if b == 0 { -1 } else { a.wrapping_rem(b) } })),
    row!("rem .u64", "w=w,w", Integer, rare!(|_, a: u64, b: u64| -> u64 { a.checked_rem(b).unwrap_or(u64::MAX) })),
    row!("rem .s64", "w=w,w", Integer, rare!(|_, a: i64, b: i64| -> i64 { if b == 0 { -1 } else { a.wrapping_rem(b) } })),
    row!("rem .u16", "h=h,h", Integer, rare!(|_, a: u32, b: u32| -> u32 { a.checked_rem(b).unwrap_or(0xffff) })),
    row!("rem .s16", "h=h,h", Integer, rare!(|_, a: u32, b: u32| -> u32 { if b == 0 { 0xffff } else { u16_of(s16(a).wrapping_rem(s16(b))) } })),
    row!("abs .s32", "n=n", Integer, op!(|_, a: i32| -> i32 { a.wrapping_abs() })),
    row!("abs .s64", "w=w", Integer, op!(|_, a: i64| -> i64 { a.wrapping_abs() })),
    row!("abs .s16", "h=h", Integer, rare!(|_, a: u32| -> u32 { u16_of(s16(a).wrapping_abs()) })),
    row!("neg .s32", "n=n", Integer, op!(|_, a: i32| -> i32 { a.wrapping_neg() })),
    row!("neg .s64", "w=w", Integer, op!(|_, a: i64| -> i64 { a.wrapping_neg() })),
    row!("neg .s16", "h=h", Integer, op!(|_, a: u32| -> u32 { u16_of(-s16(a)) })),
    row!("min .u32", "n=n,n", Integer, op!(hot |_, a: u32, b: u32| -> u32 { a.min(b) })),
    row!("min .relu? .s32", "n=n,n", Integer, op!(|f, a: i32, b: i32| -> i32 { relu(f, a.min(b)) })),
    row!("min .u64", "w=w,w", Integer, op!(|_, a: u64, b: u64| -> u64 { a.min(b) })),
    row!("min .s64", "w=w,w", Integer, op!(|_, a: i64, b: i64| -> i64 { a.min(b) })),
    row!("min .u16", "h=h,h", Integer, op!(|_, a: u32, b: u32| -> u32 { a.min(b) })),
    row!("min .s16", "h=h,h", Integer, op!(|_, a: u32, b: u32| -> u32 { u16_of(s16(a).min(s16(b))) })),
    row!("max .u32", "n=n,n", Integer, op!(hot |_, a: u32, b: u32| -> u32 { a.max(b) })),
    row!("max .relu? .s32", "n=n,n", Integer, op!(|f, a: i32, b: i32| -> i32 { relu(f, a.max(b)) })),
    row!("max .u64", "w=w,w", Integer, op!(|_, a: u64, b: u64| -> u64 { a.max(b) })),
    row!("max .s64", "w=w,w", Integer, op!(|_, a: i64, b: i64| -> i64 { a.max(b) })),
    row!("max .u16", "h=h,h", Integer, op!(|_, a: u32, b: u32| -> u32 { a.max(b) })),
    row!("max .s16", "h=h,h", Integer, op!(|_, a: u32, b: u32| -> u32 { u16_of(s16(a).max(s16(b))) })),
    row!("sad .u32", "n=n,n,n", Integer, rare!(|_, a: u32, b: u32, c: u32| -> u32 { a.abs_diff(b).wrapping_add(c) })),
    row!("sad .s32", "n=n,n,n", Integer, rare!(|_, a: i32, b: i32, c: u32| -> u32 { a.abs_diff(b).wrapping_add(c) })),
    row!("sad .u64", "w=w,w,w", Integer, rare!(|_, a: u64, b: u64, c: u64| -> u64 { a.abs_diff(b).wrapping_add(c) })),
    row!("sad .s64", "w=w,w,w", Integer, rare!(|_, a: i64, b: i64, c: u64| -> u64 { a.abs_diff(b).wrapping_add(c) })),
    row!("sad .u16", "h=h,h,h", Integer, rare!(|_, a: u32, b: u32, c: u32| -> u32 { a.abs_diff(b).wrapping_add(c) & 0xffff })),
    row!("sad .s16", "h=h,h,h", Integer, rare!(|_, a: u32, b: u32, c: u32| -> u32 { s16(a).abs_diff(s16(b)).wrapping_add(c) & 0xffff })),
    row!("popc .b32", "n=n", Integer, op!(|_, a: u32| -> u32 { a.count_ones() })),
    row!("popc .b64", "n=w", Integer, rare!(|_, a: u64| -> u32 { a.count_ones() })),
    row!("clz .b32", "n=n", Integer, op!(|_, a: u32| -> u32 { a.leading_zeros() })),
    row!("clz .b64", "n=w", Integer, rare!(|_, a: u64| -> u32 { a.leading_zeros() })),
    row!("brev .b32", "n=n", Integer, rare!(|_, a: u32| -> u32 { a.reverse_bits() })),
    row!("brev .b64", "w=w", Integer, rare!(|_, a: u64| -> u64 { a.reverse_bits() })),
    row!("bfind .shiftamt? .u32", "n=n", Integer, rare!(|f, a: u32| -> u32 { top_bit(f, a, 32) })),
    row!("bfind .shiftamt? .s32", "n=n", Integer, rare!(|f, a: i32| -> u32 { top_bit(f, (a ^ a >> 31) as u32, 32) })),
    row!("bfind .shiftamt? .u64", "n=w", Integer, rare!(|f, a: u64| -> u32 { top_bit64(f, a) })),
    row!("bfind .shiftamt? .s64", "n=w", Integer, rare!(|f, a: i64| -> u32 { top_bit64(f, (a ^ a >> 63) as u64) })),
    row!("bfe .u32", "n=n,n,n", Integer, rare!(|_, a: u32, b: u32, c: u32| -> u32 { field(u64::from(a), b, c, 32, false) as u32 })),
    row!("bfe .s32", "n=n,n,n", Integer, rare!(|_, a: i32, b: u32, c: u32| -> u32 { field(i64::from(a) as u64, b, c, 32, true) as u32 })),
    row!("bfe .u64", "w=w,n,n", Integer, rare!(|_, a: u64, b: u32, c: u32| -> u64 { field(a, b, c, 64, false) })),
    row!("bfe .s64", "w=w,n,n", Integer, rare!(|_, a: u64, b: u32, c: u32| -> u64 { field(a, b, c, 64, true) })),
    row!("bfi .b32", "n=n,n,n,n", Integer, rare!(|_, a: u32, b: u32, c: u32, d: u32| -> u32 { inserted(u64::from(a), u64::from(b), c, d, 32) as u32 })),
    row!("bfi .b64", "w=w,w,n,n", Integer, rare!(|_, a: u64, b: u64, c: u32, d: u32| -> u64 { inserted(a, b, c, d, 64) })),
    row!("fns .b32", "n=n,n,n", Integer, rare!(|_, a: u32, b: u32, c: i32| -> u32 { nth_set(a, b, c) })),
    row!("szext .clamp .u32", "n=n,n", Integer, rare!(|_, a: u32, b: u32| -> u32 { a & mask(0, b.min(32)) })),
    row!("szext .wrap .u32", "n=n,n", Integer, rare!(|_, a: u32, b: u32| -> u32 { a & mask(0, b & 31) })),
    row!("szext .clamp .s32", "n=n,n", Integer, rare!(|_, a: u32, b: u32| -> u32 { sign_extended(a, b.min(32)) })),
    row!("szext .wrap .s32", "n=n,n", Integer, rare!(|_, a: u32, b: u32| -> u32 { sign_extended(a, b & 31) })),
    row!("bmsk .clamp .b32", "n=n,n", Integer, rare!(|_, a: u32, b: u32| -> u32 { mask(a.min(32), b.min(32)) })),
    row!("bmsk .wrap .b32", "n=n,n", Integer, rare!(|_, a: u32, b: u32| -> u32 { mask(a & 31, b & 31) })),
    row!("and .{b32|u32|s32}", "n=n,n", Integer, op!(hot |_, a: u32, b: u32| -> u32 { a & b })),
    row!("and .b64", "w=w,w", Integer, op!(|_, a: u64, b: u64| -> u64 { a & b })),
    row!("and .b16", "h=h,h", Integer, op!(|_, a: u32, b: u32| -> u32 { a & b })),
    row!("and .pred", "p=p,p", Compare, op!(hot |_, a: u32, b: u32| -> u32 { a & b })),
    row!("or .b32", "n=n,n", Integer, op!(hot |_, a: u32, b: u32| -> u32 { a | b })),
    row!("or .b64", "w=w,w", Integer, op!(|_, a: u64, b: u64| -> u64 { a | b })),
    row!("or .b16", "h=h,h", Integer, op!(|_, a: u32, b: u32| -> u32 { a | b })),
    row!("or .pred", "p=p,p", Compare, op!(hot |_, a: u32, b: u32| -> u32 { a | b })),
    row!("xor .b32", "n=n,n", Integer, op!(hot |_, a: u32, b: u32| -> u32 { a ^ b })),
    row!("xor .b64", "w=w,w", Integer, op!(|_, a: u64, b: u64| -> u64 { a ^ b })),
    row!("xor .b16", "h=h,h", Integer, op!(|_, a: u32, b: u32| -> u32 { a ^ b })),
    row!("xor .pred", "p=p,p", Compare, op!(|_, a: u32, b: u32| -> u32 { a ^ b })),
    row!("not .b32", "n=n", Integer, op!(|_, a: u32| -> u32 { !a })),
    row!("not .b64", "w=w", Integer, op!(|_, a: u64| -> u64 { !a })),
    row!("not .b16", "h=h", Integer, op!(|_, a: u32| -> u32 { !a & 0xffff })),
    row!("not .pred", "p=p", Compare, op!(|_, a: u32| -> u32 { !a })),
    row!("cnot .b32", "n=n", Integer, rare!(|_, a: u32| -> u32 { u32::from(a == 0) })),
    row!("cnot .b16", "h=h", Integer, rare!(|_, a: u32| -> u32 { u32::from(a == 0) })),
    row!("cnot .b64", "w=w", Integer, rare!(|_, a: u64| -> u64 { u64::from(a == 0) })),
    // Shift amounts beyond the width give 0, or the sign (9.7.8.8-9).
    row!("shl .b32", "n=n,n", Integer, op!(hot |_, a: u32, b: u32| -> u32 { if b > 31 { 0 } else { a << b } })),
    row!("shl .b64", "w=w,n", Integer, op!(|_, a: u64, b: u32| -> u64 { if b > 63 { 0 } else { a << b } })),
    row!("shl .b16", "h=h,n", Integer, op!(|_, a: u32, b: u32| -> u32 { if b > 15 { 0 } else { a << b & 0xffff } })),
    row!("shr .{u32|b32}", "n=n,n", Integer, op!(hot |_, a: u32, b: u32| -> u32 { if b > 31 { 0 } else { a >> b } })),
    row!("shr .s32", "n=n,n", Integer, op!(hot |_, a: i32, b: u32| -> i32 { a >> b.min(31) })),
    row!("shr .{u64|b64}", "w=w,n", Integer, op!(|_, a: u64, b: u32| -> u64 { if b > 63 { 0 } else { a >> b } })),
    row!("shr .s64", "w=w,n", Integer, op!(|_, a: i64, b: u32| -> i64 { a >> b.min(63) })),
    row!("shr .{u16|b16}", "h=h,n", Integer, op!(|_, a: u32, b: u32| -> u32 { if b > 15 { 0 } else { a >> b } })),
    row!("shr .s16", "h=h,n", Integer, op!(|_, a: u32, b: u32| -> u32 { u16_of(s16(a) >> b.min(15)) })),
    row!("shf .l .wrap .b32", "n=n,n,n", Integer, op!(|_, a: u32, b: u32, c: u32| -> u32 { funnel(a, b, 32 - (c & 31)) })),
    row!("shf .r .wrap .b32", "n=n,n,n", Integer, op!(|_, a: u32, b: u32, c: u32| -> u32 { funnel(a, b, c & 31) })),
    row!("shf .l .clamp .b32", "n=n,n,n", Integer, op!(|_, a: u32, b: u32, c: u32| -> u32 { funnel(a, b, 32 - c.min(32)) })),
    row!("shf .r .clamp .b32", "n=n,n,n", Integer, op!(|_, a: u32, b: u32, c: u32| -> u32 { funnel(a, b, c.min(32)) })),
    // The table of the three operands' bits stands in the flags.
    row!("lop3 .{or|and}? .b32", Integer, super::Kind::Lookup(op!(|table, a: u32, b: u32, c: u32| -> u32 { looked_up(table, a, b, c) }))),
    row!("dp2a .{lo|hi} .u32 .u32", "n=n,n,n", Integer, rare!(|f, a: u32, b: u32, c: u32| -> u32 { dot2(f, a, b, c, false, false) })),
    row!("dp2a .{lo|hi} .s32 .s32", "n=n,n,n", Integer, rare!(|f, a: u32, b: u32, c: u32| -> u32 { dot2(f, a, b, c, true, true) })),
    row!("dp2a .{lo|hi} .u32 .s32", "n=n,n,n", Integer, rare!(|f, a: u32, b: u32, c: u32| -> u32 { dot2(f, a, b, c, false, true) })),
    row!("dp2a .{lo|hi} .s32 .u32", "n=n,n,n", Integer, rare!(|f, a: u32, b: u32, c: u32| -> u32 { dot2(f, a, b, c, true, false) })),
];

#[inline(always)]
fn relu(flags: u32, x: i32) -> i32 {
    if flags & super::flag::RELU != 0 { x.max(0) } else { x }
}

#[inline(always)]
fn top_bit(flags: u32, a: u32, width: u32) -> u32 {
    if a == 0 {
        return u32::MAX;
    }
    let zeros = a.leading_zeros();
    if flags & super::flag::SHIFTAMT != 0 { zeros } else { width - 1 - zeros }
}

#[inline(always)]
fn top_bit64(flags: u32, a: u64) -> u32 {
    if a == 0 {
        return u32::MAX;
    }
    let zeros = a.leading_zeros();
    if flags & super::flag::SHIFTAMT != 0 { zeros } else { 63 - zeros }
}

/// `bfe` (9.7.1.18): `len` bits of `a` from `pos` up; the sign is that of the last bit taken.
#[inline(always)]
fn field(a: u64, pos: u32, len: u32, width: u32, signed: bool) -> u64 {
    let (pos, len) = (pos & 0xff, len & 0xff);
    if len == 0 {
        return 0;
    }
    let last = (pos + len - 1).min(width - 1);
    let sign = signed && a >> last & 1 == 1;
    let taken = if pos > 63 { 0 } else { a >> pos };
    let bits = if pos >= width { 0 } else { len.min(width - pos) };
    let low = if bits == 0 { 0 } else { u64::MAX >> (64 - bits) };
    (taken & low) | if sign { !low } else { 0 }
}

/// `bfi` (9.7.1.20): the low `len` bits of `a` over those of `b` from `pos` up.
fn inserted(a: u64, b: u64, pos: u32, len: u32, width: u32) -> u64 {
    let (pos, len) = (pos & 0xff, len & 0xff);
    if len == 0 || pos >= width {
        return b;
    }
    let field = (u64::MAX >> (64 - len.min(width - pos))) << pos;
    (b & !field) | (a << pos & field)
}

/// `fns` (9.7.1.17): where the `n`-th set bit is, counted upwards from `base`, or downwards if `n` is
/// negative; 0 asks for the bit at `base` itself.
fn nth_set(mask: u32, base: u32, n: i32) -> u32 {
    let up = (base..32).take(if n == 0 { 1 } else { 32 });
    let set = |bit: &u32| mask >> (bit & 31) & 1 == 1;
    let rest = n.unsigned_abs().saturating_sub(1) as usize;
    let found = if n < 0 {
        (0..=base.min(31)).rev().filter(set).nth(rest)
    } else {
        up.filter(set).nth(rest)
    };
    found.unwrap_or(u32::MAX)
}

/// The low `bits` of `a` as a signed number.
fn sign_extended(a: u32, bits: u32) -> u32 {
    let unused = 32 - bits;
    if bits == 0 { 0 } else { ((a << unused) as i32 >> unused) as u32 }
}

/// `dp2a` (9.7.1.24): two halves of `a` times two bytes of `b`, the upper ones for `.hi`.
fn dot2(flags: u32, a: u32, b: u32, c: u32, a_signed: bool, b_signed: bool) -> u32 {
    let bytes = if flags & super::flag::HI != 0 { b >> 16 } else { b };
    (0..2).fold(c, |sum, k| {
        let x = a >> (16 * k) & 0xffff;
        let y = bytes >> (8 * k) & 0xff;
        let x = if a_signed { s16(x) } else { x as i32 };
        let y = if b_signed { i32::from(y as u8 as i8) } else { y as i32 };
        sum.wrapping_add(x.wrapping_mul(y) as u32)
    })
}

/// `lop3` (9.7.8.6): bit `4a + 2b + c` of the table, for each bit of the operands; as choices, which
/// the table's bits, the same for all lanes, turn into constants.
#[inline(always)]
fn looked_up(table: u32, a: u32, b: u32, c: u32) -> u32 {
    let all = |bit: u32| 0u32.wrapping_sub(table >> bit & 1);
    let choose = |by: u32, yes: u32, no: u32| (by & yes) | (!by & no);
    let pair = |bit: u32| choose(c, all(bit + 1), all(bit));
    choose(a, choose(b, pair(6), pair(4)), choose(b, pair(2), pair(0)))
}

/// `bmsk` (9.7.1.22): `b` ones from bit `a` up.
#[inline(always)]
fn mask(a: u32, b: u32) -> u32 {
    ((u64::MAX >> 1 >> (63 - u64::from(b))) << a) as u32
}

/// The 64 bits `b:a`, shifted right by up to 32.
#[inline(always)]
fn funnel(a: u32, b: u32, right: u32) -> u32 {
    ((u64::from(b) << 32 | u64::from(a)) >> right) as u32
}
