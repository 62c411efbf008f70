//! Tensor memory and what multiplies in it (PTX ISA 9.7.16). Operands are taken apart in
//! `lower::tcgen05`.

use super::{Kind, Row, row};
use crate::exec::{once, tcgen05};

#[rustfmt::skip]
pub const ROWS: &[Row] = &[
    row!("tcgen05 .alloc .{cta_group::1|cta_group::2} .sync .aligned .shared::cta? .b32", Other, Kind::TensorMemory(once!(tcgen05::allocate))),
    row!("tcgen05 .dealloc .{cta_group::1|cta_group::2} .sync .aligned .b32", Other, Kind::TensorMemory(once!(tcgen05::free))),
    row!("tcgen05 .relinquish_alloc_permit .{cta_group::1|cta_group::2} .sync .aligned", Other, Kind::Plain(once!(tcgen05::relinquish))),
    row!("tcgen05 .ld .sync .aligned .{32x32b|16x64b|16x128b|16x256b|16x32bx2} .{x1|x2|x4|x8|x16|x32|x64|x128} .pack::16b? .b32", Load, Kind::TensorMemory(once!(tcgen05::load))),
    row!("tcgen05 .st .sync .aligned .{32x32b|16x64b|16x128b|16x256b|16x32bx2} .{x1|x2|x4|x8|x16|x32|x64|x128} .unpack::16b? .b32", Store, Kind::TensorMemory(once!(tcgen05::store))),
    row!("tcgen05 .{wait::ld|wait::st} .sync .aligned", Other, Kind::Nothing),
    row!("tcgen05 .{fence::before_thread_sync|fence::after_thread_sync}", Other, Kind::Nothing),
];
