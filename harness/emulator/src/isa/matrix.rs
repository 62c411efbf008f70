//! Matrix instructions (PTX ISA 9.7.14). What a form multiplies is read in `lower::matrix`.

use super::{Kind, Row, row};
use crate::exec::{matrix, once, thrice};

macro_rules! mma {
    ($form:literal) => {
        row!(
            concat!("mma .sync .aligned ", $form),
            Matrix,
            Kind::Mma(thrice!(matrix::mma, matrix::mma_widest))
        )
    };
}

macro_rules! load_rows {
    ($form:literal) => {
        row!(
            concat!("ldmatrix .sync .aligned ", $form),
            Load,
            Kind::LoadRows(once!(matrix::load_rows))
        )
    };
}

macro_rules! store_rows {
    ($form:literal) => {
        row!(
            concat!("stmatrix .sync .aligned ", $form),
            Store,
            Kind::StoreRows(once!(matrix::store_rows))
        )
    };
}

macro_rules! load_tile {
    ($form:literal) => {
        row!(
            concat!("wmma .load .sync .aligned ", $form),
            Load,
            Kind::WmmaMove(once!(matrix::load_tile))
        )
    };
}

macro_rules! wmma {
    ($form:literal) => {
        row!(
            concat!("wmma .mma .sync .aligned ", $form),
            Matrix,
            Kind::WmmaMultiply(thrice!(matrix::mma, matrix::mma_widest))
        )
    };
}

/// N in steps of 8, with this K.
macro_rules! every_n {
    ($k:literal) => {
        concat!(
            ".{m64n8k",
            $k,
            "|m64n16k",
            $k,
            "|m64n24k",
            $k,
            "|m64n32k",
            $k,
            "|m64n40k",
            $k,
            "|m64n48k",
            $k,
            "|m64n56k",
            $k,
            "|m64n64k",
            $k,
            "|m64n72k",
            $k,
            "|m64n80k",
            $k,
            "|m64n88k",
            $k,
            "|m64n96k",
            $k,
            "|m64n104k",
            $k,
            "|m64n112k",
            $k,
            "|m64n120k",
            $k,
            "|m64n128k",
            $k,
            "|m64n136k",
            $k,
            "|m64n144k",
            $k,
            "|m64n152k",
            $k,
            "|m64n160k",
            $k,
            "|m64n168k",
            $k,
            "|m64n176k",
            $k,
            "|m64n184k",
            $k,
            "|m64n192k",
            $k,
            "|m64n200k",
            $k,
            "|m64n208k",
            $k,
            "|m64n216k",
            $k,
            "|m64n224k",
            $k,
            "|m64n232k",
            $k,
            "|m64n240k",
            $k,
            "|m64n248k",
            $k,
            "|m64n256k",
            $k,
            "}"
        )
    };
}

/// N of integers: 8, 16, 24, 32, then in steps of 16. (The manual's list ends at 224; `ptxas` takes more.)
macro_rules! integer_n {
    ($k:literal) => {
        concat!(
            ".{m64n8k",
            $k,
            "|m64n16k",
            $k,
            "|m64n24k",
            $k,
            "|m64n32k",
            $k,
            "|m64n48k",
            $k,
            "|m64n64k",
            $k,
            "|m64n80k",
            $k,
            "|m64n96k",
            $k,
            "|m64n112k",
            $k,
            "|m64n128k",
            $k,
            "|m64n144k",
            $k,
            "|m64n160k",
            $k,
            "|m64n176k",
            $k,
            "|m64n192k",
            $k,
            "|m64n208k",
            $k,
            "|m64n224k",
            $k,
            "|m64n240k",
            $k,
            "|m64n256k",
            $k,
            "}"
        )
    };
}

/// Dense and sparse, which has twice the K.
macro_rules! wgmma {
    ($sparse:literal, $n:ident, $k:literal, $types:literal) => {
        row!(
            concat!("wgmma .mma_async ", $sparse, " .sync .aligned ", $n!($k), " ", $types),
            Matrix,
            Kind::Wgmma(thrice!(matrix::wgmma, matrix::wgmma_widest))
        )
    };
}

#[rustfmt::skip]
pub const ROWS: &[Row] = &[
    mma!(".m8n8k4 .{row|col} .{row|col} .{f16|f32} .f16 .f16 .{f16|f32}"),
    mma!(".{m16n8k8|m16n8k16} .row .col .{f16|f32} .f16 .f16 .{f16|f32}"),
    mma!(".{m16n8k8|m16n8k16} .row .col .f32 .bf16 .bf16 .f32"),
    mma!(".{m16n8k4|m16n8k8} .row .col .f32 .tf32 .tf32 .f32"),
    mma!(".{m16n8k16|m16n8k32} .row .col .{f16|f32} .{e4m3|e5m2} .{e4m3|e5m2} .{f16|f32}"),
    mma!(".m16n8k32 .row .col .kind::f8f6f4 .{f16|f32} .{e4m3|e5m2|e3m2|e2m3|e2m1} .{e4m3|e5m2|e3m2|e2m3|e2m1} .{f16|f32}"),
    mma!(".m16n8k32 .row .col .kind::mxf8f6f4 .block_scale .scale_vec::1X? .f32 .{e4m3|e5m2|e3m2|e2m3|e2m1} .{e4m3|e5m2|e3m2|e2m3|e2m1} .f32 .ue8m0"),
    mma!(".m16n8k64 .row .col .kind::mxf4 .block_scale .scale_vec::2X? .f32 .e2m1 .e2m1 .f32 .ue8m0"),
    mma!(".m16n8k64 .row .col .kind::mxf4nvf4 .block_scale .{scale_vec::2X|scale_vec::4X} .f32 .e2m1 .e2m1 .f32 .{ue8m0|ue4m3}"),
    mma!(".{m8n8k4|m16n8k4|m16n8k8|m16n8k16} .row .col .f64 .f64 .f64 .f64 .{rn|rz|rm|rp}?"),
    mma!(".{m8n8k16|m16n8k16|m16n8k32} .row .col .satfinite? .s32 .{s8|u8} .{s8|u8} .s32"),
    mma!(".{m8n8k32|m16n8k32|m16n8k64} .row .col .satfinite? .s32 .{s4|u4} .{s4|u4} .s32"),
    mma!(".{m8n8k128|m16n8k128|m16n8k256} .row .col .s32 .b1 .b1 .s32 .{and|xor} .popc"),
    load_rows!(".m8n8 .{x1|x2|x4} .trans? .{shared|shared::cta}? .b16"),
    load_rows!(".m8n16 .{x1|x2|x4} .{shared|shared::cta}? .b8x16 .{b4x16_p64|b6x16_p32}"),
    load_rows!(".m16n16 .{x1|x2} .trans .{shared|shared::cta}? .b8"),
    load_rows!(".m16n16 .{x1|x2} .trans .{shared|shared::cta}? .b8x16 .{b4x16_p64|b6x16_p32}"),
    store_rows!(".m8n8 .{x1|x2|x4} .trans? .{shared|shared::cta}? .b16"),
    store_rows!(".m16n8 .{x1|x2|x4} .trans .{shared|shared::cta}? .b8"),
    load_tile!(".{a|b|c} .{row|col} .{m16n16k16|m8n32k16|m32n8k16} .{global|shared|shared::cta}? .{f16|bf16|s8|u8|f32|s32}"),
    load_tile!(".{a|b|c} .{row|col} .m16n16k8 .{global|shared|shared::cta}? .{tf32|f32}"),
    load_tile!(".{a|b|c} .{row|col} .m8n8k4 .{global|shared|shared::cta}? .f64"),
    load_tile!(".{a|b|c} .{row|col} .{m8n8k32|m8n8k128} .{global|shared|shared::cta}? .{s4|u4|b1|s32}"),
    row!("wmma .store .d .sync .aligned .{row|col} .{m16n16k16|m8n32k16|m32n8k16|m16n16k8|m8n8k4|m8n8k32|m8n8k128} .{global|shared|shared::cta}? .{f16|f32|s32|f64}", Store, Kind::WmmaMove(once!(matrix::store_tile))),
    wmma!(".{row|col} .{row|col} .{m16n16k16|m8n32k16|m32n8k16} .{f16|f32} .{f16|f32} .satfinite?"),
    wmma!(".{row|col} .{row|col} .{m16n16k16|m8n32k16|m32n8k16} .f32 .bf16 .bf16 .f32"),
    wmma!(".{row|col} .{row|col} .m16n16k8 .f32 .tf32 .tf32 .f32"),
    wmma!(".{row|col} .{row|col} .m8n8k4 .f64 .f64 .f64 .f64 .{rn|rz|rm|rp}?"),
    wmma!(".{row|col} .{row|col} .{m16n16k16|m8n32k16|m32n8k16} .s32 .{s8|u8} .{s8|u8} .s32 .satfinite?"),
    wmma!(".row .col .m8n8k32 .s32 .{s4|u4} .{s4|u4} .s32 .satfinite?"),
    wmma!(".{and|xor} .popc .row .col .m8n8k128 .s32 .b1 .b1 .s32"),
    wgmma!("", every_n, "16", ".{f16|f32} .f16 .f16"),
    wgmma!("", every_n, "16", ".f32 .bf16 .bf16"),
    wgmma!("", every_n, "8", ".f32 .tf32 .tf32"),
    wgmma!("", every_n, "32", ".{f16|f32} .{e4m3|e5m2} .{e4m3|e5m2}"),
    wgmma!("", integer_n, "32", ".satfinite? .s32 .{s8|u8} .{s8|u8}"),
    wgmma!("", integer_n, "256", ".s32 .b1 .b1 .and .popc"),
    wgmma!(".sp", every_n, "32", ".{f16|f32} .f16 .f16"),
    wgmma!(".sp", every_n, "32", ".f32 .bf16 .bf16"),
    wgmma!(".sp", every_n, "16", ".f32 .tf32 .tf32"),
    wgmma!(".sp", every_n, "64", ".{f16|f32} .{e4m3|e5m2} .{e4m3|e5m2}"),
    wgmma!(".sp", integer_n, "64", ".satfinite? .s32 .{s8|u8} .{s8|u8}"),
    row!("wgmma .fence .sync .aligned", Other, Kind::Nothing),
    row!("wgmma .commit_group .sync .aligned", Other, Kind::Plain(once!(matrix::commit))),
    row!("wgmma .wait_group .sync .aligned", Other, Kind::WgmmaWait(once!(matrix::wait))),
    row!("movmatrix .sync .aligned .m8n8 .trans .b16", "n=n", Matrix, once!(matrix::transpose)),
];
