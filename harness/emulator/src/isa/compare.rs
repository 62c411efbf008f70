//! Comparisons and selections (PTX ISA 9.7.6-7).
//!
//! A predicate is a lane of all ones or of zero, so a selection is two `and`s and an `or`.

use super::float::ones;
use super::rounding::flush_if;
use super::{Class, Kind, Row, row};
use crate::exec::{op, rare};

/// `setp` and `set` of one comparison, for one kind of operand.
macro_rules! compare {
    ($form:expr, $set:expr, $widths:literal, |$f:pat_param, $a:ident: $t:ty, $b:ident| $body:expr) => {
        [
            Row {
                form: $form,
                class: Class::Compare,
                kind: Kind::Compare($widths, op!(|$f, $a: $t, $b: $t| -> u32 { ones($body) })),
            },
            Row {
                form: $set,
                class: Class::Compare,
                kind: Kind::Set($widths, rare!(|$f, $a: $t, $b: $t| -> u32 { ones($body) })),
            },
        ]
    };
}

/// The forms of one comparison: `setp.CMP{.ftz}.TYPE` and `set.CMP{.ftz}.DTYPE.TYPE`.
macro_rules! comparisons {
    ($name:ident: $($cmp:literal, $types:literal, $widths:literal, |$f:pat_param, $a:ident: $t:ty, $b:ident| $body:expr;)*) => {
        const $name: &[[Row; 2]] = &[ $( compare!(
            concat!("setp .", $cmp, " .{and|or|xor}? .ftz? .", $types),
            concat!("set .", $cmp, " .{and|or|xor}? .ftz? .{u32|s32|f32} .", $types),
            $widths, |$f, $a: $t, $b| $body
        ) ),* ];
    };
}

comparisons! { LIST:
    "eq", "{u32|s32|b32}", "p=n,n", |_, a: u32, b| a == b;
    "ne", "{u32|s32|b32}", "p=n,n", |_, a: u32, b| a != b;
    "{lt|lo}", "u32", "p=n,n", |_, a: u32, b| a < b;
    "{le|ls}", "u32", "p=n,n", |_, a: u32, b| a <= b;
    "{gt|hi}", "u32", "p=n,n", |_, a: u32, b| a > b;
    "{ge|hs}", "u32", "p=n,n", |_, a: u32, b| a >= b;
    "lt", "s32", "p=n,n", |_, a: i32, b| a < b;
    "le", "s32", "p=n,n", |_, a: i32, b| a <= b;
    "gt", "s32", "p=n,n", |_, a: i32, b| a > b;
    "ge", "s32", "p=n,n", |_, a: i32, b| a >= b;
    "eq", "{u64|s64|b64}", "p=w,w", |_, a: u64, b| a == b;
    "ne", "{u64|s64|b64}", "p=w,w", |_, a: u64, b| a != b;
    "{lt|lo}", "u64", "p=w,w", |_, a: u64, b| a < b;
    "{le|ls}", "u64", "p=w,w", |_, a: u64, b| a <= b;
    "{gt|hi}", "u64", "p=w,w", |_, a: u64, b| a > b;
    "{ge|hs}", "u64", "p=w,w", |_, a: u64, b| a >= b;
    "lt", "s64", "p=w,w", |_, a: i64, b| a < b;
    "le", "s64", "p=w,w", |_, a: i64, b| a <= b;
    "gt", "s64", "p=w,w", |_, a: i64, b| a > b;
    "ge", "s64", "p=w,w", |_, a: i64, b| a >= b;
    "eq", "{u16|s16|b16}", "p=h,h", |_, a: u32, b| a == b;
    "ne", "{u16|s16|b16}", "p=h,h", |_, a: u32, b| a != b;
    "{lt|lo}", "u16", "p=h,h", |_, a: u32, b| a < b;
    "{le|ls}", "u16", "p=h,h", |_, a: u32, b| a <= b;
    "{gt|hi}", "u16", "p=h,h", |_, a: u32, b| a > b;
    "{ge|hs}", "u16", "p=h,h", |_, a: u32, b| a >= b;
    // Shifted up, the sign of 16 bits is the sign of 32.
    "lt", "s16", "p=h,h", |_, a: u32, b| ((a << 16) as i32) < (b << 16) as i32;
    "le", "s16", "p=h,h", |_, a: u32, b| (a << 16) as i32 <= (b << 16) as i32;
    "gt", "s16", "p=h,h", |_, a: u32, b| (a << 16) as i32 > (b << 16) as i32;
    "ge", "s16", "p=h,h", |_, a: u32, b| (a << 16) as i32 >= (b << 16) as i32;
    "eq", "f32", "p=n,n", |f, a: f32, b| flush_if(f, a) == flush_if(f, b);
    "ne", "f32", "p=n,n", |f, a: f32, b| { let (a, b) = (flush_if(f, a), flush_if(f, b)); (a < b) | (a > b) };
    "lt", "f32", "p=n,n", |f, a: f32, b| flush_if(f, a) < flush_if(f, b);
    "le", "f32", "p=n,n", |f, a: f32, b| flush_if(f, a) <= flush_if(f, b);
    "gt", "f32", "p=n,n", |f, a: f32, b| flush_if(f, a) > flush_if(f, b);
    "ge", "f32", "p=n,n", |f, a: f32, b| flush_if(f, a) >= flush_if(f, b);
    "equ", "f32", "p=n,n", |f, a: f32, b| { let (a, b) = (flush_if(f, a), flush_if(f, b)); !((a < b) | (a > b)) };
    "neu", "f32", "p=n,n", |f, a: f32, b| flush_if(f, a) != flush_if(f, b);
    "ltu", "f32", "p=n,n", |f, a: f32, b| !(flush_if(f, a) >= flush_if(f, b));
    "leu", "f32", "p=n,n", |f, a: f32, b| !(flush_if(f, a) > flush_if(f, b));
    "gtu", "f32", "p=n,n", |f, a: f32, b| !(flush_if(f, a) <= flush_if(f, b));
    "geu", "f32", "p=n,n", |f, a: f32, b| !(flush_if(f, a) < flush_if(f, b));
    "num", "f32", "p=n,n", |_, a: f32, b| !(a.is_nan() | b.is_nan());
    "nan", "f32", "p=n,n", |_, a: f32, b| a.is_nan() | b.is_nan();
    "eq", "f64", "p=w,w", |_, a: f64, b| a == b;
    "ne", "f64", "p=w,w", |_, a: f64, b| (a < b) | (a > b);
    "lt", "f64", "p=w,w", |_, a: f64, b| a < b;
    "le", "f64", "p=w,w", |_, a: f64, b| a <= b;
    "gt", "f64", "p=w,w", |_, a: f64, b| a > b;
    "ge", "f64", "p=w,w", |_, a: f64, b| a >= b;
    "equ", "f64", "p=w,w", |_, a: f64, b| !((a < b) | (a > b));
    "neu", "f64", "p=w,w", |_, a: f64, b| a != b;
    "ltu", "f64", "p=w,w", |_, a: f64, b| !(a >= b);
    "leu", "f64", "p=w,w", |_, a: f64, b| !(a > b);
    "gtu", "f64", "p=w,w", |_, a: f64, b| !(a <= b);
    "geu", "f64", "p=w,w", |_, a: f64, b| !(a < b);
    "num", "f64", "p=w,w", |_, a: f64, b| !(a.is_nan() | b.is_nan());
    "nan", "f64", "p=w,w", |_, a: f64, b| a.is_nan() | b.is_nan();
}

#[rustfmt::skip]
pub const ROWS: &[Row] = LIST.as_flattened();

#[rustfmt::skip]
pub const SELECTIONS: &[Row] = &[
    row!("selp .{b32|u32|s32|f32}", "n=n,n,p", Move, op!(|_, a: u32, b: u32, p: u32| -> u32 { (a & p) | (b & !p) })),
    row!("selp .{b16|u16|s16|f16|bf16}", "h=h,h,p", Move, op!(|_, a: u32, b: u32, p: u32| -> u32 { (a & p) | (b & !p) })),
    row!("selp .{b64|u64|s64|f64}", "w=w,w,p", Move, op!(|_, a: u64, b: u64, p: u32| -> u64 { let p = p as i32 as i64 as u64; (a & p) | (b & !p) })),
    row!("slct .{b32|u32|s32|f32} .s32", "n=n,n,n", Move, op!(|_, a: u32, b: u32, c: i32| -> u32 { if c >= 0 { a } else { b } })),
    row!("slct .ftz? .{b32|u32|s32|f32} .f32", "n=n,n,n", Move, op!(|f, a: u32, b: u32, c: f32| -> u32 { if flush_if(f, c) >= 0.0 { a } else { b } })),
    row!("slct .{b64|u64|s64|f64} .s32", "w=w,w,n", Move, op!(|_, a: u64, b: u64, c: i32| -> u64 { if c >= 0 { a } else { b } })),
];
