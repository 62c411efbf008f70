//! Operands in registers of the widths that a row of the instruction table names.
//!
//! PTX lets registers be wider than an instruction's type (9.4.1): a source is then cut off, a result
//! extended, by its sign if the type has one. Rows know their own widths only:
//!
//! ```text
//! n  32 bits   h  16 bits   p  a predicate   w  64 bits   x  32 bits, of which a register of 16 takes the lower
//! "w=n,n"   mul.wide: two of 32 bits make one of 64
//! ```

use super::effects;
use super::flatten::{Place, Value};
use super::select::{Refusal, Selector};
use super::{Op, Reg, Width};
use crate::exec::Handlers;
use crate::isa::{self, Kind, Modifiers};
use crate::program::Preset;
use ptx::ast::Space;

impl Selector {
    /// A lane-by-lane row: `widths` is `dst=src,src`.
    pub fn lanes(
        &mut self,
        widths: &str,
        handlers: Handlers,
        modifiers: &Modifiers,
        operands: &[Value],
    ) -> Result<(), Refusal> {
        let (to, from) = widths.split_once('=').ok_or_else(String::new)?;
        let [dst, sources @ ..] = operands else { return Err(String::new()) };
        let op = self.reading(from, handlers, modifiers, sources)?;
        self.into(dst, to, modifiers.types.first().copied().unwrap_or(""), op)
    }

    /// An operation with its sources: `widths` is `src,src`, up to four.
    pub fn reading(
        &mut self,
        widths: &str,
        handlers: Handlers,
        modifiers: &Modifiers,
        sources: &[Value],
    ) -> Result<Op, Refusal> {
        if sources.len() != widths.split(',').count() {
            return Err(String::new());
        }
        let mut op = self.op(handlers);
        op.flags = modifiers.flags;
        let ty = modifiers.types.last().copied().unwrap_or("");
        let mut regs = [None; 4];
        for ((source, width), reg) in sources.iter().zip(widths.split(',')).zip(&mut regs) {
            *reg = Some(self.source(source, width, ty)?);
        }
        [op.a, op.b, op.c, op.mask] = regs;
        Ok(op)
    }

    /// Emit `op` with its result in `dst`, which may be wider than the operation, or 16 bits wide.
    pub fn into(&mut self, dst: &Value, width: &str, ty: &str, mut op: Op) -> Result<(), Refusal> {
        let reg = match dst {
            Value::Register(reg) => *reg,
            Value::Discard => {
                self.registers.fresh(if width == "w" { Width::Wide } else { Width::Narrow })
            }
            _ => return Err("its destination".to_owned()),
        };
        let info = self.registers.info[reg as usize];
        match (width, info.width) {
            ("w", Width::Wide)
            | ("n" | "h" | "p", Width::Predicate | Width::Half | Width::Narrow) => {
                op.dst = Some(reg);
                self.ops.push(op);
            }
            ("x", Width::Narrow) => {
                op.dst = Some(reg);
                self.ops.push(op);
            }
            // Sign-extended to 32 bits, but the register has 16.
            ("x", _) => {
                let temporary = self.registers.fresh(Width::Narrow);
                op.dst = Some(temporary);
                self.ops.push(op);
                self.helper("cvt", &["u16", "u32"], reg, &[temporary])?;
            }
            ("n" | "h", Width::Wide) => {
                let temporary = self.registers.fresh(Width::Narrow);
                op.dst = Some(temporary);
                self.ops.push(op);
                let signed = ty.starts_with('s');
                let form = if signed { ["s64", "s32"] } else { ["u64", "u32"] };
                self.helper("cvt", &form, reg, &[temporary])?;
            }
            _ => return Err("a register of another width".to_owned()),
        }
        Ok(())
    }

    /// Emit another row's operation on registers of the right widths.
    pub fn helper(
        &mut self,
        opcode: &str,
        modifiers: &[&str],
        dst: Reg,
        sources: &[Reg],
    ) -> Result<(), Refusal> {
        let (row, read) = isa::find(opcode, modifiers).ok_or_else(String::new)?;
        let (Kind::Lanes(_, handlers) | Kind::Compare(_, handlers)) = row.kind else {
            return Err(String::new());
        };
        let mut op = self.op(handlers);
        op.flags = read.flags;
        op.action = Some(effects::of_lanes(opcode, modifiers));
        op.dst = Some(dst);
        op.a = sources.first().copied();
        op.b = sources.get(1).copied();
        op.c = sources.get(2).copied();
        self.ops.push(op);
        Ok(())
    }

    /// A register to read, of the width that the row names; `ty` says what literals mean.
    pub fn source(&mut self, value: &Value, width: &str, ty: &str) -> Result<Reg, Refusal> {
        let wide = width == "w";
        match value {
            Value::Register(reg) => match (wide, self.registers.wide(*reg)) {
                (false, true) => {
                    let low = self.registers.fresh(Width::Narrow);
                    self.helper("cvt", &["u32", "u64"], low, &[*reg])?;
                    Ok(low)
                }
                (true, false) => Err("a register narrower than the operation".to_owned()),
                _ => Ok(*reg),
            },
            Value::Special(special) => Ok(self.registers.preset(Preset::Special(*special))),
            Value::Integer(value) if wide => Ok(self.registers.constant64(*value)),
            Value::Integer(value) if width == "h" => {
                Ok(self.registers.constant(*value as u32 & 0xffff))
            }
            Value::Integer(value) if width == "p" => {
                Ok(self.registers.constant(if *value == 0 { 0 } else { u32::MAX }))
            }
            Value::Integer(value) => Ok(self.registers.constant(*value as u32)),
            Value::Float32(bits) if wide => {
                Ok(self.registers.constant64(f64::from(f32::from_bits(*bits)).to_bits()))
            }
            Value::Float32(bits) => Ok(self.registers.constant(*bits)),
            Value::Float64(bits) if wide => Ok(self.registers.constant64(*bits)),
            Value::Float64(bits) if ty == "f32" => {
                Ok(self.registers.constant((f64::from_bits(*bits) as f32).to_bits()))
            }
            Value::Not(reg) => {
                let inverse = self.registers.fresh(Width::Predicate);
                self.helper("not", &["pred"], inverse, &[*reg])?;
                Ok(inverse)
            }
            Value::Negated(reg) => {
                let width = self.registers.info[*reg as usize].width;
                let negated = self.registers.fresh(width);
                let ty = if ty.is_empty() { "s32" } else { ty };
                let ty = ty.replace(['u', 'b'], "s");
                self.helper("neg", &[&ty], negated, &[*reg])?;
                Ok(negated)
            }
            Value::Variable(Place { base: Some(frame), address, .. }, offset) => {
                let by = self.registers.constant(address.wrapping_add(*offset as u64) as u32);
                let sum = self.registers.fresh(Width::Narrow);
                self.helper("add", &["u32"], sum, &[*frame, by])?;
                if !wide {
                    return Ok(sum);
                }
                let extended = self.registers.fresh(Width::Wide);
                self.helper("cvt", &["u64", "u32"], extended, &[sum])?;
                Ok(extended)
            }
            Value::Variable(Place { space: Space::Shared, address, .. }, offset) => {
                let offset = address.wrapping_add(*offset as u64) as u32;
                Ok(self.registers.shared_address(offset, wide))
            }
            Value::Variable(place, offset) => {
                let address = place.address.wrapping_add(*offset as u64);
                Ok(if wide {
                    self.registers.constant64(address)
                } else {
                    self.registers.constant(address as u32)
                })
            }
            Value::Vector(list) if list.len() == 1 => self.source(&list[0], width, ty),
            Value::Unknown(name) => Err(format!("`{name}`")),
            _ => Err("an operand of this kind".to_owned()),
        }
    }

    pub fn narrow(&mut self, value: &Value) -> Result<Reg, Refusal> {
        self.source(value, "n", "u32")
    }

    /// A register to write, taken as it is.
    pub fn written(&mut self, value: &Value) -> Result<Reg, Refusal> {
        match value {
            Value::Register(reg) if !self.registers.wide(*reg) => Ok(*reg),
            Value::Discard => Ok(self.registers.fresh(Width::Narrow)),
            _ => Err("its destination".to_owned()),
        }
    }
}
