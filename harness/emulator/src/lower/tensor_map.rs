//! Operands of `tensormap.replace` and `tensormap.cp_fenceproxy` (PTX ISA 9.7.9.28, 9.7.13.16).

use super::flatten::{Flat, Value};
use super::select::{Refusal, Selector};
use crate::exec::{Handlers, tensor_map};
use crate::memory::MapField;

impl Selector {
    /// `tensormap.replace.tile.field [map]{, ordinal}, value`.
    pub fn map_field(&mut self, handlers: Handlers, flat: &Flat) -> Result<(), Refusal> {
        let named = |field: &MapField| flat.has(field.name());
        let field = MapField::ALL.into_iter().find(named).ok_or_else(String::new)?;
        let (map, ordinal, value) = match flat.operands.as_slice() {
            [map, value] if field.count() == 1 => (map, 0, value),
            [map, Value::Integer(ordinal), value] if *ordinal < field.count() => {
                (map, *ordinal, value)
            }
            [_, Value::Integer(ordinal), _] => {
                return Err(format!("ordinal {ordinal} of .{}", field.name()));
            }
            _ => return Err(String::new()),
        };
        let mut op = self.op(handlers);
        op.flags = field as u32;
        let map = match flat.has("shared::cta") {
            true => {
                op.flags |= tensor_map::SHARED;
                self.shared_address(map)?
            }
            false => self.global_operand(map)?,
        };
        let value = match field.is_wide() {
            true => self.source(value, "w", "b64")?,
            false => self.narrow(value)?,
        };
        op.list = vec![map, value];
        op.imm = ordinal;
        op.memory = true;
        self.ops.push(op);
        Ok(())
    }

    /// `tensormap.cp_fenceproxy [to], [from], 128`.
    pub fn map_copy(&mut self, handlers: Handlers, flat: &Flat) -> Result<(), Refusal> {
        let [to, from, Value::Integer(128)] = flat.operands.as_slice() else {
            return Err("a size that is not 128".to_owned());
        };
        let mut op = self.op(handlers);
        op.list = vec![self.global_operand(to)?, self.shared_address(from)?];
        op.memory = true;
        self.ops.push(op);
        Ok(())
    }
}
