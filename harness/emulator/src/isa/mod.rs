//! The one table of instructions.
//!
//! A [`Row`] is a form of an instruction: its modifiers as the manual writes them, its operands, the
//! class it is counted in and what it does. Decoding looks forms up by opcode, lowering takes the
//! operands from the row, dispatch is the row's handler. A form that stands in no row is reported
//! as unsupported; nothing is ever guessed.
//!
//! ```text
//! row!("add .rn? .ftz? .sat? .f32", "n=n,n", Float, op!(|f, a: f32, b: f32| -> f32 {…}))
//!       │   │                │       │       │      └ one lane; `f` holds the modifier bits
//!       │   │                │       │       └ class
//!       │   │                │       └ destination = sources: n 32 bits, h 16, w 64, p predicate
//!       │   │                └ a type: types count in order
//!       │   └ optional: gives bit flag::FTZ if written; without `?` it must be there
//!       └ opcode
//! ```
//!
//! Modifiers that are no types may stand in any order, since `ptxas` takes them in several.

mod asynchronous;
mod bytes;
mod carry;
#[expect(clippy::neg_cmp_op_on_partial_ord, reason = "true on NaN is what `ltu` means")]
mod compare;
mod control;
mod convert;
pub mod exact;
pub mod flag;
mod float;
#[expect(clippy::neg_cmp_op_on_partial_ord, reason = "true on NaN is what `ltu` means")]
mod half;
#[expect(
    clippy::precedence,
    reason = "a product shifted reads as the manual's `t = a * b; t >> n`"
)]
mod integer;
mod machine;
mod matrix;
mod memory;
mod mixed;
mod nan;
mod packed;
pub mod rounding;
mod special;
mod stochastic;
mod system;
mod tcgen05;
mod transcendental;
pub mod video;
mod warp;

use std::collections::HashMap;
use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

use crate::exec::Handlers;

pub use machine::Machine;
pub use memory::{
    Bits, STRONG, WIDE_EXCHANGE, atomic_handlers, load_handlers, store_handlers,
    strong_load_handlers, strong_store_handlers, vector_atomic_handlers,
};
pub use special::{Reserved, Special};

/// What an instruction is counted as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Class {
    Integer,
    Float,
    Half,
    Double,
    Convert,
    Special,
    Move,
    Compare,
    Load,
    Store,
    Atomic,
    Shuffle,
    WarpBarrier,
    Barrier,
    Branch,
    Matrix,
    Other,
}

impl Class {
    pub fn name(self) -> &'static str {
        match self {
            Self::Integer => "integer",
            Self::Float => "float",
            Self::Half => "half",
            Self::Double => "double",
            Self::Convert => "convert",
            Self::Special => "special",
            Self::Move => "move",
            Self::Compare => "compare",
            Self::Load => "load",
            Self::Store => "store",
            Self::Atomic => "atomic",
            Self::Shuffle => "shuffle",
            Self::WarpBarrier => "warp_barrier",
            Self::Barrier => "barrier",
            Self::Branch => "branch",
            Self::Matrix => "matrix",
            Self::Other => "other",
        }
    }
}

/// How an instruction is lowered.
#[derive(Clone, Copy)]
pub enum Kind {
    /// Lane by lane: operand widths, and what it does.
    Lanes(&'static str, Handlers),
    /// A comparison: like `Lanes`, with the boolean combination and second predicate of `setp`.
    Compare(&'static str, Handlers),
    /// A comparison of both halves of a register, one predicate each.
    ComparePair,
    /// `set`: the `setp` of the same modifiers, but all ones (or 1.0) in a register.
    Set,
    /// As `Lanes`, with the carry flag as a further source and destination.
    Carry(&'static str, Handlers),
    /// `lop3`: a table instead of an operation.
    Lookup(Handlers),
    Video(Handlers),
    /// Four sources in braces, and a fifth.
    Four(Handlers),
    Load,
    Store,
    /// `atom` and `red`.
    Atomic,
    Move,
    /// `cvta` and `cvta.to`.
    ConvertAddress,
    IsSpace,
    Shuffle(Handlers),
    Vote(Handlers),
    /// `createpolicy`: a value that only cache hints take.
    Policy,
    /// `redux`, `match`, `activemask`, `elect`: destination(s), operand, member mask.
    AcrossLanes(Handlers),
    WarpBarrier(Handlers),
    Barrier(Handlers),
    Branch,
    BranchIndexed,
    /// `ret` and `exit`.
    Leave,
    /// `cp.async`.
    CopyAsync(Handlers),
    /// `cp.async.wait_group`.
    WaitGroup(Handlers),
    Mbarrier(Handlers),
    /// Stores and reductions that tell an `mbarrier`.
    StoreAsync(Handlers),
    /// `st.bulk`.
    Fill(Handlers),
    /// Bulk copies.
    Bulk(Handlers),
    /// Bulk copies of a tensor map.
    Tensor(Handlers),
    /// `tensormap.replace` and `tensormap.cp_fenceproxy`.
    MapField(Handlers),
    MapCopy(Handlers),
    /// `clusterlaunchcontrol.try_cancel` and `.query_cancel`.
    TryCancel(Handlers),
    QueryCancel,
    /// `tcgen05.mma`, `.cp`, `.commit`.
    TensorMultiply(Handlers),
    TensorCopy(Handlers),
    TensorCommit(Handlers),
    /// What reaches tensor memory for a warp.
    TensorMemory(Handlers),
    Mma(Handlers),
    /// `wgmma.mma_async`.
    Wgmma(Handlers),
    /// `wgmma.wait_group`.
    WgmmaWait(Handlers),
    /// `wmma.load` and `wmma.store`.
    WmmaMove(Handlers),
    /// `wmma.mma`.
    WmmaMultiply(Handlers),
    /// `ldmatrix`.
    LoadRows(Handlers),
    /// `stmatrix`.
    StoreRows(Handlers),
    /// Prefetches, hints, fences of one CTA: nothing that a program can see here.
    Nothing,
    /// A fence of the GPU's scope or wider.
    Fence(Handlers),
    /// A function of the device.
    System(Handlers),
    /// No operands but the guard.
    Plain(Handlers),
}

pub struct Row {
    /// Opcode and modifiers.
    pub form: &'static str,
    pub class: Class,
    pub kind: Kind,
}

/// One form, in the notation above.
macro_rules! row {
    ($form:expr, $operands:expr, $class:ident, $handlers:expr) => {
        $crate::isa::Row {
            form: $form,
            class: $crate::isa::Class::$class,
            kind: $crate::isa::Kind::Lanes($operands, $handlers),
        }
    };
    ($form:expr, $class:ident, $kind:expr) => {
        $crate::isa::Row { form: $form, class: $crate::isa::Class::$class, kind: $kind }
    };
}
pub(crate) use row;

const TABLE: &[&[Row]] = &[
    integer::ROWS,
    bytes::ROWS,
    carry::ROWS,
    carry::HIGH,
    float::ROWS,
    half::ARITHMETIC,
    half::SIGNS,
    half::COMPARISONS,
    packed::ROWS,
    mixed::ROWS,
    transcendental::ROWS,
    compare::ROWS,
    compare::FLUSHED,
    compare::DERIVED,
    compare::SELECTIONS,
    convert::BETWEEN,
    convert::INTEGERS,
    convert::TO_INTEGER.as_flattened(),
    convert::FROM_INTEGER.as_flattened(),
    convert::NARROW,
    stochastic::ROWS,
    video::ROWS,
    video::OTHERS,
    memory::ROWS,
    warp::ROWS,
    matrix::ROWS,
    asynchronous::ROWS,
    tcgen05::ROWS,
    system::ROWS,
    control::ROWS,
];

/// A modifier of a form: names of which one must (or may) be written.
struct Token {
    names: Vec<&'static str>,
    optional: bool,
    is_type: bool,
}

/// A row, taken apart.
pub struct Form {
    pub row: &'static Row,
    tokens: Vec<Token>,
}

/// What a form's modifiers say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Modifiers {
    /// Bits of [`flag`].
    pub flags: u32,
    /// Types in order.
    pub types: Vec<&'static str>,
}

static FORMS: LazyLock<HashMap<&'static str, Vec<Form>>> = LazyLock::new(|| {
    let mut forms: HashMap<_, Vec<Form>> = HashMap::new();
    for row in TABLE.iter().flat_map(|rows| rows.iter()) {
        let mut words = row.form.split_whitespace();
        let opcode = words.next().unwrap_or_default();
        forms.entry(opcode).or_default().push(Form { row, tokens: words.map(token).collect() });
    }
    forms
});

fn token(word: &'static str) -> Token {
    let word = word.strip_prefix('.').unwrap_or(word);
    let (word, optional) = match word.strip_suffix('?') {
        Some(word) => (word, true),
        None => (word, false),
    };
    let names: Vec<_> = match word.strip_prefix('{').and_then(|w| w.strip_suffix('}')) {
        Some(list) => list.split('|').collect(),
        None => vec![word],
    };
    Token { is_type: names.iter().all(|name| is_type(name)), names, optional }
}

/// Types are a letter and a width, perhaps packed: `u32`, `f16x2`, `e4m3x2`, `pred`.
pub fn is_type(name: &str) -> bool {
    let mut chars = name.chars();
    let first = chars.next().unwrap_or(' ');
    let second = chars.next().unwrap_or(' ');
    name == "pred"
        || name == "tf32"
        || name.starts_with("bf16")
        || name.starts_with("ue8m0")
        || name == "ue4m3"
        || ("busfe".contains(first) && second.is_ascii_digit())
}

impl Form {
    /// What the modifiers mean if this is their form.
    fn read(&self, modifiers: &[&str]) -> Option<Modifiers> {
        let mut named = [None; 24];
        let mut next_type = 0;
        for &modifier in modifiers {
            let here = if is_type(modifier) {
                let from = self.tokens[next_type..].iter().position(|token| token.is_type)?;
                let index = next_type + from;
                next_type = index + 1;
                index
            } else {
                self.tokens
                    .iter()
                    .zip(&named)
                    .position(|(token, name)| name.is_none() && token.names.contains(&modifier))?
            };
            let name = self.tokens[here].names.iter().find(|name| **name == modifier)?;
            if named.get_mut(here)?.replace(*name).is_some() {
                return None;
            }
        }
        let named = || self.tokens.iter().zip(&named);
        if !named().all(|(token, name)| token.optional || name.is_some()) {
            return None;
        }
        let types = named().filter(|(token, _)| token.is_type).filter_map(|(_, name)| *name);
        let flags = named().filter_map(|(_, name)| *name).map(flag::named);
        Some(Modifiers { flags: flags.fold(0, |all, flag| all | flag), types: types.collect() })
    }
}

/// The row of an instruction, and what its modifiers say.
pub fn find(opcode: &str, modifiers: &[&str]) -> Option<(&'static Row, Modifiers)> {
    let forms = FORMS.get(opcode)?;
    forms.iter().find_map(|form| Some((form.row, form.read(modifiers)?)))
}

/// As [`find`], of several rows the lane-by-lane one with this many operands: `min` takes two or
/// three.
pub fn find_taking(
    opcode: &str,
    modifiers: &[&str],
    count: usize,
) -> Option<(&'static Row, Modifiers)> {
    let forms = FORMS.get(opcode)?.iter();
    let takes =
        |form: &&Form| matches!(form.row.kind, Kind::Lanes(widths, _) if operands(widths) == count);
    forms.filter(takes).find_map(|form| Some((form.row, form.read(modifiers)?)))
}

/// How many operands `n=n,n` stands for.
pub fn operands(widths: &str) -> usize {
    widths.split([',', '=']).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A row says twice how wide its operands are: in its text, and by the types of its closure.
    #[test]
    fn rows_name_the_widths_that_their_handlers_take() {
        let mut checked = 0;
        for row in TABLE.iter().flat_map(|rows| rows.iter()) {
            let (Kind::Lanes(widths, handlers) | Kind::Compare(widths, handlers)) = row.kind else {
                continue;
            };
            let Some(lanes) = handlers.lanes else { continue };
            for (name, bytes) in widths.split(['=', ',']).zip(lanes) {
                assert_eq!(name == "w", bytes == 8, "{}: {widths} of {lanes:?}", row.form);
                checked += 1;
            }
        }
        assert!(checked > 1000, "{checked}");
    }
}
