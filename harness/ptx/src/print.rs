//! Instructions back to PTX, for messages and for tests: what is printed reads back the same.

use std::fmt::{Display, Formatter, Result};

use super::ast::{Guard, Instruction, Operand};

impl Display for Instruction<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        if let Some(guard) = &self.guard {
            write!(f, "{guard} ")?;
        }
        f.write_str(self.opcode)?;
        for modifier in &self.modifiers {
            write!(f, ".{modifier}")?;
        }
        if !self.operands.is_empty() {
            f.write_str(" ")?;
        }
        separated(f, &self.operands)?;
        f.write_str(";")
    }
}

impl Display for Guard<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "@{}{}", if self.negated { "!" } else { "" }, self.register)
    }
}

impl Display for Operand<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Self::Name(name) => f.write_str(name),
            Self::Not(name) => write!(f, "!{name}"),
            Self::Negated(name) => write!(f, "-{name}"),
            Self::Integer(bits) => write!(f, "{}", *bits as i64),
            Self::Float32(bits) => write!(f, "0f{bits:08X}"),
            Self::Float64(bits) => write!(f, "0d{bits:016X}"),
            Self::Vector(items) => enclosed(f, "{", items, "}"),
            Self::Address { base: None, offset } => write!(f, "[{offset}]"),
            Self::Address { base: Some(base), offset: 0 } => write!(f, "[{base}]"),
            Self::Address { base: Some(base), offset } => write!(f, "[{base}+{offset}]"),
            Self::AddressList(items) => enclosed(f, "[", items, "]"),
            Self::Offset { name, offset } => write!(f, "{name}+{offset}"),
            Self::Pair(first, second) => write!(f, "{first}|{second}"),
            Self::List(items) => enclosed(f, "(", items, ")"),
            Self::Discard => f.write_str("_"),
            Self::Element(name, selector) => write!(f, "{name}.{selector}"),
        }
    }
}

fn enclosed(f: &mut Formatter<'_>, open: &str, items: &[Operand<'_>], close: &str) -> Result {
    f.write_str(open)?;
    separated(f, items)?;
    f.write_str(close)
}

fn separated(f: &mut Formatter<'_>, items: &[Operand<'_>]) -> Result {
    for (index, item) in items.iter().enumerate() {
        if index > 0 {
            f.write_str(", ")?;
        }
        write!(f, "{item}")?;
    }
    Ok(())
}
