//! Sums and products of halves in single precision (PTX ISA 9.7.5): a half is exact there, so each
//! is the `f32` instruction on converted operands.

use formats::{bf16, f16};

use super::rounding::{self, finish};
use super::{Row, row};
use crate::exec::rare;

macro_rules! mixed {
    ($name:literal, $value:expr) => {
        [
            row!(
                concat!("add .{rn|rz|rm|rp}? .sat? .f32 .", $name),
                "n=h,n",
                Float,
                rare!(|f, a: u32, b: f32| -> f32 { finish(f, rounding::add(f, $value(a), b)) })
            ),
            row!(
                concat!("sub .{rn|rz|rm|rp}? .sat? .f32 .", $name),
                "n=h,n",
                Float,
                rare!(|f, a: u32, b: f32| -> f32 { finish(f, rounding::add(f, $value(a), -b)) })
            ),
            row!(
                concat!("fma .{rn|rz|rm|rp} .sat? .f32 .", $name),
                "n=h,h,n",
                Float,
                rare!(|f, a: u32, b: u32, c: f32| -> f32 {
                    finish(f, rounding::fma(f, $value(a), $value(b), c))
                })
            ),
        ]
    };
}

const BOTH: &[[Row; 3]] = &[
    mixed!("f16", |code: u32| f16::decode(code as u16)),
    mixed!("bf16", |code: u32| bf16::decode(code as u16)),
];

pub const ROWS: &[Row] = BOTH.as_flattened();
