//! Asynchronous copies and `mbarrier`: operands by position, as the manual's syntax has them
//! (PTX ISA 9.7.9.25, 9.7.13.15).

use super::flatten::{Base, Flat, Value};
use super::select::{Refusal, Selector};
use super::{Reg, Width};
use crate::exec::{Handlers, bulk, copy_async, mbarrier, reduction, store_async, tensor};
use crate::isa::{Modifiers, flag};

impl Selector {
    /// An address in a register of 32 bits, its offset added.
    pub fn shared_address(&mut self, value: &Value) -> Result<Reg, Refusal> {
        match value {
            Value::Memory { base: Base::Variable(place), offset } => {
                Ok(self.registers.shared_address((place.address as i64 + offset) as u32, false))
            }
            Value::Memory { base: Base::Register(reg), offset } => {
                let narrow = self.narrow(&Value::Register(*reg))?;
                if *offset == 0 {
                    return Ok(narrow);
                }
                let sum = self.registers.fresh(Width::Narrow);
                let constant = self.registers.constant(*offset as u32);
                self.helper("add", &["u32"], sum, &[narrow, constant])?;
                Ok(sum)
            }
            _ => Err("its address".to_owned()),
        }
    }

    /// An address in a register of 64 bits, its offset added.
    fn global_address(&mut self, base: &Base, offset: i64) -> Result<Reg, Refusal> {
        match base {
            Base::Variable(place) => Ok(self.registers.constant64(place.address + offset as u64)),
            Base::Register(reg) if self.registers.wide(*reg) => {
                if offset == 0 {
                    return Ok(*reg);
                }
                let sum = self.registers.fresh(Width::Wide);
                let constant = self.registers.constant64(offset as u64);
                self.helper("add", &["u64"], sum, &[*reg, constant])?;
                Ok(sum)
            }
            _ => Err("its address".to_owned()),
        }
    }

    pub fn global_operand(&mut self, value: &Value) -> Result<Reg, Refusal> {
        match value {
            Value::Memory { base, offset } => self.global_address(base, *offset),
            _ => Err("its address".to_owned()),
        }
    }

    /// `cp.async [dst], [src], cp-size{, src-size | ignore-src}{, cache-policy}`.
    pub fn copy_async(&mut self, handlers: Handlers, flat: &Flat) -> Result<(), Refusal> {
        let [to, from, Value::Integer(bytes), rest @ ..] = flat.operands.as_slice() else {
            return Err(String::new());
        };
        if !matches!(bytes, 4 | 8 | 16) {
            return Err(format!("a copy of {bytes} bytes"));
        }
        let (address, imm, space) = self.address(flat, to)?;
        let mut op = self.op(handlers);
        op.a = Some(address);
        op.imm = imm;
        op.b = Some(self.global_operand(from)?);
        op.memory = true;
        op.flags = *bytes as u32 | u32::from(space) << flag::SPACE_SHIFT;
        // A policy comes last, where the modifier says that there is one.
        let policies = usize::from(flat.has("L2::cache_hint"));
        let size = rest.get(..rest.len() - policies.min(rest.len())).unwrap_or_default();
        match size.first() {
            None => {}
            Some(value) => {
                let predicate = match value {
                    Value::Register(reg) => {
                        self.registers.info[*reg as usize].width == Width::Predicate
                    }
                    Value::Not(_) => true,
                    _ => false,
                };
                op.flags |= if predicate { copy_async::IGNORED } else { copy_async::SIZED };
                op.c = Some(self.source(value, if predicate { "p" } else { "n" }, "u32")?);
            }
        }
        self.ops.push(op);
        Ok(())
    }

    /// Every `mbarrier` operation, and the arrival of `cp.async`.
    pub fn mbarrier(&mut self, handlers: Handlers, flat: &Flat) -> Result<(), Refusal> {
        let operands = flat.operands.as_slice();
        let mut op = self.op(handlers);
        let named = |name| flat.has(name);
        if named("pending_count") {
            let [dst, state] = operands else { return Err(String::new()) };
            op.a = Some(self.source(state, "w", "u64")?);
            op.dst = Some(self.written(dst)?);
            self.ops.push(op);
            return Ok(());
        }
        let waits = named("test_wait") || named("try_wait");
        let arrives = (named("arrive") || named("arrive_drop")) && flat.opcode == "mbarrier";
        let (dst, rest) = if waits || arrives {
            let (dst, rest) = operands.split_first().ok_or_else(String::new)?;
            (Some(dst), rest)
        } else {
            (None, operands)
        };
        let [at, rest @ ..] = rest else { return Err(String::new()) };
        let (address, imm, space) = self.address(flat, at)?;
        op.a = Some(address);
        op.imm = imm;
        op.memory = true;
        op.flags = u32::from(space) << flag::SPACE_SHIFT;
        match (dst, waits) {
            (Some(dst), true) => {
                let state = rest.first().ok_or_else(String::new)?;
                let by_parity = named("parity");
                op.flags |= if by_parity { mbarrier::BY_PARITY } else { 0 };
                op.b = Some(self.source(state, if by_parity { "n" } else { "w" }, "u64")?);
                op.dst = Some(self.written(dst)?);
            }
            (Some(Value::Register(reg)), false) if self.registers.wide(*reg) => op.dst = Some(*reg),
            (Some(Value::Discard) | None, _) => {}
            _ => return Err("its destination".to_owned()),
        }
        if flat.opcode == "cp" {
            op.flags |= u32::from(named("noinc"));
        } else if !waits && !named("inval") {
            op.flags |= match (named("arrive"), named("arrive_drop"), named("expect_tx")) {
                (true, _, true) => mbarrier::EXPECT_AND_ARRIVE,
                (_, true, true) => mbarrier::EXPECT_AND_DROP,
                (true, ..) | (false, false, false) if !named("complete_tx") => mbarrier::ARRIVE,
                (_, true, _) => mbarrier::DROP,
                (.., true) => mbarrier::EXPECT,
                _ => mbarrier::COMPLETE,
            };
            let one = Value::Integer(1);
            op.b = Some(self.narrow(rest.first().unwrap_or(&one))?);
        }
        self.ops.push(op);
        Ok(())
    }

    /// An address of the cluster's shared memory: a generic one where no space is written.
    pub fn cluster_address(&mut self, flat: &Flat, value: &Value) -> Result<(Reg, u32), Refusal> {
        if flat.modifiers.iter().any(|modifier| modifier.starts_with("shared")) {
            return Ok((self.shared_address(value)?, 0));
        }
        Ok((self.global_operand(value)?, store_async::GENERIC))
    }

    /// `st.async [a], b, [mbar]` and `red.async`.
    pub fn store_async(
        &mut self,
        handlers: Handlers,
        modifiers: &Modifiers,
        flat: &Flat,
    ) -> Result<(), Refusal> {
        let [to, value, barrier] = flat.operands.as_slice() else { return Err(String::new()) };
        let ty = *modifiers.types.last().ok_or_else(String::new)?;
        let mut op = self.op(handlers);
        let (to, generic) = self.cluster_address(flat, to)?;
        let (barrier, _) = self.cluster_address(flat, barrier)?;
        op.list = vec![to, barrier];
        let double = ty.ends_with("64");
        for element in Self::elements(value) {
            op.list.push(self.source(&element, if double { "w" } else { "n" }, ty)?);
        }
        let bytes = (op.list.len() - 2) * if double { 8 } else { 4 };
        if bytes > 16 {
            return Err("a vector of more than 16 bytes".to_owned());
        }
        op.flags = generic | if double { store_async::DOUBLE } else { 0 };
        if flat.opcode == "red" {
            op.flags |= store_async::REDUCES;
            op.imm = combination(flat, Some(ty)).ok_or_else(String::new)?;
        }
        op.memory = true;
        self.ops.push(op);
        Ok(())
    }

    /// `st.bulk [a], size, 0`.
    pub fn fill(&mut self, handlers: Handlers, flat: &Flat) -> Result<(), Refusal> {
        let [to, size, Value::Integer(0)] = flat.operands.as_slice() else {
            return Err("another value than 0".to_owned());
        };
        let mut op = self.op(handlers);
        let (to, generic) = self.cluster_address(flat, to)?;
        op.list = vec![to, self.narrow(size)?];
        op.flags = generic;
        op.memory = true;
        self.ops.push(op);
        Ok(())
    }

    /// `cp.async.bulk` and `cp.reduce.async.bulk`.
    pub fn bulk(
        &mut self,
        handlers: Handlers,
        modifiers: &Modifiers,
        flat: &Flat,
    ) -> Result<(), Refusal> {
        let [to, from, size, rest @ ..] = flat.operands.as_slice() else {
            return Err(String::new());
        };
        let mut op = self.op(handlers);
        // The source's space comes second.
        let spaces: Vec<_> = flat
            .modifiers
            .iter()
            .copied()
            .filter(|m| matches!(*m, "global" | "shared::cta" | "shared::cluster"))
            .collect();
        let (target, source) = match spaces.as_slice() {
            ["global", _] => (self.global_operand(to)?, self.shared_address(from)?),
            [_, "global"] => {
                op.flags |= bulk::TO_SHARED;
                (self.shared_address(to)?, self.global_operand(from)?)
            }
            _ => {
                op.flags |= bulk::BETWEEN_SHARED;
                (self.shared_address(to)?, self.shared_address(from)?)
            }
        };
        op.list = vec![target, source, self.narrow(size)?];
        let mut rest = rest.iter();
        if flat.has("mbarrier::complete_tx::bytes") {
            let barrier = rest.next().ok_or_else(String::new)?;
            op.list.push(self.shared_address(barrier)?);
        }
        if flat.has("multicast::cluster") {
            op.flags |= bulk::MULTICAST;
            op.list.push(self.narrow(rest.next().ok_or_else(String::new)?)?);
        }
        op.memory = true;
        if flat.has("reduce") {
            op.flags |= bulk::REDUCES;
            op.imm = combination(flat, modifiers.types.last().copied()).ok_or_else(String::new)?;
        }
        self.ops.push(op);
        Ok(())
    }

    /// `cp.async.bulk.tensor [dst], [map, {coordinates}], [barrier]`, or with the map first.
    pub fn tensor(&mut self, handlers: Handlers, flat: &Flat) -> Result<(), Refusal> {
        let mut op = self.op(handlers);
        let loads = flat.has("mbarrier::complete_tx::bytes");
        let (shared, tensor, rest) = match flat.operands.as_slice() {
            [shared, tensor, rest @ ..] if loads => (shared, tensor, rest),
            [tensor, shared, rest @ ..] => (shared, tensor, rest),
            _ => return Err(String::new()),
        };
        let Value::Tensor { base, coordinates } = tensor else {
            return Err("its tensor map".to_owned());
        };
        op.list = vec![self.shared_address(shared)?, self.global_address(base, 0)?];
        op.memory = true;
        let mut rest = rest.iter();
        if loads {
            op.flags |= bulk::TO_SHARED;
            let barrier = rest.next().ok_or_else(String::new)?;
            op.list.push(self.shared_address(barrier)?);
        }
        let offsets = match flat.has("im2col") {
            true => Self::elements(rest.next().ok_or_else(String::new)?),
            false => Vec::new(),
        };
        if flat.has("multicast::cluster") {
            op.flags |= bulk::MULTICAST;
            op.list.push(self.narrow(rest.next().ok_or_else(String::new)?)?);
        }
        if flat.has("reduce") {
            op.flags |= bulk::REDUCES;
        }
        if flat.has("cta_group::2") {
            op.flags |= tensor::PAIR;
        }
        if flat.has("tile::gather4") || flat.has("tile::scatter4") {
            op.flags |= tensor::FOUR_ROWS;
        }
        if flat.has("im2col") || flat.has("im2col_no_offs") {
            op.flags |= tensor::PIXELS;
        }
        for place in coordinates.iter().chain(&offsets) {
            op.list.push(self.narrow(place)?);
        }
        if flat.has("reduce") {
            op.imm =
                COMBINATIONS.iter().position(|name| flat.has(name)).ok_or_else(String::new)? as u64;
        }
        self.ops.push(op);
        Ok(())
    }
}

const COMBINATIONS: [&str; 8] = ["add", "min", "max", "inc", "dec", "and", "or", "xor"];

fn combination(flat: &Flat, ty: Option<&str>) -> Option<u64> {
    let name = COMBINATIONS.iter().find(|name| flat.has(name))?;
    reduction::encode(name, ty?)
}
