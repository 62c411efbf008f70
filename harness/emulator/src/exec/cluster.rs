//! A cluster: CTAs that run together, see each other's shared memory and have a barrier of their own
//! (PTX ISA 1.2.2, 9.7.13.3). A launch without clusters has clusters of one.
//!
//! One host thread runs all CTAs of a cluster in turns, so what they do to each other's memory needs
//! no locks.

use super::Core;
use super::cta::{Cta, Turn};
use super::deadlock::{self, Deadlock};
use super::grid::Launch;
use super::tcgen05::{Pipe, TensorMemory};
use crate::fault::FaultKind;

pub struct Cluster {
    pub ctas: Vec<Cta>,
    /// Completed phases of the cluster's barrier.
    phase: u64,
    /// Its number in the grid.
    pub number: u64,
    deadlock: Deadlock,
    /// With the core while the cluster runs.
    tensor: Pipe,
}

impl Cluster {
    pub fn new(launch: &Launch) -> Self {
        let size = launch.cluster.iter().product::<u32>();
        let ctas = (0..size).map(|_| Cta::new(launch)).collect();
        let (deadlock, tensor) = (Deadlock::default(), Pipe::new(size));
        Self { ctas, phase: 0, number: 0, deadlock, tensor }
    }

    /// Stand at the entry as cluster `number` of the grid, the first axis fastest.
    pub fn start(&mut self, launch: &Launch, number: u64) {
        self.phase = 0;
        self.number = number;
        self.deadlock.over();
        self.tensor.reset();
        let extent: [u64; 3] =
            std::array::from_fn(|axis| u64::from(launch.grid[axis] / launch.cluster[axis]));
        let index = [
            (number % extent[0]) as u32,
            (number / extent[0] % extent[1]) as u32,
            (number / (extent[0] * extent[1])) as u32,
        ];
        let [width, height, _] = launch.cluster;
        for (rank, cta) in self.ctas.iter_mut().enumerate() {
            let rank = rank as u32;
            let within = [rank % width, rank / width % height, rank / (width * height)];
            cta.start(launch, index, within, rank);
        }
    }

    /// Run every CTA that can for a slice. Of a fault also the CTA.
    pub fn turn(&mut self, core: &mut Core) -> (Turn, usize) {
        std::mem::swap(&mut core.tensor, &mut self.tensor);
        core.clock.hold(self.deadlock.time());
        let turn = self.run(core);
        core.clock.release();
        std::mem::swap(&mut core.tensor, &mut self.tensor);
        turn
    }

    fn run(&mut self, core: &mut Core) -> (Turn, usize) {
        core.peers.clear();
        if self.ctas.len() > 1 {
            core.peers.extend(self.ctas.iter_mut().map(Cta::shared));
        }
        let mut ended = true;
        let mut progress = false;
        let mut yielded = false;
        for rank in 0..self.ctas.len() {
            let number = self.number * self.ctas.len() as u64 + rank as u64;
            match self.ctas[rank].turn(core, self.phase, number) {
                Turn::Ended => {}
                Turn::Stuck => ended = false,
                Turn::Unfinished { yielded: slice } => {
                    ended = false;
                    progress = true;
                    yielded |= slice;
                }
                fault @ Turn::Fault { .. } => return (fault, rank),
            }
        }
        if ended {
            return self
                .has_not_freed(core)
                .map_or((Turn::Ended, 0), |rank| (Turn::Fault { warp: 0 }, rank));
        }
        if self.ctas.iter().all(|cta| cta.has_arrived(self.phase)) {
            self.phase += 1;
            let opened = self.ctas.iter_mut().fold(false, |any, cta| cta.open(self.phase) | any);
            progress |= opened;
        }
        if yielded && self.deadlock.found(core, &mut self.ctas) {
            return self.stands_still(core);
        }
        if progress {
            return (Turn::Unfinished { yielded }, 0);
        }
        let stuck = self.ctas.iter().position(Cta::waits).unwrap_or(0);
        (self.ctas[stuck].deadlock(core), stuck)
    }

    /// All have ended. Where the launch is sanitized, the rank of one that left tensor memory allocated
    /// (PTX ISA 9.7.16.7.1).
    fn has_not_freed(&mut self, core: &mut Core) -> Option<usize> {
        core.sanitizer.as_ref()?;
        let held = |(rank, memory): (usize, &TensorMemory)| Some((rank, memory.held()?));
        let (rank, (columns, ip)) = core.tensor.memories.iter().enumerate().find_map(held)?;
        // Shown where it was allocated: behind the end there is no place.
        let block =
            core.program.blocks.iter().position(|block| (block.first..block.end).contains(&ip));
        self.ctas[rank].warps[0].at = (block.unwrap_or(0) as u32, ip);
        core.stop(FaultKind::TensorNotFreed { columns }, 0);
        Some(rank)
    }

    #[cold]
    fn stands_still(&mut self, core: &mut Core) -> (Turn, usize) {
        let waiting = deadlock::waiting(core, &mut self.ctas);
        let warps = self.ctas.iter_mut().enumerate().flat_map(|(rank, cta)| {
            cta.warps.iter_mut().enumerate().map(move |(number, warp)| (rank, number, warp))
        });
        let mut asking = warps.filter_map(|(rank, number, warp)| {
            // Shown there rather than where it rests between two questions.
            warp.at = warp.polls.filter(|_| !warp.ended())?.at;
            Some((rank, number))
        });
        let (rank, warp) = asking.next().unwrap_or((0, 0));
        core.stop(FaultKind::Deadlock { waiting }, 0);
        (Turn::Fault { warp }, rank)
    }
}
