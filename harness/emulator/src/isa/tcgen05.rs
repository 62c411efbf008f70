//! Tensor memory and what multiplies in it (PTX ISA 9.7.16). Operands are taken apart in
//! `lower::tcgen05`.

use super::{Kind, Row, row};
use crate::exec::{once, tcgen05, thrice};

macro_rules! multiply {
    ($form:literal) => {
        row!(
            concat!("tcgen05 .mma ", $form, " .{collector::a::fill|collector::a::use|collector::a::lastuse|collector::a::discard}?"),
            Matrix,
            Kind::TensorMultiply(thrice!(
                tcgen05::multiply,
                tcgen05::multiply_wide,
                tcgen05::multiply_widest
            ))
        )
    };
}

#[rustfmt::skip]
pub const ROWS: &[Row] = &[
    row!("tcgen05 .alloc .{cta_group::1|cta_group::2} .sync .aligned .shared::cta? .b32", Other, Kind::TensorMemory(once!(tcgen05::allocate))),
    row!("tcgen05 .dealloc .{cta_group::1|cta_group::2} .sync .aligned .b32", Other, Kind::TensorMemory(once!(tcgen05::free))),
    row!("tcgen05 .relinquish_alloc_permit .{cta_group::1|cta_group::2} .sync .aligned", Other, Kind::Plain(once!(tcgen05::relinquish))),
    row!("tcgen05 .ld .sync .aligned .{32x32b|16x64b|16x128b|16x256b|16x32bx2} .{x1|x2|x4|x8|x16|x32|x64|x128} .pack::16b? .b32", Load, Kind::TensorMemory(once!(tcgen05::load))),
    row!("tcgen05 .st .sync .aligned .{32x32b|16x64b|16x128b|16x256b|16x32bx2} .{x1|x2|x4|x8|x16|x32|x64|x128} .unpack::16b? .b32", Store, Kind::TensorMemory(once!(tcgen05::store))),
    multiply!(".sp? .{cta_group::1|cta_group::2} .{kind::f16|kind::tf32|kind::f8f6f4|kind::i8}"),
    row!("tcgen05 .mma .ws .sp? .cta_group::1 .{kind::f16|kind::tf32|kind::f8f6f4|kind::i8} .{collector::b0::fill|collector::b0::use|collector::b0::lastuse|collector::b0::discard|collector::b1::fill|collector::b1::use|collector::b1::lastuse|collector::b1::discard|collector::b2::fill|collector::b2::use|collector::b2::lastuse|collector::b2::discard|collector::b3::fill|collector::b3::use|collector::b3::lastuse|collector::b3::discard}?", Matrix, Kind::TensorMultiply(thrice!(tcgen05::multiply, tcgen05::multiply_wide, tcgen05::multiply_widest))),
    multiply!(".sp? .{cta_group::1|cta_group::2} .{kind::mxf8f6f4|kind::mxf4|kind::mxf4nvf4} .block_scale .{scale_vec::1X|scale_vec::2X|scale_vec::4X|block16|block32}?"),
    row!("tcgen05 .cp .{cta_group::1|cta_group::2} .{128x256b|4x256b|128x128b|64x128b|32x128b} .{warpx2::02_13|warpx2::01_23|warpx4}? .b8x16? .{b6x16_p32|b4x16_p64}?", Other, Kind::TensorCopy(once!(tcgen05::copy))),
    row!("tcgen05 .commit .{cta_group::1|cta_group::2} .mbarrier::arrive::one .{shared::cluster|shared::cta}? .multicast::cluster? .b64", Other, Kind::TensorCommit(once!(tcgen05::commit))),
    row!("tcgen05 .{wait::ld|wait::st} .sync .aligned", Other, Kind::Nothing),
    row!("tcgen05 .{fence::before_thread_sync|fence::after_thread_sync}", Other, Kind::Nothing),
];
