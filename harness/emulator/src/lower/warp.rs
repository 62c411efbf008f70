//! Instructions that look across the lanes of a warp (PTX ISA 9.7.9.6, 9.7.13.9-14).

use super::flatten::Value;
use super::select::{Refusal, Selector};
use crate::exec::Handlers;
use crate::isa::{Modifiers, flag};

impl Selector {
    /// `vote d, {!}p, mask`.
    pub fn vote(
        &mut self,
        handlers: Handlers,
        modifiers: &Modifiers,
        operands: &[Value],
    ) -> Result<(), Refusal> {
        let [dst, predicate, mask] = operands else { return Err(String::new()) };
        let mut op = self.op(handlers);
        op.dst = Some(self.written(dst)?);
        if let Value::Not(reg) = predicate {
            op.flags = modifiers.flags | flag::NOT;
            op.a = Some(*reg);
        } else {
            op.flags = modifiers.flags;
            op.a = Some(self.source(predicate, "p", "pred")?);
        }
        op.b = Some(self.narrow(mask)?);
        self.ops.push(op);
        Ok(())
    }

    pub fn shuffle(
        &mut self,
        handlers: Handlers,
        modifiers: &Modifiers,
        operands: &[Value],
    ) -> Result<(), Refusal> {
        let [dst, a, b, c, mask] = operands else { return Err(String::new()) };
        let (dst, predicate) = match dst {
            Value::Pair(dst, predicate) => (dst.as_ref(), Some(predicate.as_ref())),
            dst => (dst, None),
        };
        let mut op = self.op(handlers);
        op.flags = modifiers.flags;
        op.a = Some(self.narrow(a)?);
        op.b = Some(self.narrow(b)?);
        op.c = Some(self.narrow(c)?);
        op.mask = Some(self.narrow(mask)?);
        op.dst = Some(self.written(dst)?);
        op.dst2 = predicate.map(|predicate| self.written(predicate)).transpose()?;
        self.ops.push(op);
        Ok(())
    }

    /// `redux d, a, mask` · `match d{|p}, a, mask` · `elect d|p, mask` · `activemask d`.
    pub fn across(
        &mut self,
        handlers: Handlers,
        modifiers: &Modifiers,
        operands: &[Value],
    ) -> Result<(), Refusal> {
        let (dst, sources) = operands.split_first().ok_or_else(String::new)?;
        let mut op = self.op(handlers);
        op.flags = modifiers.flags;
        match dst {
            Value::Pair(dst, predicate) => {
                op.dst = match dst.as_ref() {
                    Value::Discard => None,
                    dst => Some(self.written(dst)?),
                };
                op.dst2 = Some(self.written(predicate)?);
            }
            dst => op.dst = Some(self.written(dst)?),
        }
        let width = if modifiers.types.first() == Some(&"b64") { "w" } else { "n" };
        match sources {
            [] => {}
            [mask] => op.a = Some(self.narrow(mask)?),
            [a, mask] => {
                op.a = Some(self.source(a, width, "u32")?);
                op.b = Some(self.narrow(mask)?);
            }
            _ => return Err(String::new()),
        }
        self.ops.push(op);
        Ok(())
    }
}
