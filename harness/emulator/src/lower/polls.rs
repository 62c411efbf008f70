//! Loops in which a warp waits for what others do.
//!
//! How often such a loop goes round depends on which host thread runs which CTA when, and on a GPU on which
//! CTA is how far. It is no work, and counted it would be another number in each run. So a loop that can do
//! nothing but look is found before the kernel runs, and counts as if its first look had been enough:
//!
//! ```text
//! top:  ld.acquire.gpu r, [p];  setp.ne q, r, 1;  @q bra top;      looks at one place until it changes
//! top:  atom.cas o, [p], 0, 1;  setp.ne q, o, 0;  @q bra top;      a lock; sums by compare and swap
//! top:  ld r, [p];  add p, p, 4;  add s, s, r;  …                  reads on: no such loop
//! top:  atom.add o, [p], 1;  add i, i, 1;  setp.lt q, i, n;  …     goes round n times: no such loop
//! ```
//!
//! It writes nothing but by atomics, every place that it looks at is the same each time, and what it saw there
//! decides whether it goes on, at every exit. Loops lie together in the order of blocks, from the head to
//! the last block that leads back.

use std::collections::HashSet;

use super::{Block, Reg};
use crate::isa::Class;
use crate::program::{Origin, Poll};

pub fn polls(blocks: &[Block], origins: &[Origin]) -> Vec<Poll> {
    let ends =
        |head: usize| (head..blocks.len()).rev().find(|&from| blocks[from].end.leads_to(head));
    let loops = (0..blocks.len()).filter_map(|head| Some((head, ends(head)?)));
    loops
        .filter(|&(head, last)| waits(&blocks[head..=last], head, origins))
        .map(|(head, last)| {
            let outside = (0..blocks.len()).filter(|from| !(head..=last).contains(from));
            let entered = outside.filter(|&from| blocks[from].end.leads_to(head));
            Poll {
                blocks: head as u32..last as u32 + 1,
                entered: entered.map(|from| from as u32).collect(),
            }
        })
        .collect()
}

/// Whether these blocks, of which the first has this number, can do nothing but look.
fn waits(blocks: &[Block], head: usize, origins: &[Origin]) -> bool {
    let ops = || blocks.iter().flat_map(|block| &block.ops);
    let changed: HashSet<Reg> = ops().flat_map(|op| op.defs()).collect();
    let mut seen = HashSet::<Reg>::new();
    // Values may come round from the end of the loop to its beginning.
    for _ in 0..2 {
        for op in ops() {
            let Some(origin) = origins.get(op.origin as usize) else { return false };
            let looks = op.memory || origin.class == Class::Other && origin.idle;
            let leads_elsewhere = op.a.is_some_and(|at| changed.contains(&at));
            if looks && (op.defs().next().is_none() || leads_elsewhere) {
                return false;
            }
            if !looks && !origin.idle {
                return false;
            }
            if looks || op.uses().any(|reg| seen.contains(&reg)) {
                seen.extend(op.defs());
            }
        }
    }
    let inside = head..head + blocks.len();
    let mut exits = blocks.iter().filter(|block| {
        block.end.targets().next().is_none() || block.end.targets().any(|to| !inside.contains(&to))
    });
    let sees = |block: &Block| block.end.uses().is_some_and(|reg| seen.contains(&reg));
    exits.clone().next().is_some() && exits.all(sees)
}
