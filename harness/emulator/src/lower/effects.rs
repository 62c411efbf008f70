//! What the sanitizer must know of an instruction: its memory access, its part in order, and how
//! definedness goes from its sources to its results.

use super::Op;
use super::flatten::{Flat, Value};
use super::slots::Slots;
use crate::isa::{Bits, Kind, Modifiers};
use crate::program::SLOT;
use crate::sanitize::{Deed, Effect, Touch};

/// What an operation of this instruction does; those beside the access (an extension, an address made
/// narrow) go lane by lane.
pub fn deed(flat: &Flat, kind: Kind, modifiers: &Modifiers, op: &Op) -> Deed {
    match kind {
        Kind::Load if op.memory => Deed::Load(touch(flat, modifiers, op.written)),
        Kind::Store if op.memory => Deed::Store(touch(flat, modifiers, op.list.len())),
        Kind::Atomic if op.memory => {
            let vector = flat.operands.iter().find_map(|operand| match operand {
                Value::Vector(list) => Some(list.len()),
                _ => None,
            });
            let touch = touch(flat, modifiers, vector.unwrap_or(1));
            Deed::Atomic(Touch { strong: true, replaces: flat.has("exch"), ..touch })
        }
        Kind::Shuffle(_)
        | Kind::Vote(_)
        | Kind::AcrossLanes(_)
        | Kind::Mma(_)
        | Kind::WmmaMultiply(_) => Deed::Across,
        Kind::WarpBarrier(_) => Deed::WarpSync,
        Kind::Fence => Deed::Fence,
        Kind::CopyAsync(_) | Kind::StoreAsync(_) | Kind::Bulk(_) | Kind::Tensor(_) => Deed::Copy,
        Kind::Lanes(widths, _) if !widths.contains('w') => match flat.opcode {
            "selp" => Deed::Select,
            "and" => Deed::Absorb(0),
            "or" => Deed::Absorb(u32::MAX),
            _ => Deed::Lanes,
        },
        Kind::Lanes(..) if flat.opcode == "selp" => Deed::Select,
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
        | Kind::Load
        | Kind::Store
        | Kind::Atomic => Deed::Lanes,
        _ => Deed::Fresh,
    }
}

/// Whether an instruction is such as a loop may consist of that can do nothing but wait: see
/// [`crate::program::Origin::idle`]. What is not known to be is not.
pub fn idle(flat: &Flat, kind: Kind) -> bool {
    // Clocks go on.
    let steady = !flat.operands.iter().any(|operand| matches!(operand, Value::Dynamic(_)));
    match kind {
        Kind::Mbarrier(_) => flat.has("test_wait") || flat.has("try_wait"),
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
        | Kind::Fence => steady,
        _ => false,
    }
}

fn touch(flat: &Flat, modifiers: &Modifiers, count: usize) -> Touch {
    let bits = modifiers.types.last().and_then(|ty| Bits::of(ty)).unwrap_or(Bits::B32);
    let wide = modifiers.types.last().is_some_and(|ty| ty.ends_with("128"));
    let strong =
        ["volatile", "relaxed", "acquire", "release", "acq_rel", "mmio", "cv", "wt", "async"];
    Touch {
        bytes: bits.bytes() as u8,
        count: if wide { 2 } else { count as u8 },
        strong: strong.iter().any(|name| flat.has(name)),
        releases: flat.has("release") || flat.has("acq_rel"),
        replaces: false,
    }
}

/// The effect of an operation on slots, whose numbers go to `touched`.
pub fn effect(op: &Op, slots: &Slots, touched: &mut Vec<u32>) -> Effect {
    let first = touched.len() as u32;
    let number = |reg: super::Reg| slots.of[reg as usize] / SLOT as u32;
    touched.extend(op.defs().map(number));
    let written = touched.len() - first as usize;
    touched.extend(op.uses().map(number));
    let read = touched.len() - first as usize - written;
    Effect { deed: op.deed, first, written: written as u16, read: read as u16, quiet: 0 }
}

/// Count for each of a block's effects how many quiet ones there are from it on.
pub fn count_quiet(block: &mut [Effect]) {
    let mut quiet = 0u16;
    for effect in block.iter_mut().rev() {
        quiet = if effect.deed.is_quiet() { quiet.saturating_add(1) } else { 0 };
        effect.quiet = quiet;
    }
}
