//! Operations on registers to instructions on slots.

use std::collections::HashSet;

use super::effects;
use super::flatten::Frame;
use super::slots::Slots;
use super::{Block, End, LowerError, Op, Reg, Registers};
use super::{polls, schedule};
use crate::exec::Level;
use crate::isa::{Class, flag};
use crate::program::{self, Exit, Inst, MemoryInst, Program, SLOT, Slot, Writes};
use ptx::ast;

pub fn emit(
    function: &ast::Function,
    level: Level,
    blocks: &[Block],
    slots: &Slots,
    frame: Frame,
    registers: &Registers,
) -> Result<Program, LowerError> {
    if slots.overflow {
        let message = "more registers are alive at once than nibble can number".to_owned();
        return Err(LowerError { message, span: function.span.clone() });
    }
    let slot = |reg: Option<Reg>| reg.map_or(0, |reg| slots.of[reg as usize]);
    let polls = polls::polls(blocks, &frame.origins);
    let ops = || blocks.iter().flat_map(|block| &block.ops);
    let ends = blocks.iter().filter_map(|block| block.end.uses());
    let wanted: HashSet<Reg> = ops().flat_map(Op::uses).chain(ends).collect();
    let is_atomic = |op: &Op| {
        let origin = frame.origins.get(op.origin as usize);
        op.memory && origin.is_some_and(|origin| origin.class == Class::Atomic)
    };
    // What the program text shows of an atomic, as flags for counting.
    let noted = |op: &Op, block: usize| {
        let preset = |reg: Reg| registers.info[reg as usize].preset.is_some();
        let idle = !op.defs().any(|reg| wanted.contains(&reg));
        let uniform = if idle && op.a.is_some_and(preset) { flag::UNIFORM } else { 0 };
        let waits = polls.iter().any(|poll| poll.holds(block as u32));
        uniform | if waits { flag::POLLS } else { 0 }
    };
    let mut code = Vec::new();
    let mut lists: Vec<Slot> = Vec::new();
    let mut memory: Vec<MemoryInst> = Vec::new();
    let mut works = Vec::new();
    let mut out = Vec::new();
    let (mut done, mut touched) = (Vec::new(), Vec::new());
    for (number, block) in blocks.iter().enumerate() {
        let first = code.len() as u32;
        for op in &block.ops {
            if !takes(op, registers) {
                let message = "an operation on registers of widths that it does not take";
                let span = frame.origins.get(op.origin as usize).map(|origin| origin.span.clone());
                let span = span.unwrap_or_else(|| function.span.clone());
                return Err(LowerError { message: message.to_owned(), span });
            }
            if frame.sanitize {
                done.push(effects::effect(op, slots, registers, &mut touched));
            }
            works.extend(op.work.map(|work| (number as u32, work)));
            let list = lists.len() as u32;
            lists.extend(op.list.iter().map(|&reg| slots.of[reg as usize]));
            let cache = memory.len() as u16;
            // Beyond what can be numbered they share the last entry, and its origin.
            if op.memory && memory.len() < usize::from(u16::MAX) {
                memory.push(MemoryInst { origin: op.origin, block: number as u32, joins: None });
            }
            code.push(Inst {
                run: op.handlers.at(level),
                imm: op.mask.map_or(op.imm, |mask| u64::from(slot(Some(mask)))),
                dst: slot(op.dst),
                a: slot(op.a),
                b: slot(op.b),
                c: slot(op.c),
                d: if op.list.is_empty() { slot(op.dst2) } else { op.list.len() as Slot },
                writes: match op.dst {
                    Some(dst) if op.handlers.all_lanes && registers.wide(dst) => Writes::AllWide,
                    Some(_) if op.handlers.all_lanes => Writes::AllNarrow,
                    _ => Writes::Active,
                },
                cache,
                flags: op.flags | if is_atomic(op) { noted(op, number) } else { 0 },
                list,
                origin: op.origin,
            });
        }
        if frame.sanitize {
            effects::count_quiet(&mut done[first as usize..]);
        }
        let exit = match &block.end {
            End::Jump(target) => Exit::Jump(*target as u32),
            End::Branch { predicate, negated, taken, next } => Exit::Branch {
                predicate: slot(Some(*predicate)),
                negated: *negated,
                taken: *taken as u32,
                next: *next as u32,
            },
            End::Switch { index, targets } => Exit::Switch {
                index: slot(Some(*index)),
                targets: targets.iter().map(|&target| target as u32).collect(),
            },
            End::Leave => Exit::Leave,
        };
        out.push(program::Block {
            first,
            end: code.len() as u32,
            exit,
            origins: block.origins.clone(),
            chain: schedule::chain(block, &frame.origins),
        });
    }
    let rounds = schedule::rounds(blocks);
    let levels = schedule::levels(blocks, &frame.origins);
    schedule::join(blocks, &mut memory);
    let number = |&reg: &Reg| slots.of[reg as usize] / SLOT as u32;
    let unwritten = slots.unwritten.iter().map(number).collect();
    let used = |reg: &usize| slots.of[*reg] != 0;
    let presets = (0..registers.info.len())
        .filter(used)
        .filter_map(|reg| Some((slots.of[reg], registers.info[reg].preset?)))
        .collect();
    let program = Program {
        code,
        blocks: out,
        lists,
        origins: frame.origins,
        locations: frame.locations,
        messages: frame.messages,
        presets,
        slots: slots.count,
        first_wide: slots.first_wide,
        memory,
        rounds,
        levels,
        polls,
        params: frame.params,
        param_bytes: frame.param_bytes,
        static_shared: frame.static_shared,
        shared_arrays: frame.shared_arrays,
        dynamic_align: frame.dynamic_align,
        stack: frame.stack,
        local_bytes: frame.local_bytes.next_multiple_of(16),
        multiplies: frame.multiplies.into_iter().map(Into::into).collect(),
        wgmmas: frame.wgmmas,
        works,
        videos: frame.videos,
        tiles: frame.tiles,
        effects: done,
        touched,
        unwritten,
    };
    program.verify().map_err(|invalid| LowerError {
        message: format!("nibble lowered it wrongly: {invalid}"),
        span: function.span.clone(),
    })?;
    Ok(program)
}

/// Whether the operation's registers have the widths that its handlers take, where they say so.
fn takes(op: &Op, registers: &Registers) -> bool {
    let Some(lanes) = op.handlers.lanes else { return true };
    let operands = [op.dst, op.a, op.b, op.c, op.mask];
    let mut taken = operands.into_iter().zip(lanes).filter_map(|(reg, bytes)| Some((reg?, bytes)));
    taken.all(|(reg, bytes)| bytes == 0 || registers.wide(reg) == (bytes == 8))
}
