//! Conversions that are given random bits, and `cvt.pack` (PTX ISA 9.7.9.21-22).
//!
//! The random bits are added to what rounding cuts off, and a carry moves the magnitude away from
//! zero. Two 16-bit values come in one register; which operand takes which bits:
//!
//! ```text
//! rbits                 31……24  23……16  15……8  7……0
//! f16x2    a, b         - - -a aaaaaaaa  - - -b bbbbbbbb     13 bits each
//! bf16x2   a, b         aaaaaaa aaaaaaa  bbbbbb bbbbbbb      16 bits each
//! e4m3x4 … a, b, e, f   a and b take the upper 16, e and f the lower
//! e2m1x4   a, b, e, f   a and b take 31…24 and 15…8, e and f 23…16 and 7…0
//! ```
//!
//! Not documented, so a choice: for `e2m1x4`, where two operands have two bytes in common, the one
//! named first takes the byte of the upper half.

use formats::{bf16, e2m1, e2m3, e3m2, e4m3, e5m2, f16};

use super::{Kind, Row, flag, row};
use crate::exec::{Core, Flow, once, rare};
use crate::program::Inst;

/// Four floats to four codes in one register, the first operand in the highest bits.
macro_rules! four {
    ($name:literal, $bits:literal, |$x:ident, $random:ident, $index:ident| $body:expr) => {
        row!(
            concat!("cvt .rs .relu? .satfinite .", $name, " .f32"),
            Convert,
            Kind::Four(once!(|core, inst| four(core, inst, $bits, |$x, $random, $index| {
                u32::from($body)
            })))
        )
    };
}

#[rustfmt::skip]
pub const ROWS: &[Row] = &[
    row!("cvt .rs .relu? .satfinite? .f16x2 .f32", "n=n,n,n", Convert, rare!(|f, a: f32, b: f32, random: u32| -> u32 {
        half(f, a, (random >> 16) as u16) << 16 | half(f, b, random as u16)
    })),
    row!("cvt .rs .relu? .satfinite? .bf16x2 .f32", "n=n,n,n", Convert, rare!(|f, a: f32, b: f32, random: u32| -> u32 {
        brain(f, a, (random >> 16) as u16) << 16 | brain(f, b, random as u16)
    })),
    four!("e4m3x4", 8, |x, random, index| e4m3::encode_stochastic(x, halves(random, index))),
    four!("e5m2x4", 8, |x, random, index| e5m2::encode_stochastic(x, halves(random, index))),
    four!("e2m3x4", 8, |x, random, index| e2m3::encode_stochastic(x, halves(random, index))),
    four!("e3m2x4", 8, |x, random, index| e3m2::encode_stochastic(x, halves(random, index))),
    four!("e2m1x4", 4, |x, random, index| e2m1::encode_stochastic(x, (random >> [24, 8, 16, 0][index]) as u8)),
    row!("cvt .pack .sat .u16 .s32", "n=n,n", Convert, rare!(|_, a: i32, b: i32| -> u32 { packed(a, b, 0, 16, false) })),
    row!("cvt .pack .sat .s16 .s32", "n=n,n", Convert, rare!(|_, a: i32, b: i32| -> u32 { packed(a, b, 0, 16, true) })),
    row!("cvt .pack .sat .u8 .s32 .b32", "n=n,n,n", Convert, rare!(|_, a: i32, b: i32, c: u32| -> u32 { packed(a, b, c, 8, false) })),
    row!("cvt .pack .sat .s8 .s32 .b32", "n=n,n,n", Convert, rare!(|_, a: i32, b: i32, c: u32| -> u32 { packed(a, b, c, 8, true) })),
    row!("cvt .pack .sat .u4 .s32 .b32", "n=n,n,n", Convert, rare!(|_, a: i32, b: i32, c: u32| -> u32 { packed(a, b, c, 4, false) })),
    row!("cvt .pack .sat .s4 .s32 .b32", "n=n,n,n", Convert, rare!(|_, a: i32, b: i32, c: u32| -> u32 { packed(a, b, c, 4, true) })),
    row!("cvt .pack .sat .u2 .s32 .b32", "n=n,n,n", Convert, rare!(|_, a: i32, b: i32, c: u32| -> u32 { packed(a, b, c, 2, false) })),
    row!("cvt .pack .sat .s2 .s32 .b32", "n=n,n,n", Convert, rare!(|_, a: i32, b: i32, c: u32| -> u32 { packed(a, b, c, 2, true) })),
];

/// `.relu` before the conversion: rounding does not change a sign.
fn positive(flags: u32, x: f32) -> f32 {
    if flags & flag::RELU != 0 && x <= 0.0 { 0.0 } else { x }
}

fn half(flags: u32, x: f32, random: u16) -> u32 {
    let code = f16::encode_stochastic(positive(flags, x), random);
    u32::from(if flags & flag::SATFINITE != 0 { f16::saturate_finite(code) } else { code })
}

fn brain(flags: u32, x: f32, random: u16) -> u32 {
    let code = bf16::encode_stochastic(positive(flags, x), random);
    u32::from(if flags & flag::SATFINITE != 0 { bf16::saturate_finite(code) } else { code })
}

/// The random bits of the operand with this index.
fn halves(random: u32, index: usize) -> u16 {
    (random >> if index < 2 { 16 } else { 0 }) as u16
}

/// The four operands stand in the list, the random bits in `a`.
///
/// # Safety
/// See [`crate::exec::Handler`].
unsafe fn four(
    core: &mut Core,
    inst: &Inst,
    bits: u32,
    encode: impl Fn(f32, u32, usize) -> u32,
) -> Flow {
    // SAFETY: lowering keeps slots within the file, and gives the list four.
    unsafe {
        let random = core.read::<u32>(inst.a);
        let mut out = [0u32; 32];
        for index in 0..4 {
            let lanes = core.read::<f32>(core.list(inst)[index]);
            for (l, codes) in out.iter_mut().enumerate() {
                let code = encode(positive(inst.flags, lanes[l]), random[l], index);
                *codes = *codes << bits | code;
            }
        }
        core.write(inst.dst, &out);
    }
    Flow::Next
}

/// `cvt.pack`: `c`, then `a`, then `b`, each clamped to `size` bits, from the top down.
fn packed(a: i32, b: i32, c: u32, size: u32, signed: bool) -> u32 {
    let least = if signed { -(1i64 << (size - 1)) } else { 0 };
    let most = least + (1i64 << size) - 1;
    let field = |x: i32| i64::from(x).clamp(least, most) as u32 & ((1 << size) - 1);
    let rest = if size == 16 { 0 } else { c << (2 * size) };
    rest | field(a) << size | field(b)
}
