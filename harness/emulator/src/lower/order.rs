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
pub fn order(mut blocks: Vec<Block>) -> Vec<Block> {
    let mut order = Vec::new();
    let everything: Vec<usize> = (0..blocks.len()).collect();
    let reachable = reachable(&blocks);
    let nodes: Vec<usize> = everything.into_iter().filter(|&n| reachable[n]).collect();
    let mut cut = Vec::new();
    arrange(&mut blocks, &nodes, 0, &mut cut, &mut order);
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

/// Append `nodes` in order, entered at `entry`. Edges into blocks of `cut` (heads of the loops
/// around) count as gone. Recursion is as deep as loops nest.
fn arrange(
    blocks: &mut Vec<Block>,
    nodes: &[usize],
    entry: usize,
    cut: &mut Vec<usize>,
    order: &mut Vec<usize>,
) {
    for component in components(blocks, nodes, entry, cut) {
        let head = component[0];
        let loops_back = |n: &usize| blocks[*n].end.targets().contains(&head);
        if component.len() == 1 && !loops_back(&head) {
            order.push(head);
            continue;
        }
        order.push(head);
        cut.push(head);
        if component.len() > 1 {
            arrange(blocks, &component[1..], head, cut, order);
        }
        cut.pop();
        let last = order.last().copied().unwrap_or(head);
        let back: Vec<usize> =
            component.iter().copied().filter(loops_back_of(blocks, head)).collect();
        if back != [last] {
            let latch = blocks.len();
            let origins = 0..0;
            blocks.push(Block { ops: Vec::new(), end: End::Jump(head), origins });
            for block in back {
                blocks[block].end.map_targets(|t| if t == head { latch } else { t });
            }
            order.push(latch);
        }
    }
}

fn loops_back_of(blocks: &[Block], head: usize) -> impl Fn(&usize) -> bool {
    let back: Vec<bool> = blocks.iter().map(|b| b.end.targets().contains(&head)).collect();
    move |&n| back[n]
}

/// Strongly connected components of `nodes` in topological order, each with its head first: the
/// block that a walk from `entry` meets first. Tarjan's algorithm with its own stack.
fn components(blocks: &[Block], nodes: &[usize], entry: usize, cut: &[usize]) -> Vec<Vec<usize>> {
    const UNSEEN: usize = usize::MAX;
    let mut inside = vec![false; blocks.len()];
    nodes.iter().for_each(|&n| inside[n] = true);
    let next = |n: usize| -> Vec<usize> {
        let targets = blocks[n].end.targets();
        targets.into_iter().filter(|t| inside[*t] && !cut.contains(t)).collect()
    };
    let mut number = vec![UNSEEN; blocks.len()];
    let mut low = vec![0; blocks.len()];
    let mut on_stack = vec![false; blocks.len()];
    let mut stack = Vec::new();
    let mut count = 0;
    let mut found = Vec::new();
    let roots: Vec<usize> = if inside[entry] { vec![entry] } else { next(entry) };
    for root in roots {
        if number[root] != UNSEEN {
            continue;
        }
        let mut path: Vec<(usize, Vec<usize>)> = Vec::new();
        let mut open = Some(root);
        loop {
            if let Some(node) = open.take() {
                number[node] = count;
                low[node] = count;
                count += 1;
                stack.push(node);
                on_stack[node] = true;
                path.push((node, next(node)));
            }
            let Some((node, successors)) = path.last_mut() else { break };
            let node = *node;
            if let Some(successor) = successors.pop() {
                if number[successor] == UNSEEN {
                    open = Some(successor);
                } else if on_stack[successor] {
                    low[node] = low[node].min(number[successor]);
                }
                continue;
            }
            path.pop();
            if let Some((parent, _)) = path.last() {
                low[*parent] = low[*parent].min(low[node]);
            }
            if low[node] == number[node] {
                let at = stack.iter().rposition(|&n| n == node).unwrap_or(0);
                let mut component = stack.split_off(at);
                component.iter().for_each(|&n| on_stack[n] = false);
                component.sort_by_key(|&n| number[n]);
                found.push(component);
            }
        }
    }
    found.reverse();
    found
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
        let back = order.iter().filter(|b| b.end.targets().contains(&1)).count();
        assert_eq!(back, 2, "the entry and the latch");
    }
}
