//! Names to things: scopes are resolved, calls are inlined, and what remains is a list.
//!
//! Inline PTX declares registers and labels in braces, the same names again and again; each brace
//! is a scope (PTX ISA 4.5, 5.4). A call of a function whose body is known is replaced by the body,
//! with its `.param` variables in the thread's local memory, where caller and callee both find
//! them; so a call costs nothing at run time. `calls.rs` has the calls for which that cannot be.

use std::collections::{HashMap, HashSet};

use super::calls::{self, Outline, Prototype};
use super::reach::{collect_shared, mentioned};
use super::{Environment, LowerError, Reg, Registers, Width};
use crate::isa::{self, Class, Modifiers, Row};
use crate::program::{Origin, ParamLayout};
use crate::ptx::ast::{self, Space, Statement};

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
pub struct Flat {
    pub form: Result<(&'static Row, Modifiers), String>,
    pub opcode: String,
    pub modifiers: Vec<String>,
    pub operands: Vec<Value>,
    pub guard: Option<(Reg, bool)>,
    pub origin: u32,
}

pub enum Item {
    Label(usize),
    Flat(Flat),
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
    pub stack: u32,
    pub origins: Vec<Origin>,
    pub locations: Vec<ast::SourceLocation>,
    pub messages: Vec<String>,
    pub multiplies: Vec<crate::exec::matrix::Multiply>,
    pub videos: Vec<isa::video::Plan>,
    pub tiles: Vec<crate::exec::matrix::Tile>,
    /// Whether launches will be sanitized.
    pub sanitize: bool,
    /// Generation that the module was compiled for: 90 of `sm_90a`.
    pub generation: u32,
}

pub struct Flattened {
    pub items: Vec<Item>,
    pub labels: usize,
    pub registers: Registers,
    pub frame: Frame,
}

/// What a name stands for.
#[derive(Clone, Debug)]
pub enum Entry {
    Register(Reg),
    Vector(Vec<Reg>),
    Variable(Place),
    Label(usize),
    Labels(Vec<usize>),
}

pub struct Flattener<'a, 'e> {
    pub environment: &'e Environment<'a>,
    pub scopes: Vec<HashMap<String, Entry>>,
    pub out: Flattened,
    pub location: Option<u32>,
    /// Functions being inlined, to see how deep.
    pub calls: Vec<String>,
    /// Where `ret` goes in an inlined body.
    pub returns: Vec<usize>,
    /// Functions that cannot be inlined.
    pub recursive: HashSet<String>,
    pub prototypes: HashMap<String, Prototype>,
    pub outline: Option<Outline>,
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

pub fn flatten(
    environment: &Environment,
    function: &ast::Function,
) -> Result<Flattened, LowerError> {
    let out = Flattened {
        items: Vec::new(),
        labels: 0,
        registers: Registers::default(),
        frame: Frame {
            generation: generation(environment.module.target),
            sanitize: environment.sanitize,
            ..Frame::default()
        },
    };
    let mut flattener = Flattener {
        environment,
        scopes: vec![HashMap::new()],
        out,
        location: None,
        calls: vec![function.name.to_owned()],
        returns: Vec::new(),
        recursive: calls::recursive(environment),
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
            return Err(LowerError { message, span: 0..0 });
        }
    }
    Ok(flattener.out)
}

/// Of one declaration: text that no compiler wrote must not use up the machine's memory.
const MOST_REGISTERS: u32 = 1 << 20;

/// Of a frame, local or shared; a GPU has 512 KiB of local memory for a thread.
const MOST_BYTES: u32 = 1 << 24;

/// Size and alignment in bytes of a variable. The size stops where nothing has room for it, and sums
/// of sizes still do not overflow.
pub fn extent(variable: &ast::Variable) -> (u64, u64) {
    let element = isa::Bits::of(variable.ty).map_or(1, |bits| u64::from(bits.bytes()));
    let element = if variable.ty.ends_with("128") { 16 } else { element };
    let one = element * u64::from(variable.vector);
    let count = variable.dimensions.iter().fold(1u64, |n, d| n.saturating_mul(*d));
    (one.saturating_mul(count).min(1 << 40), variable.align.map_or(one, u64::from).max(1))
}

impl Flattener<'_, '_> {
    fn kernel_parameters(&mut self, function: &ast::Function) {
        let mut offset = 0u64;
        for variable in &function.params {
            let (size, align) = extent(variable);
            offset = offset.next_multiple_of(align);
            let place = Place { space: Space::Param, address: offset, base: None };
            self.declare(variable.name, Entry::Variable(place));
            self.out.frame.params.push(ParamLayout {
                offset: offset as u32,
                size: size as u32,
                align: align as u32,
            });
            offset += size;
        }
        self.out.frame.param_bytes = offset as u32;
    }

    /// Give every `.shared` variable that the kernel can reach its offset, those of unknown size
    /// last: they all begin where the static ones end.
    fn shared_variables(&mut self, function: &ast::Function) {
        let mut names = Vec::new();
        let mut seen = vec![function.name];
        mentioned(function, self.environment, &mut names, &mut seen, 0);
        let shared = |variable: &&ast::Variable| variable.space == Space::Shared;
        let module = &self.environment.module.variables;
        let mut dynamic = Vec::new();
        for variable in module.iter().filter(shared).filter(|v| names.contains(&v.name)) {
            let (size, align) = extent(variable);
            if variable.external && size == 0 {
                let frame = &mut self.out.frame;
                frame.dynamic_align = frame.dynamic_align.max(align as u32);
                dynamic.push(variable.name);
            } else {
                self.declare_shared(variable.name, size, align);
            }
        }
        // Function-scope ones are met later, so the dynamic part can only be placed behind them
        // once they are counted.
        let mut local = Vec::new();
        collect_shared(function.body.as_deref().unwrap_or_default(), &mut local, 0);
        for name in &seen[1..] {
            if let Some(callee) = self.environment.functions.get(name) {
                collect_shared(callee.body.as_deref().unwrap_or_default(), &mut local, 0);
            }
        }
        let mut end = u64::from(self.out.frame.static_shared);
        for (size, align) in local {
            end = end.next_multiple_of(align) + size;
        }
        let align = u64::from(self.out.frame.dynamic_align.max(1));
        let address = end.next_multiple_of(align);
        for name in dynamic {
            self.declare(
                name,
                Entry::Variable(Place { space: Space::Shared, address, base: None }),
            );
        }
    }

    fn declare_shared(&mut self, name: &str, size: u64, align: u64) {
        let frame = &mut self.out.frame;
        let address = u64::from(frame.static_shared).next_multiple_of(align);
        frame.static_shared = (address + size).min(u64::from(u32::MAX / 2)) as u32;
        frame.shared_arrays.push((name.to_owned(), address as u32, size as u32));
        self.declare(name, Entry::Variable(Place { space: Space::Shared, address, base: None }));
    }

    fn reserve_local(&mut self, size: u64, align: u64) -> Place {
        if let Some((frame, end)) = &mut self.own {
            let address = end.next_multiple_of(align);
            *end = address + size;
            return Place { space: Space::Local, address, base: Some(*frame) };
        }
        let frame = &mut self.out.frame;
        let address = u64::from(frame.local_bytes).next_multiple_of(align);
        frame.local_bytes = (address + size).min(u64::from(u32::MAX / 2)) as u32;
        Place { space: Space::Local, address, base: None }
    }

    /// Nothing may run on into what stands behind the kernel.
    fn end_kernel(&mut self) {
        if self.outline.is_some() {
            let origin = self.out.frame.origins.len().saturating_sub(1) as u32;
            let leave = isa::find("exit", &[]).ok_or_else(String::new);
            self.push(leave, "exit", &[], Vec::new(), None, origin);
        }
    }

    fn declare(&mut self, name: &str, entry: Entry) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.insert(name.to_owned(), entry);
        }
    }

    pub fn lookup(&self, name: &str) -> Option<&Entry> {
        self.scopes.iter().rev().find_map(|scope| scope.get(name))
    }

    pub fn new_label(&mut self) -> usize {
        self.out.labels += 1;
        self.out.labels - 1
    }

    pub fn statements(&mut self, statements: &[Statement]) -> Result<(), LowerError> {
        // Labels first: branches go forward too.
        for statement in statements {
            if let Statement::Label { name, .. } = statement {
                let label = self.new_label();
                self.declare(name, Entry::Label(label));
            }
        }
        for statement in statements {
            if let Statement::BranchTargets { name, labels } = statement {
                let labels = labels.iter().filter_map(|label| match self.lookup(label) {
                    Some(Entry::Label(label)) => Some(*label),
                    _ => None,
                });
                let labels = labels.collect();
                self.declare(name, Entry::Labels(labels));
            }
        }
        for statement in statements {
            match statement {
                Statement::Label { name, .. } => {
                    if let Some(Entry::Label(label)) = self.lookup(name) {
                        self.out.items.push(Item::Label(*label));
                    }
                }
                Statement::Instruction(instruction) => self.instruction(instruction)?,
                Statement::Variable(variable) => self.variable(variable)?,
                Statement::Scope(inner) => {
                    if self.scopes.len() > DEEPEST {
                        let message = "braces nested too deeply".to_owned();
                        return Err(LowerError { message, span: 0..0 });
                    }
                    self.scopes.push(HashMap::new());
                    self.statements(inner)?;
                    self.scopes.pop();
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
                    self.prototypes.insert((*name).to_owned(), prototype);
                }
                Statement::Pragma(_)
                | Statement::BranchTargets { .. }
                | Statement::CallTargets { .. } => {}
            }
        }
        Ok(())
    }

    fn variable(&mut self, variable: &ast::Variable) -> Result<(), LowerError> {
        let (size, align) = extent(variable);
        if variable.count.is_some_and(|count| count > MOST_REGISTERS) {
            let message = format!("`{}` stands for too many registers", variable.name);
            return Err(LowerError { message, span: 0..0 });
        }
        match variable.space {
            Space::Register => self.register(variable),
            Space::Shared => self.declare_shared(variable.name, size, align),
            // `.param` inside a body carries a call's arguments: local memory will do.
            Space::Local | Space::Param => {
                let place = self.reserve_local(size, align);
                self.declare(variable.name, Entry::Variable(place));
            }
            // Module-scope in all but name; the loader has placed it.
            Space::Global | Space::Constant => {}
        }
        Ok(())
    }

    fn register(&mut self, variable: &ast::Variable) {
        let Some(width) = Width::of(variable.ty) else {
            return self.wide_registers(variable);
        };
        let registers = &mut self.out.registers;
        if let Some(count) = variable.count {
            for index in 0..count {
                let reg = self.out.registers.fresh(width);
                self.declare(&format!("{}{index}", variable.name), Entry::Register(reg));
            }
        } else if variable.vector > 1 {
            let regs = (0..variable.vector).map(|_| registers.fresh(width)).collect();
            self.declare(variable.name, Entry::Vector(regs));
        } else {
            let reg = registers.fresh(width);
            self.declare(variable.name, Entry::Register(reg));
        }
    }

    /// Registers of 128 bits are pairs of 64, the lower half first.
    fn wide_registers(&mut self, variable: &ast::Variable) {
        if !variable.ty.ends_with("128") {
            return;
        }
        let names = match variable.count {
            Some(count) => (0..count).map(|index| format!("{}{index}", variable.name)).collect(),
            None => vec![variable.name.to_owned()],
        };
        for name in names {
            let halves = [0, 1].map(|_| self.out.registers.fresh(Width::Wide));
            self.declare(&name, Entry::Vector(halves.to_vec()));
        }
    }

    fn instruction(&mut self, instruction: &ast::Instruction) -> Result<(), LowerError> {
        let form = isa::find(instruction.opcode, &instruction.modifiers);
        let class = form.as_ref().map_or(Class::Other, |(row, _)| row.class);
        let origin = self.origin(&instruction.span, class);
        let guard = match &instruction.guard {
            None => None,
            Some(guard) => match self.lookup(guard.register) {
                Some(Entry::Register(reg)) => Some((*reg, guard.negated)),
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
        opcode: &str,
        modifiers: &[&str],
        operands: Vec<Value>,
        guard: Option<(Reg, bool)>,
        origin: u32,
    ) {
        self.out.items.push(Item::Flat(Flat {
            form,
            opcode: opcode.to_owned(),
            modifiers: modifiers.iter().map(|&m| m.to_owned()).collect(),
            operands,
            guard,
            origin,
        }));
    }

    pub fn origin(&mut self, span: &ast::Span, class: Class) -> u32 {
        let origins = &mut self.out.frame.origins;
        origins.push(Origin { span: span.clone(), location: self.location, class });
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
