//! Functions that a kernel calls and the device provides.

use super::{Kind, Row, row};
use crate::exec::{once, system};

#[rustfmt::skip]
pub const ROWS: &[Row] = &[
    row!("vprintf", Other, Kind::System(once!(system::print))),
    row!("__assertfail", Other, Kind::System(once!(system::assert_failed))),
    row!("malloc", Other, Kind::System(once!(system::allocate))),
    row!("free", Other, Kind::System(once!(system::free))),
];
