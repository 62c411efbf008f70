//! Division by zero, where the launch is sanitized: C++ gives it no meaning, and the hardware a number
//! that looks like a result (PTX ISA 9.7.1.8 leaves it open; all ones on an H200).

use super::flatten::Flat;
use super::select::{Refusal, Selector};
use crate::exec::{Core, Flow, once};
use crate::fault::FaultKind;
use crate::isa::Modifiers;
use crate::program::Inst;

/// In the flags: a remainder is wanted, rather than a quotient.
const REMAINDER: u32 = 1;

impl Selector {
    /// Before `div` and `rem` of integers: look at the divisor.
    pub fn watch_divisor(&mut self, flat: &Flat, modifiers: &Modifiers) -> Result<(), Refusal> {
        let ty = modifiers.types.last().copied().unwrap_or("");
        let [_, _, divisor] = flat.operands.as_slice() else { return Ok(()) };
        if !self.frame.sanitize || !matches!(flat.opcode, "div" | "rem") || ty.starts_with('f') {
            return Ok(());
        }
        let (width, handlers) = match ty {
            "u64" | "s64" => ("w", once!(wide)),
            "u16" | "s16" => ("h", once!(half)),
            _ => ("n", once!(narrow)),
        };
        let mut op = self.op(handlers);
        op.a = Some(self.source(divisor, width, ty)?);
        op.flags = if flat.opcode == "rem" { REMAINDER } else { 0 };
        self.ops.push(op);
        Ok(())
    }
}

fn look(core: &mut Core, inst: &Inst, zero: impl Fn(usize) -> bool) -> Flow {
    let mask = core.mask;
    match (0..32).find(|&lane| mask >> lane & 1 == 1 && zero(lane)) {
        Some(lane) => {
            let kind = FaultKind::DivisionByZero { remainder: inst.flags == REMAINDER };
            core.stop(kind, lane as u32)
        }
        None => Flow::Next,
    }
}

/// # Safety
/// See [`crate::exec::Handler`].
unsafe fn narrow(core: &mut Core, inst: &Inst) -> Flow {
    // SAFETY: lowering keeps slots within the file.
    let divisors = unsafe { core.read::<u32>(inst.a) };
    look(core, inst, |lane| divisors[lane] == 0)
}

/// # Safety
/// See [`crate::exec::Handler`].
unsafe fn half(core: &mut Core, inst: &Inst) -> Flow {
    // SAFETY: lowering keeps slots within the file.
    let divisors = unsafe { core.read::<u32>(inst.a) };
    look(core, inst, |lane| divisors[lane] as u16 == 0)
}

/// # Safety
/// See [`crate::exec::Handler`].
unsafe fn wide(core: &mut Core, inst: &Inst) -> Flow {
    // SAFETY: lowering keeps slots within the file.
    let divisors = unsafe { core.read::<u64>(inst.a) };
    look(core, inst, |lane| divisors[lane] == 0)
}
