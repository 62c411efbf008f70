//! Tests: what a pass makes of a program does what the program did.
//!
//! Programs of a few blocks and registers are drawn by chance, with loops, branches and registers that some
//! ways leave unwritten. An evaluator that knows nothing of lanes runs one before and after a pass: results
//! of operations are numbers mixed of the sources and of who made them, predicates are odd or even, and what
//! an operation without a result reads is the trace that must not change. What is read of something unwritten
//! may be anything, and a branch on it ends the comparison.

use std::collections::HashMap;

use proptest::prelude::*;

use super::slots::Slots;
use super::{Block, End, Op, Reg, RegInfo, Registers, Width, copies, order, slots};
use crate::exec::{Core, Flow, once};
use crate::program::{Inst, Preset};

/// Registers of a program: the first are set before the start, the last has 64 bits.
const REGISTERS: Reg = 9;
const PRESET: Reg = 3;
const STEPS: usize = 300;

/// # Safety
/// See [`crate::exec::Handler`].
unsafe fn never_run(_: &mut Core, _: &Inst) -> Flow {
    Flow::Next
}

/// An operation as it is drawn: a copy, a result of two sources, or a use of one.
#[derive(Clone, Debug)]
enum Drawn {
    Copy(Reg, Reg),
    Make(Reg, Reg, Reg),
    Use(Reg),
}

fn drawn() -> impl Strategy<Value = Drawn> {
    prop_oneof![
        (PRESET..REGISTERS - 1, 0..REGISTERS - 1).prop_map(|(to, from)| Drawn::Copy(to, from)),
        (PRESET..REGISTERS, 0..REGISTERS, 0..REGISTERS)
            .prop_map(|(to, a, b)| Drawn::Make(to, a, b)),
        (PRESET..REGISTERS).prop_map(Drawn::Use),
    ]
}

/// Operations, and where control goes: to none, one or two blocks.
type DrawnBlock = (Vec<Drawn>, Vec<usize>, Reg);

fn program() -> impl Strategy<Value = Vec<DrawnBlock>> {
    let block = (
        proptest::collection::vec(drawn(), 0..5),
        proptest::collection::vec(any::<usize>(), 0..3),
        0..REGISTERS - 1,
    );
    proptest::collection::vec(block, 1..5)
}

fn registers() -> Registers {
    let mut registers = Registers::default();
    for reg in 0..REGISTERS {
        let width = if reg < REGISTERS - 1 { Width::Narrow } else { Width::Wide };
        let preset = (reg < PRESET).then_some(Preset::Constant32(reg));
        registers.info.push(RegInfo { width, preset });
    }
    registers
}

fn blocks(drawn: &[DrawnBlock]) -> Vec<Block> {
    let mut number = 0;
    let mut op = |drawn: &Drawn| {
        number += 1;
        let mut op = Op::new(once!(never_run), number);
        match *drawn {
            Drawn::Copy(to, from) => (op.dst, op.a, op.copy) = (Some(to), Some(from), true),
            Drawn::Make(to, a, b) => (op.dst, op.a, op.b) = (Some(to), Some(a), Some(b)),
            Drawn::Use(from) => op.a = Some(from),
        }
        op
    };
    let mut block = |(ops, targets, predicate): &DrawnBlock| {
        let target = |target: usize| target % drawn.len();
        let end = match **targets {
            [] => End::Leave,
            [one] => End::Jump(target(one)),
            [a, b, ..] => {
                let (taken, next) = (target(a), target(b));
                End::Branch { predicate: *predicate, negated: false, taken, next }
            }
        };
        Block { ops: ops.iter().map(&mut op).collect(), end, origins: 0..1 }
    };
    drawn.iter().map(&mut block).collect()
}

fn mixed(a: u64, b: u64) -> u64 {
    (a ^ b.rotate_left(29)).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ a >> 31
}

/// Uses in order, and what each reads: none where that may be anything.
type Trace = Vec<(u32, Option<u64>)>;

/// Of a program whose registers are where `place` says.
fn trace(blocks: &[Block], place: impl Fn(Reg) -> usize) -> Trace {
    let mut values = vec![None; 4 * REGISTERS as usize];
    (0..PRESET).for_each(|reg| values[place(reg)] = Some(reg.into()));
    let mut trace = Vec::new();
    let mut times = HashMap::<u32, u64>::new();
    let mut block = 0;
    for _ in 0..STEPS {
        for op in &blocks[block].ops {
            // Another round gives another result, as a load does.
            let again = times.entry(op.origin).or_insert(0);
            *again += 1;
            let read: Vec<Option<u64>> = op.uses().map(|reg| values[place(reg)]).collect();
            // What is made of something unwritten is no better.
            let all: Option<Vec<u64>> = read.into_iter().collect();
            let made = all.map(|all| match all[..] {
                [from] if op.copy => from,
                _ => all
                    .iter()
                    .fold(mixed(op.origin.into(), *again), |sum, &value| mixed(sum, value)),
            });
            match op.dst {
                Some(to) => values[place(to)] = made,
                None => trace.push((op.origin, made)),
            }
        }
        block = match &blocks[block].end {
            End::Jump(target) => *target,
            End::Branch { predicate, taken, next, .. } => match values[place(*predicate)] {
                Some(value) => [*next, *taken][(value & 1) as usize],
                None => return trace,
            },
            End::Switch { .. } | End::Leave => return trace,
        };
    }
    trace
}

/// Whether the program afterwards reads what it read before, as long as both ran.
fn agree(before: &Trace, after: &Trace) -> bool {
    before.iter().zip(after).all(|(a, b)| a.0 == b.0 && a.1.is_none_or(|a| b.1 == Some(a)))
}

fn of_slots(slots: &Slots) -> impl Fn(Reg) -> usize + '_ {
    |reg| slots.of[reg as usize] as usize / crate::program::SLOT
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        // So many find a copy that is removed where it must not be.
        cases: 30_000,
        ..Default::default()
    })]

    #[test]
    fn ordered_blocks_do_the_same(drawn in program()) {
        let before = trace(&blocks(&drawn), |reg| reg as usize);
        let ordered = order::order(blocks(&drawn));
        // A latch takes a step.
        prop_assert!(agree(&before, &trace(&ordered, |reg| reg as usize)));
    }

    #[test]
    fn programs_without_their_copies_do_the_same(drawn in program()) {
        let ordered = order::order(blocks(&drawn));
        let before = trace(&ordered, |reg| reg as usize);
        let mut without = ordered;
        copies::remove(&mut without, &mut registers());
        let after = trace(&without, |reg| reg as usize);
        // Nor does it stop at a branch on something unwritten where it did not before.
        prop_assert!(agree(&before, &after) && after.len() >= before.len(), "{before:?} {after:?}");
    }

    #[test]
    fn registers_in_slots_hold_the_same(drawn in program()) {
        let ordered = order::order(blocks(&drawn));
        let slots = slots::assign(&ordered, &registers());
        let before = trace(&ordered, |reg| reg as usize);
        prop_assert!(agree(&before, &trace(&ordered, of_slots(&slots))));
    }
}

/// The comparison can fail: exchanging two copies' sources shows.
#[test]
fn another_program_is_told_from_it() {
    let one = [(vec![Drawn::Copy(4, 0), Drawn::Make(5, 4, 0), Drawn::Use(5)], vec![], 0)];
    let other = [(vec![Drawn::Copy(4, 0), Drawn::Make(5, 0, 5), Drawn::Use(4)], vec![], 0)];
    let [one, other] = [&one, &other].map(|drawn| trace(&blocks(drawn), |reg| reg as usize));
    assert!(!agree(&one, &other));
    assert_eq!(one.len(), 1);
}

/// In the loop, the reader comes before the copy; behind it, it does not.
#[test]
fn a_copy_goes_only_where_it_comes_before_its_readers() {
    let left = |drawn: &[DrawnBlock]| {
        let mut ordered = order::order(blocks(drawn));
        copies::remove(&mut ordered, &mut registers());
        ordered.iter().flat_map(|block| &block.ops).filter(|op| op.copy).count()
    };
    let behind = vec![Drawn::Make(4, 0, 0), Drawn::Copy(5, 4), Drawn::Copy(6, 5), Drawn::Use(6)];
    assert_eq!(left(&[(behind, vec![], 0)]), 0);
    let before = vec![Drawn::Use(5), Drawn::Make(4, 0, 4), Drawn::Copy(5, 4)];
    assert_eq!(left(&[(vec![], vec![1], 0), (before, vec![1, 2], 0), (vec![], vec![], 0)]), 1);
    let written_twice =
        vec![Drawn::Make(4, 0, 0), Drawn::Copy(5, 4), Drawn::Make(4, 5, 5), Drawn::Use(5)];
    assert_eq!(left(&[(written_twice, vec![], 0)]), 1);
    // One way leads by the copy, the other does not.
    let ways = [
        (vec![Drawn::Make(4, 0, 0)], vec![1, 2], 4),
        (vec![Drawn::Copy(5, 4)], vec![2], 0),
        (vec![Drawn::Use(5)], vec![], 0),
    ];
    assert_eq!(left(&ways), 1);
}
