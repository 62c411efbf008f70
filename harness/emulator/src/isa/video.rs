//! Video instructions (PTX ISA 9.7.18): parts of registers as operands, clamped, combined with a third.
//!
//! Nothing of that differs between lanes, so lowering writes it into one number, the instruction's
//! immediate, which [`Plan`] takes apart. The compiler writes these for `__vabsdiffu4` and its like; the
//! hardware since Maxwell has hardly any, so they are done lane by lane.

use super::{Kind, Row, row};
use crate::exec::{Core, Flow, once};
use crate::program::Inst;

/// Numbers of up to 33 bits and what is made of them before it is clamped.
type Operation = fn(&Plan, i128, i128) -> i128;

/// What to do with a result and the third operand.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Then {
    /// The result alone.
    #[default]
    Nothing,
    Add,
    Min,
    Max,
    /// The third operand with the result in one of its parts.
    Merge,
}

/// Where a number lies in a register (for vectors: where the first of its elements lies in two).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Part {
    pub first_bit: u8,
    /// 8, 16 or 32.
    pub bits: u8,
    pub signed: bool,
}

/// A video instruction without its registers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    pub a: Part,
    pub b: Part,
    pub d: Part,
    pub then: Then,
    pub saturates: bool,
    /// Which comparison `vset` makes: the position in [`COMPARISONS`].
    pub comparison: u8,
    /// `vmad`: bits that the result is shifted down.
    pub scale: u8,
    /// `vmad`: the product, or the third operand, negated; or one more added.
    pub negates_product: bool,
    pub negates_addend: bool,
    pub plus_one: bool,
    /// The elements of vectors: which of those of `b:a` each operand takes, and which are kept.
    pub a_elements: [u8; 4],
    pub b_elements: [u8; 4],
    pub kept: [bool; 4],
}

pub const COMPARISONS: [&str; 6] = ["eq", "ne", "lt", "le", "gt", "ge"];

macro_rules! operations {
    ($($scalar:literal, $two:literal, $four:literal, |$plan:ident, $a:ident, $b:ident| $body:expr;)*) => {
        &[ $( [
            row!(concat!($scalar, " .{u32|s32} .{u32|s32} .{u32|s32} .sat? .{add|min|max}?"), Integer,
                Kind::Video(once!(|core, inst| scalar(core, inst, |$plan, $a, $b| $body)))),
            row!(concat!($two, " .{u32|s32} .{u32|s32} .{u32|s32} .sat? .add?"), Integer,
                Kind::Video(once!(|core, inst| vector(core, inst, 2, |$plan, $a, $b| $body)))),
            row!(concat!($four, " .{u32|s32} .{u32|s32} .{u32|s32} .sat? .add?"), Integer,
                Kind::Video(once!(|core, inst| vector(core, inst, 4, |$plan, $a, $b| $body)))),
        ] ),* ]
    };
}

#[rustfmt::skip]
const OPERATIONS: &[[Row; 3]] = operations! {
    "vadd", "vadd2", "vadd4", |_p, a, b| a + b;
    "vsub", "vsub2", "vsub4", |_p, a, b| a - b;
    "vabsdiff", "vabsdiff2", "vabsdiff4", |_p, a, b| (a - b).abs();
    "vmin", "vmin2", "vmin4", |_p, a, b| a.min(b);
    "vmax", "vmax2", "vmax4", |_p, a, b| a.max(b);
};

pub const ROWS: &[Row] = OPERATIONS.as_flattened();

#[rustfmt::skip]
pub const OTHERS: &[Row] = &[
    row!("vavrg2 .{u32|s32} .{u32|s32} .{u32|s32} .sat? .add?", Integer, Kind::Video(once!(|core, inst| vector(core, inst, 2, average)))),
    row!("vavrg4 .{u32|s32} .{u32|s32} .{u32|s32} .sat? .add?", Integer, Kind::Video(once!(|core, inst| vector(core, inst, 4, average)))),
    row!("vset .{u32|s32} .{u32|s32} .{eq|ne|lt|le|gt|ge} .{add|min|max}?", Integer, Kind::Video(once!(|core, inst| scalar(core, inst, compare)))),
    row!("vset2 .{u32|s32} .{u32|s32} .{eq|ne|lt|le|gt|ge} .add?", Integer, Kind::Video(once!(|core, inst| vector(core, inst, 2, compare)))),
    row!("vset4 .{u32|s32} .{u32|s32} .{eq|ne|lt|le|gt|ge} .add?", Integer, Kind::Video(once!(|core, inst| vector(core, inst, 4, compare)))),
    row!("vshl .{u32|s32} .{u32|s32} .u32 .sat? .clamp .{add|min|max}?", Integer, Kind::Video(once!(|core, inst| scalar(core, inst, |_, a, b| a << b.min(32))))),
    row!("vshl .{u32|s32} .{u32|s32} .u32 .sat? .wrap .{add|min|max}?", Integer, Kind::Video(once!(|core, inst| scalar(core, inst, |_, a, b| a << (b & 31))))),
    row!("vshr .{u32|s32} .{u32|s32} .u32 .sat? .clamp .{add|min|max}?", Integer, Kind::Video(once!(|core, inst| scalar(core, inst, |_, a, b| a >> b.min(32))))),
    row!("vshr .{u32|s32} .{u32|s32} .u32 .sat? .wrap .{add|min|max}?", Integer, Kind::Video(once!(|core, inst| scalar(core, inst, |_, a, b| a >> (b & 31))))),
    row!("vmad .{u32|s32} .{u32|s32} .{u32|s32} .po? .sat? .{shr7|shr15}?", Integer, Kind::Video(once!(multiply_add))),
];

fn average(_: &Plan, a: i128, b: i128) -> i128 {
    (a + b + i128::from(a + b >= 0)) >> 1
}

fn compare(plan: &Plan, a: i128, b: i128) -> i128 {
    i128::from(match COMPARISONS[plan.comparison as usize] {
        "eq" => a == b,
        "ne" => a != b,
        "lt" => a < b,
        "le" => a <= b,
        "gt" => a > b,
        _ => a >= b,
    })
}

impl Part {
    /// The number that lies here.
    fn of(self, register: u64) -> i128 {
        let bits = register >> self.first_bit;
        match (self.bits, self.signed) {
            (8, false) => i128::from(bits as u8),
            (8, true) => i128::from(bits as i8),
            (16, false) => i128::from(bits as u16),
            (16, true) => i128::from(bits as i16),
            (_, false) => i128::from(bits as u32),
            (_, true) => i128::from(bits as i32),
        }
    }

    /// The nearest number that fits.
    fn clamp(self, x: i128) -> i128 {
        let least = if self.signed { -(1 << (self.bits - 1)) } else { 0 };
        x.clamp(least, least + (1 << self.bits) - 1)
    }

    /// `register` with `x` here.
    fn replace(self, register: u32, x: i128) -> u32 {
        let field = (u32::MAX >> (32 - self.bits)) << self.first_bit;
        register & !field | (x as u32) << self.first_bit & field
    }

    /// Element `index` of as many as there are of this size.
    fn element(self, index: u8) -> Self {
        Self { first_bit: index * self.bits, ..self }
    }
}

unsafe fn each(core: &mut Core, inst: &Inst, f: impl Fn(&Plan, u32, u32, u32) -> u32) -> Flow {
    let program = core.program;
    let plan = &program.videos[inst.imm as usize];
    // SAFETY: lowering keeps slots within the file.
    unsafe {
        let (a, b) = (core.read::<u32>(inst.a), core.read::<u32>(inst.b));
        let c = core.read::<u32>(inst.c);
        let out: [u32; 32] = std::array::from_fn(|l| f(plan, a[l], b[l], c[l]));
        core.write(inst.dst, &out);
    }
    Flow::Next
}

/// # Safety
/// See [`crate::exec::Handler`].
unsafe fn scalar(core: &mut Core, inst: &Inst, operation: Operation) -> Flow {
    let one = |plan: &Plan, a: u32, b: u32, c: u32| {
        let result = operation(plan, plan.a.of(a.into()), plan.b.of(b.into()));
        let result = if plan.saturates { plan.d.clamp(result) } else { result };
        let whole = Part { first_bit: 0, bits: 32, signed: plan.d.signed };
        let third = whole.of(c.into());
        match plan.then {
            Then::Nothing => result as u32,
            Then::Add => (result + third) as u32,
            Then::Min => result.min(third) as u32,
            Then::Max => result.max(third) as u32,
            Then::Merge => plan.d.replace(c, result),
        }
    };
    // SAFETY: passed on.
    unsafe { each(core, inst, one) }
}

/// # Safety
/// See [`crate::exec::Handler`].
unsafe fn vector(core: &mut Core, inst: &Inst, count: usize, operation: Operation) -> Flow {
    let one = |plan: &Plan, a: u32, b: u32, c: u32| {
        let both = u64::from(b) << 32 | u64::from(a);
        let mut out = c;
        for index in (0..count).filter(|&index| plan.kept[index]) {
            let a = plan.a.element(plan.a_elements[index]).of(both);
            let b = plan.b.element(plan.b_elements[index]).of(both);
            let result = operation(plan, a, b);
            let result = if plan.saturates { plan.d.clamp(result) } else { result };
            out = match plan.then {
                Then::Add => out.wrapping_add(result as u32),
                _ => plan.d.element(index as u8).replace(out, result),
            };
        }
        out
    };
    // SAFETY: passed on.
    unsafe { each(core, inst, one) }
}

/// `vmad`: `(a * b + c) >> scale`.
///
/// # Safety
/// See [`crate::exec::Handler`].
unsafe fn multiply_add(core: &mut Core, inst: &Inst) -> Flow {
    let one = |plan: &Plan, a: u32, b: u32, c: u32| {
        let product = plan.a.of(a.into()) * plan.b.of(b.into());
        let product = if plan.negates_product { -product } else { product };
        let addend = Part { first_bit: 0, bits: 32, signed: plan.d.signed }.of(c.into());
        let addend = if plan.negates_addend { -addend } else { addend };
        let result = (product + addend + i128::from(plan.plus_one)) >> plan.scale;
        (if plan.saturates { plan.d.clamp(result) } else { result }) as u32
    };
    // SAFETY: passed on.
    unsafe { each(core, inst, one) }
}
