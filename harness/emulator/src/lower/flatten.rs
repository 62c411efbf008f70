//! Names to things: scopes are resolved, calls are inlined, and what remains is a list.
//!
//! Inline PTX declares registers and labels in braces, the same names again and again; each brace
//! is a scope (PTX ISA 4.5, 5.4). A call of a function whose body is known is replaced by the body,
//! with its `.param` variables in the thread's local memory, where caller and callee both find
//! them; so a call costs nothing at run time, and recursion is out of reach (it is reported).

use std::collections::HashMap;

use super::{Environment, LowerError, Reg, Registers, Width};
use crate::isa::{self, Class, Modifiers, Row};
use crate::program::{Origin, ParamLayout};
use crate::ptx::ast::{self, Operand, Space, Statement};

/// A variable with a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    pub space: Space,
    /// Address in its space; for kernel parameters, the offset.
    pub address: u64,
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
enum Entry {
    Register(Reg),
    Vector(Vec<Reg>),
    Variable(Place),
    Label(usize),
    Labels(Vec<usize>),
}

struct Flattener<'a, 'e> {
    environment: &'e Environment<'a>,
    scopes: Vec<HashMap<String, Entry>>,
    out: Flattened,
    location: Option<u32>,
    /// Functions being inlined, to see recursion.
    calls: Vec<String>,
    /// Where `ret` goes in an inlined body.
    returns: Vec<usize>,
}

/// The number of a target: 100 of `sm_100a`.
fn generation(target: &str) -> u32 {
    let digits = target.trim_start_matches("sm_").trim_end_matches(|c: char| !c.is_ascii_digit());
    digits.parse().unwrap_or(0)
}

/// Deepest nesting of inlined calls and of braces.
const DEEPEST: usize = 64;

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
    };
    flattener.kernel_parameters(function);
    flattener.shared_variables(function);
    flattener.statements(function.body.as_deref().unwrap_or_default())?;
    Ok(flattener.out)
}

/// Size and alignment in bytes of a variable.
pub fn extent(variable: &ast::Variable) -> (u64, u64) {
    let element = isa::Bits::of(variable.ty).map_or(1, |bits| u64::from(bits.bytes()));
    let element = if variable.ty.ends_with("128") { 16 } else { element };
    let one = element * u64::from(variable.vector);
    let count = variable.dimensions.iter().fold(1u64, |n, d| n.saturating_mul(*d));
    (one.saturating_mul(count), variable.align.map_or(one, u64::from).max(1))
}

impl Flattener<'_, '_> {
    fn kernel_parameters(&mut self, function: &ast::Function) {
        let mut offset = 0u64;
        for variable in &function.params {
            let (size, align) = extent(variable);
            offset = offset.next_multiple_of(align);
            let place = Place { space: Space::Param, address: offset };
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
            self.declare(name, Entry::Variable(Place { space: Space::Shared, address }));
        }
    }

    fn declare_shared(&mut self, name: &str, size: u64, align: u64) {
        let frame = &mut self.out.frame;
        let address = u64::from(frame.static_shared).next_multiple_of(align);
        frame.static_shared = (address + size) as u32;
        frame.shared_arrays.push((name.to_owned(), address as u32, size as u32));
        self.declare(name, Entry::Variable(Place { space: Space::Shared, address }));
    }

    fn reserve_local(&mut self, size: u64, align: u64) -> u64 {
        let frame = &mut self.out.frame;
        let address = u64::from(frame.local_bytes).next_multiple_of(align);
        frame.local_bytes = (address + size) as u32;
        address
    }

    fn declare(&mut self, name: &str, entry: Entry) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.insert(name.to_owned(), entry);
        }
    }

    fn lookup(&self, name: &str) -> Option<&Entry> {
        self.scopes.iter().rev().find_map(|scope| scope.get(name))
    }

    fn new_label(&mut self) -> usize {
        self.out.labels += 1;
        self.out.labels - 1
    }

    fn statements(&mut self, statements: &[Statement]) -> Result<(), LowerError> {
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
                Statement::Variable(variable) => self.variable(variable),
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
                Statement::Pragma(_)
                | Statement::BranchTargets { .. }
                | Statement::CallTargets { .. }
                | Statement::CallPrototype { .. } => {}
            }
        }
        Ok(())
    }

    fn variable(&mut self, variable: &ast::Variable) {
        let (size, align) = extent(variable);
        match variable.space {
            Space::Register => self.register(variable),
            Space::Shared => self.declare_shared(variable.name, size, align),
            // `.param` inside a body carries a call's arguments: local memory will do.
            Space::Local | Space::Param => {
                let address = self.reserve_local(size, align);
                let place = Place { space: Space::Local, address };
                self.declare(variable.name, Entry::Variable(place));
            }
            // Module-scope in all but name; the loader has placed it.
            Space::Global | Space::Constant => {}
        }
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
        let operands = instruction.operands.iter().map(|operand| self.value(operand)).collect();
        let form = form.ok_or_else(|| mnemonic(instruction));
        self.push(form, instruction.opcode, &instruction.modifiers, operands, guard, origin);
        Ok(())
    }

    fn push(
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

    fn origin(&mut self, span: &ast::Span, class: Class) -> u32 {
        let origins = &mut self.out.frame.origins;
        origins.push(Origin { span: span.clone(), location: self.location, class });
        origins.len() as u32 - 1
    }

    /// Replace a call by the body of what it calls.
    fn call(
        &mut self,
        instruction: &ast::Instruction,
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
        let found = target.and_then(|name| self.environment.functions.get(name).copied());
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
                Operand::Name(name) => match flattener.lookup(name) {
                    Some(Entry::Variable(place)) => {
                        Value::Memory { base: Base::Variable(*place), offset: 0 }
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
        let refusal = match (target, found) {
            (Some(name), Some(function)) if function.body.is_none() => {
                Some(format!("a call of `{name}`"))
            }
            (Some(name), Some(_)) if self.calls.iter().any(|caller| caller == name) => {
                Some(format!("recursion (`{name}` calls itself)"))
            }
            (_, Some(_)) if self.calls.len() > DEEPEST => Some("calls this deep".to_owned()),
            (_, Some(_)) => None,
            _ => Some("calls through pointers".to_owned()),
        };
        let (Some(function), None) = (found, &refusal) else {
            let what = refusal.unwrap_or_default();
            self.push(Err(what), "call", &[], Vec::new(), guard, origin);
            return Ok(());
        };
        let after = self.new_label();
        if let Some((reg, negated)) = guard {
            let jump = isa::find("bra", &[]).ok_or_else(String::new);
            let skip = Some((reg, !negated));
            self.push(jump, "bra", &[], vec![Value::Label(after)], skip, origin);
        }
        let bind = |names: &[ast::Variable], values: Option<&&Vec<Operand>>| {
            let values = values.map_or(&[][..], |list| list.as_slice());
            names
                .iter()
                .zip(values)
                .filter_map(|(variable, value)| match value {
                    Operand::Name(actual) => {
                        Some((variable.name.to_owned(), self.lookup(actual)?.clone()))
                    }
                    _ => None,
                })
                .collect::<Vec<_>>()
        };
        let (returns, params) = match (function.returns.is_empty(), lists.as_slice()) {
            (false, [returns, params @ ..]) => (Some(returns), params.first()),
            (true, [.., params]) => (None, Some(params)),
            _ => (None, None),
        };
        let mut scope: HashMap<_, _> = bind(&function.params, params).into_iter().collect();
        scope.extend(bind(&function.returns, returns));
        // The body sees its parameters and module scope, nothing of the caller.
        let outside = module_scope(&self.scopes);
        let callers = std::mem::replace(&mut self.scopes, vec![outside]);
        self.scopes.push(scope);
        self.calls.push(function.name.to_owned());
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

    fn value(&mut self, operand: &Operand) -> Value {
        match operand {
            Operand::Name(name) => self.name(name),
            Operand::Not(name) => match self.lookup(name) {
                Some(Entry::Register(reg)) => Value::Not(*reg),
                _ => Value::Unknown(format!("!{name}")),
            },
            Operand::Negated(name) => match self.lookup(name) {
                Some(Entry::Register(reg)) => Value::Negated(*reg),
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
                match (self.lookup(name), index) {
                    (Some(Entry::Vector(regs)), Some(index)) if index < regs.len() => {
                        Value::Register(regs[index])
                    }
                    (Some(Entry::Register(reg)), _) => {
                        Value::Part(Box::new(Value::Register(*reg)), (*axis).to_owned())
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

    fn name(&self, name: &str) -> Value {
        match self.lookup(name) {
            Some(Entry::Register(reg)) => return Value::Register(*reg),
            Some(Entry::Vector(regs)) => {
                return Value::Vector(regs.iter().map(|&reg| Value::Register(reg)).collect());
            }
            Some(Entry::Variable(place)) => return Value::Variable(*place, 0),
            Some(Entry::Label(label)) => return Value::Label(*label),
            Some(Entry::Labels(labels)) => return Value::Labels(labels.clone()),
            None => {}
        }
        if let Some(&address) = self.environment.addresses.get(name) {
            return Value::Variable(Place { space: Space::Global, address }, 0);
        }
        if let Some(special) = isa::Special::named(name) {
            return Value::Special(special);
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

/// What a callee can see of the outermost scope: shared variables, no registers or labels.
fn module_scope(scopes: &[HashMap<String, Entry>]) -> HashMap<String, Entry> {
    let shared = |entry: &Entry| matches!(entry, Entry::Variable(p) if p.space == Space::Shared);
    let outer = scopes.first().into_iter().flatten();
    outer.filter(|(_, e)| shared(e)).map(|(name, e)| (name.clone(), e.clone())).collect()
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

/// Names that a function's operands mention, and those of what it calls.
fn mentioned<'a>(
    function: &'a ast::Function<'a>,
    environment: &Environment<'a>,
    names: &mut Vec<&'a str>,
    seen: &mut Vec<&'a str>,
    depth: usize,
) {
    let mut work: Vec<&[Statement]> = vec![function.body.as_deref().unwrap_or_default()];
    let mut callees = Vec::new();
    while let Some(statements) = work.pop() {
        for statement in statements {
            match statement {
                Statement::Scope(inner) => work.push(inner),
                Statement::Instruction(instruction) => {
                    let mut operands: Vec<&Operand> = instruction.operands.iter().collect();
                    while let Some(operand) = operands.pop() {
                        match operand {
                            Operand::Name(name)
                            | Operand::Offset { name, .. }
                            | Operand::Address { base: Some(name), .. }
                                if !name.starts_with('%') =>
                            {
                                names.push(name);
                                if let Some(&callee) = environment.functions.get(name) {
                                    callees.push(callee);
                                }
                            }
                            Operand::Vector(list) | Operand::AddressList(list) => {
                                operands.extend(list);
                            }
                            _ => {}
                        }
                    }
                }
                _ => {}
            }
        }
    }
    for callee in callees {
        if depth < DEEPEST && !seen.contains(&callee.name) {
            seen.push(callee.name);
            mentioned(callee, environment, names, seen, depth + 1);
        }
    }
}

/// Sizes and alignments of the `.shared` variables declared inside a body.
fn collect_shared(statements: &[Statement], out: &mut Vec<(u64, u64)>, depth: usize) {
    for statement in statements {
        match statement {
            Statement::Variable(variable) if variable.space == Space::Shared => {
                out.push(extent(variable));
            }
            Statement::Scope(inner) if depth < DEEPEST => collect_shared(inner, out, depth + 1),
            _ => {}
        }
    }
}
