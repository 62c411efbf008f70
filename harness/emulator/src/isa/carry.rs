//! Arithmetic that hands its carry on (PTX ISA 9.7.2).
//!
//! The condition code has one flag, `CC.CF`. Lowering gives it a register like any other, 1 or 0 in
//! each lane, so that
//!
//! ```text
//! add.cc.u32  %r4, %r0, %r2;     %r4, cc = %r0 + %r2
//! addc.u32    %r5, %r1, %r3;     %r5     = %r1 + %r3 + cc
//! ```
//!
//! adds 64 bits. An instruction without `.cc` leaves the flag alone.
//!
//! A subtraction adds the complement, as the hardware does: `sub.cc` is `a + ~b + 1`, `subc` is
//! `a + ~b + cc`, and the flag is the carry of that sum: 1 where nothing is borrowed. The manual calls it
//! the borrow, which says the same as long as only `subc` reads what `sub.cc` wrote. The 128-bit division
//! that nvcc emits takes the flag of `sub.cc` with `addc`, and relies on the carry; an H200 does the same.

use super::{Kind, Row, row};
use crate::exec::{Core, Flow, Lane, once};
use crate::program::Inst;

/// A register as a number, and its product with another.
trait Number: Lane + Into<u128> {
    const BITS: u32;
    fn of(bits: u128) -> Self;
    fn complement(self) -> Self;
    /// The product of two as signed numbers.
    fn signed_product(self, other: Self) -> u128;
}

impl Number for u32 {
    const BITS: u32 = 32;
    fn of(bits: u128) -> Self {
        bits as Self
    }
    fn complement(self) -> Self {
        !self
    }
    fn signed_product(self, other: Self) -> u128 {
        (i128::from(self as i32) * i128::from(other as i32)) as u128
    }
}

impl Number for u64 {
    const BITS: u32 = 64;
    fn of(bits: u128) -> Self {
        bits as Self
    }
    fn complement(self) -> Self {
        !self
    }
    fn signed_product(self, other: Self) -> u128 {
        (i128::from(self as i64) * i128::from(other as i64)) as u128
    }
}

/// The forms of both widths: what is added to what, `c` being 0 where there are two operands.
macro_rules! both_widths {
    ($($form:literal, $two:literal, |$a:ident, $b:ident, $c:ident, $carry:ident| $body:expr;)*) => {
        &[ $(
            row!(concat!($form, " .{u32|s32}"), Integer, Kind::Carry(if $two { "n=n,n" } else { "n=n,n,n" },
                once!(|core, inst| chain::<u32>(core, inst, |$a, $b, $c, $carry| $body)))),
            row!(concat!($form, " .{u64|s64}"), Integer, Kind::Carry(if $two { "w=w,w" } else { "w=w,w,w" },
                once!(|core, inst| chain::<u64>(core, inst, |$a, $b, $c, $carry| $body)))),
        )* ]
    };
}

/// The upper half of a product is signed or not.
macro_rules! high {
    ($($form:literal, $signed:literal, $narrow:literal, $wide:literal;)*) => {
        &[ $(
            row!(concat!($form, " .", $narrow), Integer, Kind::Carry("n=n,n,n",
                once!(|core, inst| chain::<u32>(core, inst, |a, b, c, carry| sum(upper(a, b, $signed), c, carry))))),
            row!(concat!($form, " .", $wide), Integer, Kind::Carry("w=w,w,w",
                once!(|core, inst| chain::<u64>(core, inst, |a, b, c, carry| sum(upper(a, b, $signed), c, carry))))),
        )* ]
    };
}

#[rustfmt::skip]
pub const ROWS: &[Row] = both_widths! {
    "add .cc", true, |a, b, _c, carry| sum(a, b, carry);
    "addc .cc?", true, |a, b, _c, carry| sum(a, b, carry);
    "sub .cc", true, |a, b, _c, carry| sum(a, b.complement(), carry);
    "subc .cc?", true, |a, b, _c, carry| sum(a, b.complement(), carry);
    "mad .lo .cc", false, |a, b, c, carry| sum(lower(a, b), c, carry);
    "madc .lo .cc?", false, |a, b, c, carry| sum(lower(a, b), c, carry);
};

#[rustfmt::skip]
pub const HIGH: &[Row] = high! {
    "mad .hi .cc", false, "u32", "u64";
    "mad .hi .cc", true, "s32", "s64";
    "madc .hi .cc?", false, "u32", "u64";
    "madc .hi .cc?", true, "s32", "s64";
};

fn sum<T: Number>(a: T, b: T, carry: u32) -> (T, u32) {
    let sum = a.into() + b.into() + u128::from(carry);
    (T::of(sum), (sum >> T::BITS) as u32 & 1)
}

fn lower<T: Number>(a: T, b: T) -> T {
    T::of(a.into() * b.into())
}

fn upper<T: Number>(a: T, b: T, signed: bool) -> T {
    let product = if signed { a.signed_product(b) } else { a.into() * b.into() };
    T::of(product >> T::BITS)
}

/// `dst = f(a, b, c, flag)`: the flag comes from the slot in `imm`, and goes to the one in `d`.
///
/// # Safety
/// See [`crate::exec::Handler`].
unsafe fn chain<T: Number>(
    core: &mut Core,
    inst: &Inst,
    f: impl Fn(T, T, T, u32) -> (T, u32),
) -> Flow {
    // SAFETY: lowering keeps slots within the file.
    unsafe {
        let (a, b, c) = (core.read::<T>(inst.a), core.read::<T>(inst.b), core.read::<T>(inst.c));
        let flag = core.read::<u32>(inst.imm as u32);
        let lanes: [_; 32] = std::array::from_fn(|l| f(a[l], b[l], c[l], flag[l]));
        core.write(inst.dst, &lanes.map(|(value, _)| value));
        core.write(inst.d, &lanes.map(|(_, carry)| carry));
    }
    Flow::Next
}
