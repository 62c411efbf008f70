//! Operands of `tcgen05` instructions (PTX ISA 9.7.16).

use super::flatten::{Flat, Value};
use super::select::{Refusal, Selector};
use crate::exec::Handlers;
use crate::exec::tcgen05::{HALVES, Shape};

impl Selector {
    /// What reaches tensor memory for a warp: `alloc`, `dealloc`, `ld`, `st`.
    pub fn tensor_memory(&mut self, handlers: Handlers, flat: &Flat) -> Result<(), Refusal> {
        match flat.operands.as_slice() {
            [to, count] if flat.has("alloc") => {
                let (to, generic) = self.cluster_address(flat, to)?;
                let mut op = self.op(handlers);
                op.list = vec![to, self.narrow(count)?];
                op.flags = generic;
                op.memory = true;
                self.ops.push(op);
                Ok(())
            }
            [address, count] if flat.has("dealloc") => {
                let mut op = self.op(handlers);
                op.list = vec![self.narrow(address)?, self.narrow(count)?];
                self.ops.push(op);
                Ok(())
            }
            [registers, at, rest @ ..] if flat.has("ld") => {
                self.transfer(handlers, flat, registers, at, rest)
            }
            [at, rest @ .., registers] if flat.has("st") => {
                self.transfer(handlers, flat, registers, at, rest)
            }
            _ => Err(String::new()),
        }
    }

    fn transfer(
        &mut self,
        handlers: Handlers,
        flat: &Flat,
        registers: &Value,
        at: &Value,
        rest: &[Value],
    ) -> Result<(), Refusal> {
        let shape = flat.modifiers.iter().find_map(|name| Shape::named(name));
        let shape = shape.ok_or_else(String::new)?;
        let repeat = flat.modifiers.iter().find_map(|name| name.strip_prefix('x')?.parse().ok());
        let due = repeat.and_then(|repeat| shape.registers(repeat)).ok_or_else(String::new)?;
        let registers = Self::elements(registers);
        if registers.len() != due {
            return Err(format!("{} registers where {due} are due", registers.len()));
        }
        let loads = flat.has("ld");
        let mut op = self.op(handlers);
        op.a = Some(self.shared_address(at)?);
        op.imm = match (shape, rest) {
            (Shape::Rows16Bits32Twice, [Value::Integer(second)]) => *second,
            (Shape::Rows16Bits32Twice, _) => return Err("its second half".to_owned()),
            (_, []) => 0,
            _ => return Err(String::new()),
        };
        op.flags = shape as u32;
        if flat.has("pack::16b") || flat.has("unpack::16b") {
            op.flags |= HALVES;
        }
        for value in &registers {
            let reg = if loads { self.written(value)? } else { self.narrow(value)? };
            op.list.push(reg);
        }
        op.written = if loads { due } else { 0 };
        self.ops.push(op);
        Ok(())
    }
}
