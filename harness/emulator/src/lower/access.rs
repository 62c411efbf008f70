//! Loads, stores and atomics (PTX ISA 9.7.9.8-12, 9.7.13.5-6): the address taken apart, the
//! elements of a vector each to its register.

use super::flatten::{Base, Flat, Place, Value};
use super::select::{Refusal, Selector};
use super::{Reg, Width};
use crate::exec::access::{GENERIC, GLOBAL, LOCAL, SHARED};
use crate::exec::op;
use crate::isa::{self, Bits, Modifiers, flag};
use crate::program::Preset;
use ptx::ast::Space;

impl Selector {
    /// Space of a load or store as its modifiers say it.
    fn space(flat: &Flat) -> Option<Space> {
        flat.modifiers.iter().find_map(|modifier| match *modifier {
            "global" => Some(Space::Global),
            "const" => Some(Space::Constant),
            "local" => Some(Space::Local),
            "shared" | "shared::cta" | "shared::cluster" => Some(Space::Shared),
            "param" | "param::entry" | "param::func" => Some(Space::Param),
            _ => None,
        })
    }

    /// The address register, offset and space of a memory operand: a register of 64 bits for global
    /// and generic addresses, of 32 for the windows.
    pub fn address(&mut self, flat: &Flat, at: &Value) -> Result<(Reg, u64, u8), Refusal> {
        let Value::Memory { base, offset } = at else {
            return Err("its address".to_owned());
        };
        let named = Self::space(flat);
        let of = |space: Option<Space>| match space {
            // Constants, and parameters by address, are host memory like global.
            Some(Space::Global | Space::Constant | Space::Param) => GLOBAL,
            Some(Space::Shared) => SHARED,
            Some(Space::Local) => LOCAL,
            _ => GENERIC,
        };
        let windowed = |space: u8| space == SHARED || space == LOCAL;
        match base {
            Base::Register(reg) => {
                let space = of(named);
                match (windowed(space), self.registers.wide(*reg)) {
                    (true, false) | (false, true) => Ok((*reg, *offset as u64, space)),
                    (false, false) => Err("a 32-bit address".to_owned()),
                    (true, true) => Ok((self.in_window(*reg, *offset)?, 0, space)),
                }
            }
            Base::Variable(Place { base: Some(frame), address, space }) => {
                Ok((*frame, address.wrapping_add(*offset as u64), of(Some(*space))))
            }
            Base::Variable(place) => {
                let space = of(Some(place.space));
                let base = if space == SHARED {
                    self.registers.shared_address(place.address as u32, false)
                } else if windowed(space) {
                    self.registers.constant(place.address as u32)
                } else {
                    self.registers.constant64(place.address)
                };
                Ok((base, *offset as u64, space))
            }
            Base::None => {
                let space = of(named);
                let zero = if space == SHARED {
                    self.registers.shared_address(0, false)
                } else if windowed(space) {
                    self.registers.constant(0)
                } else {
                    self.registers.constant64(0)
                };
                Ok((zero, *offset as u64, space))
            }
        }
    }

    /// The 32-bit address `reg + offset` of a window, from a register of 64 bits. The sum is made first: a
    /// register may hold an address before its array, which the offset brings back. What then lies beyond
    /// 32 bits goes where no window reaches.
    fn in_window(&mut self, reg: Reg, offset: i64) -> Result<Reg, Refusal> {
        let offset = i32::try_from(offset).map_err(|_| "an offset beyond 32 bits")?;
        let mut op = self.op(op!(|offset, address: u64| -> u32 {
            const NOWHERE: u32 = 1 << 31;
            let sum = address.wrapping_add(offset as i32 as u64) as i64;
            let near = i64::from(i32::MIN)..1 << 32;
            if near.contains(&sum) { sum as u32 } else { NOWHERE }
        }));
        let narrow = self.registers.fresh(Width::Narrow);
        op.flags = offset as u32;
        op.a = Some(reg);
        op.dst = Some(narrow);
        self.ops.push(op);
        Ok(narrow)
    }

    /// Whether threads of other host threads may look on: not where only the CTA's own cluster comes.
    fn is_strong(flat: &Flat, space: u8) -> bool {
        let shared_by_all = space == GLOBAL || space == GENERIC;
        shared_by_all && isa::STRONG.iter().any(|name| flat.has(name))
    }

    /// What a strong load or store has to know of its order, as flags.
    fn order(flat: &Flat, ty: &str) -> u32 {
        let ordered = if flat.has("acquire") || flat.has("release") { flag::ORDERED } else { 0 };
        let paired = if ty == "b128" { flag::PAIRED } else { 0 };
        ordered | paired
    }

    pub fn elements(value: &Value) -> Vec<Value> {
        match value {
            Value::Vector(list) => list.clone(),
            single => vec![single.clone()],
        }
    }

    pub fn load(&mut self, flat: &Flat, modifiers: &Modifiers) -> Result<(), Refusal> {
        let [dst, at, ..] = flat.operands.as_slice() else { return Err(String::new()) };
        let ty = *modifiers.types.first().ok_or_else(String::new)?;
        let bits = Bits::of(ty).ok_or_else(String::new)?;
        let targets = Self::elements(dst);
        if let Value::Memory { base: Base::Variable(place), offset } = at
            && place.space == Space::Param
        {
            return self.load_parameter(*place, *offset, ty, bits, &targets);
        }
        let (address, imm, space) = self.address(flat, at)?;
        let handlers = if Self::is_strong(flat, space) {
            isa::strong_load_handlers(bits)
        } else {
            isa::load_handlers(bits, targets.len(), space).ok_or_else(String::new)?
        };
        let mut op = self.op(handlers);
        op.a = Some(address);
        op.imm = imm;
        op.memory = true;
        op.flags = u32::from(space) << flag::SPACE_SHIFT | Self::order(flat, ty);
        op.flags |= if flat.has("nc") { flag::READ_ONLY } else { 0 };
        op.written = targets.len();
        let loaded_width = if bits == Bits::B64 { Width::Wide } else { Width::Narrow };
        let mut after = Vec::new();
        for target in &targets {
            let fits = match target {
                Value::Register(reg) => {
                    let wide = self.registers.wide(*reg);
                    let extends = ty == "s8" || ty == "s16";
                    (wide == (bits == Bits::B64) && !extends).then_some(*reg)
                }
                _ => None,
            };
            let reg = fits.unwrap_or_else(|| {
                let temporary = self.registers.fresh(loaded_width);
                after.push((temporary, target.clone()));
                temporary
            });
            op.list.push(reg);
        }
        self.ops.push(op);
        for (temporary, target) in after {
            self.extend(temporary, &target, ty)?;
        }
        Ok(())
    }

    /// A loaded element into a register that is wider than it, or sign-extended (9.4.1).
    fn extend(&mut self, from: Reg, target: &Value, ty: &str) -> Result<(), Refusal> {
        let Value::Register(reg) = target else { return Ok(()) };
        let wide = self.registers.wide(*reg);
        let source = match ty {
            "s8" | "s16" | "s32" => ty,
            "b8" | "u8" => "u8",
            "b16" | "u16" | "f16" => "u16",
            _ => "u32",
        };
        let to = match (wide, source.starts_with('s')) {
            (true, true) => "s64",
            (true, false) => "u64",
            (false, true) => "s32",
            (false, false) => "u32",
        };
        let half = self.registers.info[*reg as usize].width == Width::Half;
        if half && to == "s32" {
            let temporary = self.registers.fresh(Width::Narrow);
            self.helper("cvt", &[to, source], temporary, &[from])?;
            return self.helper("cvt", &["u16", "u32"], *reg, &[temporary]);
        }
        self.helper("cvt", &[to, source], *reg, &[from])
    }

    fn load_parameter(
        &mut self,
        place: Place,
        offset: i64,
        ty: &str,
        bits: Bits,
        targets: &[Value],
    ) -> Result<(), Refusal> {
        for (index, target) in targets.iter().enumerate() {
            let bytes = bits.bytes();
            let at = place.address as i64 + offset + index as i64 * i64::from(bytes);
            let end = at + i64::from(bytes);
            if at < 0 || end > i64::from(self.frame.param_bytes) {
                return Err("a parameter that is not there".to_owned());
            }
            let preset = Preset::Param { offset: at as u32, bytes: bytes as u8 };
            let from = self.registers.preset(preset);
            let Value::Register(reg) = target else { continue };
            let extends = ty == "s8" || ty == "s16";
            if self.registers.wide(*reg) == (bits == Bits::B64) && !extends {
                self.copy(*reg, from);
            } else {
                self.extend(from, target, ty)?;
            }
        }
        Ok(())
    }

    pub fn store(&mut self, flat: &Flat, modifiers: &Modifiers) -> Result<(), Refusal> {
        let [at, source, ..] = flat.operands.as_slice() else { return Err(String::new()) };
        let ty = *modifiers.types.first().ok_or_else(String::new)?;
        let bits = Bits::of(ty).ok_or_else(String::new)?;
        let (address, imm, space) = self.address(flat, at)?;
        let width = if bits == Bits::B64 { "w" } else { "n" };
        let mut list = Vec::new();
        for element in Self::elements(source) {
            list.push(self.source(&element, width, ty)?);
        }
        let handlers = if Self::is_strong(flat, space) {
            isa::strong_store_handlers(bits)
        } else {
            isa::store_handlers(bits, list.len(), space).ok_or_else(String::new)?
        };
        let mut op = self.op(handlers);
        op.a = Some(address);
        op.imm = imm;
        op.memory = true;
        op.flags = u32::from(space) << flag::SPACE_SHIFT | Self::order(flat, ty);
        op.list = list;
        self.ops.push(op);
        Ok(())
    }

    pub fn atomic(&mut self, flat: &Flat, modifiers: &Modifiers) -> Result<(), Refusal> {
        let reduces = flat.opcode == "red";
        let (dst, rest) = if reduces {
            (None, flat.operands.as_slice())
        } else {
            let (dst, rest) = flat.operands.split_first().ok_or_else(String::new)?;
            (Some(dst), rest)
        };
        let [at, b, rest @ ..] = rest else { return Err(String::new()) };
        let ty = *modifiers.types.last().ok_or_else(String::new)?;
        const NAMES: [&str; 10] =
            ["add", "inc", "dec", "min", "max", "and", "or", "xor", "exch", "cas"];
        let name = flat.modifiers.iter().copied().find(|m| NAMES.contains(m));
        let name = name.ok_or_else(String::new)?;
        let (address, imm, space) = self.address(flat, at)?;
        let keep = dst.is_some_and(|dst| *dst != Value::Discard);
        let ty = match (name, ty) {
            ("exch" | "cas" | "and" | "or" | "xor", "u32" | "s32" | "f32") => "b32",
            ("exch" | "cas" | "and" | "or" | "xor", "u64" | "s64" | "f64") => "b64",
            _ => ty,
        };
        if let Value::Vector(operands) = b {
            let mut op = self.op(isa::WIDE_EXCHANGE);
            op.list = self.olds(dst, keep || ty == "b128", operands.len(), ty)?;
            op.written = op.list.len();
            let mut sources = operands.clone();
            if ty == "b128" {
                sources
                    .extend(rest.first().filter(|_| name == "cas").map_or(vec![], Self::elements));
            } else {
                op.handlers = isa::vector_atomic_handlers(name, ty).ok_or_else(String::new)?;
            }
            let width = if ty == "b128" { "w" } else { "n" };
            for source in &sources {
                op.list.push(self.source(source, width, ty)?);
            }
            op.a = Some(address);
            op.imm = imm;
            op.memory = true;
            op.flags = u32::from(space) << flag::SPACE_SHIFT;
            op.flags |= if op.written > 0 { flag::KEEP } else { 0 };
            self.ops.push(op);
            return Ok(());
        }
        let handlers = isa::atomic_handlers(name, ty).ok_or_else(String::new)?;
        let width = if Bits::of(ty) == Some(Bits::B64) { "w" } else { "n" };
        let mut op = self.op(handlers);
        op.a = Some(address);
        op.imm = imm;
        op.memory = true;
        op.flags = u32::from(space) << flag::SPACE_SHIFT;
        op.flags |= if keep { flag::KEEP } else { 0 };
        op.flags |= if name == "add" && ty.starts_with(['f', 'b']) && ty != "b32" && ty != "b64" {
            flag::SUMS_FLOATS
        } else {
            0
        };
        op.b = Some(self.source(b, width, ty)?);
        op.c = match rest.first() {
            Some(c) if name == "cas" => Some(self.source(c, width, ty)?),
            _ => op.b,
        };
        match dst {
            Some(dst) if keep => self.into(dst, width, ty, op),
            _ => {
                self.ops.push(op);
                Ok(())
            }
        }
    }

    /// Registers for the old values of a vector, none if nobody wants them.
    fn olds(
        &mut self,
        dst: Option<&Value>,
        keep: bool,
        count: usize,
        ty: &str,
    ) -> Result<Vec<Reg>, Refusal> {
        let wide = ty == "b128";
        let fresh = if wide { Width::Wide } else { Width::Narrow };
        if !keep {
            return Ok(Vec::new());
        }
        let elements = match dst {
            Some(Value::Vector(list)) => list.clone(),
            _ => vec![Value::Discard; count],
        };
        let mut regs = Vec::new();
        for element in elements {
            regs.push(match element {
                Value::Register(reg) if self.registers.wide(reg) == wide => reg,
                Value::Discard => self.registers.fresh(fresh),
                _ => return Err("its destination".to_owned()),
            });
        }
        if regs.len() == count { Ok(regs) } else { Err("vectors of two lengths".to_owned()) }
    }
}
