//! Comparisons and selections (PTX ISA 9.7.6-7).
//!
//! A predicate is a lane of all ones or of zero, so a selection is two `and`s and an `or`.

use super::float::ones;
use super::rounding::{flush, flush_if};
use super::{Class, Kind, Row, row};
use crate::exec::{op, rare};

/// The forms of one comparison, `setp.CMP.TYPE`.
macro_rules! comparisons {
    ($name:ident: $($cmp:literal, $types:literal, $widths:literal, |$a:ident: $t:ty, $b:ident| $body:expr;)*) => {
        #[rustfmt::skip]
        pub const $name: &[Row] = &[ $(
            Row {
                form: concat!("setp .", $cmp, " .{and|or|xor}? .", $types),
                class: Class::Compare,
                kind: Kind::Compare($widths, op!(|_, $a: $t, $b: $t| -> u32 { ones($body) })),
            }
        ),* ];
    };
}

/// Comparisons that flush subnormals first.
macro_rules! flushing {
    ($($cmp:literal, |$a:ident, $b:ident| $body:expr;)*) => {
        #[rustfmt::skip]
        pub const FLUSHED: &[Row] = &[ $(
            Row {
                form: concat!("setp .", $cmp, " .{and|or|xor}? .ftz .f32"),
                class: Class::Compare,
                kind: Kind::Compare("p=n,n", rare!(|_, a: f32, b: f32| -> u32 { let ($a, $b) = (flush(a), flush(b)); ones($body) })),
            }
        ),* ];
    };
}

comparisons! { ROWS:
    "eq", "{u32|s32|b32}", "p=n,n", |a: u32, b| a == b;
    "ne", "{u32|s32|b32}", "p=n,n", |a: u32, b| a != b;
    "{lt|lo}", "u32", "p=n,n", |a: u32, b| a < b;
    "{le|ls}", "u32", "p=n,n", |a: u32, b| a <= b;
    "{gt|hi}", "u32", "p=n,n", |a: u32, b| a > b;
    "{ge|hs}", "u32", "p=n,n", |a: u32, b| a >= b;
    "lt", "s32", "p=n,n", |a: i32, b| a < b;
    "le", "s32", "p=n,n", |a: i32, b| a <= b;
    "gt", "s32", "p=n,n", |a: i32, b| a > b;
    "ge", "s32", "p=n,n", |a: i32, b| a >= b;
    "eq", "{u64|s64|b64}", "p=w,w", |a: u64, b| a == b;
    "ne", "{u64|s64|b64}", "p=w,w", |a: u64, b| a != b;
    "{lt|lo}", "u64", "p=w,w", |a: u64, b| a < b;
    "{le|ls}", "u64", "p=w,w", |a: u64, b| a <= b;
    "{gt|hi}", "u64", "p=w,w", |a: u64, b| a > b;
    "{ge|hs}", "u64", "p=w,w", |a: u64, b| a >= b;
    "lt", "s64", "p=w,w", |a: i64, b| a < b;
    "le", "s64", "p=w,w", |a: i64, b| a <= b;
    "gt", "s64", "p=w,w", |a: i64, b| a > b;
    "ge", "s64", "p=w,w", |a: i64, b| a >= b;
    "eq", "{u16|s16|b16}", "p=h,h", |a: u32, b| a == b;
    "ne", "{u16|s16|b16}", "p=h,h", |a: u32, b| a != b;
    "{lt|lo}", "u16", "p=h,h", |a: u32, b| a < b;
    "{le|ls}", "u16", "p=h,h", |a: u32, b| a <= b;
    "{gt|hi}", "u16", "p=h,h", |a: u32, b| a > b;
    "{ge|hs}", "u16", "p=h,h", |a: u32, b| a >= b;
    // Shifted up, the sign of 16 bits is the sign of 32.
    "lt", "s16", "p=h,h", |a: u32, b| ((a << 16) as i32) < (b << 16) as i32;
    "le", "s16", "p=h,h", |a: u32, b| (a << 16) as i32 <= (b << 16) as i32;
    "gt", "s16", "p=h,h", |a: u32, b| (a << 16) as i32 > (b << 16) as i32;
    "ge", "s16", "p=h,h", |a: u32, b| (a << 16) as i32 >= (b << 16) as i32;
    "eq", "f32", "p=n,n", |a: f32, b| a == b;
    "ne", "f32", "p=n,n", |a: f32, b| (a < b) | (a > b);
    "lt", "f32", "p=n,n", |a: f32, b| a < b;
    "le", "f32", "p=n,n", |a: f32, b| a <= b;
    "gt", "f32", "p=n,n", |a: f32, b| a > b;
    "ge", "f32", "p=n,n", |a: f32, b| a >= b;
    "equ", "f32", "p=n,n", |a: f32, b| !((a < b) | (a > b));
    "neu", "f32", "p=n,n", |a: f32, b| a != b;
    "ltu", "f32", "p=n,n", |a: f32, b| !(a >= b);
    "leu", "f32", "p=n,n", |a: f32, b| !(a > b);
    "gtu", "f32", "p=n,n", |a: f32, b| !(a <= b);
    "geu", "f32", "p=n,n", |a: f32, b| !(a < b);
    "num", "f32", "p=n,n", |a: f32, b| !(a.is_nan() | b.is_nan());
    "nan", "f32", "p=n,n", |a: f32, b| a.is_nan() | b.is_nan();
    "eq", "f64", "p=w,w", |a: f64, b| a == b;
    "ne", "f64", "p=w,w", |a: f64, b| (a < b) | (a > b);
    "lt", "f64", "p=w,w", |a: f64, b| a < b;
    "le", "f64", "p=w,w", |a: f64, b| a <= b;
    "gt", "f64", "p=w,w", |a: f64, b| a > b;
    "ge", "f64", "p=w,w", |a: f64, b| a >= b;
    "equ", "f64", "p=w,w", |a: f64, b| !((a < b) | (a > b));
    "neu", "f64", "p=w,w", |a: f64, b| a != b;
    "ltu", "f64", "p=w,w", |a: f64, b| !(a >= b);
    "leu", "f64", "p=w,w", |a: f64, b| !(a > b);
    "gtu", "f64", "p=w,w", |a: f64, b| !(a <= b);
    "geu", "f64", "p=w,w", |a: f64, b| !(a < b);
    "num", "f64", "p=w,w", |a: f64, b| !(a.is_nan() | b.is_nan());
    "nan", "f64", "p=w,w", |a: f64, b| a.is_nan() | b.is_nan();
}

flushing! {
    "eq", |a, b| a == b;
    "ne", |a, b| (a < b) | (a > b);
    "lt", |a, b| a < b;
    "le", |a, b| a <= b;
    "gt", |a, b| a > b;
    "ge", |a, b| a >= b;
    "equ", |a, b| !((a < b) | (a > b));
    "neu", |a, b| a != b;
    "ltu", |a, b| !(a >= b);
    "leu", |a, b| !(a > b);
    "gtu", |a, b| !(a <= b);
    "geu", |a, b| !(a < b);
    "num", |a, b| !(a.is_nan() | b.is_nan());
    "nan", |a, b| a.is_nan() | b.is_nan();
}

/// Forms that lowering makes of others.
#[rustfmt::skip]
pub const DERIVED: &[Row] = &[
    row!("set .{eq|ne|lt|le|gt|ge|lo|ls|hi|hs|equ|neu|ltu|leu|gtu|geu|num|nan} .{and|or|xor}? .ftz? .{u16|s16|u32|s32|f16|bf16|f16x2|bf16x2|f32} .{b16|b32|b64|u16|u32|u64|s16|s32|s64|f16|bf16|f16x2|bf16x2|f32|f64}", Compare, Kind::Set),
    row!("setp .{eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan} .{and|or|xor}? .ftz? .{f16x2|bf16x2}", Compare, Kind::ComparePair),
];

#[rustfmt::skip]
pub const SELECTIONS: &[Row] = &[
    row!("selp .{b32|u32|s32|f32}", "n=n,n,p", Move, op!(hot |_, a: u32, b: u32, p: u32| -> u32 { (a & p) | (b & !p) })),
    row!("selp .{b16|u16|s16|f16|bf16}", "h=h,h,p", Move, op!(|_, a: u32, b: u32, p: u32| -> u32 { (a & p) | (b & !p) })),
    row!("selp .{b64|u64|s64|f64}", "w=w,w,p", Move, op!(|_, a: u64, b: u64, p: u32| -> u64 { let p = p as i32 as i64 as u64; (a & p) | (b & !p) })),
    row!("slct .{b16|u16|s16} .s32", "h=h,h,n", Move, rare!(|_, a: u32, b: u32, c: i32| -> u32 { if c >= 0 { a } else { b } })),
    row!("slct .ftz? .{b16|u16|s16} .f32", "h=h,h,n", Move, rare!(|f, a: u32, b: u32, c: f32| -> u32 { if flush_if(f, c) >= 0.0 { a } else { b } })),
    row!("slct .ftz? .{b64|u64|s64|f64} .f32", "w=w,w,n", Move, rare!(|f, a: u64, b: u64, c: f32| -> u64 { if flush_if(f, c) >= 0.0 { a } else { b } })),
    row!("slct .{b32|u32|s32|f32} .s32", "n=n,n,n", Move, op!(|_, a: u32, b: u32, c: i32| -> u32 { if c >= 0 { a } else { b } })),
    row!("slct .ftz? .{b32|u32|s32|f32} .f32", "n=n,n,n", Move, op!(|f, a: u32, b: u32, c: f32| -> u32 { if flush_if(f, c) >= 0.0 { a } else { b } })),
    row!("slct .{b64|u64|s64|f64} .s32", "w=w,w,n", Move, op!(|_, a: u64, b: u64, c: i32| -> u64 { if c >= 0 { a } else { b } })),
];
