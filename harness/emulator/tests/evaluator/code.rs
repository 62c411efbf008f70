//! Names to things. Every function keeps its own numbering of registers and its own frame of `.local` and
//! `.param` variables; calls are calls.

use std::collections::HashMap;

use ptx::ast::{self, Function, Module, Operand, Space, Statement, Variable};

use super::Result;
use super::ty::Type;

/// Where a variable lies.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    pub space: Space,
    /// From the beginning of the frame, of the CTA's shared memory or of the kernel's parameters.
    pub at: u64,
    pub size: u64,
}

#[derive(Clone, Debug)]
pub enum Arg<'a> {
    Register(usize),
    Not(usize),
    Literal(u64),
    Special(&'a str),
    Address(Place, i64),
    /// `[base + offset]`
    Memory(Box<Arg<'a>>, i64),
    Vector(Vec<Arg<'a>>),
    Pair(Box<Arg<'a>>, Box<Arg<'a>>),
    /// Number of a label.
    Label(usize),
    Labels(Vec<usize>),
    /// Number of a function.
    Function(usize),
    List(Vec<Arg<'a>>),
    Prototype,
    Discard,
}

pub struct Instruction<'a> {
    pub tree: &'a ast::Instruction<'a>,
    pub args: Vec<Arg<'a>>,
    pub guard: Option<(usize, bool)>,
    pub types: Vec<Type>,
}

#[derive(Default)]
pub struct Code<'a> {
    pub name: &'a str,
    pub instructions: Vec<Instruction<'a>>,
    /// Of each label, the instruction behind it.
    pub labels: Vec<usize>,
    /// Bits of each register.
    pub registers: Vec<u32>,
    pub params: Vec<Place>,
    pub returns: Vec<Place>,
    pub frame: u64,
}

pub struct Program<'a> {
    pub functions: Vec<Code<'a>>,
    pub shared: u64,
}

impl<'a> Program<'a> {
    pub fn new(module: &'a Module<'a>) -> Result<Self> {
        let mut shared = 0;
        let numbers: HashMap<_, _> =
            module.functions.iter().enumerate().map(|(n, f)| (f.name, Arg::Function(n))).collect();
        let mut names = numbers;
        for variable in module.variables.iter().filter(|v| v.space == Space::Shared) {
            names.insert(variable.name, Arg::Address(place(variable, &mut shared), 0));
        }
        let mut functions = Vec::new();
        for function in &module.functions {
            let mut reader = Reader {
                scopes: vec![names.clone()],
                code: Code { name: function.name, ..Code::default() },
                shared: &mut shared,
            };
            reader.function(function)?;
            functions.push(reader.code);
        }
        Ok(Self { functions, shared })
    }
}

fn place(variable: &Variable, end: &mut u64) -> Place {
    let bytes = Type::parse(variable.ty).map_or(1, |ty| ty.bytes() as u64);
    let element = bytes * u64::from(variable.vector);
    let size = element * variable.dimensions.iter().product::<u64>();
    let align = variable.align.map_or(element, u64::from).max(1);
    let at = end.next_multiple_of(align);
    *end = at + size;
    Place { space: variable.space, at, size }
}

struct Reader<'a, 's> {
    scopes: Vec<HashMap<&'a str, Arg<'a>>>,
    code: Code<'a>,
    shared: &'s mut u64,
}

impl<'a> Reader<'a, '_> {
    fn function(&mut self, function: &'a Function<'a>) -> Result<()> {
        let mut params = 0;
        for variable in &function.params {
            let end = if function.entry { &mut params } else { &mut self.code.frame };
            let place = place(variable, end);
            // A kernel's parameters have a space of their own, a function's lie in its frame.
            let space = if function.entry { Space::Param } else { Space::Local };
            let place = Place { space, ..place };
            self.code.params.push(place);
            self.declare(variable.name, Arg::Address(place, 0));
        }
        for variable in &function.returns {
            let place = Place { space: Space::Local, ..place(variable, &mut self.code.frame) };
            self.code.returns.push(place);
            self.declare(variable.name, Arg::Address(place, 0));
        }
        self.statements(function.body.as_deref().unwrap_or_default())
    }

    fn declare(&mut self, name: &'a str, what: Arg<'a>) {
        self.scopes.last_mut().expect("a scope").insert(name, what);
    }

    fn lookup(&self, name: &str) -> Option<Arg<'a>> {
        self.scopes.iter().rev().find_map(|scope| scope.get(name).cloned())
    }

    fn statements(&mut self, statements: &'a [Statement<'a>]) -> Result<()> {
        for statement in statements {
            match statement {
                Statement::Label { name, .. } => {
                    self.code.labels.push(usize::MAX);
                    self.declare(name, Arg::Label(self.code.labels.len() - 1));
                }
                Statement::CallPrototype { name, .. } => self.declare(name, Arg::Prototype),
                _ => {}
            }
        }
        for statement in statements {
            if let Statement::BranchTargets { name, labels } = statement {
                let number = |label: &&str| match self.lookup(label) {
                    Some(Arg::Label(number)) => Ok(number),
                    _ => Err(format!("no label {label}")),
                };
                let labels = labels.iter().map(number).collect::<Result<_>>()?;
                self.declare(name, Arg::Labels(labels));
            }
        }
        for statement in statements {
            match statement {
                Statement::Label { name, .. } => {
                    if let Some(Arg::Label(number)) = self.lookup(name) {
                        self.code.labels[number] = self.code.instructions.len();
                    }
                }
                Statement::Instruction(tree) => self.instruction(tree)?,
                Statement::Variable(variable) => self.variable(variable)?,
                Statement::Scope(inner) => {
                    self.scopes.push(HashMap::new());
                    self.statements(inner)?;
                    self.scopes.pop();
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn variable(&mut self, variable: &'a Variable<'a>) -> Result<()> {
        let what = match variable.space {
            Space::Register => return self.registers(variable),
            Space::Shared => place(variable, self.shared),
            Space::Local | Space::Param => {
                Place { space: Space::Local, ..place(variable, &mut self.code.frame) }
            }
            _ => return Err(format!("a variable of {:?} in a function", variable.space)),
        };
        self.declare(variable.name, Arg::Address(what, 0));
        Ok(())
    }

    fn registers(&mut self, variable: &'a Variable<'a>) -> Result<()> {
        let ty = Type::parse(variable.ty).ok_or_else(|| format!("type {}", variable.ty))?;
        let first = self.code.registers.len();
        let Some(count) = variable.count else {
            self.code.registers.push(ty.bits);
            self.declare(variable.name, Arg::Register(first));
            return Ok(());
        };
        for number in 0..count {
            self.code.registers.push(ty.bits);
            // Names that do not stand in the text: few, and as long as the test.
            let name: &'static str = format!("{}{number}", variable.name).leak();
            self.declare(name, Arg::Register(first + number as usize));
        }
        Ok(())
    }

    fn instruction(&mut self, tree: &'a ast::Instruction<'a>) -> Result<()> {
        let guard = match &tree.guard {
            None => None,
            Some(guard) => match self.lookup(guard.register) {
                Some(Arg::Register(register)) => Some((register, guard.negated)),
                _ => return Err(format!("no predicate {}", guard.register)),
            },
        };
        let args = tree.operands.iter().map(|operand| self.arg(operand)).collect::<Result<_>>()?;
        let types = tree.modifiers.iter().filter_map(|name| Type::parse(name)).collect();
        self.code.instructions.push(Instruction { tree, args, guard, types });
        Ok(())
    }

    fn arg(&self, operand: &'a Operand<'a>) -> Result<Arg<'a>> {
        let all = |list: &'a [Operand<'a>]| list.iter().map(|o| self.arg(o)).collect::<Result<_>>();
        Ok(match operand {
            Operand::Name(name) => match self.lookup(name) {
                Some(found) => found,
                None if name.starts_with('%') => Arg::Special(name),
                None => return Err(format!("no {name}")),
            },
            Operand::Not(name) => match self.lookup(name) {
                Some(Arg::Register(register)) => Arg::Not(register),
                _ => return Err(format!("no {name}")),
            },
            Operand::Integer(value) | Operand::Float64(value) => Arg::Literal(*value),
            Operand::Float32(value) => Arg::Literal(u64::from(*value)),
            Operand::Vector(list) => Arg::Vector(all(list)?),
            Operand::List(list) => Arg::List(all(list)?),
            Operand::Address { base: Some(name), offset } => match self.lookup(name) {
                Some(base) => Arg::Memory(Box::new(base), *offset),
                None => return Err(format!("no {name}")),
            },
            Operand::Offset { name, offset } => match self.lookup(name) {
                Some(Arg::Address(place, _)) => Arg::Address(place, *offset),
                _ => return Err(format!("no {name}")),
            },
            Operand::Pair(first, second) => {
                Arg::Pair(Box::new(self.arg(first)?), Box::new(self.arg(second)?))
            }
            Operand::Discard => Arg::Discard,
            other => return Err(format!("operand {other:?}")),
        })
    }
}
