//! `mov` and `cvta`: copies, addresses, and registers taken apart and put together
//! (PTX ISA 9.7.9.2-3, 9.7.9.20).

use super::flatten::{Flat, Place, Value};
use super::select::{Refusal, Selector};
use super::{Op, Reg, Width};
use crate::exec::access::RANK_SHIFT;
use crate::exec::{Core, Flow, once, op};
use crate::isa::Modifiers;
use crate::memory::{AllocationKind, LOCAL_WINDOW, SHARED_WINDOW, WINDOWS};
use crate::program::{Inst, Preset};
use crate::sanitize::{Action, Rule};
use ptx::ast::Space;

impl Selector {
    pub fn copy(&mut self, dst: Reg, from: Reg) {
        let handlers = if self.registers.wide(dst) {
            op!(|_, a: u64| -> u64 { a })
        } else {
            op!(|_, a: u32| -> u32 { a })
        };
        let mut op = self.op(handlers);
        op.dst = Some(dst);
        op.a = Some(from);
        op.copy = true;
        op.action = Some(Action::Bits(Rule::COPY));
        self.ops.push(op);
    }

    pub fn mov(&mut self, modifiers: &Modifiers, operands: &[Value]) -> Result<(), Refusal> {
        let [dst, source] = operands else { return Err(String::new()) };
        let ty = modifiers.types.first().copied().unwrap_or("b32");
        if ty == "b128" {
            return self.move_wide(&Self::elements(dst), &Self::elements(source));
        }
        match (dst, source) {
            (Value::Vector(parts), source) => self.take_apart(parts, source, ty),
            (Value::Register(dst), Value::Vector(parts)) => self.put_together(*dst, parts, ty),
            (Value::Register(dst), Value::Dynamic(name)) => self.read_clock(*dst, name),
            (Value::Register(dst), Value::Variable(place, offset))
                if place.space == Space::Param =>
            {
                let address = (place.address as i64 + offset) as u32;
                let address = self.registers.preset(Preset::ParamAddress(address));
                self.copy(*dst, address);
                Ok(())
            }
            (Value::Register(dst), source) => {
                let width = match ty {
                    "pred" => "p",
                    _ if self.registers.wide(*dst) => "w",
                    "b16" | "u16" | "s16" | "f16" | "bf16" => "h",
                    _ => "n",
                };
                let from = match (width, source) {
                    // A 32-bit special register read as 64 bits.
                    ("w", Value::Special(special)) if !special.is_wide() => {
                        let narrow = self.registers.preset(Preset::Special(*special));
                        return self.helper("cvt", &["u64", "u32"], *dst, &[narrow]);
                    }
                    _ => self.source(source, width, ty)?,
                };
                self.copy(*dst, from);
                Ok(())
            }
            (Value::Discard, _) => Ok(()),
            _ => Err("its destination".to_owned()),
        }
    }

    /// `mov.b128`: a register is two of 64 bits, braces hold two of 64 or four of 32.
    fn move_wide(&mut self, to: &[Value], from: &[Value]) -> Result<(), Refusal> {
        for half in 0..2 {
            match (to, from) {
                ([_, _], [_, _]) => {
                    let from = self.source(&from[half], "w", "b64")?;
                    if let Value::Register(to) = to[half] {
                        self.copy(to, from);
                    }
                }
                ([_, _], [_, _, _, _]) => {
                    let Value::Register(to) = to[half] else { continue };
                    self.put_together(to, &from[2 * half..2 * half + 2], "b64")?;
                }
                ([_, _, _, _], [_, _]) => {
                    self.take_apart(&to[2 * half..2 * half + 2], &from[half], "b64")?;
                }
                _ => return Err("parts of this size".to_owned()),
            }
        }
        Ok(())
    }

    /// `mov.b32 {low, high}, r`: elements from the lowest bits up.
    fn take_apart(&mut self, parts: &[Value], source: &Value, ty: &str) -> Result<(), Refusal> {
        let bits = bits_of(ty)?;
        let each = bits / parts.len() as u32;
        let wide = bits == 64;
        let mut from = self.source(source, if wide { "w" } else { "n" }, ty)?;
        if parts.contains(&Value::Register(from)) {
            // One of the parts is the source itself.
            let kept = self.registers.fresh(if wide { Width::Wide } else { Width::Narrow });
            self.copy(kept, from);
            from = kept;
        }
        for (index, part) in parts.iter().enumerate() {
            let Value::Register(part) = part else { continue };
            let handlers = match (wide, each) {
                (true, 32) => op!(|shift, a: u64| -> u32 { (a >> shift) as u32 }),
                (true, 16) => op!(|shift, a: u64| -> u32 { (a >> shift) as u32 & 0xffff }),
                (true, 8) => op!(|shift, a: u64| -> u32 { (a >> shift) as u32 & 0xff }),
                (false, 16) => op!(|shift, a: u32| -> u32 { a >> (shift & 31) & 0xffff }),
                (false, 8) => op!(|shift, a: u32| -> u32 { a >> (shift & 31) & 0xff }),
                _ => return Err("parts of this size".to_owned()),
            };
            let mut op = self.op(handlers);
            op.a = Some(from);
            op.flags = index as u32 * each;
            let (at, bits) = (op.flags as u8, each as u8);
            op.action = Some(Action::Bits(Rule::Extract { at, bits }));
            self.into(&Value::Register(*part), "n", "", op)?;
        }
        Ok(())
    }

    /// `mov.b32 r, {low, high}`.
    fn put_together(&mut self, dst: Reg, parts: &[Value], ty: &str) -> Result<(), Refusal> {
        let bits = bits_of(ty)?;
        let each = bits / parts.len() as u32;
        let mut sum: Option<Reg> = None;
        for (index, part) in parts.iter().enumerate() {
            let last = index + 1 == parts.len();
            let part = match part {
                Value::Discard => self.registers.constant(0),
                part => self.source(part, if each == 16 { "h" } else { "n" }, "")?,
            };
            let to = if last {
                dst
            } else {
                self.registers.fresh(if bits == 64 { Width::Wide } else { Width::Narrow })
            };
            let before = match sum {
                Some(reg) => reg,
                None if bits == 64 => self.registers.constant64(0),
                None => self.registers.constant(0),
            };
            let handlers = match (bits, each) {
                (64, 32) => op!(|shift, a: u64, b: u32| -> u64 { a | u64::from(b) << shift }),
                (64, 16) => {
                    op!(|shift, a: u64, b: u32| -> u64 { a | u64::from(b & 0xffff) << shift })
                }
                (64, 8) => op!(|shift, a: u64, b: u32| -> u64 { a | u64::from(b & 0xff) << shift }),
                (32, 16) => {
                    op!(|shift, a: u32, b: u32| -> u32 { a | (b & 0xffff) << (shift & 31) })
                }
                (32 | 16, 8) => {
                    op!(|shift, a: u32, b: u32| -> u32 { a | (b & 0xff) << (shift & 31) })
                }
                _ => return Err("parts of this size".to_owned()),
            };
            let mut op: Op = self.op(handlers);
            op.a = Some(before);
            op.b = Some(part);
            op.flags = index as u32 * each;
            let (at, bits) = (op.flags as u8, each as u8);
            op.action = Some(Action::Bits(Rule::Insert { at, bits }));
            op.dst = Some(to);
            self.ops.push(op);
            sum = Some(to);
        }
        Ok(())
    }

    /// Clocks: a modelled cycle for each instruction issued. They only go forward.
    fn read_clock(&mut self, dst: Reg, name: &str) -> Result<(), Refusal> {
        let wide = self.registers.wide(dst);
        let handlers = if wide { once!(read_clock::<u64>) } else { once!(read_clock::<u32>) };
        let mut op = self.op(handlers);
        op.dst = Some(dst);
        op.imm = if name.ends_with("_hi") { 32 } else { 0 };
        self.ops.push(op);
        Ok(())
    }

    /// `isspacep`: the windows are ranges of addresses; constants lie among global memory, and so do
    /// parameters, which count as both (PTX ISA 9.7.9.19).
    pub fn is_space(&mut self, flat: &Flat) -> Result<(), Refusal> {
        let [Value::Register(dst), address] = flat.operands.as_slice() else {
            return Err(String::new());
        };
        let address = self.source(address, "w", "u64")?;
        let shared = self.registers.constant64(SHARED_WINDOW);
        match flat.modifiers.first().copied().unwrap_or("") {
            "shared" | "shared::cta" => {
                let own = self.registers.shared_address(0, true);
                let base = self.registers.fresh(Width::Wide);
                self.helper("add", &["u64"], base, &[shared, own])?;
                self.lies_in(*dst, address, base, 1 << RANK_SHIFT)
            }
            "shared::cluster" => self.lies_in(*dst, address, shared, LOCAL_WINDOW - SHARED_WINDOW),
            "local" => {
                let local = self.registers.constant64(LOCAL_WINDOW);
                self.lies_in(*dst, address, local, u64::MAX - LOCAL_WINDOW)
            }
            "const" => self.is_constant(*dst, address),
            "global" => {
                let [host, constant] = [0, 1].map(|_| self.registers.fresh(Width::Predicate));
                let zero = self.registers.constant64(0);
                self.lies_in(host, address, zero, WINDOWS)?;
                self.is_constant(constant, address)?;
                let others = self.registers.fresh(Width::Predicate);
                self.helper("not", &["pred"], others, &[constant])?;
                self.helper("and", &["pred"], *dst, &[host, others])
            }
            _ => self.is_parameter(*dst, address),
        }
    }

    /// Whether an address is one of the `len` from `base` up.
    fn lies_in(&mut self, dst: Reg, address: Reg, base: Reg, len: u64) -> Result<(), Refusal> {
        let offset = self.registers.fresh(Width::Wide);
        self.helper("sub", &["u64"], offset, &[address, base])?;
        let len = self.registers.constant64(len);
        self.helper("setp", &["lt", "u64"], dst, &[offset, len])
    }

    fn is_parameter(&mut self, dst: Reg, address: Reg) -> Result<(), Refusal> {
        let base = self.registers.preset(Preset::ParamAddress(0));
        self.lies_in(dst, address, base, u64::from(self.frame.param_bytes))
    }

    /// Parameters are as read-only as constants, but are none.
    fn is_constant(&mut self, dst: Reg, address: Reg) -> Result<(), Refusal> {
        let [fixed, parameter, rest] = [0, 1, 2].map(|_| self.registers.fresh(Width::Predicate));
        let mut op = self.op(once!(is_read_only));
        op.dst = Some(fixed);
        op.a = Some(address);
        self.ops.push(op);
        self.is_parameter(parameter, address)?;
        self.helper("not", &["pred"], rest, &[parameter])?;
        self.helper("and", &["pred"], dst, &[fixed, rest])
    }

    pub fn convert_address(&mut self, flat: &Flat, operands: &[Value]) -> Result<(), Refusal> {
        let [Value::Register(dst), source] = operands else { return Err(String::new()) };
        if !self.registers.wide(*dst) {
            return Err("a 32-bit address".to_owned());
        }
        let has = |name: &str| flat.modifiers.iter().any(|m| m.starts_with(name));
        let window = if has("shared") {
            SHARED_WINDOW
        } else if has("local") {
            LOCAL_WINDOW
        } else {
            0
        };
        if let Value::Variable(Place { space: Space::Param, address, .. }, offset) = source {
            let at = (*address as i64 + offset) as u32;
            let address = self.registers.preset(Preset::ParamAddress(at));
            self.copy(*dst, address);
            return Ok(());
        }
        let from = self.source(source, "w", "u64")?;
        if window == 0 {
            // Global, constant and parameter addresses are generic addresses.
            self.copy(*dst, from);
            return Ok(());
        }
        let window = self.registers.constant64(window);
        let name = if has("to") { "sub" } else { "add" };
        self.helper(name, &["u64"], *dst, &[from, window])
    }
}

fn bits_of(ty: &str) -> Result<u32, Refusal> {
    match ty {
        "b16" => Ok(16),
        "b32" | "u32" | "f32" | "s32" => Ok(32),
        "b64" | "u64" | "f64" | "s64" => Ok(64),
        _ => Err("parts of this type".to_owned()),
    }
}

/// Which addresses are those of memory that kernels cannot write.
///
/// # Safety
/// See [`crate::exec::Handler`].
unsafe fn is_read_only(core: &mut Core, inst: &Inst) -> Flow {
    let memory = core.memory;
    // SAFETY: lowering keeps slots within the file.
    unsafe {
        let lanes = core.read::<u64>(inst.a).map(|address| {
            let found = memory.locate(address).map(|index| memory.range(index).info.kind);
            if found == Some(AllocationKind::Constant) { u32::MAX } else { 0 }
        });
        core.write(inst.dst, &lanes);
    }
    Flow::Next
}

/// # Safety
/// See [`crate::exec::Handler`].
unsafe fn read_clock<T: crate::exec::Lane + TryFrom<u64> + Default>(
    core: &mut Core,
    inst: &Inst,
) -> Flow {
    let ticks = core.clock.read() >> inst.imm;
    let mask = if size_of::<T>() == 4 { u64::from(u32::MAX) } else { u64::MAX };
    let value = T::try_from(ticks & mask).unwrap_or_default();
    // SAFETY: lowering keeps slots within the file.
    unsafe { core.write(inst.dst, &[value; 32]) };
    Flow::Next
}
