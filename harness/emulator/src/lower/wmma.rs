//! `wmma`: fragments laid out as those of `mma` (see `exec::matrix::tile`), so that a product is a few `mma`,
//! one for each tile of 16 or 8 rows and 8 columns (PTX ISA 9.7.14.4).

use super::flatten::{Flat, Value};
use super::matrix::{accumulator, element, rule};
use super::select::{Refusal, Selector};
use super::{Reg, Width};
use crate::exec::Handlers;
use crate::exec::matrix::{Accumulator, BitProduct, Element, Multiply, Role, Tile};
use crate::isa::{Modifiers, flag};

/// Rows of A, columns of B and K of a shape: `m16n16k16`.
fn shape(flat: &Flat) -> Option<(usize, usize, usize)> {
    let name = flat.modifiers.iter().find(|name| name.starts_with('m') && name.contains('k'))?;
    let (rows, rest) = name.strip_prefix('m')?.split_once('n')?;
    let (columns, depth) = rest.split_once('k')?;
    Some((rows.parse().ok()?, columns.parse().ok()?, depth.parse().ok()?))
}

/// The layouts as they are written, `true` for columns.
fn layouts(flat: &Flat) -> Vec<bool> {
    let names = flat.modifiers.iter().filter(|m| ["row", "col"].contains(m));
    names.map(|name| *name == "col").collect()
}

fn product(flat: &Flat) -> BitProduct {
    if flat.has("xor") { BitProduct::Xor } else { BitProduct::And }
}

fn sum_bits(accumulator: Accumulator) -> usize {
    match accumulator {
        Accumulator::F16 => 16,
        Accumulator::F32 | Accumulator::S32 => 32,
        Accumulator::F64 => 64,
    }
}

impl Selector {
    /// Registers of a fragment, to be written or read.
    fn fragment(&mut self, value: &Value, wide: bool, written: bool) -> Result<Vec<Reg>, Refusal> {
        let mut registers = Vec::new();
        for element in Self::elements(value) {
            registers.push(match (written, wide, &element) {
                (true, true, Value::Register(reg)) if self.registers.wide(*reg) => *reg,
                (true, true, _) => return Err("its destination".to_owned()),
                (true, false, _) => self.written(&element)?,
                (false, true, _) => self.source(&element, "w", "f64")?,
                (false, false, _) => self.source(&element, "n", "b32")?,
            });
        }
        Ok(registers)
    }

    /// `wmma.load.a r, [p]{, stride}` and `wmma.store.d [p], r{, stride}`.
    pub fn wmma_move(
        &mut self,
        handlers: Handlers,
        modifiers: &Modifiers,
        flat: &Flat,
    ) -> Result<(), Refusal> {
        let (rows, columns, depth) = shape(flat).ok_or_else(String::new)?;
        let ty = *modifiers.types.first().ok_or_else(String::new)?;
        let stores = flat.has("store");
        let (fragment, at, rest) = match flat.operands.as_slice() {
            [at, fragment, rest @ ..] if stores => (fragment, at, rest),
            [fragment, at, rest @ ..] => (fragment, at, rest),
            _ => return Err(String::new()),
        };
        let (role, rows, columns, bits) = if flat.has("a") || flat.has("b") {
            let bits = element(ty, depth, product(flat)).ok_or_else(String::new)?.bits();
            match flat.has("a") {
                true => (Role::A, rows, depth, bits),
                false => (Role::B, depth, columns, bits),
            }
        } else {
            let bits = sum_bits(accumulator(ty).ok_or_else(String::new)?);
            (Role::Sum, rows, columns, bits)
        };
        let by_columns = layouts(flat).first().copied().unwrap_or(false);
        let tile = Tile { role, rows, columns, bits, by_columns };
        let (address, imm, space) = self.address(flat, at)?;
        let mut op = self.op(handlers);
        op.a = Some(address);
        op.imm = imm;
        op.b = Some(match rest.first() {
            Some(stride) => self.narrow(stride)?,
            None => self.registers.constant(if by_columns { rows } else { columns } as u32),
        });
        op.list = self.fragment(fragment, bits == 64, !stores)?;
        op.written = if stores { 0 } else { op.list.len() };
        op.flags = self.frame.tiles.len() as u32 | u32::from(space) << flag::SPACE_SHIFT;
        op.memory = true;
        if self.frame.tiles.len() > 0xffff {
            return Err("that many `wmma`".to_owned());
        }
        self.frame.tiles.push(tile);
        self.ops.push(op);
        Ok(())
    }

    /// `wmma.mma d, a, b, c`.
    pub fn wmma_multiply(
        &mut self,
        handlers: Handlers,
        modifiers: &Modifiers,
        flat: &Flat,
    ) -> Result<(), Refusal> {
        let (rows, columns, depth) = shape(flat).ok_or_else(String::new)?;
        let [d, a, b, c] = flat.operands.as_slice() else { return Err(String::new()) };
        // Of `f16` only D and C have types: A and B are `f16`, too.
        let (type_d, type_a, type_b, type_c) = match modifiers.types.as_slice() {
            [d, c] => (*d, "f16", "f16", *c),
            [d, a, b, c] => (*d, *a, *b, *c),
            _ => return Err(String::new()),
        };
        let of = |ty: &str| element(ty, depth, product(flat)).ok_or_else(String::new);
        let form = Multiply {
            rows: rows.min(16),
            depth,
            a: of(type_a)?,
            b: of(type_b)?,
            c: accumulator(type_c).ok_or_else(String::new)?,
            d: accumulator(type_d).ok_or_else(String::new)?,
            scale: None,
            rule: rule(self.frame.generation, depth, of(type_a)?),
            rounding: modifiers.flags,
            saturate: flat.has("satfinite"),
            columns: [false; 2],
        };
        let wide = form.a == Element::F64;
        let d = self.fragment(d, wide, true)?;
        let (a, b, c) = (
            self.fragment(a, wide, false)?,
            self.fragment(b, wide, false)?,
            self.fragment(c, wide, false)?,
        );
        let [each_a, each_b, each_c, each_d, _] = form.registers();
        // Earlier tiles must not overwrite what later ones read.
        let mut results = Vec::new();
        for tile in 0..(rows / form.rows) * (columns / 8) {
            let (row, column) = if rows > form.rows { (tile, 0) } else { (0, tile) };
            let part = |registers: &[Reg], number: usize, each: usize| {
                let from = registers.get(number * each..(number + 1) * each);
                from.map(<[Reg]>::to_vec).ok_or_else(|| "fragments of this size".to_owned())
            };
            let mut op = self.op(handlers);
            let width = if wide { Width::Wide } else { Width::Narrow };
            let fresh: Vec<Reg> = (0..each_d).map(|_| self.registers.fresh(width)).collect();
            results.extend(part(&d, tile, each_d)?.into_iter().zip(fresh.iter().copied()));
            op.list = fresh;
            op.written = each_d;
            op.list.extend(part(&a, row, each_a)?);
            op.list.extend(part(&b, column, each_b)?);
            op.list.extend(part(&c, tile, each_c)?);
            op.work = Some(form.work());
            op.imm = self.frame.multiplies.len() as u64;
            self.frame.multiplies.push(form.clone());
            self.ops.push(op);
        }
        for (to, from) in results {
            self.copy(to, from);
        }
        Ok(())
    }
}
