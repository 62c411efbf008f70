//! Video instructions (PTX ISA 9.7.18): modifiers and the parts of registers, as a plan.

use super::flatten::{Flat, Value};
use super::select::{Refusal, Selector};
use crate::exec::Handlers;
use crate::isa::Modifiers;
use crate::isa::video::{COMPARISONS, Part, Plan, Then};

impl Selector {
    /// `vop.dtype.atype.btype d{.part}, a{.part}, b{.part}{, c}`.
    pub fn video(
        &mut self,
        handlers: Handlers,
        modifiers: &Modifiers,
        flat: &Flat,
    ) -> Result<(), Refusal> {
        let [dst, a, b, rest @ ..] = flat.operands.as_slice() else { return Err(String::new()) };
        let (dst, d_part) = part(dst);
        let (a, a_part) = part(a);
        let (b, b_part) = part(b);
        let mut types = modifiers.types.iter().rev().map(|ty| ty.starts_with('s'));
        let [b_signed, a_signed, d_signed] = [0; 3].map(|_| types.next().unwrap_or(false));
        let mut plan = Plan {
            a: scalar_part(a_part, a_signed)?,
            b: scalar_part(b_part, b_signed)?,
            d: scalar_part(d_part, d_signed)?,
            saturates: flat.has("sat"),
            ..Plan::default()
        };
        plan.then = match () {
            () if flat.has("add") => Then::Add,
            () if flat.has("min") => Then::Min,
            () if flat.has("max") => Then::Max,
            () if d_part.is_some() => Then::Merge,
            () => Then::Nothing,
        };
        let cmp = COMPARISONS.iter().position(|name| flat.has(name));
        plan.comparison = cmp.unwrap_or(0) as u8;
        let count = match flat.opcode.chars().last() {
            Some('2') => 2,
            Some('4') => 4,
            _ => 1,
        };
        if count > 1 {
            let bits = 32 / count as u8;
            for (part, signed) in
                [(&mut plan.a, a_signed), (&mut plan.b, b_signed), (&mut plan.d, d_signed)]
            {
                *part = Part { first_bit: 0, bits, signed };
            }
            plan.a_elements = elements(a_part, count, 0)?;
            plan.b_elements = elements(b_part, count, count as u8)?;
            plan.kept = [d_part.is_none(); 4];
            for digit in d_part.unwrap_or("").chars().filter_map(|c| c.to_digit(10)) {
                *plan.kept.get_mut(digit as usize).ok_or_else(String::new)? = true;
            }
        }
        if flat.opcode == "vmad" {
            let negated = |value: &Value| matches!(value, Value::Negated(_));
            plan.negates_product = negated(a) != negated(b);
            plan.negates_addend = rest.first().is_some_and(negated);
            plan.plus_one = flat.has("po");
            plan.scale = match () {
                () if flat.has("shr7") => 7,
                () if flat.has("shr15") => 15,
                () => 0,
            };
            plan.d.signed = a_signed || b_signed || plan.negates_product || plan.negates_addend;
        }
        let plain = |value: &Value| match value {
            Value::Negated(reg) => Value::Register(*reg),
            other => other.clone(),
        };
        let mut op = self.op(handlers);
        op.a = Some(self.narrow(&plain(a))?);
        op.b = Some(self.narrow(&plain(b))?);
        op.c = rest.first().map(|c| self.narrow(&plain(c))).transpose()?;
        op.imm = self.frame.videos.len() as u64;
        self.frame.videos.push(plan);
        self.into(dst, "n", "b32", op)
    }
}

/// A register and which part of it is meant.
fn part(value: &Value) -> (&Value, Option<&str>) {
    match value {
        Value::Part(register, name) => (register, Some(name)),
        whole => (whole, None),
    }
}

/// `b2` or `h1`; all 32 bits without a name. Of a vector's selection the size alone matters here.
fn scalar_part(name: Option<&str>, signed: bool) -> Result<Part, Refusal> {
    let Some(name) = name else { return Ok(Part { first_bit: 0, bits: 32, signed }) };
    let bits = if name.starts_with('b') { 8 } else { 16 };
    let index: u8 = name.get(1..2).and_then(|digit| digit.parse().ok()).ok_or_else(String::new)?;
    let index = if name.len() == 2 && index * bits < 32 { index } else { 0 };
    Ok(Part { first_bit: index * bits, bits, signed })
}

/// `b7214`: an element for each, the highest first; without a name, one after the other from `first`.
fn elements(name: Option<&str>, count: usize, first: u8) -> Result<[u8; 4], Refusal> {
    let mut out = [first, first + 1, first + 2, first + 3];
    let Some(name) = name else { return Ok(out) };
    let digits: Vec<_> = name.chars().skip(1).filter_map(|c| c.to_digit(10)).collect();
    if digits.len() != count || digits.iter().any(|&digit| digit as usize >= 2 * count) {
        return Err(format!("the selection `.{name}`"));
    }
    for (element, digit) in out.iter_mut().zip(digits.into_iter().rev()) {
        *element = digit as u8;
    }
    Ok(out)
}
