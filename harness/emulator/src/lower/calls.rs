//! Calls of functions: replaced by the body of what they call, wherever that can be; else see
//! `outlined.rs`.

use super::flatten::{Base, DEEPEST, Flattener, Item, Value};
use super::outlined::{Callee, Prototype};
use super::scopes::{Entry, Scope};
use super::{LowerError, Reg};
use crate::isa;
use ptx::ast::{self, Operand};

impl<'a> Flattener<'a> {
    /// Replace a call by the body of what it calls, or by a jump to it.
    pub fn call(
        &mut self,
        instruction: &'a ast::Instruction<'a>,
        guard: Option<(Reg, bool)>,
        origin: u32,
    ) -> Result<(), LowerError> {
        let lists: Vec<_> = instruction
            .operands
            .iter()
            .filter_map(|operand| match operand {
                Operand::List(list) => Some(list),
                _ => None,
            })
            .collect();
        let target = instruction.operands.iter().find_map(|operand| match operand {
            Operand::Name(name) => Some(*name),
            _ => None,
        });
        let found = target.and_then(|name| self.environment.function(name));
        if let (Some(name), Some(function)) = (target, found)
            && function.body.is_none()
            && let Some(form) = isa::find(name, &[])
        {
            let (returns, params) = match (function.returns.is_empty(), lists.as_slice()) {
                (false, [returns, params]) => (returns.first(), params.as_slice()),
                (true, [.., params]) => (None, params.as_slice()),
                _ => (None, &[][..]),
            };
            let place = |flattener: &Self, operand: &Operand| match operand {
                Operand::Name(name) => match flattener.scopes.lookup(name) {
                    Some(Entry::Variable(place)) => {
                        Value::Memory { base: Base::Variable(place), offset: 0 }
                    }
                    _ => Value::Discard,
                },
                _ => Value::Discard,
            };
            let mut operands = vec![returns.map_or(Value::Discard, |operand| place(self, operand))];
            operands.extend(params.iter().map(|operand| place(self, operand)));
            self.push(Ok(form), name, &[], operands, guard, origin);
            return Ok(());
        }
        let through =
            target.and_then(|name| self.scopes.lookup(name)).and_then(|entry| match entry {
                Entry::Register(reg) => Some(reg),
                _ => None,
            });
        let outlined = match (target, found, through) {
            (Some(name), Some(function), _) if function.body.is_none() => {
                return self.refuse_call(format!("a call of `{name}`"), guard, origin);
            }
            (Some(name), Some(function), _) => {
                let prototype = Prototype::new(&function.returns, &function.params);
                let outlined =
                    self.environment.recursive.contains(name) || self.calls.len() > DEEPEST;
                outlined.then_some((Callee::Function(name), prototype))
            }
            (_, None, Some(pointer)) => {
                let named = instruction.operands.iter().rev().find_map(|operand| match operand {
                    Operand::Name(name) => self.prototypes.get(*name).cloned(),
                    _ => None,
                });
                Some((Callee::Pointer(pointer), named.unwrap_or_default()))
            }
            _ => {
                return self.refuse_call("a call of what is no function".to_owned(), guard, origin);
            }
        };
        let after = self.new_label();
        if let Some((reg, negated)) = guard {
            let jump = isa::find("bra", &[]).ok_or_else(String::new);
            let skip = Some((reg, !negated));
            self.push(jump, "bra", &[], vec![Value::Label(after)], skip, origin);
        }
        if let Some((callee, prototype)) = outlined {
            let arguments = match (prototype.returns.is_empty(), lists.as_slice()) {
                (false, [returns, params @ ..]) => (returns.as_slice(), params.first()),
                (true, [.., params]) => (&[][..], Some(params)),
                _ => (&[][..], None),
            };
            let params = arguments.1.map_or(&[][..], |params| params.as_slice());
            self.call_outlined(callee, &prototype, (arguments.0, params), origin);
            self.out.items.push(Item::Label(after));
            return Ok(());
        }
        let Some(function) = found else { return Ok(()) };
        let bind = |names: &'a [ast::Variable<'a>], values: Option<&&Vec<Operand>>| {
            let values = values.map_or(&[][..], |list| list.as_slice());
            names
                .iter()
                .zip(values)
                .filter_map(|(variable, value)| match value {
                    Operand::Name(actual) => Some((variable.name, self.scopes.lookup(actual)?)),
                    _ => None,
                })
                .collect::<Vec<_>>()
        };
        let (returns, params) = match (function.returns.is_empty(), lists.as_slice()) {
            (false, [returns, params @ ..]) => (Some(returns), params.first()),
            (true, [.., params]) => (None, Some(params)),
            _ => (None, None),
        };
        let bound = bind(&function.params, params).into_iter();
        let parameters = Scope::of(bound.chain(bind(&function.returns, returns)));
        let inside = self.scopes.of_callee(parameters);
        let callers = std::mem::replace(&mut self.scopes, inside);
        self.calls.push(function.name);
        self.returns.push(after);
        let location = self.location;
        let result = self.statements(function.body.as_deref().unwrap_or_default());
        self.location = location;
        self.returns.pop();
        self.calls.pop();
        self.scopes = callers;
        self.out.items.push(Item::Label(after));
        result
    }

    fn refuse_call(
        &mut self,
        what: String,
        guard: Option<(Reg, bool)>,
        origin: u32,
    ) -> Result<(), LowerError> {
        self.push(Err(what), "call", &[], Vec::new(), guard, origin);
        Ok(())
    }
}
