//! Bytes of a lane of each operand of the functions of these names, as [`super::Handlers::lanes`] has them.

use super::{Op1, Op2, Op3};

pub const fn op1<O: Op1>() -> [u8; 5] {
    [size_of::<O::D>() as u8, size_of::<O::A>() as u8, 0, 0, 0]
}

pub const fn op2<O: Op2>() -> [u8; 5] {
    [size_of::<O::D>() as u8, size_of::<O::A>() as u8, size_of::<O::B>() as u8, 0, 0]
}

pub const fn op3<O: Op3>() -> [u8; 5] {
    let [d, a, b] = [size_of::<O::D>(), size_of::<O::A>(), size_of::<O::B>()];
    [d as u8, a as u8, b as u8, size_of::<O::C>() as u8, 0]
}
