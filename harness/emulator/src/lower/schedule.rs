//! What the time model wants to know of a program before it runs: which instructions of a warp must wait
//! for which.
//!
//! A warp issues in order, so loads are under way together until the first use of a value that one of them
//! brings: a *round*, which costs a memory latency however many loads it has. Blocks are gone through in
//! their order, which is a topological one; a predicated load is a block of its own here and still joins the
//! round of its neighbours. And `ptxas` moves loads up, past uses of others, as far as registers suffice: so
//! there is a second way to group them, by the answers that their addresses need. What becomes of a kernel
//! lies between the two.
//!
//! ```text
//! ld a;  add c, a, 1;  ld b;  ld d, [c];  add e, d, b      as they stand: {a}, {b, d}
//!                                                          by need: {a, b}, {d}
//! ld a;  add c, a, 1;  ld b;  add e, b, c                  as they stand: {a}, {b}; by need: {a, b}
//! ```
//!
//! Between memory's answers, the longest chain of instructions that need each other counts, block by block.
//! What is left out: registers that do not suffice for so many loads, chains from one block to the next.

use std::collections::{HashMap, HashSet};

use super::{Block, Op, Reg};
use crate::exec::access::SHARED;
use crate::isa::{Class, flag};
use crate::program::{MemoryInst, Origin, Round};

/// Cycles of the longest chain in a block.
pub fn chain(block: &Block, origins: &[Origin]) -> u32 {
    let mut ready = HashMap::<Reg, u32>::new();
    let mut longest = 0;
    let mut slots = 0;
    let mut last = None;
    for op in &block.ops {
        let machine = origins.get(op.origin as usize).map(|origin| origin.machine);
        let machine = machine.unwrap_or_default();
        let begins = op.uses().filter_map(|reg| ready.get(&reg)).max().copied().unwrap_or(0);
        // Helpers of an instruction come for nothing.
        let fresh = last.replace(op.origin) != Some(op.origin);
        let ends = begins + if fresh { u32::from(machine.latency) } else { 0 };
        slots += if fresh { u32::from(machine.slots) } else { 0 };
        ready.extend(op.defs().map(|reg| (reg, ends)));
        longest = longest.max(ends);
    }
    // One warp issues one instruction a cycle at best.
    longest.max(slots / 8)
}

/// Loads by what waits for them: of global memory and of shared memory apart, since the second answers
/// long before the first.
pub fn rounds(blocks: &[Block]) -> Vec<Round> {
    let mut rounds = Vec::new();
    let mut near = Open::default();
    let mut far = Open::default();
    let mut number = 0;
    for block in blocks {
        for op in &block.ops {
            for reg in op.uses() {
                near.close_at(reg, &mut rounds);
                far.close_at(reg, &mut rounds);
            }
            if op.memory {
                let open = if is_shared(op) { &mut near } else { &mut far };
                if op.defs().next().is_some() && number < usize::from(u16::MAX) {
                    open.values.extend(op.defs());
                    open.loads.push(number as u16);
                }
                number += 1;
            }
        }
        if let Some(reg) = block.end.uses() {
            near.close_at(reg, &mut rounds);
            far.close_at(reg, &mut rounds);
        }
    }
    rounds.extend([near.loads, far.loads].into_iter().filter(|round| !round.is_empty()));
    rounds
}

/// Loads by how many answers of others they need: those that need as many are under way together. A stretch
/// is what `ptxas` moves loads about in: no loop begins or ends in it, and no barrier is in it. There a load
/// goes before everything but what its address comes from and stores that may change what it reads, and a
/// store waits for its value.
pub fn levels(blocks: &[Block], origins: &[Origin]) -> Vec<Round> {
    let mut found = Vec::new();
    let mut near = Stretch::default();
    let mut far = Stretch::default();
    let mut number = 0;
    for (index, block) in blocks.iter().enumerate() {
        let is_entry = blocks[index..].iter().any(|from| from.end.leads_to(index));
        if is_entry {
            near.end(&mut found);
            far.end(&mut found);
        }
        for op in &block.ops {
            let class = origins.get(op.origin as usize).map(|origin| origin.class);
            if class == Some(Class::Barrier) {
                near.end(&mut found);
                far.end(&mut found);
            }
            let of_shared = is_shared(op);
            near.pass(op, (op.memory && of_shared).then_some(number));
            far.pass(op, (op.memory && !of_shared).then_some(number));
            number += usize::from(op.memory);
        }
        if block.end.targets().any(|target| target <= index) {
            near.end(&mut found);
            far.end(&mut found);
        }
    }
    near.end(&mut found);
    far.end(&mut found);
    found
}

/// Loads of a stretch of the program by level.
#[derive(Default)]
struct Stretch {
    levels: Vec<Round>,
    /// Answers that the value of a register needs.
    needs: HashMap<Reg, usize>,
    /// And that the last store needed.
    stored: usize,
}

impl Stretch {
    /// `load`: its number, where it goes to the memory that is looked at.
    fn pass(&mut self, op: &Op, number: Option<usize>) {
        let mut needed =
            op.uses().filter_map(|reg| self.needs.get(&reg)).max().copied().unwrap_or(0);
        let loads = op.defs().next().is_some();
        match number {
            Some(number) if loads && number < usize::from(u16::MAX) => {
                if op.flags & flag::READ_ONLY == 0 {
                    needed = needed.max(self.stored);
                }
                if self.levels.len() <= needed {
                    self.levels.resize(needed + 1, Round::new());
                }
                self.levels[needed].push(number as u16);
                needed += 1;
            }
            Some(_) => self.stored = self.stored.max(needed),
            None => {}
        }
        self.needs.extend(op.defs().map(|reg| (reg, needed)));
    }

    fn end(&mut self, found: &mut Vec<Round>) {
        found.extend(self.levels.drain(..).filter(|level| !level.is_empty()));
        self.needs.clear();
        self.stored = 0;
    }
}

/// A round that nothing has waited for yet.
#[derive(Default)]
struct Open {
    values: HashSet<Reg>,
    loads: Round,
}

impl Open {
    fn close_at(&mut self, reg: Reg, rounds: &mut Vec<Round>) {
        if self.values.contains(&reg) {
            self.values.clear();
            rounds.push(std::mem::take(&mut self.loads));
        }
    }
}

fn is_shared(op: &Op) -> bool {
    (op.flags >> flag::SPACE_SHIFT) as u8 & 3 == SHARED
}

/// Finds scalars of shared memory that follow each other from the same base: machine code takes four words,
/// or two, at once.
pub fn join(blocks: &[Block], memory: &mut [MemoryInst]) {
    let mut number = 0;
    for block in blocks {
        // By base and direction: the last of a row, its first, and how many there are.
        let mut rows = HashMap::<(Reg, bool), Vec<(u64, usize)>>::new();
        for op in &block.ops {
            if !op.memory {
                continue;
            }
            let plain = is_shared(op) && op.list.len() == 1;
            if let (true, Some(base)) = (plain, op.a) {
                rows.entry((base, op.written > 0)).or_default().push((op.imm, number));
            }
            number += 1;
        }
        for mut row in rows.into_values() {
            row.sort_unstable();
            for four in row.chunk_by(|a, b| a.0 / 16 == b.0 / 16) {
                let follows = four.windows(2).all(|two| two[1].0 == two[0].0 + 4);
                let whole = four.len() == 4 || four.len() == 2 && four[0].0 % 8 == 0;
                if follows && whole {
                    let first = four[0].1 as u16;
                    for &(_, member) in four {
                        if let Some(memory) = memory.get_mut(member) {
                            memory.joins = Some((first, 4 * four.len() as u8));
                        }
                    }
                }
            }
        }
    }
}
