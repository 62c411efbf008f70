//! Registers in few slots.
//!
//! PTX has a register for every value; a long kernel declares thousands. The fewer slots they share,
//! the better a warp's registers stay in the host's first-level cache. Liveness over the blocks
//! gives each register the stretch of the program where its value matters; a linear scan hands out
//! slots (Poletto and Sarkar, "Linear scan register allocation", 1999).
//!
//! Lanes of a warp may be in different blocks, so a slot can hold one value for some lanes and
//! another for others. That is sound because a write touches only the lanes that execute it, lane
//! by lane, as long as a lane's bytes lie at the same place for both values: therefore registers of
//! 64 bits never share slots with narrower ones.

use super::liveness::Liveness;
use super::{Block, Reg, Registers, Width};
use crate::program::{SLOT, Slot};

pub struct Slots {
    /// Slot of each register; 0 for one that is never used.
    pub of: Vec<Slot>,
    pub count: usize,
    /// The number of the first slot of registers of 64 bits.
    pub first_wide: usize,
    /// More registers alive at once than slots can be numbered.
    pub overflow: bool,
    /// Registers that may be read before anything is written to them.
    pub unwritten: Vec<Reg>,
}

/// Slots of one warp; 8 MiB, and no kernel comes near it.
const MOST: usize = 1 << 16;

/// Slots 0 and 1 belong to nobody: "no register", and what is written there is lost.
const FIRST: usize = 2;

pub fn assign(blocks: &[Block], registers: &Registers) -> Slots {
    let live = Liveness::of(blocks, registers.info.len());
    let intervals = intervals(blocks, &live, registers.info.len());
    let mut order: Vec<Reg> = (0..registers.info.len() as Reg)
        .filter(|&reg| intervals[reg as usize].0 <= intervals[reg as usize].1)
        .collect();
    order.sort_by_key(|&reg| intervals[reg as usize].0);
    let mut place = vec![0usize; registers.info.len()];
    let narrow = scan(&order, &intervals, registers, false, &mut place);
    let wide = scan(&order, &intervals, registers, true, &mut place);
    let wide_base = (FIRST + narrow).next_multiple_of(2);
    let count = wide_base + 2 * wide;
    let mut of = vec![0; registers.info.len()];
    for reg in order {
        let index = place[reg as usize];
        let slot = if registers.wide(reg) { wide_base + 2 * index } else { FIRST + index };
        of[reg as usize] = (slot * SLOT) as Slot;
    }
    let mut unwritten = Vec::new();
    live.at_entry(0, |reg| {
        if registers.info[reg as usize].preset.is_none() {
            unwritten.push(reg);
        }
    });
    Slots { of, count, first_wide: wide_base, overflow: count > MOST, unwritten }
}

/// Linear scan over one bank; presets keep their place to the end. How many places it took.
fn scan(
    order: &[Reg],
    intervals: &[(u32, u32)],
    registers: &Registers,
    wide: bool,
    place: &mut [usize],
) -> usize {
    let mut active: std::collections::BinaryHeap<std::cmp::Reverse<(u32, usize)>> =
        std::collections::BinaryHeap::new();
    let mut free = Vec::new();
    let mut count = 0;
    let bank = |reg: &&Reg| (registers.info[**reg as usize].width == Width::Wide) == wide;
    for &reg in order.iter().filter(bank) {
        let (start, end) = intervals[reg as usize];
        while let Some(&std::cmp::Reverse((ended, index))) = active.peek()
            && ended < start
        {
            active.pop();
            free.push(index);
        }
        if registers.info[reg as usize].preset.is_some() {
            place[reg as usize] = count;
            count += 1;
            continue;
        }
        let index = free.pop().unwrap_or_else(|| {
            count += 1;
            count - 1
        });
        place[reg as usize] = index;
        active.push(std::cmp::Reverse((end, index)));
    }
    count
}

/// First and last position where each register's value matters; `(MAX, 0)` for none. An operation
/// reads at an even position and writes at the odd one after it, so a result may take the place of
/// an operand that ends there.
fn intervals(blocks: &[Block], live: &Liveness, count: usize) -> Vec<(u32, u32)> {
    let mut intervals = vec![(u32::MAX, 0); count];
    let mut position = 0u32;
    let mut touch = |reg: Reg, at: u32| {
        let (first, last) = &mut intervals[reg as usize];
        *first = (*first).min(at);
        *last = (*last).max(at);
    };
    for (number, block) in blocks.iter().enumerate() {
        live.at_entry(number, |reg| touch(reg, position));
        for op in &block.ops {
            op.uses().for_each(|reg| touch(reg, position));
            op.defs().for_each(|reg| touch(reg, position + 1));
            position += 2;
        }
        if let Some(reg) = block.end.uses() {
            touch(reg, position);
        }
        live.at_exit(number, |reg| touch(reg, position));
        position += 2;
    }
    intervals
}
