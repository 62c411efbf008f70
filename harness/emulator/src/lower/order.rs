//! Blocks in weak topological order.
//!
//! Of several groups of lanes in a warp the one in the lowest block runs, so the numbering decides
//! where lanes meet again. It must put every block behind those that lead to it, except along the
//! back edges of loops, and it must keep a loop together: then lanes that leave a loop wait behind
//! it for those that stay, and lanes that skip a branch wait where the branch ends.
//!
//! That is a weak topological order (Bourdoncle, "Efficient chaotic iteration strategies with
//! widenings", 1993): strongly connected components in topological order, each opened at its head
//! and ordered inside the same way.
//!
//! ```text
//!   0 ─► 1 ─► 2 ─► 4        text order may put 4 before 2;
//!        ▲    │             here the component {1 2 3} comes first, whole: 0 (1 2 3) 4
//!        └─ 3 ◄┘
//! ```
//!
//! Lanes may return to the head from several places (`continue`), and would then run whole
//! iterations ahead of each other. So where the back edges do not all come from the loop's last
//! block, they are led through one new, empty block, the *latch*, which is last in the loop: lanes
//! gather there before the next iteration.

use super::{Block, End};

/// Reachable blocks, renumbered in order.
pub fn order(blocks: Vec<Block>) -> Vec<Block> {
    let reachable = reachable(&blocks);
    let nodes: Vec<usize> = (0..blocks.len()).filter(|&n| reachable[n]).collect();
    let marks = vec![Mark::default(); blocks.len()];
    let mut arranger = Arranger { blocks, marks, parts: 0, order: Vec::new() };
    arranger.arrange(&nodes, 0);
    let Arranger { mut blocks, order, .. } = arranger;
    let mut place = vec![usize::MAX; blocks.len()];
    for (number, &block) in order.iter().enumerate() {
        place[block] = number;
    }
    for block in &mut blocks {
        block.end.map_targets(|target| place[target]);
    }
    let mut taken: Vec<_> = blocks.into_iter().map(Some).collect();
    order.into_iter().filter_map(|block| taken[block].take()).collect()
}

fn reachable(blocks: &[Block]) -> Vec<bool> {
    let mut seen = vec![false; blocks.len()];
    let mut work = vec![0];
    while let Some(node) = work.pop() {
        if !std::mem::replace(&mut seen[node], true) {
            work.extend(blocks[node].end.targets());
        }
    }
    seen
}

/// What the search for components knows of a block.
#[derive(Clone, Copy, Default)]
struct Mark {
    /// The part of the graph that it is looked at in: a loop without its head, most often.
    part: usize,
    /// Place in the order of discovery, from 1; 0 if it was not met yet.
    number: usize,
    /// The lowest number that is reached from here and not in a component yet.
    low: usize,
    open: bool,
}

struct Arranger {
    blocks: Vec<Block>,
    marks: Vec<Mark>,
    parts: usize,
    order: Vec<usize>,
}

impl Arranger {
    /// Append `nodes` in order, entered at `entry`. Recursion is as deep as loops nest.
    fn arrange(&mut self, nodes: &[usize], entry: usize) {
        for component in self.components(nodes, entry) {
            let head = component[0];
            self.order.push(head);
            let loops_back = |n: &&usize| self.blocks[**n].end.leads_to(head);
            let back: Vec<usize> = component.iter().filter(loops_back).copied().collect();
            if component.len() > 1 {
                self.arrange(&component[1..], head);
            }
            let last = self.order.last().copied().unwrap_or(head);
            if back.is_empty() || back == [last] {
                continue;
            }
            let latch = self.blocks.len();
            let end = End::Jump(head);
            self.blocks.push(Block { ops: Vec::new(), end, origins: 0..0 });
            self.marks.push(Mark::default());
            for block in back {
                let end = &mut self.blocks[block].end;
                end.map_targets(|target| if target == head { latch } else { target });
            }
            self.order.push(latch);
        }
    }

    /// Strongly connected components of `nodes` in topological order, each with its head first: the
    /// block that a walk from `entry` meets first. Edges that leave `nodes` count as gone. Tarjan's
    /// algorithm with its own stack.
    fn components(&mut self, nodes: &[usize], entry: usize) -> Vec<Vec<usize>> {
        self.parts += 1;
        let part = self.parts;
        for &node in nodes {
            self.marks[node] = Mark { part, ..Mark::default() };
        }
        let Self { blocks, marks, .. } = self;
        let (mut count, mut stack, mut found) = (0, Vec::new(), Vec::new());
        // Blocks to look at, behind each other for all of the path; and where each one's begin.
        let mut ahead: Vec<usize> = Vec::new();
        let mut path: Vec<(usize, usize)> = Vec::new();
        let roots: Vec<usize> = if marks[entry].part == part {
            vec![entry]
        } else {
            blocks[entry].end.targets().collect()
        };
        for root in roots {
            let mut next = Some(root);
            loop {
                if let Some(node) = next.take().filter(|&n| marks[n].part == part) {
                    if marks[node].number == 0 {
                        count += 1;
                        marks[node] = Mark { part, number: count, low: count, open: true };
                        stack.push(node);
                        path.push((node, ahead.len()));
                        ahead.extend(blocks[node].end.targets());
                    } else if marks[node].open
                        && let Some(&(from, _)) = path.last()
                    {
                        marks[from].low = marks[from].low.min(marks[node].number);
                    }
                }
                let Some(&(node, begin)) = path.last() else { break };
                if ahead.len() > begin {
                    next = ahead.pop();
                    continue;
                }
                path.pop();
                let Mark { low, number, .. } = marks[node];
                if let Some(&(parent, _)) = path.last() {
                    marks[parent].low = marks[parent].low.min(low);
                }
                if low == number {
                    let at = stack.iter().rposition(|&n| n == node).unwrap_or(0);
                    let mut component = stack.split_off(at);
                    component.iter().for_each(|&n| marks[n].open = false);
                    component.sort_by_key(|&n| marks[n].number);
                    found.push(component);
                }
            }
        }
        found.reverse();
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph(edges: &[&[usize]]) -> Vec<Block> {
        let block = |targets: &&[usize]| {
            let end = match **targets {
                [] => End::Leave,
                [one] => End::Jump(one),
                [next, taken, ..] => End::Branch { predicate: 0, negated: false, taken, next },
            };
            Block { ops: Vec::new(), end, origins: 0..0 }
        };
        let mut blocks: Vec<_> = edges.iter().map(block).collect();
        for (number, block) in blocks.iter_mut().enumerate() {
            block.origins = number as u32..number as u32 + 1;
        }
        blocks
    }

    /// Original numbers in order; a latch is `None`.
    fn numbers(blocks: &[Block]) -> Vec<Option<u32>> {
        blocks.iter().map(|b| (!b.origins.is_empty()).then_some(b.origins.start)).collect()
    }

    #[test]
    fn a_branch_meets_behind_both_arms() {
        let order = order(graph(&[&[1, 2], &[3], &[3], &[]]));
        assert_eq!(numbers(&order)[0], Some(0));
        assert_eq!(numbers(&order)[3], Some(3));
    }

    /// The loop body stands after the return in the text, as ptxas writes a `softmax` reduction.
    #[test]
    fn a_loop_stays_together_wherever_its_blocks_stand() {
        let order = order(graph(&[&[2], &[], &[1, 3], &[2]]));
        assert_eq!(numbers(&order), [Some(0), Some(2), Some(3), Some(1)]);
    }

    #[test]
    fn continue_gathers_at_a_latch() {
        // 1 is the head; 2 and 3 both go back to it; 4 leaves.
        let order = order(graph(&[&[1], &[2, 4], &[3, 1], &[1], &[]]));
        let numbers = numbers(&order);
        assert_eq!(numbers.last(), Some(&Some(4)));
        let latch = numbers.iter().position(Option::is_none).expect("a latch");
        assert_eq!(latch, 4);
        let back = order.iter().filter(|b| b.end.leads_to(1)).count();
        assert_eq!(back, 2, "the entry and the latch");
    }
}
