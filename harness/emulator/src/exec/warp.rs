//! One warp: 32 lanes that may go separate ways and come together again.
//!
//! The lanes that are at the same place form a *split*. A converged warp is one split, and running
//! it costs nothing for divergence. When lanes disagree at a branch the split in the lower block
//! goes first and the other is parked; as soon as the running split would enter a block that is not
//! below every parked one, the lowest goes on, merging with whoever waits in the same block.
//!
//! Blocks are numbered in weak topological order, so this always reconverges no later than the
//! immediate post-dominator would, also where the compiler has moved blocks about (text order fails
//! on ordinary reductions):
//!
//! ```text
//!   0: setp; @p bra 2        all lanes
//!   1: …            bra 3    lanes with !p run, p parked at 2
//!   2: …                     !p arrives at 3 > 2: parked; p runs 2
//!   3: …                     p arrives, both merge
//! ```
//!
//! A split that runs too long without the others (a lock that another lane holds) is put behind
//! them for a while: every lane of a resident warp makes progress, as since Volta.

mod rendezvous;
mod standing;

use super::copy_async::Pending;
use super::core::Wait;
use super::matrix::InFlight;
use super::straight::{run_all, run_some, run_watched};
use super::{Asked, Core, Flow};
use crate::fault::FaultKind;
use crate::isa::flag;
use crate::program::{BlockId, Exit, Program, SLOT};
use crate::sanitize::Registers as Defined;

pub use standing::Standing;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Ready,
    /// At a `.sync` instruction, for these lanes.
    Waiting(u32),
    AtBarrier(Wait),
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Split {
    block: BlockId,
    ip: u32,
    mask: u32,
    state: State,
}

/// Why a warp stopped running for now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pause {
    Ended,
    /// All its lanes are at this barrier.
    Barrier(Wait),
    /// Its slice is used up.
    Yield,
    /// It goes on when all others have had their turn.
    Last,
    /// `core.fault` says why, `Warp::at` where.
    Fault,
}

/// A wait that failed.
#[derive(Clone, Copy)]
pub struct Poll {
    pub asked: Asked,
    /// The instruction.
    pub at: (BlockId, u32),
}

pub struct Warp {
    registers: Registers,
    local: Vec<u8>,
    pending: Pending,
    in_flight: InFlight,
    /// Where the launch is sanitized.
    defined: Option<Defined>,
    splits: Vec<Split>,
    live: u32,
    /// Set when a slice ran out while other splits were ready: whose turn it is.
    rotate: Option<usize>,
    /// Where the split that ran last stands.
    pub at: (BlockId, u32),
    /// What it found not ready, unless it has used up a slice since.
    pub polls: Option<Poll>,
    /// Lanes that have asked in vain since [`Warp::stand`].
    polled: u32,
}

/// A register file: slots, aligned for vector loads.
struct Registers(Vec<Line>);

#[derive(Clone, Copy, PartialEq)]
#[repr(C, align(128))]
struct Line([u8; SLOT]);

/// Blocks a warp may run before others get their turn.
const SLICE: u32 = 4096;

/// Blocks that a split may run before another one of its warp, or another CTA, once it has used up a
/// slice: locks between lanes and barriers of a whole grid change hands often.
const TURN: u32 = 256;

impl Warp {
    /// `local_len` bytes of local memory for each thread.
    pub fn new(program: &Program, local_len: u32) -> Self {
        Self {
            registers: Registers(vec![Line([0; SLOT]); program.slots]),
            local: vec![0; 32 * local_len as usize],
            pending: Pending::default(),
            in_flight: InFlight::default(),
            defined: (!program.effects.is_empty()).then(|| Defined::new(program)),
            splits: Vec::new(),
            live: 0,
            rotate: None,
            at: (0, 0),
            polls: None,
            polled: 0,
        }
    }

    /// Stand at the entry with the lanes of `mask`.
    pub fn start(&mut self, program: &Program, mask: u32) {
        self.pending.clear();
        self.in_flight.clear();
        if let Some(defined) = &mut self.defined {
            defined.start(program);
        }
        self.splits.clear();
        self.splits.push(Split { block: 0, ip: 0, mask, state: State::Ready });
        self.live = mask;
        self.rotate = None;
        self.polls = None;
    }

    /// The 32 lanes of the slot with this index, to preset.
    pub fn slot(&mut self, slot: usize) -> &mut [u32; 32] {
        // SAFETY: a line is 128 bytes, aligned, and any bits are a `u32`.
        unsafe { &mut *(&raw mut self.registers.0[slot]).cast::<[u32; 32]>() }
    }

    pub fn ended(&self) -> bool {
        self.live == 0
    }

    /// The barrier opened: go on behind it.
    pub fn release(&mut self) {
        for split in &mut self.splits {
            if matches!(split.state, State::AtBarrier(_)) {
                split.state = State::Ready;
                split.ip += 1;
            }
        }
    }

    /// What the lanes at the barrier bring to `bar.red`: how many there are, and how many of them
    /// have the predicate.
    pub fn votes(&mut self, program: &Program) -> (u32, u32) {
        let mut votes = (0, 0);
        for at in 0..self.splits.len() {
            let Split { ip, mask, state: State::AtBarrier(_), .. } = self.splits[at] else {
                continue;
            };
            let inst = &program.code[ip as usize];
            let lanes = self.slot(inst.c as usize / SLOT);
            let set = super::core::bits_of(lanes);
            let set = if inst.flags & flag::NOT != 0 { !set } else { set };
            votes.0 += mask.count_ones();
            votes.1 += (set & mask).count_ones();
        }
        votes
    }

    /// The barrier opened on `bar.red`: of `votes.0` threads `votes.1` have the predicate.
    pub fn tell(&mut self, program: &Program, votes: (u32, u32)) {
        for at in 0..self.splits.len() {
            let Split { ip, mask, state: State::AtBarrier(_), .. } = self.splits[at] else {
                continue;
            };
            let inst = &program.code[ip as usize];
            let all_ones = |yes: bool| if yes { u32::MAX } else { 0 };
            let result = match inst.flags & (flag::POPC | flag::ALL | flag::ANY) {
                0 => continue,
                flag::POPC => votes.1,
                flag::ALL => all_ones(votes.1 == votes.0),
                _ => all_ones(votes.1 != 0),
            };
            let lanes = self.slot(inst.dst as usize / SLOT);
            for l in (0..32).filter(|l| mask >> l & 1 == 1) {
                lanes[l] = result;
            }
        }
    }

    /// Run until the warp ends, waits, faults or has used its slice.
    pub fn run(&mut self, core: &mut Core) -> Pause {
        core.registers = self.registers.0.as_mut_ptr().cast();
        core.local = self.local.as_mut_ptr();
        core.pending = &raw mut self.pending;
        core.in_flight = &raw mut self.in_flight;
        core.defined = self.defined.as_mut().map_or(std::ptr::null_mut(), |defined| defined);
        let program = core.program;
        core.polled = None;
        let mut fuel = SLICE;
        if let Some(schedule) = &mut core.schedule {
            fuel = schedule.slice();
            // Any split first, or the lowest.
            self.rotate = schedule.coin().then(|| schedule.below(32));
        }
        loop {
            let (mut now, mut limit) = match self.pick(core, program) {
                Ok(picked) => picked,
                Err(pause) => return pause,
            };
            core.set_mask(now.mask);
            core.live = self.live;
            let turn_ends = if self.rotate.is_some() { fuel.saturating_sub(TURN) } else { 0 };
            loop {
                let block = &program.blocks[now.block as usize];
                if now.ip <= block.first {
                    now.ip = block.first;
                    let visits = &mut core.tally.visits[now.block as usize];
                    visits.warps += 1;
                    visits.lanes += u64::from(now.mask.count_ones());
                    core.clock.pass(block.origins.end - block.origins.start);
                }
                let code = &program.code[now.ip as usize..block.end as usize];
                // SAFETY: the code is of the program that `core` runs, with a file of its size,
                // lowered for a level that this machine has.
                let flow = unsafe {
                    if core.sanitizer.is_some() {
                        run_watched(core, code, &block.exit, &mut now.ip)
                    } else if core.mask == u32::MAX {
                        run_all(core, code, &mut now.ip)
                    } else {
                        run_some(core, code, &mut now.ip)
                    }
                };
                if flow != Flow::Next {
                    self.at = (now.block, now.ip);
                    match self.interrupted(core, now, flow) {
                        Some(pause) => return pause,
                        None => break,
                    }
                }
                match &block.exit {
                    Exit::Jump(target) => now.block = *target,
                    Exit::Branch { predicate, negated, taken, next } => {
                        // SAFETY: lowering keeps slots within the file.
                        let mut set = unsafe { core.predicate(*predicate) };
                        if *negated {
                            set = !set;
                        }
                        let go = set & now.mask;
                        let visits = &mut core.tally.visits[now.block as usize];
                        visits.branches += 1;
                        if go == now.mask {
                            now.block = *taken;
                        } else if go == 0 {
                            now.block = *next;
                        } else {
                            visits.divergent += 1;
                            let (first, second, mask) = if taken < next {
                                (*taken, *next, go)
                            } else {
                                (*next, *taken, now.mask & !go)
                            };
                            self.park(second, now.mask & !mask);
                            limit = limit.min(second);
                            now.block = first;
                            now.mask = mask;
                            core.set_mask(mask);
                        }
                    }
                    Exit::Switch { index, targets } => {
                        // SAFETY: as above.
                        let index = unsafe { core.read::<u32>(*index) };
                        for l in (0..32).filter(|l| now.mask >> l & 1 == 1) {
                            let Some(&target) = targets.get(index[l as usize] as usize) else {
                                self.at = (now.block, now.ip);
                                let what = "a jump or a call that leads nowhere".to_owned();
                                core.stop(FaultKind::Trap { message: Some(what) }, l);
                                return Pause::Fault;
                            };
                            self.park(target, 1 << l);
                        }
                        break;
                    }
                    Exit::Leave => {
                        self.live &= !now.mask;
                        break;
                    }
                }
                now.ip = 0;
                fuel -= 1;
                if fuel == turn_ends {
                    self.at = (now.block, program.blocks[now.block as usize].first);
                    self.polls = None;
                    // Alone, it most likely waits for another warp or CTA.
                    let alone = !self.splits.iter().any(|split| split.state == State::Ready);
                    self.splits.push(now);
                    self.rotate = Some(self.rotate.map_or(0, |turn| turn + 1));
                    if fuel == 0 || alone {
                        return Pause::Yield;
                    }
                    break;
                }
                if now.block >= limit {
                    self.splits.push(now);
                    break;
                }
            }
        }
    }

    fn park(&mut self, block: BlockId, mask: u32) {
        self.splits.push(Split { block, ip: 0, mask, state: State::Ready });
    }

    /// A handler did not return `Next`: what becomes of the running split. `None` runs another.
    #[cold]
    fn interrupted(&mut self, core: &mut Core, now: Split, flow: Flow) -> Option<Pause> {
        match flow {
            Flow::Next => None,
            Flow::Stop => Some(Pause::Fault),
            Flow::Barrier => {
                self.splits.push(Split { state: State::AtBarrier(core.wait), ..now });
                None
            }
            Flow::Rendezvous => {
                self.splits.push(Split { state: State::Waiting(core.wanted), ..now });
                None
            }
            Flow::Apart => self.by_groups(core, now),
            Flow::Yield => {
                // Otherwise a rest, perhaps between two questions.
                if let Some(asked) = core.polled.take() {
                    self.polls = Some(Poll { asked, at: self.at });
                    self.polled |= now.mask;
                }
                self.splits.push(Split { ip: now.ip + 1, ..now });
                self.rotate = Some(self.rotate.map_or(0, |turn| turn + 1));
                Some(Pause::Yield)
            }
            Flow::Again => {
                self.polls = core.polled.take().map(|asked| Poll { asked, at: self.at });
                self.polled |= now.mask;
                self.splits.push(now);
                self.rotate = Some(self.rotate.map_or(0, |turn| turn + 1));
                Some(Pause::Yield)
            }
            Flow::Last => {
                self.splits.push(Split { ip: now.ip + 1, ..now });
                Some(Pause::Last)
            }
        }
    }

    /// The split to run, and the lowest block where another one is ready.
    fn pick(&mut self, core: &mut Core, program: &Program) -> Result<(Split, BlockId), Pause> {
        loop {
            let ready = |split: &Split| split.state == State::Ready;
            let place = |split: &Split| (split.block, split.ip);
            let turn = self.rotate.filter(|_| self.splits.len() > 1);
            let chosen = match turn {
                // After a slice that got nowhere: each ready split in turn, whatever its place.
                Some(turn) => {
                    let count = self.splits.iter().filter(|split| ready(split)).count();
                    self.splits
                        .iter()
                        .enumerate()
                        .filter(|(_, split)| ready(split))
                        .nth(turn % count.max(1))
                        .map(|(index, _)| index)
                }
                None => self
                    .splits
                    .iter()
                    .enumerate()
                    .filter(|(_, split)| ready(split))
                    .min_by_key(|(_, split)| place(split))
                    .map(|(index, _)| index),
            };
            if let Some(index) = chosen {
                let mut now = self.splits.swap_remove(index);
                self.splits.retain(|other| {
                    let same = ready(other) && place(other) == place(&now);
                    if same {
                        now.mask |= other.mask;
                    }
                    !same
                });
                if self.splits.is_empty() {
                    self.rotate = None;
                }
                let others = self.splits.iter().filter(|split| ready(split));
                let limit = if turn.is_some() {
                    BlockId::MAX
                } else {
                    others.map(|split| split.block).min().unwrap_or(BlockId::MAX)
                };
                return Ok((now, limit));
            }
            if self.splits.is_empty() {
                return Err(Pause::Ended);
            }
            if !self.meet(program, core) {
                return Err(self.stuck(core));
            }
        }
    }
}
