//! What an operand's names stand for.

use super::flatten::{Base, Flattener, Place, Value};
use super::scopes::Entry;
use crate::isa;
use ptx::ast::{Operand, Space};

impl Flattener<'_> {
    pub fn value(&mut self, operand: &Operand) -> Value {
        match operand {
            Operand::Name(name) => self.name(name),
            Operand::Not(name) => match self.scopes.lookup(name) {
                Some(Entry::Register(reg)) => Value::Not(reg),
                _ => Value::Unknown(format!("!{name}")),
            },
            Operand::Negated(name) => match self.scopes.lookup(name) {
                Some(Entry::Register(reg)) => Value::Negated(reg),
                _ => Value::Unknown(format!("-{name}")),
            },
            Operand::Integer(value) => Value::Integer(*value),
            Operand::Float32(bits) => Value::Float32(*bits),
            Operand::Float64(bits) => Value::Float64(*bits),
            Operand::Vector(list) => {
                Value::Vector(list.iter().map(|operand| self.value(operand)).collect())
            }
            Operand::Address { base, offset } => {
                let base = match base {
                    None => Base::None,
                    Some(name) => match self.name(name) {
                        Value::Register(reg) => Base::Register(reg),
                        Value::Variable(place, _) => Base::Variable(place),
                        _ => return Value::Unknown(format!("[{name}]")),
                    },
                };
                Value::Memory { base, offset: *offset }
            }
            Operand::Offset { name, offset } => match self.name(name) {
                Value::Variable(place, _) => Value::Variable(place, *offset),
                _ => Value::Unknown(format!("{name}+{offset}")),
            },
            Operand::Pair(first, second) => {
                Value::Pair(Box::new(self.value(first)), Box::new(self.value(second)))
            }
            Operand::Discard => Value::Discard,
            Operand::Element(name, axis) => {
                let index = ["x", "y", "z", "w"].iter().position(|a| a == axis);
                match (self.scopes.lookup(name), index) {
                    (Some(Entry::Vector(regs)), Some(index)) if index < regs.len() => {
                        Value::Register(regs[index])
                    }
                    (Some(Entry::Register(reg)), _) => {
                        Value::Part(Box::new(Value::Register(reg)), (*axis).to_owned())
                    }
                    _ => isa::Special::named(&format!("{name}.{axis}"))
                        .map_or_else(|| Value::Unknown(format!("{name}.{axis}")), Value::Special),
                }
            }
            Operand::AddressList(items) => match items.as_slice() {
                [Operand::Name(name), Operand::Vector(list)] => {
                    let base = match self.name(name) {
                        Value::Register(reg) => Base::Register(reg),
                        Value::Variable(place, _) => Base::Variable(place),
                        _ => return Value::Unknown(format!("[{name}]")),
                    };
                    let coordinates = list.iter().map(|operand| self.value(operand)).collect();
                    Value::Tensor { base, coordinates }
                }
                _ => Value::Unknown("an address of this kind".to_owned()),
            },
            Operand::List(_) => Value::Unknown("an argument list".to_owned()),
        }
    }

    pub fn name(&self, name: &str) -> Value {
        match self.scopes.lookup(name) {
            Some(Entry::Register(reg)) => return Value::Register(reg),
            Some(Entry::Vector(regs)) => {
                return Value::Vector(regs.iter().map(|&reg| Value::Register(reg)).collect());
            }
            Some(Entry::Variable(place)) => return Value::Variable(place, 0),
            Some(Entry::Label(label)) => return Value::Label(label),
            Some(Entry::Labels(labels)) => return Value::Labels(labels.to_vec()),
            None => {}
        }
        if let Some(&(address, _)) = self.environment.symbols.get(name) {
            return Value::Variable(Place { space: Space::Global, address, base: None }, 0);
        }
        if let Some(special) = isa::Special::named(name) {
            return Value::Special(special);
        }
        if let Some(address) = self.environment.address_of(name) {
            return Value::Integer(address);
        }
        match name {
            "WARP_SZ" => Value::Integer(32),
            "%clock" => Value::Dynamic("%clock"),
            "%clock_hi" => Value::Dynamic("%clock_hi"),
            "%clock64" => Value::Dynamic("%clock64"),
            "%globaltimer" => Value::Dynamic("%globaltimer"),
            "%globaltimer_lo" => Value::Dynamic("%globaltimer_lo"),
            "%globaltimer_hi" => Value::Dynamic("%globaltimer_hi"),
            _ => Value::Unknown(name.to_owned()),
        }
    }
}
