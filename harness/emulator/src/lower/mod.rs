//! From a PTX tree to a program that warps run.
//!
//! ```text
//! tree ─ flatten ─► instructions with resolved names, calls inlined
//!      ─ select ──► operations in blocks            (rows of the instruction table)
//!      ─ frames ──► registers that outlined functions keep across calls
//!      ─ order ───► blocks in weak topological order
//!      ─ copies ──► fewer operations                (moves of constants and parameters vanish)
//!      ─ slots ───► registers in few slots          (liveness, linear scan)
//!      ─ emit ────► Program
//! ```
//!
//! What cannot be lowered becomes an operation that stops the launch when it is reached: a kernel
//! may carry code for another case that this run never enters.

mod access;
mod asynchronous;
mod calls;
mod compare;
mod copies;
mod dominance;
mod effects;
mod emit;
mod environment;
#[cfg(test)]
mod equivalence;
mod flatten;
mod frames;
mod guesses;
mod lanes;
mod launch_control;
mod liveness;
mod matrix;
mod moves;
mod names;
mod operands;
mod order;
mod outlined;
mod polls;
mod reach;
mod schedule;
mod scopes;
mod select;
mod slots;
mod tcgen05;
mod tensor_map;
mod variables;
mod video;
mod warp;
mod wgmma;
mod wmma;

use std::collections::HashMap;

pub use environment::Environment;
pub use variables::extent;

use crate::exec::{Handlers, Level};
use crate::program::{Preset, Program};
use crate::sanitize::Action;
use ptx::ast;

/// A virtual register.
pub type Reg = u32;

/// Width of a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Width {
    Predicate,
    /// 8 or 16 bits: a lane whose upper bits are zero.
    Half,
    Narrow,
    Wide,
}

impl Width {
    /// Of a register type.
    fn of(ty: &str) -> Option<Self> {
        match ty {
            "pred" => Some(Self::Predicate),
            "f16x2" | "bf16x2" => Some(Self::Narrow),
            _ if ty.ends_with("128") => None,
            _ if ty.ends_with("64") => Some(Self::Wide),
            _ if ty.ends_with("32") => Some(Self::Narrow),
            _ if ty.ends_with("16") || ty.ends_with('8') => Some(Self::Half),
            _ => None,
        }
    }
}

/// What is known of a virtual register.
#[derive(Clone, Copy, Debug)]
pub struct RegInfo {
    pub width: Width,
    /// Filled before the warp starts, and never written.
    pub preset: Option<Preset>,
}

/// The registers of a function.
#[derive(Default)]
pub struct Registers {
    pub info: Vec<RegInfo>,
    presets: HashMap<Preset, Reg>,
}

impl Registers {
    pub fn fresh(&mut self, width: Width) -> Reg {
        self.info.push(RegInfo { width, preset: None });
        self.info.len() as Reg - 1
    }

    pub fn preset(&mut self, preset: Preset) -> Reg {
        let info = &mut self.info;
        *self.presets.entry(preset).or_insert_with(|| {
            let width = if preset.is_wide() { Width::Wide } else { Width::Narrow };
            info.push(RegInfo { width, preset: Some(preset) });
            info.len() as Reg - 1
        })
    }

    pub fn constant(&mut self, value: u32) -> Reg {
        self.preset(Preset::Constant32(value))
    }

    pub fn constant64(&mut self, value: u64) -> Reg {
        self.preset(Preset::Constant64(value))
    }

    /// Where an offset of the CTA's shared memory lies, as an address of 32 bits or of 64.
    pub fn shared_address(&mut self, offset: u32, wide: bool) -> Reg {
        self.preset(if wide { Preset::Shared64(offset) } else { Preset::Shared(offset) })
    }

    pub fn wide(&self, reg: Reg) -> bool {
        self.info[reg as usize].width == Width::Wide
    }
}

/// One operation: a handler and the registers it takes.
#[derive(Clone)]
pub struct Op {
    pub handlers: Handlers,
    pub dst: Option<Reg>,
    /// Second destination.
    pub dst2: Option<Reg>,
    pub a: Option<Reg>,
    pub b: Option<Reg>,
    pub c: Option<Reg>,
    /// A fourth source, whose slot goes into `imm`.
    pub mask: Option<Reg>,
    /// Elements of vectors: those written, then those read.
    pub list: Vec<Reg>,
    /// How many of the list are written.
    pub written: usize,
    pub flags: u32,
    pub imm: u64,
    pub origin: u32,
    /// Goes to memory: has a place in the allocation cache, and is counted.
    pub memory: bool,
    /// What tensor cores multiply.
    pub work: Option<crate::exec::matrix::Work>,
    /// Writes the sums of `wgmma` that are in flight, to registers in the list.
    pub delivers: bool,
    /// Copies `a` to `dst` and does nothing else.
    pub copy: bool,
    /// For the sanitizer; the instruction's, unless it is said here.
    pub action: Option<Action>,
}

impl Op {
    pub fn new(handlers: Handlers, origin: u32) -> Self {
        Self {
            handlers,
            dst: None,
            dst2: None,
            a: None,
            b: None,
            c: None,
            mask: None,
            list: Vec::new(),
            written: 0,
            flags: 0,
            imm: 0,
            origin,
            memory: false,
            delivers: false,
            work: None,
            copy: false,
            action: None,
        }
    }

    /// Every register read.
    pub fn uses(&self) -> impl Iterator<Item = Reg> + '_ {
        let single = [self.a, self.b, self.c, self.mask].into_iter().flatten();
        single.chain(self.list[self.written..].iter().copied())
    }

    /// Every register written.
    pub fn defs(&self) -> impl Iterator<Item = Reg> + '_ {
        let list = &self.list[..self.written];
        [self.dst, self.dst2].into_iter().flatten().chain(list.iter().copied())
    }

    /// Replace every register read.
    pub fn map_uses(&mut self, f: impl Fn(Reg) -> Reg) {
        for reg in [&mut self.a, &mut self.b, &mut self.c, &mut self.mask].into_iter().flatten() {
            *reg = f(*reg);
        }
        self.list[self.written..].iter_mut().for_each(|reg| *reg = f(*reg));
    }
}

/// How control leaves a block, before slots are known.
#[derive(Clone, Debug)]
pub enum End {
    Jump(usize),
    Branch { predicate: Reg, negated: bool, taken: usize, next: usize },
    Switch { index: Reg, targets: Vec<usize> },
    Leave,
}

impl End {
    pub fn targets(&self) -> impl Iterator<Item = usize> + '_ {
        let (two, many) = match self {
            Self::Jump(target) => ([Some(*target), None], &[][..]),
            Self::Branch { taken, next, .. } => ([Some(*next), Some(*taken)], &[][..]),
            Self::Switch { targets, .. } => ([None, None], targets.as_slice()),
            Self::Leave => ([None, None], &[][..]),
        };
        two.into_iter().flatten().chain(many.iter().copied())
    }

    pub fn leads_to(&self, block: usize) -> bool {
        self.targets().any(|target| target == block)
    }

    pub fn map_targets(&mut self, mut f: impl FnMut(usize) -> usize) {
        match self {
            Self::Jump(target) => *target = f(*target),
            Self::Branch { taken, next, .. } => {
                *taken = f(*taken);
                *next = f(*next);
            }
            Self::Switch { targets, .. } => targets.iter_mut().for_each(|t| *t = f(*t)),
            Self::Leave => {}
        }
    }

    pub fn uses(&self) -> Option<Reg> {
        match self {
            Self::Branch { predicate, .. } => Some(*predicate),
            Self::Switch { index, .. } => Some(*index),
            _ => None,
        }
    }
}

pub struct Block {
    pub ops: Vec<Op>,
    pub end: End,
    /// The PTX instructions it holds: a range of origins.
    pub origins: std::ops::Range<u32>,
}

/// What keeps a function from being lowered at all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LowerError {
    pub message: String,
    pub span: ast::Span,
}

/// Lower a kernel.
///
/// # Errors
/// Where names do not resolve or control flow leads nowhere: text that no compiler wrote.
pub fn lower<'a>(
    environment: &'a Environment<'a>,
    function: &'a ast::Function<'a>,
    level: Level,
) -> Result<Program, LowerError> {
    let flat = flatten::flatten(environment, function)?;
    let mut selected = select::select(flat)?;
    frames::save(&mut selected)?;
    let mut blocks = order::order(selected.blocks);
    copies::remove(&mut blocks, &mut selected.registers);
    if selected.frame.sanitize {
        guesses::mark(&mut blocks);
    }
    let slots = slots::assign(&blocks, &selected.registers);
    emit::emit(function, level, &blocks, &slots, selected.frame, &selected.registers)
}
