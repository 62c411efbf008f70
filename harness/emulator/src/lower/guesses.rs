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
//! whose result, through copies, is what a compare-and-swap compares with, counts as strong. Whether both
//! mean the same address is not asked, as compilers write one address in many ways, nor what else becomes of
//! the value: here the sanitizer errs by silence.

use std::collections::{HashMap, HashSet};

use super::{Block, Op, Reg};
use crate::sanitize::{Action, Rule};

pub fn mark(blocks: &mut [Block]) {
    let swaps = |op: &&Op| matches!(op.action, Some(Action::Atomic(touch)) if touch.compares);
    let all = || blocks.iter().flat_map(|block| &block.ops);
    if all().all(|op| !swaps(&op)) {
        return;
    }
    let mut writers = HashMap::<Reg, Vec<&Op>>::new();
    for op in all() {
        op.defs().for_each(|reg| writers.entry(reg).or_default().push(op));
    }
    // What they compare with, and what that is a copy of.
    let mut compared = HashSet::new();
    let mut next: Vec<Reg> = all().filter(swaps).filter_map(|swap| swap.b).collect();
    while let Some(reg) = next.pop() {
        if compared.insert(reg) {
            let writers = writers.get(&reg).into_iter().flatten();
            let copies = writers.filter(|op| op.action == Some(Action::Bits(Rule::COPY)));
            next.extend(copies.filter_map(|copy| copy.a));
        }
    }
    for op in blocks.iter_mut().flat_map(|block| &mut block.ops) {
        let guessed = op.defs().any(|reg| compared.contains(&reg));
        if let (true, Some(Action::Load(touch))) = (guessed, &mut op.action) {
            touch.guess = true;
        }
    }
}
