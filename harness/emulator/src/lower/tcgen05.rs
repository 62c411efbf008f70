//! Operands of `tcgen05` instructions (PTX ISA 9.7.16).

use super::flatten::{Flat, Value};
use super::select::{Refusal, Selector};
use crate::exec::Handlers;
use crate::exec::bulk::MULTICAST;
use crate::exec::tcgen05::{
    COPIES_IN_PAIR, CopyShape, FROM_4, FROM_6, FROM_TENSOR, HALVES, Kind, PAIR, SPARSE, Shape,
    VECTORS, WEIGHT_STATIONARY,
};

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

    /// `tcgen05.mma [d], a, b, descriptor, {masks of lanes,} enable {, scale of D}`, and with block scales
    /// `[d], a, b, descriptor, [scales of A], [scales of B], enable`; `.sp` has `[metadata]` behind B.
    pub fn tensor_multiply(&mut self, handlers: Handlers, flat: &Flat) -> Result<(), Refusal> {
        let [d, a, b, rest @ ..] = flat.operands.as_slice() else { return Err(String::new()) };
        let (metadata, rest) = match rest {
            [metadata, rest @ ..] if flat.has("sp") => (Some(metadata), rest),
            rest => (None, rest),
        };
        let [descriptor, rest @ ..] = rest else { return Err(String::new()) };
        let named = |kind: &Kind| flat.has(&format!("kind::{}", kind.name()));
        let kind = Kind::ALL.into_iter().find(named).ok_or_else(String::new)?;
        let pair = flat.has("cta_group::2");
        let mut op = self.op(handlers);
        op.flags = kind as u32 | if pair { PAIR } else { 0 };
        let (beside, enable) = match rest {
            [enable, mask @ ..] if flat.has("ws") => {
                op.flags |= WEIGHT_STATIONARY;
                match mask {
                    [] | [Value::Integer(0)] => (Vec::new(), enable),
                    _ => return Err("a mask of columns that count as zero".to_owned()),
                }
            }
            [a, b, enable] if kind.is_scaled() => {
                op.flags |= (vectors(kind, flat).ok_or("this vector size")? as u32) << VECTORS;
                (vec![self.shared_address(a)?, self.shared_address(b)?], enable)
            }
            [Value::Vector(masks), enable, scale @ ..] if !kind.is_scaled() => {
                if masks.len() != if pair { 8 } else { 4 } {
                    return Err(format!("{} masks of lanes", masks.len()));
                }
                op.imm = scale_of_d(kind, scale)?;
                let masks: Result<Vec<_>, _> = masks.iter().map(|mask| self.narrow(mask)).collect();
                (masks?, enable)
            }
            [enable, scale @ ..] if !kind.is_scaled() => {
                op.imm = scale_of_d(kind, scale)?;
                (Vec::new(), enable)
            }
            _ => return Err(String::new()),
        };
        let a = match a {
            Value::Memory { .. } => {
                op.flags |= FROM_TENSOR;
                self.shared_address(a)?
            }
            descriptor => self.source(descriptor, "w", "b64")?,
        };
        op.list = vec![
            self.shared_address(d)?,
            a,
            self.source(b, "w", "b64")?,
            self.narrow(descriptor)?,
            self.source(enable, "p", "pred")?,
        ];
        op.list.extend(beside);
        if let Some(metadata) = metadata {
            op.flags |= SPARSE;
            op.list.push(self.shared_address(metadata)?);
        }
        self.ops.push(op);
        Ok(())
    }

    /// `tcgen05.cp [address], descriptor`.
    pub fn tensor_copy(&mut self, handlers: Handlers, flat: &Flat) -> Result<(), Refusal> {
        let [to, from] = flat.operands.as_slice() else { return Err(String::new()) };
        let shape = CopyShape::named(|name| flat.has(name)).ok_or_else(String::new)?;
        let mut op = self.op(handlers);
        op.flags = shape as u32;
        for (name, bit) in
            [("cta_group::2", COPIES_IN_PAIR), ("b4x16_p64", FROM_4), ("b6x16_p32", FROM_6)]
        {
            op.flags |= if flat.has(name) { bit } else { 0 };
        }
        op.list = vec![self.shared_address(to)?, self.source(from, "w", "b64")?];
        self.ops.push(op);
        Ok(())
    }

    /// `tcgen05.commit [mbar]{, mask}`.
    pub fn tensor_commit(&mut self, handlers: Handlers, flat: &Flat) -> Result<(), Refusal> {
        let [at, rest @ ..] = flat.operands.as_slice() else { return Err(String::new()) };
        let mut op = self.op(handlers);
        let (at, generic) = self.cluster_address(flat, at)?;
        op.flags = generic;
        op.list = vec![at];
        op.memory = true;
        if flat.has("multicast::cluster") {
            op.flags |= MULTICAST;
            op.list.push(self.narrow(rest.first().ok_or_else(String::new)?)?);
        }
        self.ops.push(op);
        Ok(())
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

/// How many scales a row has in one instruction (PTX ISA 9.7.16.10.7).
fn vectors(kind: Kind, flat: &Flat) -> Option<usize> {
    let one_of = |names: &[&str]| names.iter().any(|name| flat.has(name));
    match kind {
        _ if one_of(&["scale_vec::1X"]) => Some(1),
        _ if one_of(&["scale_vec::2X"]) => Some(2),
        _ if one_of(&["scale_vec::4X", "block16"]) => Some(4),
        Kind::Mxf8f6f4 => Some(1),
        Kind::Mxf4 => Some(2),
        _ if one_of(&["block32"]) => Some(2),
        _ => None,
    }
}

/// By how many powers of two D is divided: an immediate, for two kinds only (9.7.16.10.9.1).
fn scale_of_d(kind: Kind, scale: &[Value]) -> Result<u64, Refusal> {
    match scale {
        [] => Ok(0),
        [Value::Integer(by)] if *by < 16 && matches!(kind, Kind::F16 | Kind::Tf32) => Ok(*by),
        _ => Err("a scale of D".to_owned()),
    }
}
