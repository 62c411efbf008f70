//! One thread: its frames, and what each instruction does to it.

use ptx::ast::Space;

use super::Result;
use super::code::{Arg, Instruction, Place, Program};
use super::float::{compare, convert, float};
use super::integer::{dot, integer};
use super::meeting::Meeting;
use super::memory::{GLOBAL, LOCAL, Memory, SHARED};
use super::ty::{Kind, Type, cut};

/// Bytes of `.local` memory of a thread, frames of calls included.
const LOCAL_BYTES: usize = 16 << 10;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum State {
    Running,
    /// At an instruction across lanes.
    Meeting(Meeting),
    /// At `bar.sync 0`.
    Barrier,
    Ended,
}

#[derive(Clone, Debug)]
struct Frame {
    function: usize,
    next: usize,
    registers: Vec<u64>,
    /// Where its variables begin in local memory.
    base: u64,
    /// Where the caller wants the returned value.
    result: Option<Place>,
}

pub struct Thread {
    frames: Vec<Frame>,
    local: Vec<u8>,
    carry: bool,
    pub state: State,
    /// `%tid.x`, `%ntid.x`, `%ctaid.x`, `%nctaid.x`
    pub place: [u32; 4],
}

/// The memories that threads share.
pub struct Shared<'m> {
    pub global: &'m mut [u8],
    pub shared: &'m mut [u8],
    pub params: &'m mut [u8],
}

impl Thread {
    pub fn new(program: &Program, kernel: usize, place: [u32; 4]) -> Self {
        let mut thread = Self {
            frames: Vec::new(),
            local: vec![0; LOCAL_BYTES],
            carry: false,
            state: State::Running,
            place,
        };
        thread.enter(program, kernel, None);
        thread
    }

    pub fn lane(&self) -> u32 {
        self.place[0] % 32
    }

    /// Where it stands: equal for lanes that are at the same instruction of the same calls.
    pub fn at(&self) -> Vec<(usize, usize)> {
        self.frames.iter().map(|frame| (frame.function, frame.next)).collect()
    }

    fn frame(&mut self) -> &mut Frame {
        self.frames.last_mut().expect("a frame")
    }

    fn enter(&mut self, program: &Program, function: usize, result: Option<Place>) {
        let base = self.frames.last().map_or(0, |frame| {
            frame.base + program.functions[frame.function].frame.next_multiple_of(16)
        });
        let registers = vec![0; program.functions[function].registers.len()];
        self.frames.push(Frame { function, next: 0, registers, base, result });
    }

    /// Take the next instruction.
    pub fn step(&mut self, program: &Program, shared: &mut Shared) -> Result<()> {
        let Frame { function, next, .. } = *self.frame();
        let code = &program.functions[function];
        let Some(instruction) = code.instructions.get(next) else {
            self.leave(program);
            return Ok(());
        };
        self.frame().next = next + 1;
        if let Some((register, negated)) = instruction.guard
            && (self.frame().registers[register] == 1) == negated
        {
            return Ok(());
        }
        self.run(program, instruction, shared)
            .map_err(|what| format!("thread {:?}: {what}: {:?}", self.place, instruction.tree))
    }

    fn leave(&mut self, program: &Program) {
        let Some(left) = self.frames.pop() else { return };
        if self.frames.is_empty() {
            self.state = State::Ended;
        } else if let (Some(to), [from, ..]) =
            (left.result, program.functions[left.function].returns.as_slice())
        {
            self.copy(
                left.base + from.at,
                self.frames[self.frames.len() - 1].base + to.at,
                to.size,
            );
        }
    }

    fn copy(&mut self, from: u64, to: u64, size: u64) {
        self.local.copy_within(from as usize..(from + size) as usize, to as usize);
    }

    /// The bits of an operand: those of a register, zero above its width.
    pub fn value(&self, arg: &Arg) -> Result<u64> {
        let frame = self.frames.last().expect("a frame");
        Ok(match arg {
            Arg::Register(register) => frame.registers[*register],
            Arg::Not(register) => frame.registers[*register] ^ 1,
            Arg::Literal(bits) => *bits,
            Arg::Function(number) => *number as u64,
            Arg::Address(place, offset) => {
                let base = if place.space == Space::Local { frame.base } else { 0 };
                (base + place.at).wrapping_add(*offset as u64)
            }
            Arg::Special(name) => u64::from(match *name {
                "%tid.x" => self.place[0],
                "%ntid.x" => self.place[1],
                "%ctaid.x" => self.place[2],
                "%nctaid.x" => self.place[3],
                "%laneid" => self.lane(),
                "%lanemask_lt" => (1 << self.lane()) - 1,
                _ => return Err(format!("no {name}")),
            }),
            _ => return Err("an operand without a value".to_owned()),
        })
    }

    /// Write a result of type `ty` to a register.
    pub fn put(&mut self, program: &Program, arg: &Arg, ty: Type, value: u64) -> Result<()> {
        let function = self.frame().function;
        match arg {
            Arg::Register(register) => {
                let bits = program.functions[function].registers[*register];
                self.frame().registers[*register] = cut(ty.extended(value), bits);
                Ok(())
            }
            Arg::Discard => Ok(()),
            _ => Err("a destination".to_owned()),
        }
    }

    fn run(&mut self, program: &Program, it: &Instruction, shared: &mut Shared) -> Result<()> {
        let (opcode, modifiers) = (it.tree.opcode, it.tree.modifiers.as_slice());
        let has = |name: &str| modifiers.contains(&name);
        let ty = it.types.last().copied().unwrap_or(Type::PREDICATE);
        let first = it.args.first().unwrap_or(&Arg::Discard);
        let sources = it.args.get(1..).unwrap_or_default();
        match opcode {
            "ret" | "exit" => self.leave(program),
            "bra" => self.jump(program, first)?,
            "brx" => {
                let index = self.value(first)? as usize;
                match sources.first() {
                    Some(Arg::Labels(labels)) if index < labels.len() => {
                        self.jump(program, &Arg::Label(labels[index]))?;
                    }
                    _ => return Err(format!("no target {index}")),
                }
            }
            "call" => self.call(program, &it.args)?,
            "bar" | "barrier" if !has("warp") => self.state = State::Barrier,
            "shfl" | "vote" | "redux" | "bar" => {
                self.state = State::Meeting(Meeting::of(self, it)?);
            }
            "ld" | "st" | "atom" | "red" => self.access(program, it, shared)?,
            "cvta" => {
                let base = if has("shared") {
                    SHARED
                } else if has("local") {
                    LOCAL
                } else {
                    0
                };
                let from = self.value(&sources[0])?;
                let value =
                    if has("to") { from.wrapping_sub(base) } else { from.wrapping_add(base) };
                self.put(program, first, ty, value)?;
            }
            "mov" => self.mov(program, ty, first, &sources[0])?,
            "setp" => self.set_predicate(program, it, ty)?,
            "selp" => {
                let chosen = if self.value(&sources[2])? == 1 { 0 } else { 1 };
                let value = self.value(&sources[chosen])?;
                self.put(program, first, ty, value)?;
            }
            "slct" => {
                let selector = ty.number(self.value(&sources[2])?);
                let value = self.value(&sources[if selector >= 0 { 0 } else { 1 }])?;
                self.put(program, first, it.types[0], value)?;
            }
            "cvt" => {
                let value = self.value(&sources[0])?;
                let to = it.types[0];
                let value = convert(modifiers, to, ty, value).ok_or("this conversion")?;
                self.put(program, first, to, value)?;
            }
            // Which approximation comes out is nobody's business, so programs only ask how good it is.
            "rsqrt" if ty.bits == 64 => {
                let x = f64::from_bits(self.value(&sources[0])?);
                self.put(program, first, ty, (1.0 / x.sqrt()).to_bits())?;
            }
            _ => {
                let mut args = Vec::new();
                for source in sources {
                    args.push(self.value(source)?);
                }
                let (to, value) = if opcode.starts_with("dp") {
                    let to = Type { kind: Kind::Bits, bits: 32 };
                    (to, Some(dot(opcode, modifiers, &it.types, &args)))
                } else if ty.float() {
                    (ty, float(opcode, modifiers, ty, &args))
                } else {
                    let to = match (opcode, has("wide")) {
                        (_, true) => Type { bits: 2 * ty.bits, ..ty },
                        ("popc" | "clz" | "bfind", _) => Type { kind: Kind::Bits, bits: 32 },
                        _ => ty,
                    };
                    (to, integer(opcode, modifiers, ty, &args, &mut self.carry))
                };
                self.put(program, first, to, value.ok_or("this instruction")?)?;
            }
        }
        Ok(())
    }

    fn jump(&mut self, program: &Program, to: &Arg) -> Result<()> {
        let Arg::Label(label) = to else { return Err("a target".to_owned()) };
        let function = self.frame().function;
        self.frame().next = program.functions[function].labels[*label];
        Ok(())
    }

    /// `call (result), function, (arguments)`, the function by name or by a register.
    fn call(&mut self, program: &Program, args: &[Arg]) -> Result<()> {
        let at = args.iter().position(|arg| !matches!(arg, Arg::List(_))).ok_or("a callee")?;
        let callee = self.value(&args[at])? as usize;
        let target = program.functions.get(callee).ok_or("a function")?;
        let list = |n: Option<usize>| match n.and_then(|n| args.get(n)) {
            Some(Arg::List(list)) => list.as_slice(),
            _ => &[],
        };
        let places = |list: &[Arg]| -> Result<Vec<Place>> {
            let place = |arg: &Arg| match arg {
                Arg::Address(place, 0) => Ok(*place),
                _ => Err("an argument that is no variable".to_owned()),
            };
            list.iter().map(place).collect()
        };
        let given = places(list(Some(at + 1)))?;
        let result = places(list(at.checked_sub(1)))?.first().copied();
        let caller = self.frame().base;
        self.enter(program, callee, result);
        let base = self.frame().base;
        if base + target.frame > LOCAL_BYTES as u64 || given.len() != target.params.len() {
            return Err("a call".to_owned());
        }
        for (from, to) in given.iter().zip(&target.params) {
            self.copy(caller + from.at, base + to.at, to.size);
        }
        Ok(())
    }

    fn mov(&mut self, program: &Program, ty: Type, to: &Arg, from: &Arg) -> Result<()> {
        let part = |count: usize| Type { kind: Kind::Bits, bits: ty.bits / count as u32 };
        match (to, from) {
            (Arg::Vector(list), _) => {
                let (whole, part) = (self.value(from)?, part(list.len()));
                for (n, element) in list.iter().enumerate() {
                    self.put(program, element, part, whole >> (part.bits * n as u32))?;
                }
                Ok(())
            }
            (_, Arg::Vector(list)) => {
                let part = part(list.len());
                let mut whole = 0;
                for (n, element) in list.iter().enumerate() {
                    whole |= part.cut(self.value(element)?) << (part.bits * n as u32);
                }
                self.put(program, to, ty, whole)
            }
            _ => {
                let value = self.value(from)?;
                self.put(program, to, ty, value)
            }
        }
    }

    /// `setp.cmp{.bool}.type p{|q}, a, b{, c}`
    fn set_predicate(&mut self, program: &Program, it: &Instruction, ty: Type) -> Result<()> {
        let modifiers = &it.tree.modifiers;
        let (a, b) = (self.value(&it.args[1])?, self.value(&it.args[2])?);
        let holds = compare(modifiers[0], ty, a, b).ok_or("this comparison")?;
        let other = it.args.get(3).map(|c| self.value(c)).transpose()?.map(|c| c == 1);
        let combined = |holds: bool| match (modifiers[1], other) {
            ("and", Some(other)) => holds && other,
            ("or", Some(other)) => holds || other,
            ("xor", Some(other)) => holds != other,
            _ => holds,
        };
        let (p, q) = match &it.args[0] {
            Arg::Pair(p, q) => (p.as_ref(), q.as_ref()),
            p => (p, &Arg::Discard),
        };
        self.put(program, p, Type::PREDICATE, u64::from(combined(holds)))?;
        self.put(program, q, Type::PREDICATE, u64::from(combined(!holds)))
    }

    fn access(&mut self, program: &Program, it: &Instruction, shared: &mut Shared) -> Result<()> {
        let ty = *it.types.last().ok_or("a type")?;
        let opcode = it.tree.opcode;
        let loads = matches!(opcode, "ld" | "atom");
        let (values, address) =
            if loads { (&it.args[0], &it.args[1]) } else { (&it.args[1], &it.args[0]) };
        let Arg::Memory(base, offset) = address else { return Err("an address".to_owned()) };
        let named = it.tree.modifiers.iter().find_map(|name| match *name {
            "global" => Some(Space::Global),
            "shared" => Some(Space::Shared),
            "local" => Some(Space::Local),
            "param" => Some(Space::Param),
            _ => None,
        });
        // What a function is given lies in its frame.
        let space = match base.as_ref() {
            Arg::Address(place, _) => Some(place.space),
            _ => named,
        };
        let at = self.value(base)?.wrapping_add(*offset as u64);
        if matches!(opcode, "atom" | "red") {
            return self.atomic(program, it, ty, (space, at), shared);
        }
        let elements = match values {
            Arg::Vector(list) => list.as_slice(),
            one => std::slice::from_ref(one),
        };
        // A vector is aligned as a whole.
        if !at.is_multiple_of((ty.bytes() * elements.len()) as u64) {
            return Err(format!("misaligned: {at:#x}"));
        }
        for (n, element) in elements.iter().enumerate() {
            let at = at.wrapping_add((n * ty.bytes()) as u64);
            if loads {
                let value = self.memory(shared).load(space, at, ty.bytes())?;
                self.put(program, element, ty, value)?;
            } else {
                let value = self.value(element)?;
                self.memory(shared).store(space, at, ty.bytes(), value)?;
            }
        }
        Ok(())
    }

    fn memory<'t>(&'t mut self, shared: &'t mut Shared) -> Memory<'t> {
        Memory {
            global: shared.global,
            shared: shared.shared,
            local: &mut self.local,
            params: shared.params,
        }
    }

    fn atomic(
        &mut self,
        program: &Program,
        it: &Instruction,
        ty: Type,
        (space, at): (Option<Space>, u64),
        shared: &mut Shared,
    ) -> Result<()> {
        let operand = self.value(&it.args[if it.tree.opcode == "red" { 1 } else { 2 }])?;
        let old = self.memory(shared).load(space, at, ty.bytes())?;
        let name = it.tree.modifiers.iter().find_map(|name| match *name {
            "add" | "min" | "max" | "and" | "or" | "xor" => Some(*name),
            _ => None,
        });
        let new = integer(name.ok_or("this atomic")?, &[], ty, &[old, operand], &mut false);
        self.memory(shared).store(space, at, ty.bytes(), new.ok_or("this atomic")?)?;
        if it.tree.opcode == "atom" { self.put(program, &it.args[0], ty, old) } else { Ok(()) }
    }
}

/// The address of the kernel's one array, as a parameter says it.
pub const ARRAY: u64 = GLOBAL;
