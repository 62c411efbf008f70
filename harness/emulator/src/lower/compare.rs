//! `setp` and `set` (PTX ISA 9.7.6-7): a comparison, its boolean combination, its complement.

use super::flatten::{Flat, Value};
use super::select::{Refusal, Selector};
use super::{Reg, Width};
use crate::exec::Handlers;
use crate::isa::{self, Kind, Modifiers};

impl Selector {
    /// `setp.CMP{.BOOL} p|q, a, b{, c}`: `p = (a CMP b) BOOL c`, `q = !(a CMP b) BOOL c`.
    pub fn compare(
        &mut self,
        widths: &str,
        handlers: Handlers,
        modifiers: &Modifiers,
        flat: &Flat,
    ) -> Result<(), Refusal> {
        let boolean = flat.modifiers.iter().find(|m| ["and", "or", "xor"].contains(m));
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

    /// `setp.CMP{.BOOL}.f16x2 p|q, a, b{, c}`: `p` of the lower halves, `q` of the upper.
    pub fn compare_pair(&mut self, flat: &Flat) -> Result<(), Refusal> {
        let [Value::Pair(p, q), sources @ ..] = flat.operands.as_slice() else {
            return Err("one predicate for two comparisons".to_owned());
        };
        let both = self.predicates(flat, flat.modifiers, sources)?;
        for (target, from) in [p, q].into_iter().zip(both) {
            if let Value::Register(target) = target.as_ref() {
                self.copy(*target, from);
            }
        }
        Ok(())
    }

    /// The comparison of the lower halves, and of the upper.
    fn predicates(
        &mut self,
        flat: &Flat,
        modifiers: &[&str],
        sources: &[Value],
    ) -> Result<[Reg; 2], Refusal> {
        let [a, b, rest @ ..] = sources else { return Err(String::new()) };
        let (a, b) = (self.narrow(a)?, self.narrow(b)?);
        let modifiers = modifiers.iter().map(|m| m.strip_suffix("x2").unwrap_or(m));
        let modifiers: Vec<_> = modifiers.collect();
        let both = [0, 1].map(|_| self.registers.fresh(Width::Predicate));
        let sixteen = self.registers.constant(16);
        for (target, upper) in both.into_iter().zip([false, true]) {
            let mut sources = Vec::new();
            for packed in [a, b] {
                let half = self.registers.fresh(Width::Half);
                if upper {
                    self.helper("shr", &["u32"], half, &[packed, sixteen])?;
                } else {
                    self.helper("cvt", &["u16", "u32"], half, &[packed])?;
                }
                sources.push(Value::Register(half));
            }
            sources.extend(rest.iter().cloned());
            self.predicate(flat, &modifiers, &sources, target)?;
        }
        Ok(both)
    }

    /// `setp` with these modifiers.
    fn predicate(
        &mut self,
        flat: &Flat,
        modifiers: &[&str],
        sources: &[Value],
        target: Reg,
    ) -> Result<(), Refusal> {
        let (row, read) = isa::find("setp", modifiers).ok_or_else(String::new)?;
        let Kind::Compare(widths, handlers) = row.kind else { return Err(String::new()) };
        let mut operands = vec![Value::Register(target)];
        operands.extend_from_slice(sources);
        let form = Err(String::new());
        let opcode = "setp";
        let inner = Flat { form, opcode, modifiers, operands, guard: None, origin: flat.origin };
        self.compare(widths, handlers, &read, &inner)
    }

    /// `set.CMP{.BOOL}.DTYPE.TYPE d, a, b{, c}`: the `setp` without `DTYPE`, as all ones or 1.0 of
    /// that type.
    pub fn set(&mut self, modifiers: &Modifiers, flat: &Flat) -> Result<(), Refusal> {
        let [dst, sources @ ..] = flat.operands.as_slice() else { return Err(String::new()) };
        let [dtype, stype] = modifiers.types[..] else { return Err(String::new()) };
        let at = flat.modifiers.iter().position(|m| *m == dtype).ok_or_else(String::new)?;
        let mut rest = flat.modifiers.to_vec();
        rest.remove(at);
        let zero = self.registers.constant(0);
        if stype.ends_with("x2") {
            let [low, high] = self.predicates(flat, &rest, sources)?;
            let yes = match dtype {
                "f16x2" => 0x3c00,
                "bf16x2" => 0x3f80,
                _ => 0xffff,
            };
            let halves = [0, 1].map(|_| self.registers.fresh(Width::Narrow));
            for (half, (predicate, shift)) in halves.into_iter().zip([(low, 0), (high, 16)]) {
                let yes = self.registers.constant(yes << shift);
                self.helper("selp", &["b32"], half, &[yes, zero, predicate])?;
            }
            let packed = self.registers.fresh(Width::Narrow);
            self.helper("or", &["b32"], packed, &halves)?;
            return self.mov_into(dst, packed);
        }
        let compared = self.registers.fresh(Width::Predicate);
        self.predicate(flat, &rest, sources, compared)?;
        let yes = self.registers.constant(match dtype {
            "f32" => 1f32.to_bits(),
            "f16" => 0x3c00,
            "bf16" => 0x3f80,
            "u16" | "s16" => 0xffff,
            _ => u32::MAX,
        });
        let chosen = self.registers.fresh(Width::Narrow);
        self.helper("selp", &["b32"], chosen, &[yes, zero, compared])?;
        self.mov_into(dst, chosen)
    }

    fn mov_into(&mut self, dst: &Value, from: Reg) -> Result<(), Refusal> {
        let dst = self.written(dst)?;
        self.copy(dst, from);
        Ok(())
    }
}
