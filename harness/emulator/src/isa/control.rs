//! Control flow, barriers, and what leaves no trace here (PTX ISA 9.7.12, 9.7.13, 9.7.19).

use super::{Kind, Row, flag, row};
use crate::exec::access::{self, RANK_SHIFT};
use crate::exec::{CLUSTER, Core, Flow, Lane, once, rare};
use crate::fault::FaultKind;
use crate::program::Inst;

#[rustfmt::skip]
pub const ROWS: &[Row] = &[
    row!("bra .uni?", Branch, Kind::Branch),
    row!("brx .idx .uni?", Branch, Kind::BranchIndexed),
    row!("ret .uni?", Branch, Kind::Leave),
    row!("exit", Branch, Kind::Leave),
    row!("trap", Other, Kind::Plain(once!(trap))),
    row!("brkpt", Other, Kind::Nothing),
    row!("nanosleep .u32", Other, Kind::Plain(once!(rest))),
    row!("pmevent .mask?", Other, Kind::Nothing),
    row!("bar .cta? .{sync|arrive}", Barrier, Kind::Barrier(once!(barrier))),
    row!("bar .cta? .red .{popc|and|or} .{u32|pred}", Barrier, Kind::Barrier(once!(barrier))),
    row!("barrier .cta? .{sync|arrive} .aligned?", Barrier, Kind::Barrier(once!(barrier))),
    row!("barrier .cluster .{arrive|wait} .{release|relaxed|acquire}? .aligned?", Barrier, Kind::Barrier(once!(cluster_barrier))),
    row!("mapa .{shared::cluster}? .u32", "n=n,n", Integer, rare!(|_, address: u32, rank: u32| -> u32 { address & RANKLESS | rank << RANK_SHIFT })),
    row!("mapa .u64", "w=w,n", Integer, rare!(|_, address: u64, rank: u32| -> u64 { address & !0xff00_0000 | u64::from(rank) << RANK_SHIFT })),
    row!("getctarank .{shared::cluster}? .u32", "n=n", Integer, once!(rank_of::<u32>)),
    row!("getctarank .u64", "n=w", Integer, once!(rank_of::<u64>)),
    row!("barrier .cta? .red .{popc|and|or} .aligned? .{u32|pred}", Barrier, Kind::Barrier(once!(barrier))),
    row!("membar .{gl|sys}", Other, Kind::Fence(once!(access::fence_sc))),
    row!("membar .cta", Other, Kind::Nothing),
    row!("membar .proxy .{alias|async}", Other, Kind::Nothing),
    row!("fence .{acquire|release} .{sync_restrict::shared::cta|sync_restrict::shared::cluster} .cluster", Other, Kind::Nothing),
    row!("fence .sc .{gpu|sys}", Other, Kind::Fence(once!(access::fence_sc))),
    row!("fence .{acq_rel|acquire|release}? .{gpu|sys}", Other, Kind::Fence(once!(access::fence_acq_rel))),
    row!("fence .{sc|acq_rel|acquire|release}? .{cta|cluster}", Other, Kind::Nothing),
    row!("griddepcontrol .{wait|launch_dependents}", Other, Kind::Nothing),
    row!("setmaxnreg .{inc|dec} .sync .aligned .u32", Other, Kind::Nothing),
];

/// Bits of a shared address below the rank.
const RANKLESS: u32 = (1 << RANK_SHIFT) - 1;

/// `barrier.cluster.arrive` and `.wait` (PTX ISA 9.7.13.3).
///
/// # Safety
/// See [`crate::exec::Handler`].
unsafe fn cluster_barrier(core: &mut Core, inst: &Inst) -> Flow {
    core.wait.barrier = CLUSTER;
    core.wait.threads = 0;
    core.wait.arrive_only = inst.flags & flag::ARRIVE != 0;
    core.wait.reduces = false;
    Flow::Barrier
}

/// `getctarank`: the CTA that a shared address belongs to (PTX ISA 9.7.9.24).
///
/// # Safety
/// See [`crate::exec::Handler`].
unsafe fn rank_of<A: Lane + Into<u64>>(core: &mut Core, inst: &Inst) -> Flow {
    // SAFETY: lowering keeps slots within the file.
    unsafe {
        let ranks = core.read::<A>(inst.a).map(|address| address.into() as u32 >> RANK_SHIFT);
        core.write(inst.dst, &ranks);
    }
    Flow::Next
}

/// # Safety
/// See [`crate::exec::Handler`].
unsafe fn trap(core: &mut Core, _: &Inst) -> Flow {
    let lane = core.mask.trailing_zeros();
    core.stop(FaultKind::Trap { message: None }, lane)
}

/// `nanosleep`: somebody else has something to do.
///
/// # Safety
/// See [`crate::exec::Handler`].
unsafe fn rest(_: &mut Core, _: &Inst) -> Flow {
    Flow::Yield
}

/// `bar`: the number in `a`, the threads in `b` (0 for all).
///
/// # Safety
/// See [`crate::exec::Handler`].
unsafe fn barrier(core: &mut Core, inst: &Inst) -> Flow {
    let lane = core.mask.trailing_zeros() as usize & 31;
    // SAFETY: lowering keeps slots within the file.
    let (number, threads) =
        unsafe { (core.read::<u32>(inst.a)[lane], core.read::<u32>(inst.b)[lane]) };
    core.wait.barrier = number & 15;
    core.wait.threads = threads;
    core.wait.arrive_only = inst.flags & flag::ARRIVE != 0;
    core.wait.reduces = inst.flags & (flag::POPC | flag::ALL | flag::ANY) != 0;
    Flow::Barrier
}
