//! What the sanitizer must know of an instruction: its memory access, its part in order, and how
//! definedness goes from its sources to its results.

use super::flatten::{Flat, Value};
use super::slots::Slots;
use super::{Op, Registers};
use crate::isa::{self, Bits, Kind, Modifiers};
use crate::program::SLOT;
use crate::sanitize::{Action, Effect, Rule, Touch};

/// What an operation of this instruction does; those beside the access (an extension, an address made
/// narrow) go lane by lane.
pub fn action(flat: &Flat, kind: Kind, modifiers: &Modifiers, op: &Op) -> Action {
    match kind {
        Kind::Load if op.memory => Action::Load(touch(flat, modifiers, op.written)),
        Kind::Store if op.memory => Action::Store(touch(flat, modifiers, op.list.len())),
        Kind::Atomic if op.memory => {
            let vector = flat.operands.iter().find_map(|operand| match operand {
                Value::Vector(list) => Some(list.len()),
                _ => None,
            });
            let touch = touch(flat, modifiers, vector.unwrap_or(1));
            let (replaces, compares) = (flat.has("exch"), flat.has("cas"));
            Action::Atomic(Touch { strong: true, replaces, compares, ..touch })
        }
        Kind::Shuffle(_) => Action::Shuffle,
        Kind::Vote(_) | Kind::AcrossLanes(_) | Kind::Mma(_) | Kind::WmmaMultiply(_) => {
            Action::Across
        }
        Kind::Wgmma(_) | Kind::WgmmaWait(_) => Action::Sums,
        Kind::TensorMemory(_) if flat.has("ld") && !op.list.is_empty() => Action::TensorLoad,
        Kind::WarpBarrier(_) => Action::WarpSync,
        Kind::Fence(_) => Action::Fence,
        Kind::CopyAsync(_)
        | Kind::StoreAsync(_)
        | Kind::Bulk(_)
        | Kind::Tensor(_)
        | Kind::TryCancel(_) => Action::Copy,
        Kind::Lanes(..) => of_lanes(flat.opcode, flat.modifiers),
        Kind::Compare(..)
        | Kind::ComparePair
        | Kind::Set
        | Kind::Carry(..)
        | Kind::Lookup(_)
        | Kind::Video(_)
        | Kind::Four(_)
        | Kind::Move
        | Kind::ConvertAddress
        | Kind::Load
        | Kind::Store
        | Kind::Atomic => Action::Lanes,
        _ => Action::Fresh,
    }
}

/// Whether an instruction is such as a loop may consist of that can do nothing but wait: see
/// [`crate::program::Origin::idle`]. What is not known to be is not.
pub fn idle(flat: &Flat, kind: Kind) -> bool {
    match kind {
        Kind::Mbarrier(_) => flat.has("test_wait") || flat.has("try_wait"),
        Kind::TensorMemory(_) => flat.has("alloc"),
        Kind::Plain(_) => flat.opcode == "nanosleep",
        // Which lanes are together depends on the order in which they ran.
        Kind::AcrossLanes(_) => flat.opcode != "activemask",
        Kind::Lanes(..)
        | Kind::Compare(..)
        | Kind::ComparePair
        | Kind::Set
        | Kind::Carry(..)
        | Kind::Lookup(_)
        | Kind::Video(_)
        | Kind::Four(_)
        | Kind::Move
        | Kind::ConvertAddress
        | Kind::IsSpace
        | Kind::Shuffle(_)
        | Kind::Vote(_)
        | Kind::Policy
        | Kind::WarpBarrier(_)
        | Kind::Nothing
        | Kind::Fence(_) => true,
        // Nobody else writes there, and the loop has no stores.
        Kind::Load => flat.has("local") || flat.has("param"),
        _ => false,
    }
}

fn touch(flat: &Flat, modifiers: &Modifiers, count: usize) -> Touch {
    let bits = modifiers.types.last().and_then(|ty| Bits::of(ty)).unwrap_or(Bits::B32);
    let wide = modifiers.types.last().is_some_and(|ty| ty.ends_with("128"));
    Touch {
        bytes: bits.bytes() as u8,
        count: if wide { 2 } else { count as u8 },
        strong: isa::STRONG.iter().any(|name| flat.has(name)),
        releases: flat.has("release") || flat.has("acq_rel"),
        ..Touch::default()
    }
}

/// What a lane-by-lane instruction makes of the bits of its sources.
pub fn of_lanes(opcode: &str, modifiers: &[&str]) -> Action {
    let types: Vec<&str> = modifiers.iter().copied().filter(|m| isa::is_type(m)).collect();
    let (first, last) = match types.as_slice() {
        [] => return Action::Lanes,
        [first, .., last] => (*first, *last),
        [only] => (*only, *only),
    };
    let whole = |ty: &str| ty.starts_with(['b', 'u', 's']) && !ty.starts_with("bf");
    let number = |ty: &str| whole(ty) && !ty.ends_with("x2");
    let bits = |ty: &str| Bits::of(ty).map_or(32, |bits| 8 * bits.bytes()) as u8;
    let saturates = modifiers.contains(&"sat");
    Action::Bits(match opcode {
        "and" => Rule::AND,
        "or" => Rule::OR,
        "xor" => Rule::XOR,
        "not" => Rule::NOT,
        "selp" => Rule::Select,
        "shl" => Rule::Left { bits: bits(last) },
        "shr" => Rule::Right { bits: bits(last), signed: last.starts_with('s') },
        "prmt" if modifiers.len() == 1 => Rule::Permute,
        "add" | "sub" if number(last) && !saturates => Rule::Upward,
        "mul" | "mad" if number(last) && modifiers.contains(&"lo") => Rule::Upward,
        "div" | "rem" if number(last) => Rule::Divide { remainder: opcode == "rem" },
        "cvt" if types.len() == 2 && number(first) && number(last) && !saturates => {
            let (to, from) = (bits(first), bits(last));
            let signed = if to <= from { first } else { last }.starts_with('s');
            Rule::Extend { bits: to.min(from), signed }
        }
        "cvt" if matches!(first, "f16x2" | "bf16x2") && last == "f32" => Rule::Pair,
        _ if types.iter().all(|ty| ty.ends_with("16x2")) => Rule::Halves,
        _ => return Action::Lanes,
    })
}

/// The effect of an operation on slots, whose numbers go to `touched`.
pub fn effect(op: &Op, slots: &Slots, registers: &Registers, touched: &mut Vec<u32>) -> Effect {
    let first = touched.len() as u32;
    let number = |reg: super::Reg| slots.of[reg as usize] / SLOT as u32;
    touched.extend(op.defs().map(number));
    let written = touched.len() - first as usize;
    touched.extend(op.uses().map(number));
    let read = touched.len() - first as usize - written;
    let action = op.action.unwrap_or(Action::Lanes);
    let wide = [op.dst, op.a, op.b, op.c].map(|reg| reg.is_some_and(|reg| registers.wide(reg)));
    Effect { action, first, written: written as u16, read: read as u16, quiet: 0, wide }
}

/// Count for each of a block's effects how many quiet ones there are from it on.
pub fn count_quiet(block: &mut [Effect]) {
    let mut quiet = 0u16;
    for effect in block.iter_mut().rev() {
        quiet = if effect.action.is_quiet() { quiet.saturating_add(1) } else { 0 };
        effect.quiet = quiet;
    }
}
