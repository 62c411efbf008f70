//! Functions that cannot stand where they are called.
//!
//! Most calls are replaced by the body of what they call and cost nothing. A function that calls itself, or
//! that is called through a pointer, stands once behind the kernel instead, *outlined*, with a frame on
//! a stack in the thread's local memory:
//!
//! ```text
//! +0  where the call returns to, a number       caller  arguments to [sp+8…]
//! +4  the caller's frame                                [sp] = number, [sp+4] = fp, fp = sp, bra entry
//! +8  parameters, results                       callee  sp = fp + size
//!     variables                                         …
//!     registers kept across calls                       sp = fp, fp = [sp+4], brx.idx [sp]
//!                                               caller  results from [sp+8…]
//! ```
//!
//! Frame and stack pointers are registers like others, so lanes may be at different depths, return to
//! different places and meet again like lanes that took different branches. What an outlined function calls
//! may call it again, with the same registers: it saves what it still needs before a call, and has it back
//! behind it (`frames.rs`). The kernel's own registers are safe, since nothing calls the kernel.

use std::collections::HashMap;

use super::flatten::{Base, Flattener, Item, Place, Value};
use super::reach::taken;
use super::scopes::{Entry, Scope};
use super::variables::{MOST_BYTES, extent};
use super::{LowerError, Reg, Width};
use crate::isa::{self, Class};
use ptx::ast::{self, Operand, Space, Statement};

/// Frames, and what is allocated on the stack, begin at multiples of this.
pub const ALIGNMENT: u64 = 16;

/// Where the parameters are in a frame.
const HEADER: u64 = 8;

/// Addresses of functions: where nothing else can be.
const FUNCTIONS: u64 = 0x3000_0000_0000_0000;
const APART: u64 = 16;

/// The number that stands for the function of the module with this index.
pub fn address(index: usize) -> u64 {
    FUNCTIONS + APART * index as u64
}

/// What a kernel needs beside its own code once a function is outlined, or memory taken of the stack.
pub struct Outline<'a> {
    frame: Reg,
    stack: Reg,
    /// Labels of the places that calls return to.
    sites: Vec<usize>,
    /// Labels of the functions' entries.
    entries: HashMap<&'a str, usize>,
    /// Outlined, but not flattened yet.
    waiting: Vec<&'a str>,
    /// The calls in the body that is being flattened.
    calls: Vec<Call>,
}

/// A call in an outlined function: labels before what prepares it, and where it returns to.
#[derive(Clone, Copy, Debug)]
pub struct Call {
    pub before: usize,
    pub after: usize,
}

/// What `frames.rs` must know of an outlined function.
#[derive(Clone, Debug)]
pub struct Body {
    /// Labels of its first instruction, and of its return.
    pub entry: usize,
    pub leave: usize,
    /// Bytes of a frame's header, parameters and variables.
    pub bytes: u64,
    /// The registers that are its own.
    pub registers: std::ops::Range<Reg>,
    pub calls: Vec<Call>,
    /// The frame and stack pointers.
    pub pointers: (Reg, Reg),
    /// Where it stands in the text.
    pub span: ast::Span,
}

/// Sizes and alignments of parameters and results.
#[derive(Clone, Default)]
pub struct Prototype {
    pub returns: Vec<(u64, u64)>,
    params: Vec<(u64, u64)>,
}

impl Prototype {
    pub fn new(returns: &[ast::Variable], params: &[ast::Variable]) -> Self {
        let extents = |list: &[ast::Variable]| list.iter().map(extent).collect();
        Self { returns: extents(returns), params: extents(params) }
    }

    /// Where the parameters, then the results, lie in a frame, and where the rest begins.
    fn layout(&self) -> (Vec<u64>, u64) {
        let mut end = HEADER;
        let mut offsets = Vec::new();
        for &(size, align) in self.params.iter().chain(&self.returns) {
            end = end.next_multiple_of(align.min(ALIGNMENT));
            offsets.push(end);
            end += size;
        }
        (offsets, end.next_multiple_of(ALIGNMENT))
    }
}

impl<'a> Flattener<'a> {
    /// One instruction of our own.
    fn emit(
        &mut self,
        opcode: &'static str,
        modifiers: &'static [&'static str],
        operands: Vec<Value>,
        origin: u32,
    ) {
        let form = isa::find(opcode, modifiers).ok_or_else(|| format!("`{opcode}`"));
        self.push(form, opcode, modifiers, operands, None, origin);
    }

    /// The pointers that outlined functions work with.
    pub fn outline(&mut self) -> (Reg, Reg) {
        let registers = &mut self.out.registers;
        let outline = self.outline.get_or_insert_with(|| Outline {
            frame: registers.fresh(Width::Narrow),
            stack: registers.fresh(Width::Narrow),
            sites: Vec::new(),
            entries: HashMap::new(),
            waiting: Vec::new(),
            calls: Vec::new(),
        });
        (outline.frame, outline.stack)
    }

    /// The label of an outlined function's entry.
    fn entry(&mut self, name: &'a str) -> usize {
        self.outline();
        let known = self.outline.as_ref().and_then(|outline| outline.entries.get(name).copied());
        known.unwrap_or_else(|| {
            let label = self.new_label();
            if let Some(outline) = &mut self.outline {
                outline.entries.insert(name, label);
                outline.waiting.push(name);
            }
            label
        })
    }

    pub fn call_outlined(
        &mut self,
        callee: Callee<'a>,
        prototype: &Prototype,
        (returns, params): (&[Operand], &[Operand]),
        origin: u32,
    ) {
        let (frame, stack) = self.outline();
        let before = self.new_label();
        self.out.items.push(Item::Label(before));
        let (offsets, _) = prototype.layout();
        let (into, out_of) = offsets.split_at(prototype.params.len());
        let at = |offset: u64| Value::Memory { base: Base::Register(stack), offset: offset as i64 };
        for ((operand, &offset), &extent) in params.iter().zip(into).zip(&prototype.params) {
            if let Some(place) = self.argument(operand) {
                self.move_bytes(place, &at, offset, extent, true, origin);
            }
        }
        let site = self.new_label();
        let number = self.outline.as_mut().map_or(0, |outline| {
            outline.sites.push(site);
            outline.calls.push(Call { before, after: site });
            outline.sites.len() as u64 - 1
        });
        self.emit("st", &["local", "u32"], vec![at(0), Value::Integer(number)], origin);
        self.emit("st", &["local", "u32"], vec![at(4), Value::Register(frame)], origin);
        let [frame, stack] = [frame, stack].map(Value::Register);
        self.emit("mov", &["u32"], vec![frame, stack], origin);
        match callee {
            Callee::Function(name) => {
                let entry = self.entry(name);
                self.emit("bra", &[], vec![Value::Label(entry)], origin);
            }
            Callee::Pointer(pointer) => {
                for name in taken(self.environment) {
                    self.entry(name);
                }
                let wide = self.out.registers.fresh(Width::Wide);
                let index = self.out.registers.fresh(Width::Narrow);
                let [pointer, wide, index] = [pointer, wide, index].map(Value::Register);
                let base = Value::Integer(FUNCTIONS);
                self.emit("sub", &["u64"], vec![wide.clone(), pointer, base], origin);
                let by = Value::Integer(APART.trailing_zeros().into());
                self.emit("shr", &["u64"], vec![wide.clone(), wide.clone(), by], origin);
                self.emit("cvt", &["sat", "u32", "u64"], vec![index.clone(), wide], origin);
                self.emit("brx", &["idx"], vec![index, Value::Entries], origin);
            }
        }
        self.out.items.push(Item::Label(site));
        for ((operand, &offset), &extent) in returns.iter().zip(out_of).zip(&prototype.returns) {
            if let Some(place) = self.argument(operand) {
                self.move_bytes(place, &at, offset, extent, false, origin);
            }
        }
    }

    fn argument(&self, operand: &Operand) -> Option<Place> {
        match operand {
            Operand::Name(name) => match self.scopes.lookup(name) {
                Some(Entry::Variable(place)) => Some(place),
                _ => None,
            },
            _ => None,
        }
    }

    /// Between a variable of the caller's and a frame.
    fn move_bytes(
        &mut self,
        place: Place,
        at: &impl Fn(u64) -> Value,
        offset: u64,
        (size, align): (u64, u64),
        into_frame: bool,
        origin: u32,
    ) {
        let step = align.min(8);
        let form: &[&str] = match step {
            8 => &["local", "u64"],
            4 => &["local", "u32"],
            2 => &["local", "u16"],
            _ => &["local", "u8"],
        };
        for part in (0..size).step_by(step as usize) {
            let width = if step == 8 { Width::Wide } else { Width::Narrow };
            let value = Value::Register(self.out.registers.fresh(width));
            let there = at(offset + part);
            let here = Value::Memory { base: Base::Variable(place), offset: part as i64 };
            let (from, to) = if into_frame { (here, there) } else { (there, here) };
            self.emit("ld", form, vec![value.clone(), from], origin);
            self.emit("st", form, vec![to, value], origin);
        }
    }

    /// The bodies of what was outlined, and what more they call; then the places that jumps go to.
    pub fn outlined(&mut self) -> Result<(), LowerError> {
        while let Some(outline) = &mut self.outline
            && let Some(name) = outline.waiting.pop()
        {
            outline.calls.clear();
            self.outlined_body(name)?;
        }
        let Some(outline) = &self.outline else { return Ok(()) };
        let (frame, stack, sites) = (outline.frame, outline.stack, outline.sites.clone());
        // What nobody outlined is called by nobody, but a pointer may be anything.
        let nowhere = self.new_label();
        let origin = self.out.frame.origins.len().saturating_sub(1) as u32;
        self.out.items.push(Item::Label(nowhere));
        let what = "a call through a pointer to what is no function".to_owned();
        self.push(Err(what), "call", &[], Vec::new(), None, origin);
        let entries = &self.outline.as_ref().map(|outline| &outline.entries);
        let of = |name: &str| entries.and_then(|entries| entries.get(name)).copied();
        let functions = self.environment.module.functions.iter();
        let entries: Vec<usize> = functions.map(|f| of(f.name).unwrap_or(nowhere)).collect();
        for item in &mut self.out.items {
            let Item::Flat(flat) = item else { continue };
            for operand in &mut flat.operands {
                match operand {
                    Value::Sites => *operand = Value::Labels(sites.clone()),
                    Value::Entries => *operand = Value::Labels(entries.clone()),
                    _ => {}
                }
            }
        }
        let kernel = std::mem::take(&mut self.out.items);
        let first = u64::from(self.out.frame.local_bytes).next_multiple_of(ALIGNMENT);
        for (reg, value) in [(frame, 0), (stack, first)] {
            let operands = vec![Value::Register(reg), Value::Integer(value)];
            self.emit("mov", &["u32"], operands, 0);
        }
        self.out.items.extend(kernel);
        self.out.frame.stack = Some(first as u32);
        Ok(())
    }

    fn outlined_body(&mut self, name: &'a str) -> Result<(), LowerError> {
        let Some(function) = self.environment.function(name) else { return Ok(()) };
        let (frame, stack) = self.outline();
        let before = std::mem::take(&mut self.out.items);
        let entry = self.entry(name);
        let after = self.new_label();
        let prototype = Prototype::new(&function.returns, &function.params);
        let (offsets, end) = prototype.layout();
        let own = |address: u64| Place { space: Space::Local, address, base: Some(frame) };
        let names = function.params.iter().chain(&function.returns).map(|v| v.name);
        let parameters = Scope::of(names.zip(offsets.iter().map(|&at| Entry::Variable(own(at)))));
        let first = self.out.registers.info.len() as Reg;
        let first_of = |statement: &Statement| match statement {
            Statement::Instruction(instruction) => Some(instruction.span.clone()),
            _ => None,
        };
        let span = function.body.iter().flatten().find_map(first_of);
        let origin = self.origin(&span.unwrap_or_default(), Class::Other);
        let inside = self.scopes.of_callee(parameters);
        let kernels = std::mem::replace(&mut self.scopes, inside);
        let calls = std::mem::replace(&mut self.calls, vec![name]);
        let returns = std::mem::replace(&mut self.returns, vec![after]);
        self.own = Some((frame, end));
        let location = self.location.take();
        let result = self.statements(function.body.as_deref().unwrap_or_default());
        self.location = location;
        let (_, end) = self.own.take().unwrap_or((frame, end));
        self.scopes = kernels;
        self.calls = calls;
        self.returns = returns;
        let registers = first..self.out.registers.info.len() as Reg;
        let body = std::mem::replace(&mut self.out.items, before);
        result?;
        if end > u64::from(MOST_BYTES) {
            let message = format!("{end} bytes of variables in the function `{name}`");
            return Err(LowerError { message, span: function.span.clone() });
        }

        let calls = self.outline.as_mut().map(|outline| std::mem::take(&mut outline.calls));
        self.out.bodies.push(Body {
            entry,
            leave: after,
            bytes: end,
            registers,
            calls: calls.unwrap_or_default(),
            pointers: (frame, stack),
            span: function.span.clone(),
        });
        let [fp, sp] = [frame, stack].map(Value::Register);
        let memory =
            |offset: u64| Value::Memory { base: Base::Register(frame), offset: offset as i64 };
        self.out.items.push(Item::Label(entry));
        self.out.items.extend(body);
        self.out.items.push(Item::Label(after));
        let site = Value::Register(self.out.registers.fresh(Width::Narrow));
        self.emit("ld", &["local", "u32"], vec![site.clone(), memory(0)], origin);
        self.emit("mov", &["u32"], vec![sp, fp.clone()], origin);
        self.emit("ld", &["local", "u32"], vec![fp, memory(4)], origin);
        self.emit("brx", &["idx"], vec![site, Value::Sites], origin);
        Ok(())
    }

    /// `alloca dst, size{, align}`, `stacksave dst` and `stackrestore src` (PTX ISA 9.7.15.3-5).
    pub fn on_stack(&mut self, opcode: &'a str, operands: &[Value], origin: u32) {
        let (_, stack) = self.outline();
        let sp = Value::Register(stack);
        match (opcode, operands) {
            ("alloca", [dst, size, ..]) => {
                self.emit("cvt", &["u64", "u32"], vec![dst.clone(), sp.clone()], origin);
                let bytes = Value::Register(self.out.registers.fresh(Width::Narrow));
                self.emit("cvt", &["u32", "u64"], vec![bytes.clone(), size.clone()], origin);
                let [up, mask] =
                    [ALIGNMENT - 1, !(ALIGNMENT - 1) & 0xffff_ffff].map(Value::Integer);
                let again = bytes.clone();
                self.emit("add", &["u32"], vec![bytes.clone(), again.clone(), up], origin);
                self.emit("and", &["b32"], vec![bytes.clone(), again, mask], origin);
                self.emit("add", &["u32"], vec![sp.clone(), sp, bytes], origin);
            }
            ("stacksave", [dst]) => {
                self.emit("cvt", &["u64", "u32"], vec![dst.clone(), sp], origin);
            }
            ("stackrestore", [from]) => {
                self.emit("cvt", &["u32", "u64"], vec![sp, from.clone()], origin);
            }
            _ => self.push(
                Err(format!("`{opcode}` in this form")),
                opcode,
                &[],
                vec![],
                None,
                origin,
            ),
        }
    }
}

/// What an outlined call goes to.
#[derive(Clone, Copy)]
pub enum Callee<'a> {
    Function(&'a str),
    Pointer(Reg),
}
