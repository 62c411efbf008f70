//! Instructions across the lanes of a warp (PTX ISA 9.7.9.6, 9.7.13.2, 9.7.13.9-12).

use super::Result;
use super::code::{Arg, Instruction, Program};
use super::integer::integer;
use super::thread::{State, Thread};
use super::ty::{Kind, Type};

/// What a lane brings to such an instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Meeting {
    pub mask: u32,
    values: Vec<u64>,
}

impl Meeting {
    /// The mask stands last, but for `bar.warp.sync`, where it stands alone.
    pub fn of(thread: &Thread, it: &Instruction) -> Result<Self> {
        let sources = if it.tree.opcode == "bar" { &it.args[..] } else { &it.args[1..] };
        let mut values = Vec::new();
        for source in sources {
            values.push(thread.value(source)?);
        }
        let mask = values.pop().ok_or("a mask")? as u32;
        Ok(Self { mask, values })
    }
}

/// The lanes of `group` have all come to `it`: give each its result, and let it go on.
pub fn meet(
    program: &Program,
    it: &Instruction,
    warp: &mut [Thread],
    group: &[usize],
) -> Result<()> {
    let brought: Vec<(u32, Vec<u64>)> = group
        .iter()
        .filter_map(|&n| match &warp[n].state {
            State::Meeting(meeting) => Some((warp[n].lane(), meeting.values.clone())),
            _ => None,
        })
        .collect();
    for &n in group {
        let lane = warp[n].lane();
        let word = Type { kind: Kind::Bits, bits: 32 };
        match it.tree.opcode {
            "shfl" => {
                let (value, inside) = shuffled(it.tree.modifiers[1], lane, &brought)?;
                let (to, predicate) = match &it.args[0] {
                    Arg::Pair(to, predicate) => (to.as_ref(), predicate.as_ref()),
                    to => (to, &Arg::Discard),
                };
                warp[n].put(program, to, word, value)?;
                warp[n].put(program, predicate, Type::PREDICATE, u64::from(inside))?;
            }
            "vote" => {
                let set = |(_, values): &&(u32, Vec<u64>)| values[0] == 1;
                let count = brought.iter().filter(set).count();
                let ballot = brought.iter().filter(set).map(|(lane, _)| 1u64 << lane).sum();
                let (ty, value) = match it.tree.modifiers[1] {
                    "ballot" => (word, ballot),
                    "all" => (Type::PREDICATE, u64::from(count == brought.len())),
                    "any" => (Type::PREDICATE, u64::from(count > 0)),
                    "uni" => (Type::PREDICATE, u64::from(count == 0 || count == brought.len())),
                    other => return Err(format!("vote.{other}")),
                };
                warp[n].put(program, &it.args[0], ty, value)?;
            }
            "redux" => {
                let (name, ty) = (it.tree.modifiers[1], it.types[0]);
                let fold = |a: u64, b: u64| integer(name, &[], ty, &[a, b], &mut false);
                let values = brought.iter().map(|(_, values)| values[0]);
                let all = values.map(Some).reduce(|a, b| fold(a?, b?)).flatten();
                warp[n].put(program, &it.args[0], ty, all.ok_or("this reduction")?)?;
            }
            _ => {}
        }
    }
    for &n in group {
        warp[n].state = State::Running;
    }
    Ok(())
}

/// The value that `lane` gets, and whether it came from a lane of its segment.
fn shuffled(mode: &str, lane: u32, brought: &[(u32, Vec<u64>)]) -> Result<(u64, bool)> {
    let of = |lane: u32| brought.iter().find(|(l, _)| *l == lane).map(|(_, values)| values);
    let own = of(lane).ok_or("a lane")?;
    let (by, clamp) = (own[1] as u32 & 31, own[2] as u32 & 31);
    let segment = own[2] as u32 >> 8 & 31;
    let limit = lane & segment | clamp & !segment;
    let (from, inside) = match mode {
        "up" => (i64::from(lane) - i64::from(by), lane as i64 - i64::from(by) >= i64::from(limit)),
        "down" => (i64::from(lane + by), lane + by <= limit),
        "bfly" => (i64::from(lane ^ by), lane ^ by <= limit),
        _ => {
            let from = lane & segment | by & !segment;
            (i64::from(from), from <= limit)
        }
    };
    let from = if inside { from as u32 } else { lane };
    let value = of(from).ok_or("a shuffle from a lane that is not there")?[0];
    Ok((value, inside))
}
