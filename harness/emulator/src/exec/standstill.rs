//! Clusters that can only wait: every warp that could go on asks an `mbarrier` again and again, and
//! nobody is left who could tell it.
//!
//! A wait that fails is no end: another warp may arrive, a copy may complete. But if all warps of a
//! cluster come back to where they stood, registers and places the same, having executed nothing but
//! arithmetic, branches and such waits, then nothing has changed, and nothing will: only the cluster's
//! own threads and their copies reach its `mbarrier`s, and copies are done when they are started.
//! Loops that look at global memory or a clock are never taken for this: others may change what they
//! see.
//!
//! ```text
//! AGAIN: mbarrier.try_wait.parity p, [full], 0;      1 arrival is due, and the only warp is here
//!        @!p bra AGAIN;
//! ```

use super::cta::Cta;
use super::warp::Standing;
use super::{Core, mbarrier};
use crate::program::Program;

/// Turns of nothing but failed waits before it is looked at more closely; doubled each time that finds
/// nothing, so that looking costs little beside waiting.
const FIRST_LOOK: u32 = 64;
/// Turns in which the cluster must have come back: a loop with a `nanosleep` takes two, lanes that
/// wait apart take turns.
const WINDOW: u32 = 72;
/// Warps that are named.
const NAMED: usize = 6;

#[derive(Default)]
pub struct Standstill {
    /// Turns in which every warp that ran ended at a wait that failed.
    turns: u32,
    next_look: u32,
    before: Option<Before>,
}

struct Before {
    /// Of each warp of each CTA.
    warps: Vec<Standing>,
    /// Visits of each block of the program.
    visits: Vec<u64>,
}

impl Standstill {
    /// Something has happened.
    pub fn over(&mut self) {
        *self = Self::default();
    }

    /// After a turn in which no warp ended and no barrier opened: whether nothing can happen any more.
    pub fn found(&mut self, core: &Core, ctas: &mut [Cta]) -> bool {
        if !ctas.iter().all(polls_only) {
            self.turns = 0;
            self.before = None;
            return false;
        }
        self.turns += 1;
        let look = self.next_look.max(FIRST_LOOK);
        if self.turns < look {
            return false;
        }
        let visits = || core.tally.visits.iter().map(|visits| visits.warps).collect();
        let Some(before) = &self.before else {
            let warps = ctas.iter_mut().flat_map(|cta| &mut cta.warps);
            let warps = warps.map(super::warp::Warp::stand).collect();
            self.before = Some(Before { warps, visits: visits() });
            return false;
        };
        let mut warps = ctas.iter().flat_map(|cta| &cta.warps).zip(&before.warps);
        if warps.all(|(warp, before)| warp.has_come_back(before)) {
            if only_waited(core.program, &before.visits, &visits()) {
                return true;
            }
        } else if self.turns < look + WINDOW {
            return false;
        }
        (self.before, self.turns, self.next_look) = (None, 0, look.saturating_mul(2));
        false
    }
}

/// Every warp has ended, waits at a barrier, or has just found an `mbarrier` not ready.
fn polls_only(cta: &Cta) -> bool {
    let idle = |(number, warp): (usize, &super::warp::Warp)| {
        warp.ended() || cta.waits[number].is_some() || warp.polls.is_some()
    };
    cta.warps.iter().enumerate().all(idle)
}

/// Whether the blocks that were visited meanwhile hold nothing that has to do with others.
fn only_waited(program: &Program, before: &[u64], now: &[u64]) -> bool {
    let visited = program.blocks.iter().zip(before.iter().zip(now));
    visited
        .filter(|(_, (before, now))| before != now)
        .all(|(block, _)| program.origins(block).iter().all(|origin| origin.idle))
}

/// Who waits where, and for what.
pub fn waiting(core: &Core, ctas: &mut [Cta]) -> Vec<String> {
    let memories: Vec<_> = ctas.iter_mut().map(Cta::shared).collect();
    let mut said = Vec::new();
    for (rank, cta) in ctas.iter().enumerate() {
        for (number, warp) in cta.warps.iter().enumerate() {
            let does = match (cta.waits[number], warp.polls) {
                (Some(wait), _) => wait.to_string(),
                (None, Some(poll)) if !warp.ended() => asks(core, &memories, poll.object),
                _ => continue,
            };
            let of = if ctas.len() > 1 {
                format!(" of the cluster's block {rank}")
            } else {
                String::new()
            };
            said.push(format!("warp {number}{of} {does}"));
        }
    }
    if said.len() > NAMED {
        let more = said.len() - NAMED + 1;
        said.truncate(NAMED - 1);
        said.push(format!("{more} more warps wait like these"));
    }
    said
}

fn asks(core: &Core, memories: &[(u64, u64)], host: u64) -> String {
    let of = memories.iter().find(|(base, len)| (*base..base + len).contains(&host));
    let offset = host - of.map_or(host, |(base, _)| *base);
    let near = super::access::near(core, crate::fault::MemorySpace::Shared, offset);
    // SAFETY: the wait that failed found an object there, in shared memory of a CTA that still runs.
    let object = unsafe { std::ptr::with_exposed_provenance::<u64>(host as usize).read() };
    let (arrivals, bytes) = mbarrier::due(object);
    let count = |number: i64, what: &str| match number {
        0 => None,
        1 => Some(format!("1 {what}")),
        _ => Some(format!("{number} {what}s")),
    };
    let due = [count(arrivals as i64, "arrival"), count(bytes, "byte")];
    let due = due.into_iter().flatten().collect::<Vec<_>>().join(" and ");
    let crate::fault::Near { name, offset, .. } = near;
    format!("asks for ever at the mbarrier at byte {offset} of `{name}`, which lacks {due}")
}
