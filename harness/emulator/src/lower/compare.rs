//! `setp` and `set` (PTX ISA 9.7.6-7): a comparison, its boolean combination, its complement.

use super::flatten::{Flat, Value};
use super::select::{Refusal, Selector};
use super::{Reg, Width};
use crate::exec::Handlers;
use crate::isa::Modifiers;

impl Selector {
    /// `setp.CMP{.BOOL} p|q, a, b{, c}`: `p = (a CMP b) BOOL c`, `q = !(a CMP b) BOOL c`.
    pub fn compare(
        &mut self,
        widths: &str,
        handlers: Handlers,
        modifiers: &Modifiers,
        flat: &Flat,
    ) -> Result<(), Refusal> {
        let boolean = flat.modifiers.iter().find(|m| ["and", "or", "xor"].contains(&m.as_str()));
        let (targets, sources) = flat.operands.split_first().ok_or_else(String::new)?;
        let (first, second) = match targets {
            Value::Pair(first, second) => (first.as_ref(), Some(second.as_ref())),
            only => (only, None),
        };
        if boolean.is_none() && second.is_none() {
            let operands: Vec<_> = flat.operands.clone();
            return self.lanes(widths, handlers, modifiers, &operands);
        }
        let compared = self.registers.fresh(Width::Predicate);
        let mut operands = vec![Value::Register(compared)];
        operands.extend(sources.iter().take(2).cloned());
        self.lanes(widths, handlers, modifiers, &operands)?;
        let combine = |selector: &mut Self, target: &Value, with: Reg| -> Result<(), Refusal> {
            let Value::Register(target) = target else { return Ok(()) };
            match boolean {
                None => selector.copy(*target, with),
                Some(name) => {
                    let c = sources.get(2).ok_or_else(String::new)?;
                    let c = selector.source(c, "p", "pred")?;
                    selector.helper(name, &["pred"], *target, &[with, c])?;
                }
            }
            Ok(())
        };
        if let Some(second) = second {
            let inverse = self.registers.fresh(Width::Predicate);
            self.helper("not", &["pred"], inverse, &[compared])?;
            // Into a temporary: `c` may be the first destination.
            let result = self.registers.fresh(Width::Predicate);
            combine(self, &Value::Register(result), inverse)?;
            combine(self, first, compared)?;
            if let Value::Register(second) = second {
                self.copy(*second, result);
            }
            return Ok(());
        }
        combine(self, first, compared)
    }

    /// `set`: all ones, or 1.0, where the comparison holds.
    pub fn set(
        &mut self,
        widths: &str,
        handlers: Handlers,
        modifiers: &Modifiers,
        flat: &Flat,
    ) -> Result<(), Refusal> {
        let [dst, sources @ ..] = flat.operands.as_slice() else { return Err(String::new()) };
        let compared = self.registers.fresh(Width::Predicate);
        let mut inner = Flat {
            form: Err(String::new()),
            opcode: String::new(),
            modifiers: flat.modifiers.clone(),
            operands: vec![Value::Register(compared)],
            guard: None,
            origin: flat.origin,
        };
        inner.operands.extend(sources.iter().cloned());
        let types = modifiers.types[1..].to_vec();
        let read = Modifiers { flags: modifiers.flags, types };
        self.compare(widths, handlers, &read, &inner)?;
        let yes = if modifiers.types[0] == "f32" { 1f32.to_bits() } else { u32::MAX };
        let (yes, no) = (self.registers.constant(yes), self.registers.constant(0));
        let Value::Register(dst) = dst else { return Err("its destination".to_owned()) };
        self.helper("selp", &["b32"], *dst, &[yes, no, compared])
    }
}
