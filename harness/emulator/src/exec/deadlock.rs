//! Clusters that can only wait: every warp that could go on asks an `mbarrier` again and again, and
//! nobody is left who could tell it.
//!
//! A wait that fails is no end: another warp may arrive, a copy may complete. But if all warps of a
//! cluster come back to where they stood, registers and places the same, having executed nothing but
//! arithmetic, branches and such waits, then nothing has changed, and nothing will: only the cluster's
//! own threads and their copies reach its `mbarrier`s, and copies are done when they are started.
//! Loops that look at global memory are never taken for this: others may change what they see. An allocation of tensor
//! memory that does not fit is such a wait, too.
//!
//! ```text
//! AGAIN: mbarrier.try_wait.parity p, [full], 0;      1 arrival is due, and the only warp is here
//!        @!p bra AGAIN;
//! ```
//!
//! A loop may look at the clock, to sleep longer each time (`cuda::barrier::wait`) or to give up after a
//! second. So the clock is held while the cluster is looked at. If all come back and someone has read
//! it, then nothing but time can make a difference, and time is put forward, each time twice as far: who
//! wants to give up does so now rather than after years, and who still waits after 2^61 ticks waits for
//! ever. (A loop that wants to see the clock at a certain value, rather than past it, would be missed.)
//!
//! ```text
//! clock held at 7000    all come back, and one has read it
//! held at 8024          all come back, …                          sleeps now for longer
//! held at 10072         all come back, …
//!    ⋮
//! held at 2^62          all come back: a deadlock
//! ```

use super::cta::Cta;
use super::warp::Standing;
use super::{Asked, Core, mbarrier};

/// Turns of nothing but failed waits before it is looked at more closely; doubled each time that finds
/// nothing, so that looking costs little beside waiting.
const FIRST_LOOK: u32 = 64;
/// Turns in which the cluster must have come back, and in which registers that tell the time have taken
/// the one that is held: a loop with a `nanosleep` takes two, lanes that wait apart take turns.
const WINDOW: u32 = 72;
/// Ticks that the clock is put forward the first time, and the last.
const FIRST_LEAP: u64 = 1 << 10;
const LAST_LEAP: u64 = 1 << 61;
/// Warps that are named.
const NAMED: usize = 6;

#[derive(Default)]
pub struct Deadlock {
    /// Turns in which every warp that ran ended at a wait that failed.
    turns: u32,
    next_look: u32,
    held: Option<Held>,
}

/// The cluster is looked at, at a time that stands still.
struct Held {
    time: u64,
    /// How far it was put forward.
    leap: u64,
    /// The turn at which it was.
    since: u32,
    /// Someone has asked for it.
    is_asked_for: bool,
    /// How things stood once every register had taken the time.
    before: Option<Before>,
}

struct Before {
    /// Of each warp of each CTA.
    warps: Vec<Standing>,
    /// Visits of each block of the program.
    visits: Vec<u64>,
}

impl Deadlock {
    /// Something has happened.
    pub fn over(&mut self) {
        *self = Self::default();
    }

    /// The time that the cluster is to see, unless it is the present.
    pub fn time(&self) -> Option<u64> {
        self.held.as_ref().map(|held| held.time)
    }

    /// After a turn in which no warp ended and no barrier opened: whether nothing can happen any more.
    pub fn found(&mut self, core: &Core, ctas: &mut [Cta]) -> bool {
        if !ctas.iter().all(polls_only) {
            (self.turns, self.held) = (0, None);
            return false;
        }
        self.turns += 1;
        let look = self.next_look.max(FIRST_LOOK);
        if self.turns < look {
            return false;
        }
        let now = core.clock.now();
        let since = self.turns;
        let held = self.held.get_or_insert(Held {
            time: now,
            leap: 0,
            since,
            is_asked_for: false,
            before: None,
        });
        held.is_asked_for |= core.clock.was_read_while_held();
        let turns = self.turns - held.since;
        if turns < WINDOW {
            return false;
        }
        let Some(before) = &held.before else {
            held.before = Some(Before::of(core, ctas));
            return false;
        };
        if before.is_back(ctas) {
            if before.only_waited(core) {
                if !held.is_asked_for || held.leap == LAST_LEAP {
                    return true;
                }
                held.put_forward(self.turns);
                return false;
            }
        } else if turns < 2 * WINDOW {
            return false;
        }
        (self.held, self.turns, self.next_look) = (None, 0, look.saturating_mul(2));
        false
    }
}

impl Held {
    fn put_forward(&mut self, turn: u32) {
        self.leap = if self.leap == 0 { FIRST_LEAP } else { 2 * self.leap };
        self.time = self.time.saturating_add(self.leap);
        (self.since, self.before) = (turn, None);
    }
}

impl Before {
    fn of(core: &Core, ctas: &mut [Cta]) -> Self {
        let warps = ctas.iter_mut().flat_map(|cta| &mut cta.warps);
        Self { warps: warps.map(super::warp::Warp::stand).collect(), visits: visits(core) }
    }

    /// Every warp has come back.
    fn is_back(&self, ctas: &[Cta]) -> bool {
        let mut warps = ctas.iter().flat_map(|cta| &cta.warps).zip(&self.warps);
        warps.all(|(warp, before)| warp.has_come_back(before))
    }

    /// The blocks that were visited meanwhile hold nothing that has to do with others.
    fn only_waited(&self, core: &Core) -> bool {
        let program = core.program;
        let mut visited = program.blocks.iter().zip(self.visits.iter().zip(visits(core)));
        visited.all(|(block, (before, now))| {
            *before == now || program.origins(block).iter().all(|origin| origin.idle)
        })
    }
}

fn visits(core: &Core) -> Vec<u64> {
    core.tally.visits.iter().map(|visits| visits.warps).collect()
}

/// Every warp has ended, waits at a barrier, or has just asked for what is not ready.
fn polls_only(cta: &Cta) -> bool {
    let idle = |(number, warp): (usize, &super::warp::Warp)| {
        warp.ended() || cta.waits[number].is_some() || warp.polls.is_some()
    };
    cta.warps.iter().enumerate().all(idle)
}

/// Who waits where, and for what.
pub fn waiting(core: &Core, ctas: &mut [Cta]) -> Vec<String> {
    let memories: Vec<_> = ctas.iter_mut().map(Cta::shared).collect();
    let mut said = Vec::new();
    for (rank, cta) in ctas.iter().enumerate() {
        for (number, warp) in cta.warps.iter().enumerate() {
            let does = match (cta.waits[number], warp.polls) {
                (Some(wait), _) => wait.to_string(),
                (None, Some(poll)) if !warp.ended() => match poll.asked {
                    Asked::Mbarrier(host) => asks(core, &memories, host),
                    Asked::Columns(count) => core.tensor.memories[rank].lacks(count),
                },
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
