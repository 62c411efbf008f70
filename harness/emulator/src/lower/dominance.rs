//! Which block must have run before which.
//!
//! A block *dominates* another if every way from the start of the kernel to the other leads through it.
//! The nearest of them are found block by block, in weak topological order, until nothing changes (Cooper,
//! Harvey and Kennedy, "A simple, fast dominance algorithm", 2001): the dominators of a block are those
//! common to all that lead to it. Once is enough where loops have one head each, as compilers write them.
//!
//! ```text
//!   0 ─► 1 ─► 3        0 dominates all; 1 dominates only itself, since lanes get
//!   └──► 2 ─► ┘        from 0 to 3 by way of 2
//! ```

use super::Block;

pub struct Dominance {
    /// For each block, the nearest of the others that dominate it, which stands before it; 0 for itself.
    nearest: Vec<usize>,
}

/// A place in the program: the block, and the operation in it; its end is behind its operations.
pub type Position = (usize, usize);

impl Dominance {
    /// Of blocks in weak topological order: each but the first has one before it that leads to it.
    pub fn of(blocks: &[Block]) -> Self {
        let mut from = vec![Vec::new(); blocks.len()];
        for (number, block) in blocks.iter().enumerate() {
            block.end.targets().for_each(|target| from[target].push(number));
        }
        const UNKNOWN: usize = usize::MAX;
        let mut nearest = vec![UNKNOWN; blocks.len()];
        nearest[0] = 0;
        let mut changed = true;
        while changed {
            changed = false;
            for block in 1..blocks.len() {
                let known = from[block].iter().copied().filter(|&f| nearest[f] != UNKNOWN);
                let common = known.reduce(|mut a, mut b| {
                    while a != b {
                        if a > b {
                            a = nearest[a];
                        } else {
                            b = nearest[b];
                        }
                    }
                    a
                });
                let common = common.unwrap_or(0);
                changed |= std::mem::replace(&mut nearest[block], common) != common;
            }
        }
        Self { nearest }
    }

    /// Whether no lane gets to `later` without having been at `earlier`.
    pub fn holds(&self, earlier: Position, later: Position) -> bool {
        if earlier.0 == later.0 {
            return earlier.1 < later.1;
        }
        let mut block = later.0;
        while block > earlier.0 {
            block = self.nearest[block];
        }
        block == earlier.0
    }
}

#[cfg(test)]
mod tests {
    use super::super::{End, order};
    use super::*;

    fn graph(edges: &[&[usize]]) -> Vec<Block> {
        let block = |targets: &&[usize]| {
            let end = match **targets {
                [] => End::Leave,
                [one] => End::Jump(one),
                [next, taken, ..] => End::Branch { predicate: 0, negated: false, taken, next },
            };
            Block { ops: Vec::new(), end, origins: 0..1 }
        };
        order::order(edges.iter().map(block).collect())
    }

    /// Whether every way from the start to `to` leads through `by`: none is left without it.
    fn by_definition(blocks: &[Block], by: usize, to: usize) -> bool {
        let mut seen = vec![false; blocks.len()];
        let mut work = vec![0];
        while let Some(block) = work.pop() {
            if block != by && !std::mem::replace(&mut seen[block], true) {
                work.extend(blocks[block].end.targets());
            }
        }
        !seen[to]
    }

    #[test]
    fn it_is_what_its_definition_says() {
        let graphs: [&[&[usize]]; 5] = [
            &[&[1, 2], &[3], &[3], &[]],
            &[&[1], &[2, 4], &[3, 1], &[1], &[]],
            // Two ways into one loop.
            &[&[1, 2], &[2, 3], &[1], &[]],
            &[&[1], &[2, 5], &[3], &[2, 4], &[1], &[]],
            &[&[3, 1], &[2, 4], &[1, 5], &[4, 2], &[5, 3], &[]],
        ];
        for edges in graphs {
            let blocks = graph(edges);
            let dominance = Dominance::of(&blocks);
            for by in 0..blocks.len() {
                for to in (0..blocks.len()).filter(|&to| to != by) {
                    let expected = by_definition(&blocks, by, to);
                    assert_eq!(dominance.holds((by, 0), (to, 0)), expected, "{edges:?} {by} {to}");
                }
            }
        }
    }
}
