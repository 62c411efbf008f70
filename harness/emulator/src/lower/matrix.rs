//! Matrix instructions: what is multiplied, and the registers of the fragments (PTX ISA 9.7.14.5).

use super::Width;
use super::flatten::{Flat, Value};
use super::select::{Refusal, Selector};
use crate::exec::Handlers;
use crate::exec::matrix::{
    Accumulator, BitProduct, Element, Move, Multiply, Rule, Scale, ScaleFormat,
};
use crate::isa::{Modifiers, flag};

impl Selector {
    pub fn mma(
        &mut self,
        handlers: Handlers,
        modifiers: &Modifiers,
        flat: &Flat,
    ) -> Result<(), Refusal> {
        let form =
            multiply(modifiers, flat.modifiers, self.frame.generation).ok_or_else(String::new)?;
        let [d, a, b, c, scales @ ..] = flat.operands.as_slice() else {
            return Err(String::new());
        };
        let [count_a, count_b, count_c, count_d, count_scales] = form.registers();
        let mut op = self.op(handlers);
        for value in Self::elements(d) {
            let reg = match (form.d, &value) {
                (Accumulator::F64, Value::Register(reg)) if self.registers.wide(*reg) => *reg,
                (Accumulator::F64, Value::Discard) => self.registers.fresh(Width::Wide),
                (Accumulator::F64, _) => return Err("its destination".to_owned()),
                _ => self.written(&value)?,
            };
            op.list.push(reg);
        }
        op.written = op.list.len();
        if op.written != count_d {
            return Err(format!("{} registers for D", op.written));
        }
        let width = if form.a == Element::F64 { "w" } else { "n" };
        for (matrix, count) in [(a, count_a), (b, count_b), (c, count_c)] {
            let elements = Self::elements(matrix);
            if elements.len() != count {
                return Err(format!("{} registers where {count} are due", elements.len()));
            }
            for value in elements {
                let ty = if width == "w" { "f64" } else { "b32" };
                op.list.push(self.source(&value, width, ty)?);
            }
        }
        let scales: Vec<_> = scales.iter().flat_map(Self::elements).collect();
        if scales.len() != count_scales {
            return Err(format!("{} operands for scales", scales.len()));
        }
        for value in &scales {
            op.list.push(self.narrow(value)?);
        }
        op.work = Some(form.work());
        op.imm = self.frame.multiplies.len() as u64;
        self.frame.multiplies.push(form);
        self.ops.push(op);
        Ok(())
    }

    /// `ldmatrix r, [p]` and `stmatrix [p], r`.
    pub fn rows(&mut self, handlers: Handlers, _: &Modifiers, flat: &Flat) -> Result<(), Refusal> {
        let loads = flat.opcode == "ldmatrix";
        let (vector, at) = match flat.operands.as_slice() {
            [vector, at] if loads => (vector, at),
            [at, vector] => (vector, at),
            _ => return Err(String::new()),
        };
        let what = match (flat.has("m8n8"), flat.has("m8n16"), flat.has("m16n8")) {
            (true, ..) if flat.has("trans") => Move::M8n8Transposed,
            (true, ..) => Move::M8n8,
            (_, true, _) if flat.has("b4x16_p64") => Move::M8n16From4,
            (_, true, _) => Move::M8n16From6,
            (.., true) => Move::M16n8,
            _ if flat.has("b4x16_p64") => Move::M16n16From4,
            _ if flat.has("b6x16_p32") => Move::M16n16From6,
            _ => Move::M16n16,
        };
        let number = if flat.has("x1") {
            1
        } else if flat.has("x2") {
            2
        } else {
            4
        };
        let tall = matches!(what, Move::M16n16 | Move::M16n16From4 | Move::M16n16From6);
        let due = if tall { 2 * number } else { number };
        let (address, imm, space) = self.address(flat, at)?;
        let mut op = self.op(handlers);
        op.a = Some(address);
        op.imm = imm;
        op.memory = true;
        op.flags = what as u32 | u32::from(space) << flag::SPACE_SHIFT;
        for value in Self::elements(vector) {
            let reg = if loads { self.written(&value)? } else { self.narrow(&value)? };
            op.list.push(reg);
        }
        if op.list.len() != due {
            return Err(format!("{} registers where {due} are due", op.list.len()));
        }
        op.written = if loads { due } else { 0 };
        self.ops.push(op);
        Ok(())
    }
}

/// What an `mma` with these modifiers multiplies.
fn multiply(modifiers: &Modifiers, names: &[&str], generation: u32) -> Option<Multiply> {
    let has = |name: &str| names.contains(&name);
    let shape = names.iter().find(|name| name.starts_with('m') && name.contains('k'))?;
    let (rows, depth) = shape.strip_prefix('m')?.split_once("n8k")?;
    let (d, a, b, c) = match modifiers.types.as_slice() {
        [d, a, b, c, ..] => (*d, *a, *b, *c),
        _ => return None,
    };
    let depth: usize = depth.parse().ok()?;
    let product = if has("xor") { BitProduct::Xor } else { BitProduct::And };
    let scale = has("block_scale").then(|| Scale {
        vectors: match depth {
            32 => 1,
            _ if has("scale_vec::4X") => 4,
            _ => 2,
        },
        format: if modifiers.types.contains(&"ue4m3") {
            ScaleFormat::Ue4m3
        } else {
            ScaleFormat::Ue8m0
        },
    });
    let a = element(a, depth, product)?;
    let layouts: Vec<_> = names.iter().filter(|m| ["row", "col"].contains(m)).collect();
    let column = |index: usize| layouts.get(index).is_some_and(|layout| **layout == "col");
    Some(Multiply {
        rows: rows.parse().ok()?,
        depth,
        a,
        b: element(b, depth, product)?,
        c: accumulator(c)?,
        d: accumulator(d)?,
        scale,
        rule: rule(generation, depth, a),
        rounding: modifiers.flags,
        saturate: has("satfinite"),
        columns: [column(0), column(1)],
    })
}

/// An element of A or B by its name; two to a byte where K is 64.
pub fn element(name: &str, depth: usize, product: BitProduct) -> Option<Element> {
    Some(match name {
        "f16" => Element::F16,
        "bf16" => Element::Bf16,
        "tf32" => Element::Tf32,
        "f64" => Element::F64,
        "e4m3" => Element::E4m3,
        "e5m2" => Element::E5m2,
        "e3m2" => Element::E3m2,
        "e2m3" => Element::E2m3,
        "e2m1" if depth == 64 => Element::PackedE2m1,
        "e2m1" => Element::E2m1,
        "s8" => Element::S8,
        "u8" => Element::U8,
        "s4" => Element::S4,
        "u4" => Element::U4,
        "b1" => Element::Bits(product),
        _ => return None,
    })
}

/// An element of C or D by its name.
pub fn accumulator(name: &str) -> Option<Accumulator> {
    Some(match name {
        "f16" => Accumulator::F16,
        "f32" => Accumulator::F32,
        "f64" => Accumulator::F64,
        "s32" => Accumulator::S32,
        _ => return None,
    })
}

/// Before Hopper, 256 bits of a row take two steps, and a bit less is kept (see `exec::matrix`).
pub fn rule(generation: u32, depth: usize, a: Element) -> Rule {
    let older = generation < 90;
    let converted = generation == 90 && matches!(a, Element::E4m3 | Element::E5m2);
    let halves = converted || older && depth * a.bits() == 256;
    Rule { fraction: if older { 24 } else { 25 }, halves, converted, kept: 23 }
}
