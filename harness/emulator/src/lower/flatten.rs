//! Names to things: scopes are resolved, calls are inlined, and what remains is a list.
//!
//! Inline PTX declares registers and labels in braces, the same names again and again; each brace
//! is a scope (PTX ISA 4.5, 5.4). A call of a function whose body is known is replaced by the body,
//! with its `.param` variables in the thread's local memory, where caller and callee both find
//! them; so a call costs nothing at run time. `outlined.rs` has the calls for which that cannot be.

use std::collections::HashMap;

use super::outlined::{Body, Outline, Prototype};
use super::scopes::{Entry, Scopes};
use super::variables::MOST_BYTES;
use super::{Environment, LowerError, Reg, Registers};
use crate::isa::Machine;
use crate::isa::{self, Class, Modifiers, Row};
use crate::program::{Origin, ParamLayout};
use ptx::ast::{self, Space, Statement};

/// A variable with a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    pub space: Space,
    /// Address in its space; for kernel parameters, the offset.
    pub address: u64,
    /// What the address counts from: the frame of an outlined function.
    pub base: Option<Reg>,
}

/// An operand whose names are resolved.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    Register(Reg),
    Not(Reg),
    Negated(Reg),
    Integer(u64),
    Float32(u32),
    Float64(u64),
    Vector(Vec<Value>),
    /// Address of a variable, as a value.
    Variable(Place, i64),
    /// `[…]`
    Memory {
        base: Base,
        offset: i64,
    },
    /// `[map, {coordinates}]`
    Tensor {
        base: Base,
        coordinates: Vec<Value>,
    },
    Special(isa::Special),
    /// A register that changes while the kernel runs: `%clock64`.
    Dynamic(&'static str),
    Pair(Box<Value>, Box<Value>),
    /// `%r1.b0`: a register, and the part of it that a video instruction takes.
    Part(Box<Value>, String),
    Label(usize),
    Labels(Vec<usize>),
    /// The labels behind all calls of outlined functions.
    Sites,
    /// The labels of the module's functions.
    Entries,
    Discard,
    /// A name or an operand that means nothing here; the text says what.
    Unknown(String),
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Base {
    Register(Reg),
    Variable(Place),
    None,
}

/// One instruction.
pub struct Flat<'a> {
    pub form: Result<(&'static Row, Modifiers), String>,
    pub opcode: &'a str,
    pub modifiers: &'a [&'a str],
    pub operands: Vec<Value>,
    pub guard: Option<(Reg, bool)>,
    pub origin: u32,
}

impl Flat<'_> {
    /// Whether it has this modifier.
    pub fn has(&self, name: &str) -> bool {
        self.modifiers.contains(&name)
    }
}

pub enum Item<'a> {
    Label(usize),
    Flat(Flat<'a>),
}

/// Memory and tables that a kernel needs besides code.
#[derive(Default)]
pub struct Frame {
    pub params: Vec<ParamLayout>,
    pub param_bytes: u32,
    pub static_shared: u32,
    pub shared_arrays: Vec<(String, u32, u32)>,
    pub dynamic_align: u32,
    pub local_bytes: u32,
    /// Where in the local memory the stack begins, if there is one.
    pub stack: Option<u32>,
    pub origins: Vec<Origin>,
    pub locations: Vec<ast::SourceLocation>,
    pub messages: Vec<String>,
    pub multiplies: Vec<crate::exec::matrix::Multiply>,
    pub wgmmas: Vec<crate::exec::matrix::WarpgroupMultiply>,
    /// Registers of D of every `wgmma`.
    pub sums: Vec<Reg>,
    pub videos: Vec<isa::video::Plan>,
    pub tiles: Vec<crate::exec::matrix::Tile>,
    /// Whether launches will be sanitized.
    pub sanitize: bool,
    /// Generation that the module was compiled for: 90 of `sm_90a`.
    pub generation: u32,
}

pub struct Flattened<'a> {
    pub items: Vec<Item<'a>>,
    pub labels: usize,
    pub registers: Registers,
    pub frame: Frame,
    /// The outlined functions.
    pub bodies: Vec<Body>,
}

pub struct Flattener<'a> {
    pub environment: &'a Environment<'a>,
    pub scopes: Scopes<'a>,
    pub out: Flattened<'a>,
    pub location: Option<u32>,
    /// Functions being inlined, to see how deep.
    pub calls: Vec<&'a str>,
    /// Where `ret` goes in an inlined body.
    pub returns: Vec<usize>,
    pub prototypes: HashMap<&'a str, Prototype>,
    pub outline: Option<Outline<'a>>,
    /// In an outlined function: its frame, and how much of that is in use.
    pub own: Option<(Reg, u64)>,
}

/// The number of a target: 100 of `sm_100a`.
fn generation(target: &str) -> u32 {
    let digits = target.trim_start_matches("sm_").trim_end_matches(|c: char| !c.is_ascii_digit());
    digits.parse().unwrap_or(0)
}

/// Deepest nesting of inlined calls and of braces.
pub const DEEPEST: usize = 64;

pub fn flatten<'a>(
    environment: &'a Environment<'a>,
    function: &'a ast::Function<'a>,
) -> Result<Flattened<'a>, LowerError> {
    let out = Flattened {
        items: Vec::new(),
        labels: 0,
        registers: Registers::default(),
        frame: Frame {
            generation: generation(environment.module.target),
            sanitize: environment.sanitize,
            ..Frame::default()
        },
        bodies: Vec::new(),
    };
    let mut flattener = Flattener {
        environment,
        scopes: Scopes::default(),
        out,
        location: None,
        calls: vec![function.name],
        returns: Vec::new(),
        prototypes: HashMap::new(),
        outline: None,
        own: None,
    };
    flattener.kernel_parameters(function);
    flattener.shared_variables(function);
    flattener.statements(function.body.as_deref().unwrap_or_default())?;
    flattener.end_kernel();
    flattener.outlined()?;
    let frame = &flattener.out.frame;
    for (what, bytes) in [("local", frame.local_bytes), ("shared", frame.static_shared)] {
        if bytes > MOST_BYTES {
            let message = format!("more {what} variables than any GPU has memory for");
            return Err(LowerError { message, span: function.span.clone() });
        }
    }
    Ok(flattener.out)
}

impl<'a> Flattener<'a> {
    /// Nothing may run on into what stands behind the kernel.
    fn end_kernel(&mut self) {
        if self.outline.is_some() {
            let origin = self.out.frame.origins.len().saturating_sub(1) as u32;
            let leave = isa::find("exit", &[]).ok_or_else(String::new);
            self.push(leave, "exit", &[], Vec::new(), None, origin);
        }
    }

    pub fn new_label(&mut self) -> usize {
        self.out.labels += 1;
        self.out.labels - 1
    }

    pub fn statements(&mut self, statements: &'a [Statement<'a>]) -> Result<(), LowerError> {
        // Labels first: branches go forward too.
        for statement in statements {
            if let Statement::Label { name, .. } = statement {
                let label = self.new_label();
                self.scopes.declare(name, Entry::Label(label));
            }
        }
        for statement in statements {
            if let Statement::BranchTargets { name, labels } = statement {
                let labels = labels.iter().filter_map(|label| match self.scopes.lookup(label) {
                    Some(Entry::Label(label)) => Some(label),
                    _ => None,
                });
                let labels = labels.collect();
                self.scopes.declare(name, Entry::Labels(labels));
            }
        }
        for statement in statements {
            match statement {
                Statement::Label { name, .. } => {
                    if let Some(Entry::Label(label)) = self.scopes.lookup(name) {
                        self.out.items.push(Item::Label(label));
                    }
                }
                Statement::Instruction(instruction) => self.instruction(instruction)?,
                Statement::Variable(variable) => self.variable(variable)?,
                Statement::Scope(inner) => {
                    if self.scopes.depth() > DEEPEST {
                        let message = "braces nested too deeply".to_owned();
                        let span = self.out.frame.origins.last().map(|last| last.span.clone());
                        return Err(LowerError { message, span: span.unwrap_or_default() });
                    }
                    self.scopes.open();
                    self.statements(inner)?;
                    self.scopes.close();
                }
                Statement::Location(location) => {
                    let locations = &mut self.out.frame.locations;
                    if locations.last() != Some(location) {
                        locations.push(location.clone());
                    }
                    self.location = Some(locations.len() as u32 - 1);
                }
                Statement::CallPrototype { name, returns, params } => {
                    let prototype = Prototype::new(returns, params);
                    self.prototypes.insert(name, prototype);
                }
                Statement::Pragma(_)
                | Statement::BranchTargets { .. }
                | Statement::CallTargets { .. } => {}
            }
        }
        Ok(())
    }

    fn instruction(&mut self, instruction: &'a ast::Instruction<'a>) -> Result<(), LowerError> {
        let form = isa::find(instruction.opcode, &instruction.modifiers);
        let class = form.as_ref().map_or(Class::Other, |(row, _)| row.class);
        let origin = self.origin(&instruction.span, class);
        let guard = match &instruction.guard {
            None => None,
            Some(guard) => match self.scopes.lookup(guard.register) {
                Some(Entry::Register(reg)) => Some((reg, guard.negated)),
                _ => {
                    let message = format!("`{}` is not declared", guard.register);
                    return Err(LowerError { message, span: instruction.span.clone() });
                }
            },
        };
        if instruction.opcode == "call" {
            return self.call(instruction, guard, origin);
        }
        if instruction.opcode == "ret"
            && let Some(&target) = self.returns.last()
        {
            let jump = isa::find("bra", &[]).ok_or_else(String::new);
            self.push(jump, "bra", &[], vec![Value::Label(target)], guard, origin);
            return Ok(());
        }
        let operands: Vec<_> =
            instruction.operands.iter().map(|operand| self.value(operand)).collect();
        if matches!(instruction.opcode, "alloca" | "stacksave" | "stackrestore") && guard.is_none()
        {
            self.on_stack(instruction.opcode, &operands, origin);
            return Ok(());
        }
        let form = form.ok_or_else(|| mnemonic(instruction));
        self.push(form, instruction.opcode, &instruction.modifiers, operands, guard, origin);
        Ok(())
    }

    pub fn push(
        &mut self,
        form: Result<(&'static Row, Modifiers), String>,
        opcode: &'a str,
        modifiers: &'a [&'a str],
        operands: Vec<Value>,
        guard: Option<(Reg, bool)>,
        origin: u32,
    ) {
        self.out.items.push(Item::Flat(Flat { form, opcode, modifiers, operands, guard, origin }));
    }

    pub fn origin(&mut self, span: &ast::Span, class: Class) -> u32 {
        let origins = &mut self.out.frame.origins;
        let idle = class == Class::Branch;
        let machine = Machine::PLAIN;
        origins.push(Origin { span: span.clone(), location: self.location, class, machine, idle });
        origins.len() as u32 - 1
    }
}

/// The instruction as far as its table row goes: `cvt.rn.f32.u128`.
fn mnemonic(instruction: &ast::Instruction) -> String {
    let mut text = instruction.opcode.to_owned();
    for modifier in &instruction.modifiers {
        text.push('.');
        text.push_str(modifier);
    }
    format!("`{text}`")
}
