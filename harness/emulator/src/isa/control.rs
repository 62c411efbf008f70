//! Control flow, barriers, and what leaves no trace here (PTX ISA 9.7.12, 9.7.13, 9.7.19).

use super::{Kind, Row, flag, row};
use crate::exec::{Core, Flow, once};
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
    row!("bar .cta? .{sync|arrive}", Barrier, Kind::Barrier(once!(barrier))),
    row!("barrier .cta? .{sync|arrive} .aligned?", Barrier, Kind::Barrier(once!(barrier))),
    row!("membar .{gl|cta|sys|level}", Other, Kind::Nothing),
    row!("fence .{sc|acq_rel|acquire|release}? .{cta|gpu|sys|cluster}", Other, Kind::Nothing),
    row!("griddepcontrol .{wait|launch_dependents}", Other, Kind::Nothing),
    row!("setmaxnreg .{inc|dec} .sync .aligned .u32", Other, Kind::Nothing),
];

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
    Flow::Barrier
}
