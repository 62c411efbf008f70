//! Loads whose value is a guess.
//!
//! The programming guide's way to build an atomic of one's own begins with a plain read, while others may be
//! at the same word with their atomics:
//!
//! ```text
//!     ld.global.u32 %r1, [%rd1];                  old = *address;
//! L:  add.f32 …                                   do { assumed = old;
//!     atom.global.cas.b32 %r3, [%rd1], %r1, %r2;       old = atomicCAS(address, assumed, …);
//!     setp.ne.u32 %p1, %r3, %r1;
//!     mov.u32 %r1, %r3;                           } while (assumed != old);
//!     @%p1 bra L;
//! ```
//!
//! Whatever it reads, the compare-and-swap finds out: a stale value costs another round. So a plain load
//! whose result, through copies, is what a compare-and-swap of the same address compares with, counts as
//! strong. What else the program does with the value is not looked at: here the sanitizer errs by silence.

use std::collections::HashMap;

use super::{Block, Op, Reg};
use crate::sanitize::{Deed, Rule};

/// Where an access goes, as the instruction says it.
fn place(op: &Op) -> (Option<Reg>, u64) {
    (op.a, op.imm)
}

pub fn mark(blocks: &mut [Block]) {
    let swaps = |op: &&Op| matches!(op.deed, Some(Deed::Atomic(touch)) if touch.compares);
    let all = || blocks.iter().flat_map(|block| &block.ops);
    if all().all(|op| !swaps(&op)) {
        return;
    }
    let mut writers = HashMap::<Reg, Vec<&Op>>::new();
    for op in all() {
        op.defs().for_each(|reg| writers.entry(reg).or_default().push(op));
    }
    let mut guesses = Vec::new();
    for swap in all().filter(swaps) {
        let mut seen: Vec<Reg> = swap.b.into_iter().collect();
        let mut next = 0;
        while let Some(&reg) = seen.get(next) {
            next += 1;
            for writer in writers.get(&reg).into_iter().flatten() {
                match writer.deed {
                    Some(Deed::Bits(Rule::COPY)) => {
                        let from = writer.a.filter(|from| !seen.contains(from));
                        seen.extend(from);
                    }
                    Some(Deed::Load(_)) if place(writer) == place(swap) => {
                        guesses.push((reg, place(swap)));
                    }
                    _ => {}
                }
            }
        }
    }
    for op in blocks.iter_mut().flat_map(|block| &mut block.ops) {
        let guessed = op.defs().any(|reg| guesses.contains(&(reg, place(op))));
        if let (true, Some(Deed::Load(touch))) = (guessed, &mut op.deed) {
            touch.guess = true;
        }
    }
}
