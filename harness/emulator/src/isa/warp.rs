//! Forms that look across lanes (PTX ISA 9.7.9.6, 9.7.13.2, 9.7.13.9-13).

use super::float::{maximum, minimum};
use super::{Kind, Row, row};
use crate::exec::{both, once, shuffle};

#[rustfmt::skip]
pub const ROWS: &[Row] = &[
    row!("shfl .sync .up .b32", Shuffle, Kind::Shuffle(both!(shuffle::shfl::<{ shuffle::UP }>))),
    row!("shfl .sync .down .b32", Shuffle, Kind::Shuffle(both!(shuffle::shfl::<{ shuffle::DOWN }>))),
    row!("shfl .sync .bfly .b32", Shuffle, Kind::Shuffle(both!(shuffle::shfl::<{ shuffle::BFLY }>))),
    row!("shfl .sync .idx .b32", Shuffle, Kind::Shuffle(both!(shuffle::shfl::<{ shuffle::IDX }>))),
    row!("vote .sync .{all|any|uni} .pred", Shuffle, Kind::Vote(once!(shuffle::vote))),
    row!("vote .sync .ballot .b32", Shuffle, Kind::Vote(once!(shuffle::vote))),
    row!("redux .sync .add .{u32|s32}", Shuffle, Kind::AcrossLanes(once!(|core, inst| shuffle::redux(core, inst, u32::wrapping_add)))),
    row!("redux .sync .min .u32", Shuffle, Kind::AcrossLanes(once!(|core, inst| shuffle::redux(core, inst, u32::min)))),
    row!("redux .sync .max .u32", Shuffle, Kind::AcrossLanes(once!(|core, inst| shuffle::redux(core, inst, u32::max)))),
    row!("redux .sync .min .s32", Shuffle, Kind::AcrossLanes(once!(|core, inst| shuffle::redux(core, inst, |a, b| (a as i32).min(b as i32) as u32)))),
    row!("redux .sync .max .s32", Shuffle, Kind::AcrossLanes(once!(|core, inst| shuffle::redux(core, inst, |a, b| (a as i32).max(b as i32) as u32)))),
    row!("redux .sync .and .b32", Shuffle, Kind::AcrossLanes(once!(|core, inst| shuffle::redux(core, inst, |a, b| a & b)))),
    row!("redux .sync .or .b32", Shuffle, Kind::AcrossLanes(once!(|core, inst| shuffle::redux(core, inst, |a, b| a | b)))),
    row!("redux .sync .xor .b32", Shuffle, Kind::AcrossLanes(once!(|core, inst| shuffle::redux(core, inst, |a, b| a ^ b)))),
    row!("redux .sync .min .abs? .NaN? .f32", Shuffle, Kind::AcrossLanes(once!(|core, inst| shuffle::redux_f32(core, inst, minimum)))),
    row!("redux .sync .max .abs? .NaN? .f32", Shuffle, Kind::AcrossLanes(once!(|core, inst| shuffle::redux_f32(core, inst, maximum)))),
    row!("match .{any|all} .sync .b32", Shuffle, Kind::AcrossLanes(once!(shuffle::match_lanes::<u32>))),
    row!("match .{any|all} .sync .b64", Shuffle, Kind::AcrossLanes(once!(shuffle::match_lanes::<u64>))),
    row!("elect .sync", Shuffle, Kind::AcrossLanes(once!(shuffle::elect))),
    row!("activemask .b32", Shuffle, Kind::AcrossLanes(once!(shuffle::active_mask))),
    row!("bar .warp .sync", WarpBarrier, Kind::WarpBarrier(once!(shuffle::warp_sync))),
];
