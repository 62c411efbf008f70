//! Copies that need not be made.
//!
//! The compiler writes `mov %r1, %tid.x`, `ld.param %rd1, [p]`, `cvta.to.global %rd2, %rd1` and
//! then uses the result. A reader of a copy may read the source instead where both hold the same value
//! there, which is so if
//!
//! - each is written at one place (or the source before the start),
//! - the source's place comes before the copy on every way to it, and
//! - the copy comes before each of its readers on every way to them.
//!
//! Then no way leads from the copy to a reader by a new value of the source without a new copy: such a
//! way, taken from the start, would reach the reader without the copy. One writer alone is not enough:
//!
//! ```text
//! L: mad.lo %r30, %r7, %r42, %r30;      %r42 is the %r7 of the round before
//!    ld.u32 %r7, [%rd1];                (or, in the first round, what nobody reads the result of)
//!    mov.u32 %r42, %r7;
//!    @%p1 bra L;
//! ```

use super::dominance::{Dominance, Position};
use super::{Block, End, Op, Reg, Registers};

/// `blocks` are in weak topological order.
pub fn remove(blocks: &mut [Block], registers: &mut Registers) {
    let count = registers.info.len();
    let writers = writers(blocks, count);
    let dominance = Dominance::of(blocks);
    let copies = |op: &Op| {
        let (dst, from) = (op.dst.filter(|_| op.copy)?, op.a?);
        let Writer::At(here) = writers[dst as usize] else { return None };
        let settled = registers.info[from as usize].preset.is_some()
            || matches!(writers[from as usize], Writer::At(there) if dominance.holds(there, here));
        (settled && registers.wide(dst) == registers.wide(from)).then_some((dst, from))
    };
    let mut source: Vec<Reg> = (0..count as Reg).collect();
    for (dst, from) in blocks.iter().flat_map(|block| &block.ops).filter_map(copies) {
        source[dst as usize] = from;
    }
    each_use(blocks, |reg, here| {
        if source[reg as usize] != reg
            && !matches!(writers[reg as usize], Writer::At(there) if dominance.holds(there, here))
        {
            source[reg as usize] = reg;
        }
    });
    let root = |mut reg: Reg| {
        // Copies of copies; each is made before the next, so this ends.
        while source[reg as usize] != reg {
            reg = source[reg as usize];
        }
        reg
    };
    let roots: Vec<Reg> = (0..count as Reg).map(root).collect();
    for block in blocks {
        block.ops.retain(|op| !(op.copy && op.dst.is_some_and(|d| source[d as usize] != d)));
        for op in &mut block.ops {
            op.map_uses(|reg| roots[reg as usize]);
        }
        match &mut block.end {
            End::Branch { predicate: reg, .. } | End::Switch { index: reg, .. } => {
                *reg = roots[*reg as usize];
            }
            End::Jump(_) | End::Leave => {}
        }
    }
}

/// Where a register is written.
#[derive(Clone, Copy)]
enum Writer {
    Nowhere,
    At(Position),
    Several,
}

fn writers(blocks: &[Block], count: usize) -> Vec<Writer> {
    let mut writers = vec![Writer::Nowhere; count];
    for (number, block) in blocks.iter().enumerate() {
        for (index, op) in block.ops.iter().enumerate() {
            for reg in op.defs() {
                let writer = &mut writers[reg as usize];
                *writer = match writer {
                    Writer::Nowhere => Writer::At((number, index)),
                    Writer::At(_) | Writer::Several => Writer::Several,
                };
            }
        }
    }
    writers
}

/// Every place where a register is read.
fn each_use(blocks: &[Block], mut f: impl FnMut(Reg, Position)) {
    for (number, block) in blocks.iter().enumerate() {
        for (index, op) in block.ops.iter().enumerate() {
            op.uses().for_each(|reg| f(reg, (number, index)));
        }
        if let Some(reg) = block.end.uses() {
            f(reg, (number, block.ops.len()));
        }
    }
}
