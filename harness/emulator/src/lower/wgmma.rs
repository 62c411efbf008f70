//! `wgmma`: operands by position, as the manual's syntax has them (PTX ISA 9.7.15.5-7).

use super::flatten::{Flat, Value};
use super::matrix::{accumulator, element};
use super::select::{Refusal, Selector};
use super::{Op, Reg};
use crate::exec::Handlers;
use crate::exec::matrix::descriptor::Major;
use crate::exec::matrix::{BitProduct, Element, Multiply, Rule, WarpgroupMultiply};
use crate::isa::Modifiers;

/// Registers that sparse and dense A take.
const STORED: usize = 4;

impl Selector {
    /// `wgmma.mma_async{.sp} d, a, b{, metadata, selector}, scale-d{, scale-a, scale-b{, trans-a}{, trans-b}}`.
    pub fn wgmma(
        &mut self,
        handlers: Handlers,
        modifiers: &Modifiers,
        flat: &Flat,
    ) -> Result<(), Refusal> {
        let [d, a, b, rest @ ..] = flat.operands.as_slice() else { return Err(String::new()) };
        let (columns, depth) = shape(flat).ok_or_else(String::new)?;
        let [type_d, type_a, type_b] = modifiers.types[..] else { return Err(String::new()) };
        let of = |ty: &str| element(ty, depth, BitProduct::And).ok_or_else(String::new);
        let (of_a, of_b) = (of(type_a)?, of(type_b)?);
        let d_type = accumulator(type_d).ok_or_else(String::new)?;
        let in_shared = !matches!(a, Value::Vector(_));
        let mut op = self.op(handlers);
        let (sparse, rest) = match rest {
            [metadata, Value::Integer(selector @ 0..=1), rest @ ..] if flat.has("sp") => {
                op.mask = Some(self.narrow(metadata)?);
                (Some(*selector as usize), rest)
            }
            _ if flat.has("sp") => return Err("its selector".to_owned()),
            rest => (None, rest),
        };
        let [add, immediates @ ..] = rest else { return Err(String::new()) };
        op.c = Some(self.source(add, "p", "pred")?);
        let immediates: Vec<i32> = immediates
            .iter()
            .map(|value| match value {
                Value::Integer(value) => Ok(*value as i32),
                _ => Err("an operand that is no constant".to_owned()),
            })
            .collect::<Result<_, _>>()?;
        let (negated, directions) = match (of_a.is_float(), immediates.as_slice()) {
            (true, [a @ (1 | -1), b @ (1 | -1), directions @ ..]) => (a != b, directions),
            (false, []) => (false, &[][..]),
            _ => return Err("its scales".to_owned()),
        };
        let major = |direction: i32| match direction {
            0 => Ok(Major::K),
            1 => Ok(Major::Mn),
            _ => Err("its directions".to_owned()),
        };
        let (major_a, major_b) = match (of_a.bits(), in_shared, directions) {
            (16, true, [a, b]) => (major(*a)?, major(*b)?),
            (16, false, [b]) => (Major::K, major(*b)?),
            (bits, _, []) if bits != 16 => (Major::K, Major::K),
            _ => return Err("its directions".to_owned()),
        };
        let rule = match of_a {
            Element::E4m3 | Element::E5m2 => {
                Rule { fraction: 13, halves: false, converted: false, kept: 13 }
            }
            _ => Rule { fraction: 25, halves: false, converted: false, kept: 23 },
        };
        let what = WarpgroupMultiply {
            form: Multiply {
                rows: 16,
                depth,
                a: of_a,
                b: of_b,
                c: d_type,
                d: d_type,
                scale: None,
                rule,
                rounding: 0,
                saturate: flat.has("satfinite"),
                columns: [false; 2],
            },
            columns,
            a: in_shared.then_some(major_a),
            b: major_b,
            negated,
            sparse,
        };
        let sums = self.registers_of(d, what.registers(), true)?;
        op.list.clone_from(&sums);
        op.written = sums.len();
        if in_shared {
            op.a = Some(self.source(a, "w", "b64")?);
        } else {
            op.list.extend(self.registers_of(a, STORED, false)?);
        }
        op.b = Some(self.source(b, "w", "b64")?);
        op.list.extend(&sums);
        op.memory = true;
        op.work = Some(what.work());
        op.flags = self.frame.wgmmas.len() as u32;
        self.frame.wgmmas.push(what);
        self.frame.sums.extend(sums);
        self.ops.push(op);
        Ok(())
    }

    fn registers_of(
        &mut self,
        value: &Value,
        due: usize,
        written: bool,
    ) -> Result<Vec<Reg>, Refusal> {
        let elements = Self::elements(value);
        if elements.len() != due {
            return Err(format!("{} registers where {due} are due", elements.len()));
        }
        let one =
            |value| if written { self.written(value) } else { self.source(value, "n", "b32") };
        elements.iter().map(one).collect()
    }

    /// `wgmma.wait_group n`.
    pub fn wait_for_sums(&mut self, handlers: Handlers, operands: &[Value]) -> Result<(), Refusal> {
        let [Value::Integer(allowed)] = operands else { return Err(String::new()) };
        let mut op = self.op(handlers);
        op.imm = *allowed;
        op.delivers = true;
        self.ops.push(op);
        Ok(())
    }
}

/// A wait writes sums that are in flight to their registers, whichever these are: they stay theirs until then.
pub fn deliver(ops: &mut Op, sums: &[Reg]) {
    ops.list = [sums, sums].concat();
    ops.written = sums.len();
}

/// N and K of `m64n16k16`.
fn shape(flat: &Flat) -> Option<(usize, usize)> {
    let name = flat.modifiers.iter().find_map(|name| name.strip_prefix("m64n"))?;
    let (columns, depth) = name.split_once('k')?;
    Some((columns.parse().ok()?, depth.parse().ok()?))
}
