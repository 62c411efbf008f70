//! Asynchronous copies and the barriers that they complete at (PTX ISA 9.7.9.25, 9.7.13.15).

use super::{Kind, Row, row};
use crate::exec::{
    bulk, copy_async, launch_control, mbarrier, once, store_async, tensor, tensor_map,
};

macro_rules! events {
    ($form:literal) => {
        row!(
            concat!(
                "mbarrier ",
                $form,
                " .{release|relaxed}? .{cta|cluster}? .{shared|shared::cta|shared::cluster}? .b64"
            ),
            Other,
            Kind::Mbarrier(once!(mbarrier::arrive))
        )
    };
}

macro_rules! waits {
    ($form:literal) => {
        row!(
            concat!(
                "mbarrier ",
                $form,
                " .parity? .{acquire|relaxed}? .{cta|cluster}? .{shared|shared::cta}? .b64"
            ),
            Other,
            Kind::Mbarrier(once!(mbarrier::wait))
        )
    };
}

#[rustfmt::skip]
pub const ROWS: &[Row] = &[
    row!("cp .async .{ca|cg} .{shared|shared::cta} .global .{L2::cache_hint}? .{L2::64B|L2::128B|L2::256B}?", Load, Kind::CopyAsync(once!(copy_async::copy))),
    row!("cp .async .commit_group", Other, Kind::Plain(once!(copy_async::commit))),
    row!("cp .async .wait_group", Other, Kind::WaitGroup(once!(copy_async::wait_group))),
    row!("cp .async .wait_all", Other, Kind::Plain(once!(copy_async::wait_all))),
    row!("cp .async .mbarrier::arrive .noinc? .{shared|shared::cta}? .b64", Other, Kind::Mbarrier(once!(mbarrier::arrive_after_copies))),
    row!("cp .async .mbarrier .arrive .noinc? .{shared|shared::cta}? .b64", Other, Kind::Mbarrier(once!(mbarrier::arrive_after_copies))),
    row!("mbarrier .init .{shared|shared::cta}? .b64", Other, Kind::Mbarrier(once!(mbarrier::init))),
    row!("mbarrier .inval .{shared|shared::cta}? .b64", Other, Kind::Mbarrier(once!(mbarrier::init))),
    events!(".arrive .noComplete?"),
    events!(".arrive_drop .noComplete?"),
    events!(".arrive .expect_tx"),
    events!(".arrive_drop .expect_tx"),
    events!(".expect_tx"),
    events!(".complete_tx"),
    waits!(".test_wait"),
    waits!(".try_wait"),
    row!("mbarrier .pending_count .b64", Other, Kind::Mbarrier(once!(mbarrier::pending_count))),
    row!("cp .async .bulk .{shared::cta|shared::cluster} .global .mbarrier::complete_tx::bytes .multicast::cluster? .L2::cache_hint?", Load, Kind::Bulk(once!(bulk::copy))),
    row!("cp .async .bulk .global .shared::cta .bulk_group .L2::cache_hint?", Store, Kind::Bulk(once!(bulk::copy))),
    row!("cp .async .bulk .shared::cluster .shared::cta .mbarrier::complete_tx::bytes", Store, Kind::Bulk(once!(bulk::copy))),
    row!("cp .reduce .async .bulk .global .shared::cta .bulk_group .L2::cache_hint? .{add|min|max|inc|dec|and|or|xor} .noftz? .{f16|bf16|b32|u32|s32|b64|u64|s64|f32|f64}", Atomic, Kind::Bulk(once!(bulk::copy))),
    row!("cp .reduce .async .bulk .shared::cluster .shared::cta .mbarrier::complete_tx::bytes .{add|min|max|inc|dec|and|or|xor} .{b32|u32|s32|b64|u64}", Atomic, Kind::Bulk(once!(bulk::copy))),
    row!("st .async .weak? .cluster? .shared::cluster? .mbarrier::complete_tx::bytes .{v2|v4}? .{b32|u32|s32|f32|b64|u64|s64|f64}", Store, Kind::StoreAsync(once!(store_async::store))),
    row!("red .async .relaxed .cluster .shared::cluster? .mbarrier::complete_tx::bytes .{inc|dec|min|max|and|or|xor|add} .{b32|u32|s32|u64|s64}", Atomic, Kind::StoreAsync(once!(store_async::store))),
    row!("st .bulk .weak? .shared::cta?", Store, Kind::Fill(once!(store_async::fill))),
    row!("cp .async .bulk .prefetch .L2 .global .L2::cache_hint?", Other, Kind::Nothing),
    row!("cp .async .bulk .commit_group", Other, Kind::Nothing),
    row!("cp .async .bulk .wait_group .read?", Other, Kind::Nothing),
    row!("cp .async .bulk .tensor .{1d|2d|3d|4d|5d} .{shared::cta|shared::cluster} .global .{tile|tile::gather4|im2col}? .mbarrier::complete_tx::bytes .multicast::cluster? .{cta_group::1|cta_group::2}? .L2::cache_hint?", Load, Kind::Tensor(once!(tensor::copy))),
    row!("cp .async .bulk .tensor .{1d|2d|3d|4d|5d} .global .shared::cta .{tile|tile::scatter4|im2col_no_offs}? .bulk_group .L2::cache_hint?", Store, Kind::Tensor(once!(tensor::copy))),
    row!("cp .reduce .async .bulk .tensor .{1d|2d|3d|4d|5d} .global .shared::cta .{add|min|max|inc|dec|and|or|xor} .{tile|im2col_no_offs}? .bulk_group .L2::cache_hint?", Atomic, Kind::Tensor(once!(tensor::copy))),
    row!("cp .async .bulk .prefetch .tensor .{1d|2d|3d|4d|5d} .L2 .global .{tile|tile::gather4|im2col}? .L2::cache_hint?", Other, Kind::Nothing),
    row!("clusterlaunchcontrol .try_cancel .async .shared::cta? .mbarrier::complete_tx::bytes .multicast::cluster::all? .b128", Other, Kind::TryCancel(once!(launch_control::try_cancel))),
    row!("clusterlaunchcontrol .query_cancel .is_canceled .pred .b128", Compare, Kind::QueryCancel),
    row!("clusterlaunchcontrol .query_cancel .get_first_ctaid .v4 .b32 .b128", Move, Kind::QueryCancel),
    row!("clusterlaunchcontrol .query_cancel .{get_first_ctaid::x|get_first_ctaid::y|get_first_ctaid::z} .b32 .b128", Move, Kind::QueryCancel),
    row!("tensormap .replace .tile .{global_address|global_stride} .{global|shared::cta}? .b1024 .b64", Store, Kind::MapField(once!(tensor_map::replace))),
    row!("tensormap .replace .tile .{rank|box_dim|global_dim|element_stride|elemtype|interleave_layout|swizzle_mode|swizzle_atomicity|fill_mode} .{global|shared::cta}? .b1024 .b32", Store, Kind::MapField(once!(tensor_map::replace))),
    row!("tensormap .cp_fenceproxy .global .shared::cta .tensormap::generic .release .{cta|cluster|gpu|sys} .sync .aligned", Store, Kind::MapCopy(once!(tensor_map::publish))),
    row!("prefetch .{param|const}? .tensormap", Other, Kind::Nothing),
    row!("fence .mbarrier_init .release .cluster", Other, Kind::Nothing),
    row!("fence .proxy .{alias|async} .{global|shared::cta|shared::cluster}?", Other, Kind::Nothing),
    row!("fence .proxy .async::generic .{acquire|release} .{sync_restrict::shared::cta|sync_restrict::shared::cluster}? .{shared::cta|shared::cluster}? .cluster?", Other, Kind::Nothing),
    row!("fence .proxy .tensormap::generic .{acquire|release|acq_rel}? .{cta|cluster|gpu|sys}", Other, Kind::Nothing),
];
