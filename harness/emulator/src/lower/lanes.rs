//! Lane-by-lane instructions whose operands are more than a destination and a few sources: the carry
//! flag, the table of `lop3`, four values in braces.

use super::Width;
use super::flatten::{Flat, Value};
use super::select::{Refusal, Selector};
use crate::exec::Handlers;
use crate::isa::{Modifiers, flag};
use crate::sanitize::{Action, Rule};

impl Selector {
    /// `add.cc d, a, b`: the flag is a register of its own, the same in the whole function.
    pub fn carry(
        &mut self,
        widths: &str,
        handlers: Handlers,
        modifiers: &Modifiers,
        flat: &Flat,
    ) -> Result<(), Refusal> {
        let (to, from) = widths.split_once('=').ok_or_else(String::new)?;
        let [dst, sources @ ..] = flat.operands.as_slice() else { return Err(String::new()) };
        let registers = &mut self.registers;
        let carry = *self.carry.get_or_insert_with(|| registers.fresh(Width::Narrow));
        let takes = flat.opcode.ends_with('c');
        let gives = flat.has("cc");
        let mut op = self.reading(from, handlers, modifiers, sources)?;
        // A subtraction is a sum with the complement, and 1 (`isa/carry.rs`).
        let none = u32::from(flat.opcode == "sub");
        op.mask = Some(if takes { carry } else { self.registers.constant(none) });
        op.dst2 = gives.then_some(carry);
        self.into(dst, to, modifiers.types.first().copied().unwrap_or(""), op)
    }

    /// `lop3{.BOOL} d{|p}, a, b, c, table{, q}`: `p = (d != 0) BOOL q`.
    pub fn lookup(&mut self, handlers: Handlers, flat: &Flat) -> Result<(), Refusal> {
        let [dst, a, b, c, Value::Integer(table), rest @ ..] = flat.operands.as_slice() else {
            return Err(String::new());
        };
        let mut op = self.op(handlers);
        op.flags = *table as u32 & 0xff;
        op.action = Some(Action::Bits(Rule::Table(*table as u8)));
        op.a = Some(self.narrow(a)?);
        op.b = Some(self.narrow(b)?);
        op.c = Some(self.narrow(c)?);
        let (Value::Pair(dst, predicate), [q]) = (dst, rest) else {
            return self.into(dst, "n", "b32", op);
        };
        let looked_up = self.registers.fresh(Width::Narrow);
        op.dst = Some(looked_up);
        self.ops.push(op);
        // Read before anything is written: `q` may be the predicate.
        let q = self.source(q, "p", "pred")?;
        let any = self.registers.fresh(Width::Predicate);
        let zero = self.registers.constant(0);
        self.helper("setp", &["ne", "u32"], any, &[looked_up, zero])?;
        let boolean = if flat.has("or") { "or" } else { "and" };
        if let Value::Register(predicate) = predicate.as_ref() {
            self.helper(boolean, &["pred"], *predicate, &[any, q])?;
        }
        if let Value::Register(dst) = dst.as_ref() {
            self.copy(*dst, looked_up);
        }
        Ok(())
    }

    /// `cvt.rs….x4 d, {a, b, e, f}, random`.
    pub fn four(
        &mut self,
        handlers: Handlers,
        modifiers: &Modifiers,
        operands: &[Value],
    ) -> Result<(), Refusal> {
        let [dst, Value::Vector(four), random] = operands else { return Err(String::new()) };
        if four.len() != 4 {
            return Err(String::new());
        }
        let mut op = self.op(handlers);
        op.flags = modifiers.flags;
        op.a = Some(self.narrow(random)?);
        for value in four {
            op.list.push(self.source(value, "n", "f32")?);
        }
        self.into(dst, "n", "b32", op)
    }

    /// `bar.red`: the threads' predicate in `c`, negated or not, and how they are combined in the
    /// flags.
    pub fn barrier(
        &mut self,
        handlers: Handlers,
        modifiers: &Modifiers,
        flat: &Flat,
    ) -> Result<(), Refusal> {
        let mut op = self.op(handlers);
        op.flags = modifiers.flags;
        let mut operands = flat.operands.as_slice();
        if flat.has("red") {
            let [dst, rest @ .., predicate] = operands else { return Err(String::new()) };
            operands = rest;
            op.dst = Some(self.written(dst)?);
            op.flags |= match () {
                () if flat.has("and") => flag::ALL,
                () if flat.has("or") => flag::ANY,
                () => flag::POPC,
            };
            op.c = Some(match predicate {
                Value::Not(reg) => {
                    op.flags |= flag::NOT;
                    *reg
                }
                predicate => self.source(predicate, "p", "pred")?,
            });
        }
        let all = self.registers.constant(0);
        op.a = Some(operands.first().map_or(Ok(all), |number| self.narrow(number))?);
        op.b = Some(operands.get(1).map_or(Ok(all), |threads| self.narrow(threads))?);
        self.ops.push(op);
        Ok(())
    }
}
