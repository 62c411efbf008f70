//! One CTA: its warps in turns, its barriers, its shared memory.
//!
//! A CTA is an object that can be left and taken up again, so that a kernel whose CTAs wait for
//! each other (a grid barrier, a look-back scan) makes progress on any number of host threads.

use super::Core;
use super::access::RANK_SHIFT;
use super::core::Wait;
use super::grid::Launch;
use super::warp::{Pause, Warp};
use crate::fault::FaultKind;
use crate::isa::{Reserved, Special};
use crate::program::{Preset, SLOT};
use crate::sanitize::Block;

pub struct Cta {
    pub(super) warps: Vec<Warp>,
    /// What each warp waits for, if anything.
    pub(super) waits: Vec<Option<Wait>>,
    /// Threads that have arrived without waiting (`bar.arrive`), for each barrier.
    arrived: [u32; 16],
    /// The phase of the cluster's barrier at which each warp arrived last, until it has waited.
    at_cluster: Vec<Option<u64>>,
    shared: Vec<u128>,
    shared_len: u64,
    /// Where the launch is sanitized; with the core while the CTA runs.
    order: Option<Box<Block>>,
    pub index: [u32; 3],
    rank: u32,
}

/// The number, among barriers, of the cluster's.
pub const CLUSTER: u32 = 16;

/// What became of a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    Ended,
    /// Not done, but nothing is wrong. `yielded` if a warp used up its slice.
    Unfinished {
        yielded: bool,
    },
    /// Every warp waits.
    Stuck,
    /// `core.fault` says why; warp and place within.
    Fault {
        warp: usize,
    },
}

impl Cta {
    /// Registers and shared memory for one CTA of the launch; presets that are the same for all.
    pub fn new(launch: &Launch) -> Self {
        let program = launch.program;
        let threads = launch.threads();
        let count = threads.div_ceil(32) as usize;
        let shared_len = u64::from(launch.shared_room());
        let local_len = program.local_len(launch.stack);
        let mut cta = Self {
            warps: (0..count).map(|_| Warp::new(program, local_len)).collect(),
            waits: vec![None; count],
            arrived: [0; 16],
            at_cluster: vec![None; count],
            shared: vec![0; shared_len.div_ceil(16) as usize],
            shared_len,
            order: launch.sanitize.then(|| Box::new(Block::new(count, shared_len))),
            index: [0; 3],
            rank: 0,
        };
        for (number, warp) in cta.warps.iter_mut().enumerate() {
            for &(slot, preset) in &program.presets {
                fill(warp, slot as usize / SLOT, preset, launch, number as u32);
            }
        }
        cta
    }

    /// Stand at the entry as the CTA `within` its cluster, of this rank.
    pub fn start(&mut self, launch: &Launch, cluster: [u32; 3], within: [u32; 3], rank: u32) {
        self.index =
            std::array::from_fn(|axis| cluster[axis] * launch.cluster[axis] + within[axis]);
        self.rank = rank;
        self.waits.fill(None);
        self.arrived = [0; 16];
        self.at_cluster.fill(None);
        // Shared memory starts with no defined content; what is left of the last CTA would make
        // results depend on the schedule.
        self.shared.fill(0);
        if let Some(order) = &mut self.order {
            order.start();
            if launch.cluster_size() > 1 {
                // Others may write here, of whom this block's order knows nothing.
                order.define(0, self.shared_len, true);
            }
            // The system's own part starts with zeros, which cooperative groups count on.
            let kept = u64::from(launch.reserved_shared(Reserved::Begin));
            order.define(kept.min(self.shared_len), self.shared_len.saturating_sub(kept), true);
        }
        let threads = launch.threads();
        for (number, warp) in self.warps.iter_mut().enumerate() {
            let first = number as u32 * 32;
            let lanes = (threads - first).min(32);
            warp.start(launch.program, u32::MAX >> (32 - lanes));
            for &(slot, place) in &launch.index_slots {
                let value = match place {
                    Place::Shared(offset) => rank << RANK_SHIFT | offset,
                    Place::Shared64(offset) => {
                        let address = u64::from(rank << RANK_SHIFT | offset);
                        fill_wide(warp, slot as usize / SLOT, address);
                        continue;
                    }
                    Place::Reserved(place) => rank << RANK_SHIFT | launch.reserved_shared(place),
                    Place::Grid(axis) => self.index[axis],
                    Place::Cluster(axis) => cluster[axis],
                    Place::Within(axis) => within[axis],
                    Place::Rank => rank,
                };
                warp.slot(slot as usize / SLOT).fill(value);
            }
        }
    }

    /// Host address and length of the shared memory.
    pub fn shared(&mut self) -> (u64, u64) {
        (self.shared.as_mut_ptr().expose_provenance() as u64, self.shared_len)
    }

    /// Run every warp that can for a slice. `phase` is that of the cluster's barrier; `number` that of
    /// the CTA in the grid.
    pub fn turn(&mut self, core: &mut Core, phase: u64, number: u64) -> Turn {
        if let Some(sanitizer) = &mut core.sanitizer {
            sanitizer.block = self.order.take();
            if let Some(block) = &mut sanitizer.block {
                block.products_done(&core.tensor.queue);
            }
            sanitizer.grid.enter(number);
        }
        let turn = self.run(core, phase);
        if let Some(sanitizer) = &mut core.sanitizer {
            self.order = sanitizer.block.take();
            if turn == Turn::Ended {
                sanitizer.grid.ended();
            }
        }
        turn
    }

    fn run(&mut self, core: &mut Core, phase: u64) -> Turn {
        core.shared = self.shared.as_mut_ptr().cast();
        core.shared_len = self.shared_len;
        core.cta_index = self.index;
        core.cluster_rank = self.rank;
        core.shared_base = self.rank << RANK_SHIFT;
        let mut ended = true;
        let mut progress = false;
        let mut yielded = false;
        let order = core.schedule.as_mut().map(|schedule| schedule.order(self.warps.len()));
        for turn in 0..self.warps.len() {
            let number = order.as_ref().map_or(turn, |order| order[turn]);
            if self.waits[number].is_some() {
                ended = false;
                continue;
            }
            if let Some(sanitizer) = &mut core.sanitizer {
                sanitizer.warp = number as u32;
            }
            core.warp = number as u32;
            let warp = &mut self.warps[number];
            if warp.ended() {
                continue;
            }
            progress = true;
            match warp.run(core) {
                Pause::Ended => {}
                Pause::Last => ended = false,
                Pause::Yield => {
                    ended = false;
                    yielded = true;
                }
                Pause::Fault => return Turn::Fault { warp: number },
                Pause::Barrier(wait) => {
                    core.tally.barriers += 1;
                    ended = false;
                    if wait.barrier == CLUSTER {
                        if wait.arrive_only {
                            self.at_cluster[number] = Some(phase);
                            warp.release();
                        } else if self.at_cluster[number].is_some_and(|at| at < phase) {
                            self.at_cluster[number] = None;
                            warp.release();
                        } else {
                            self.waits[number] = Some(wait);
                        }
                    } else if wait.arrive_only {
                        self.arrived[wait.barrier as usize & 15] += 32;
                        if let Some(order) = order_of(core) {
                            order.arrive(number, wait.barrier as usize & 15);
                        }
                        warp.release();
                    } else {
                        self.waits[number] = Some(wait);
                    }
                }
            }
        }
        if ended {
            return Turn::Ended;
        }
        let opened = self.open_barriers(core);
        if progress || opened { Turn::Unfinished { yielded } } else { Turn::Stuck }
    }

    /// Whether no warp is missing at the cluster's barrier; one that has ended is not.
    pub fn has_arrived(&self, phase: u64) -> bool {
        let here = |number: usize| self.at_cluster[number] == Some(phase);
        (0..self.warps.len()).all(|number| self.warps[number].ended() || here(number))
    }

    /// The cluster's barrier has come to `phase`: let through whoever waits for that.
    pub fn open(&mut self, phase: u64) -> bool {
        let mut opened = false;
        if let Some(order) = &mut self.order {
            let all: Vec<usize> = (0..self.warps.len()).collect();
            order.barrier(&all, None);
        }
        for number in 0..self.warps.len() {
            let waits = self.waits[number].is_some_and(|wait| wait.barrier == CLUSTER);
            if waits && self.at_cluster[number].is_some_and(|at| at < phase) {
                self.waits[number] = None;
                self.at_cluster[number] = None;
                self.warps[number].release();
                opened = true;
            }
        }
        opened
    }

    pub fn waits(&self) -> bool {
        self.waits.iter().any(Option::is_some)
    }

    /// Let the warps through every barrier that has its threads.
    fn open_barriers(&mut self, core: &mut Core) -> bool {
        let program = core.program;
        let mut opened = false;
        for barrier in 0..16 {
            let mut here = self.arrived[barrier as usize];
            let mut expected = None;
            for wait in self.waits.iter().flatten().filter(|wait| wait.barrier == barrier) {
                here += 32;
                expected = Some(wait.threads);
            }
            let Some(expected) = expected else { continue };
            let full = match expected {
                // All of the CTA: every warp that has not ended (PTX ISA 9.7.13.1).
                0 => {
                    let waits = |number: usize| {
                        self.waits[number].is_some_and(|wait| wait.barrier == barrier)
                    };
                    (0..self.warps.len()).all(|n| self.warps[n].ended() || waits(n))
                }
                threads => here >= threads,
            };
            if full {
                opened = true;
                self.arrived[barrier as usize] = 0;
                let at = |wait: &Option<Wait>| wait.is_some_and(|wait| wait.barrier == barrier);
                let waiting = self.waits.iter().enumerate().filter(|(_, wait)| at(wait));
                let here: Vec<usize> = waiting.map(|(number, _)| number).collect();
                if here.iter().any(|&number| self.waits[number].is_some_and(|wait| wait.reduces)) {
                    let votes = here.iter().map(|&number| self.warps[number].votes(program));
                    let votes = votes.fold((0, 0), |sum, votes| (sum.0 + votes.0, sum.1 + votes.1));
                    here.iter().for_each(|&number| self.warps[number].tell(program, votes));
                }
                // A warp that has returned is not missing where all are meant: it has arrived for good.
                let gone = |number: &usize| expected == 0 && self.warps[*number].ended();
                let met: Vec<usize> =
                    (0..self.warps.len()).filter(gone).chain(here.clone()).collect();
                if let Some(order) = order_of(core) {
                    order.barrier(&met, Some(barrier as usize));
                }
                for number in here {
                    self.waits[number] = None;
                    self.warps[number].release();
                }
            }
        }
        opened
    }

    #[cold]
    pub fn deadlock(&mut self, core: &mut Core) -> Turn {
        let said = self.waits.iter().enumerate();
        let waiting =
            said.filter_map(|(number, wait)| Some(format!("warp {number} {}", (*wait)?))).collect();
        let stuck = self.waits.iter().rposition(Option::is_some).unwrap_or(0);
        core.stop(FaultKind::Deadlock { waiting }, 0);
        Turn::Fault { warp: stuck }
    }

    /// A warp that goes on and on.
    pub fn busy(&self) -> Option<usize> {
        let idle = |number: &usize| self.warps[*number].ended() || self.waits[*number].is_some();
        (0..self.warps.len()).find(|number| !idle(number))
    }

    /// Block and instruction where `warp` stands.
    pub fn place(&self, warp: usize) -> (u32, u32) {
        self.warps[warp].at
    }
}

fn order_of<'a>(core: &'a mut Core) -> Option<&'a mut Block> {
    core.sanitizer.as_mut()?.block.as_deref_mut()
}

/// The 64-bit lanes of a register lie one after the other over two slots.
fn fill_wide(warp: &mut Warp, slot: usize, value: u64) {
    for half in 0..2 {
        for (i, word) in warp.slot(slot + half).iter_mut().enumerate() {
            *word = (value >> (32 * (i % 2))) as u32;
        }
    }
}

fn fill(warp: &mut Warp, slot: usize, preset: Preset, launch: &Launch, number: u32) {
    let mut wide = |value: u64| fill_wide(warp, slot, value);
    match preset {
        Preset::Constant32(value) => warp.slot(slot).fill(value),
        Preset::Constant64(value) => wide(value),
        Preset::Param { offset, bytes } => {
            let mut value = [0u8; 8];
            let from = &launch.params[offset as usize..][..bytes as usize];
            value[..bytes as usize].copy_from_slice(from);
            let value = u64::from_le_bytes(value);
            if bytes == 8 { wide(value) } else { warp.slot(slot).fill(value as u32) }
        }
        Preset::ParamAddress(offset) => wide(launch.params.as_ptr() as u64 + u64::from(offset)),
        // These wait for the CTA's rank.
        Preset::Shared(_) | Preset::Shared64(_) => {}
        Preset::Special(special) if special.is_wide() => wide(special.uniform(launch)),
        Preset::Special(special) => {
            let lanes = warp.slot(slot);
            for (lane, word) in lanes.iter_mut().enumerate() {
                *word = special.of_lane(launch, number, lane as u32);
            }
        }
    }
}

/// What a special register that differs between CTAs says of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Its index in the grid, on an axis.
    Grid(usize),
    /// Its cluster's index.
    Cluster(usize),
    /// Its index in the cluster.
    Within(usize),
    /// Its number in the cluster.
    Rank,
    /// An address in its shared memory, by the offset.
    Shared(u32),
    Shared64(u32),
    /// An address in the system's part of its shared memory.
    Reserved(Reserved),
}

impl Place {
    pub fn of(preset: Preset) -> Option<Self> {
        match preset {
            Preset::Shared(offset) => Some(Self::Shared(offset)),
            Preset::Shared64(offset) => Some(Self::Shared64(offset)),
            Preset::Special(Special::Ctaid(axis)) => Some(Self::Grid(axis.into())),
            Preset::Special(Special::Clusterid(axis)) => Some(Self::Cluster(axis.into())),
            Preset::Special(Special::ClusterCtaid(axis)) => Some(Self::Within(axis.into())),
            Preset::Special(Special::ClusterCtarank) => Some(Self::Rank),
            Preset::Special(Special::ReservedShared(place)) => Some(Self::Reserved(place)),
            _ => None,
        }
    }
}
