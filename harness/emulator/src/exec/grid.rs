//! A whole launch: CTAs over host threads.

use std::collections::VecDeque;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Instant;

use super::Core;
use super::Tally;
use super::ThreadPool;
use super::clock::Clock;
use super::cluster::Cluster;
use super::core::{CacheEntry, Wait};
use super::cta::{Cta, Place, Turn};
use super::l1::L1;
use super::launch_control::Waiting;
use super::schedule_rng::ScheduleRng;
use crate::fault::FaultKind;
use crate::memory::Snapshot;
use crate::program::{Program, Slot};
use crate::sanitize::{Earlier, Sanitizer};

/// Slices that a CTA may use up before others get a turn: a long loop is no reason to switch, a
/// spin on another CTA's flag is.
const PATIENCE: u32 = 8;

/// Turns without a slice used up that count as one: a CTA that looks for another one's flag and meets at
/// its own barrier each time uses up none, ever.
const TURNS_PER_SLICE: u32 = 1024;

/// Most clusters that a host thread takes at a time. Neighbours often write the same cache lines, and two
/// processors that do so wait for each other: one by one, a kernel that stores a byte for each warp ran
/// 1.75 times as fast on two threads as on one.
const RUN: u64 = 16;

/// No cluster has failed.
const NONE: u64 = u64::MAX;

/// One launch, checked.
pub struct Launch<'a> {
    pub program: &'a Program,
    pub memory: &'a Snapshot,
    pub grid: [u32; 3],
    pub block: [u32; 3],
    /// CTAs of a cluster; ones if there are no clusters.
    pub cluster: [u32; 3],
    pub dynamic_shared: u32,
    /// Bytes of a thread's stack, for kernels that need one.
    pub stack: u32,
    pub params: &'a [u8],
    /// Where `printf` of the kernel goes.
    pub output: &'a Mutex<Vec<u8>>,
    pub counting: bool,
    /// Only with one host thread.
    pub sanitize: bool,
    /// Host threads to use.
    pub threads: usize,
    /// CTAs that may be under way at a time; the modelled GPU's residency.
    pub resident: usize,
    /// Slots that differ between CTAs.
    pub index_slots: Vec<(Slot, Place)>,
    /// Address of the words that a cooperative launch's grid barrier counts in; else 0.
    pub workspace: u64,
    pub sms: u32,
    /// When the launch is given up.
    pub deadline: Option<Instant>,
    /// What shuffles the order of splits, warps and CTAs; only with one host thread.
    pub seed: Option<u64>,
}

/// Where and why a launch stopped.
pub struct Stopped {
    pub kind: FaultKind,
    pub cta: [u32; 3],
    pub warp: u32,
    pub lane: u32,
    pub mask: u32,
    pub block: u32,
    pub ip: u32,
    /// The other place that has to do with it.
    pub earlier: Option<Earlier>,
}

impl Launch<'_> {
    pub fn threads(&self) -> u32 {
        self.block.iter().product()
    }

    pub fn shared_bytes(&self) -> u32 {
        let program = self.program;
        program.static_shared.next_multiple_of(program.dynamic_align.max(1)) + self.dynamic_shared
    }

    /// The index of a CTA from its number in the order that clusters begin in.
    pub fn index_of(&self, number: u64) -> [u32; 3] {
        let size = self.cluster_size().max(1);
        let (cluster, rank) = (number / size, (number % size) as u32);
        let extent = |axis: usize| u64::from(self.grid[axis] / self.cluster[axis].max(1)).max(1);
        let of = [
            cluster % extent(0),
            cluster / extent(0) % extent(1),
            cluster / (extent(0) * extent(1)),
        ];
        let [width, height, _] = self.cluster;
        let within = [rank % width, rank / width % height, rank / (width * height)];
        std::array::from_fn(|axis| of[axis] as u32 * self.cluster[axis] + within[axis])
    }

    pub fn ctas(&self) -> u64 {
        self.grid.iter().map(|&n| u64::from(n)).product()
    }

    pub fn cluster_size(&self) -> u64 {
        self.cluster.iter().map(|&n| u64::from(n)).product()
    }

    fn clusters(&self) -> u64 {
        self.ctas() / self.cluster_size().max(1)
    }

    /// How many clusters a host thread takes at a time: one, where all may have to be under way together.
    fn run(&self) -> u64 {
        if self.ctas() <= 2 * self.resident as u64 {
            return 1;
        }
        (self.clusters() / (32 * self.threads as u64).max(1)).clamp(1, RUN)
    }

    fn out_of_time(&self) -> bool {
        self.deadline.is_some_and(|deadline| Instant::now() > deadline)
    }

    /// Slots that change from CTA to CTA.
    pub fn index_slots(program: &Program) -> Vec<(Slot, Place)> {
        program
            .presets
            .iter()
            .filter_map(|&(slot, preset)| Some((slot, Place::of(preset)?)))
            .collect()
    }
}

/// Run every CTA. The tally is the same whatever the number of threads.
pub fn run_grid(launch: &Launch, pool: &mut ThreadPool) -> Result<Tally, Box<Stopped>> {
    let next = AtomicU64::new(0);
    let failed = AtomicU64::new(NONE);
    let stopped = Mutex::new(None);
    let total = Mutex::new(Tally::new(launch.program));
    let work = || {
        let result = Host::new(launch, &next, &failed).run();
        match result {
            Ok(tally) => total.lock().unwrap_or_else(|e| e.into_inner()).add(&tally),
            Err(reason) => {
                let mut first = stopped.lock().unwrap_or_else(|e| e.into_inner());
                // Of several faults, the one of the lowest CTA: what a rerun would show too.
                let earlier = |old: &Stopped| order(launch, old.cta) <= order(launch, reason.cta);
                if !first.as_deref().is_some_and(earlier) {
                    *first = Some(reason);
                }
            }
        }
    };
    pool.work(launch.threads.min(launch.ctas() as usize), &work);
    match stopped.into_inner().unwrap_or_else(|e| e.into_inner()) {
        Some(reason) => Err(reason),
        None => Ok(total.into_inner().unwrap_or_else(|e| e.into_inner())),
    }
}

fn order(launch: &Launch, cta: [u32; 3]) -> u64 {
    let [x, y, z] = cta.map(u64::from);
    let [width, height, _] = launch.grid.map(u64::from);
    (z * height + y) * width + x
}

/// One host thread's share of a launch.
struct Host<'a> {
    launch: &'a Launch<'a>,
    next: &'a AtomicU64,
    /// The lowest number of a cluster that failed. Those below it still run, so that of several faults
    /// the same one is found whatever the threads do.
    failed: &'a AtomicU64,
    /// Numbers that it has taken.
    run: std::ops::Range<u64>,
    core: Core<'a>,
    /// Clusters that gave up their turn, oldest first.
    suspended: VecDeque<Cluster>,
    /// Clusters that have ended, whose registers can serve again.
    idle: Vec<Cluster>,
    /// The order in which clusters begin, where it is left to chance.
    order: Option<Vec<usize>>,
}

impl<'a> Host<'a> {
    fn new(launch: &'a Launch<'a>, next: &'a AtomicU64, failed: &'a AtomicU64) -> Self {
        let program = launch.program;
        let core = Core {
            lane_masks: [0; 32],
            registers: std::ptr::null_mut(),
            mask: 0,
            live: 0,
            program,
            memory: launch.memory,
            caches: vec![CacheEntry::default(); program.caches()],
            shared: std::ptr::null_mut(),
            shared_len: 0,
            peers: Vec::new(),
            local: std::ptr::null_mut(),
            local_len: program.local_len(launch.stack).into(),
            pending: std::ptr::null_mut(),
            in_flight: std::ptr::null_mut(),
            defined: std::ptr::null_mut(),
            fragments: None,
            schedule: launch.seed.map(ScheduleRng::new),
            sanitizer: launch.sanitize.then(|| Box::new(Sanitizer::new(launch.ctas()))),
            output: launch.output,
            counting: launch.counting,
            tally: Tally::new(program),
            l1: L1::default(),
            wait: Wait::default(),
            fault: None,
            wanted: 0,
            polled: None,
            cta_index: [0; 3],
            cluster_rank: 0,
            warp: 0,
            waiting: Waiting::new(launch, next),
            tensor: super::tcgen05::Pipe::default(),
            shared_base: 0,
            clock: Clock::default(),
        };
        let suspended = VecDeque::new();
        let mut host = Self {
            launch,
            next,
            failed,
            run: 0..0,
            core,
            suspended,
            idle: Vec::new(),
            order: None,
        };
        let clusters = launch.clusters() as usize;
        host.order = host.core.schedule.as_mut().map(|schedule| schedule.order(clusters));
        host
    }

    fn run(mut self) -> Result<Tally, Box<Stopped>> {
        let together = self.launch.threads.max(1) * self.launch.cluster_size() as usize;
        let share = self.launch.resident.div_ceil(together).max(1);
        loop {
            let room = self.suspended.len() < share;
            let fresh = if room && (self.suspended.is_empty() || !self.coin()) {
                self.begin()
            } else {
                None
            };
            // One that has been left may well be waiting for another: it gets a single slice.
            let patience = if fresh.is_some() { PATIENCE } else { 1 };
            let Some(mut cluster) = fresh.or_else(|| self.resume()) else { break };
            if self.work_on(&mut cluster, patience)? {
                self.idle.push(cluster);
            } else {
                self.suspended.push_back(cluster);
            }
        }
        Ok(self.core.tally)
    }

    fn coin(&mut self) -> bool {
        self.core.schedule.as_mut().is_some_and(ScheduleRng::coin)
    }

    fn has_failed(&self) -> bool {
        self.failed.load(Relaxed) != NONE
    }

    /// A cluster that gave up its turn: the one that has waited longest, or any. Not after a fault: what
    /// they wait for may never come.
    fn resume(&mut self) -> Option<Cluster> {
        if self.has_failed() {
            return None;
        }
        match &mut self.core.schedule {
            Some(schedule) => self.suspended.remove(schedule.below(self.suspended.len())),
            None => self.suspended.pop_front(),
        }
    }

    /// Run a cluster to its end (true), or until it has gone on for long without one.
    fn work_on(&mut self, cluster: &mut Cluster, mut patience: u32) -> Result<bool, Box<Stopped>> {
        let mut turns = 0;
        loop {
            match cluster.turn(&mut self.core) {
                (Turn::Ended, _) => return Ok(true),
                (Turn::Fault { warp }, rank) => return Err(self.stopped(cluster, rank, warp)),
                (Turn::Unfinished { yielded: false } | Turn::Stuck, _)
                    if turns < TURNS_PER_SLICE =>
                {
                    turns += 1;
                }
                (Turn::Unfinished { .. } | Turn::Stuck, _) => {
                    turns = 0;
                    if self.has_failed() {
                        return Ok(false);
                    }
                    if self.launch.out_of_time() {
                        let what = "the time that it may take".to_owned();
                        self.core.stop(FaultKind::Budget { what }, 0);
                        let busy = |(rank, cta): (usize, &Cta)| Some((rank, cta.busy()?));
                        let found = cluster.ctas.iter().enumerate().find_map(busy);
                        let (rank, warp) = found.unwrap_or((0, 0));
                        return Err(self.stopped(cluster, rank, warp));
                    }
                    patience -= 1;
                    if patience == 0 {
                        // It may wait for a CTA of a host thread that has no processor now.
                        std::thread::yield_now();
                        return Ok(false);
                    }
                }
            }
        }
    }

    #[cold]
    fn stopped(&mut self, cluster: &Cluster, rank: usize, warp: usize) -> Box<Stopped> {
        self.failed.fetch_min(cluster.number, Relaxed);
        let unknown = || Box::new((FaultKind::Trap { message: None }, 0));
        let (kind, lane) = *self.core.fault.take().unwrap_or_else(unknown);
        let cta = &cluster.ctas[rank];
        let (block, ip) = cta.place(warp);
        let mask = self.core.mask;
        let earlier = self.core.sanitizer.as_mut().and_then(|sanitizer| sanitizer.earlier.take());
        let cta = cta.index;
        Box::new(Stopped { kind, cta, warp: warp as u32, lane, mask, block, ip, earlier })
    }

    fn begin(&mut self) -> Option<Cluster> {
        let size = self.launch.cluster_size();
        let clusters = self.launch.clusters();
        if self.run.is_empty() {
            let run = self.launch.run();
            let first = self.next.fetch_add(run, Relaxed);
            self.run = first..clusters.min(first.saturating_add(run));
        }
        let number = self.run.next().filter(|&number| number < self.failed.load(Relaxed))?;
        let mut cluster = self.idle.pop().unwrap_or_else(|| Cluster::new(self.launch));
        let number = self.order.as_ref().map_or(number, |order| order[number as usize] as u64);
        cluster.start(self.launch, number);
        self.core.l1.clear();
        self.core.tally.ctas += size;
        self.core.tally.warps += size * u64::from(self.launch.threads().div_ceil(32));
        Some(cluster)
    }
}
