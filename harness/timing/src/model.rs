//! The time of a call, modelled from what the emulator counted.
//!
//! A launch takes about as long as the slowest of what it cannot do without: the others hide behind
//! it, though not perfectly. `docs/measuring.md` has the reasons, the sources and the known errors:
//!
//! ```text
//! dram     bytes to and from memory / what a streaming kernel reaches of the bandwidth
//! lsu      sectors through an SM's load-store path: a cycle for one of which a word is used, a
//!          quarter for one used whole; and passes over shared memory
//! issue    warp instructions of the busiest SM, four a cycle, or the narrowest unit among them
//! latency  rounds of resident warps x the life of one: its CTA's start, waits for memory, shuffles,
//!          instructions
//! launch   the cost of starting, once a call and a little for each further kernel
//! ```
//!
//! The constants are fitted to 12 times of four kernels measured on an H200, which come out within
//! 6 %, 3.3 % in the root mean square (a test holds them there). For other GPUs and other kinds of
//! kernels they are an extrapolation. So: times to rank kernels by and to see what to work on, not
//! what a GPU would measure, and everything that shows one says so.

use emulator::{Counters, LineCounters, Traffic};
use serde::Serialize;

use crate::Launch;
use crate::gpus::Gpu;
use crate::occupancy::{Demand, Occupancy, occupancy};
use ptx::KernelFacts;

/// What streaming kernels reach of the data sheet's bandwidth.
const DRAM_REACHED: f64 = 0.90;
const SECTOR: f64 = 32.0;
/// Cycles of the load-store path for a sector that is used whole: it moves 128 bytes a cycle.
const DENSE_SECTOR: f64 = 0.25;
/// For a sector of which one 4-byte word is used, or less: neighbouring lanes are then in different
/// lines, which come one by one.
const SPARSE_SECTOR: f64 = 1.0;
const WORD: f64 = 4.0;
/// Of an SM, per cycle: one of each scheduler.
const ISSUED_PER_CYCLE: f64 = 4.0;
/// Warp instructions of an SM per cycle, of classes whose units are narrower than that.
const NARROW: [(&str, f64); 4] =
    [("special", 0.5), ("shuffle", 1.0), ("convert", 2.0), ("double", 2.0)];
/// From a load to its value, from DRAM, under load.
pub const MEMORY_LATENCY: f64 = 550e-9;
/// From the end of one CTA to the first instruction of the next in its place.
const CTA_START: f64 = 300e-9;
/// Loads of one warp that wait at the same time. A guess: none of the kernels measured tells.
const LOADS_IN_FLIGHT: f64 = 8.0;
/// Cycles from one instruction of a warp to its next: a latency of four, two independent chains.
const CYCLES_PER_INSTRUCTION: f64 = 2.0;
/// Cycles until another lane's value has arrived.
const SHUFFLE_CYCLES: f64 = 23.0;
/// Exponent of the norm that joins the terms. Infinity would be their maximum, which tells two
/// kernels apart only by their slowest term; at 6 two equal terms cost 12 % more than one.
const OVERLAP: f64 = 6.0;
/// From the event before the first launch to the one after it, with nothing to do.
const FIRST_LAUNCH: f64 = 4.4e-6;
/// A guess, as the kernels measured launch once.
const FURTHER_LAUNCH: f64 = 1.0e-6;
/// Registers of a kernel that `ptxas` said nothing of.
const UNKNOWN_REGISTERS: u32 = 32;

/// What bounds a launch from below, seconds each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Terms {
    pub dram: f64,
    pub lsu: f64,
    pub issue: f64,
    pub latency: f64,
}

impl Terms {
    /// That one of them.
    pub fn of(&self, limiter: &str) -> f64 {
        self.named().into_iter().find(|(_, name)| *name == limiter).map_or(0.0, |(term, _)| term)
    }

    /// Each with that of another.
    pub fn zip(&self, other: &Self, f: impl Fn(f64, f64) -> f64) -> Self {
        Self {
            dram: f(self.dram, other.dram),
            lsu: f(self.lsu, other.lsu),
            issue: f(self.issue, other.issue),
            latency: f(self.latency, other.latency),
        }
    }

    fn named(&self) -> [(f64, &'static str); 4] {
        [(self.dram, "dram"), (self.lsu, "lsu"), (self.issue, "issue"), (self.latency, "latency")]
    }

    /// The name of the slowest.
    pub fn limiter(&self) -> &'static str {
        let named = self.named().into_iter().max_by(|a, b| a.0.total_cmp(&b.0));
        named.map_or("launch", |(_, name)| name)
    }

    /// The launch's time: the slowest, and a little for those that come near it.
    pub fn seconds(&self) -> f64 {
        let slowest = self.named().into_iter().fold(0.0, |most: f64, (term, _)| most.max(term));
        if slowest == 0.0 {
            return 0.0;
        }
        let sum: f64 = self.named().iter().map(|(term, _)| (term / slowest).powf(OVERLAP)).sum();
        slowest * sum.powf(1.0 / OVERLAP)
    }
}

/// A call's modelled time.
#[derive(Clone, Debug, PartialEq)]
pub struct Modelled {
    pub seconds: f64,
    /// What limits the launch that takes longest: "dram", "lsu", "issue", "latency", or "launch"
    /// where starting takes longer than all of them.
    pub limiter: &'static str,
    /// Of the launch that has the least: see [`crate::report::BenchReport::occupancy`].
    pub occupancy: f64,
}

/// Models one call: its launches in order, one after the other.
pub fn call(gpu: &Gpu, launches: &[Launch], kernels: &[KernelFacts]) -> Modelled {
    let times: Vec<(f64, &'static str)> = launches
        .iter()
        .map(|launch| terms(gpu, launch, kernels))
        .map(|terms| (terms.seconds(), terms.limiter()))
        .collect();
    let running: f64 = times.iter().map(|(seconds, _)| seconds).sum();
    let starting = FIRST_LAUNCH + FURTHER_LAUNCH * launches.len().saturating_sub(1) as f64;
    let longest = times.into_iter().max_by(|a, b| a.0.total_cmp(&b.0));
    let limiter = match longest {
        Some((_, limiter)) if running > starting => limiter,
        _ => "launch",
    };
    let shares = launches.iter().map(|launch| {
        f64::from(resident(gpu, launch, kernels).warps) / f64::from(gpu.warps.max(1))
    });
    Modelled { seconds: running + starting, limiter, occupancy: shares.fold(1.0, f64::min) }
}

/// What of a launch is on one SM at the same time.
pub fn resident(gpu: &Gpu, launch: &Launch, kernels: &[KernelFacts]) -> Occupancy {
    let registers = facts(&launch.kernel, kernels).map(|facts| facts.registers);
    occupancy(
        gpu,
        Demand {
            threads: launch.block.iter().product(),
            registers: registers.unwrap_or(UNKNOWN_REGISTERS),
            shared: launch.counters.static_shared + launch.dynamic_shared,
        },
    )
}

/// What bounds one launch.
pub fn terms(gpu: &Gpu, launch: &Launch, kernels: &[KernelFacts]) -> Terms {
    let counted = &launch.counters;
    let resident = resident(gpu, launch, kernels);
    let sms = f64::from(gpu.sms);
    let ctas = counted.ctas.max(1) as f64;
    // The SM with the most CTAs ends last; work is taken to be spread evenly over CTAs.
    let busiest = (ctas / sms).ceil() / ctas;
    let cycles = |count: f64| count / gpu.clock();

    let dram = (counted.dram_read_sectors + counted.dram_write_sectors) as f64 * SECTOR;
    let lsu =
        path(counted.global_load_requests, counted.global_load_sectors, counted.global_load_bytes)
            + path(
                counted.global_store_requests,
                counted.global_store_sectors,
                counted.global_store_bytes,
            )
            + counted.local_sectors as f64 * DENSE_SECTOR
            + counted.shared_wavefronts as f64;

    let warps = counted.warps.max(1) as f64;
    // A launch too small to fill the SMs has one round; a fraction of one cannot be.
    let rounds = (warps / (sms * f64::from(resident.warps.max(1)))).max(1.0);
    let class = |name: &str| of_class(counted, name);
    let (issue, _) = issue(counted.warp_instructions, class);

    Terms {
        dram: dram / (gpu.dram * DRAM_REACHED),
        lsu: cycles(lsu * busiest),
        issue: cycles(issue * busiest),
        latency: rounds * life(gpu, counted).seconds(),
    }
}

/// What a warp does with its time, seconds each, on average over a launch.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Life {
    /// Until its CTA runs.
    pub start: f64,
    /// Waiting for global memory.
    pub memory: f64,
    /// Instructions, one after the other, and shuffles.
    pub chain: f64,
}

impl Life {
    pub fn seconds(&self) -> f64 {
        self.start + self.memory + self.chain
    }

    /// In microseconds.
    pub fn micros(self) -> Self {
        Self { start: self.start * 1e6, memory: self.memory * 1e6, chain: self.chain * 1e6 }
    }
}

/// The life of a warp.
pub fn life(gpu: &Gpu, counted: &Counters) -> Life {
    let warps = counted.warps.max(1) as f64;
    let waits = (counted.global_load_requests as f64 / warps / LOADS_IN_FLIGHT).ceil();
    let instructions = counted.warp_instructions as f64 / warps;
    let shuffles = of_class(counted, "shuffle") / warps;
    let chain = instructions * CYCLES_PER_INSTRUCTION + shuffles * SHUFFLE_CYCLES;
    Life { start: CTA_START, memory: waits * MEMORY_LATENCY, chain: chain / gpu.clock() }
}

/// What `ptxas` says of a kernel, by its name in the PTX or as its author wrote it.
pub fn facts<'a>(kernel: &str, kernels: &'a [KernelFacts]) -> Option<&'a KernelFacts> {
    kernels.iter().find(|facts| facts.mangled == kernel || facts.name == kernel)
}

fn of_class(counted: &Counters, name: &str) -> f64 {
    let found = counted.by_class.iter().find(|(class, _)| class == name);
    found.map_or(0.0, |(_, count)| *count as f64)
}

/// Cycles of one SM to issue that many instructions, and the class whose unit is narrower than that.
fn issue(instructions: u64, class: impl Fn(&str) -> f64) -> (f64, Option<&'static str>) {
    let all = (instructions as f64 / ISSUED_PER_CYCLE, None);
    NARROW.into_iter().fold(all, |most, (name, rate)| {
        let cycles = class(name) / rate;
        if cycles > most.0 { (cycles, Some(name)) } else { most }
    })
}

/// The class whose unit limits the `issue` term of a launch; `None` where the schedulers do.
pub fn narrowest(counted: &Counters) -> Option<&'static str> {
    issue(counted.warp_instructions, |name| of_class(counted, name)).1
}

/// What one line adds to each term, where `unit` is the [`narrowest`]. To be compared with other lines
/// of the same kernel only: nothing is divided by what they have in common.
pub fn weights(gpu: &Gpu, line: &LineCounters, unit: Option<&str>) -> Terms {
    let class = |name: &str| {
        let found = line.by_class.iter().find(|(class, _)| class.name() == name);
        found.map_or(0.0, |(_, count)| *count as f64)
    };
    let instructions = line.warp_instructions as f64;
    let Traffic { load, store, .. } = line.traffic;
    let chain = instructions * CYCLES_PER_INSTRUCTION + class("shuffle") * SHUFFLE_CYCLES;
    Terms {
        dram: (load.fresh + store.fresh) as f64,
        lsu: path(load.requests, load.sectors, load.bytes)
            + path(store.requests, store.sectors, store.bytes)
            + line.traffic.local_sectors as f64 * DENSE_SECTOR
            + line.traffic.shared_wavefronts as f64,
        issue: unit.map_or(instructions, class),
        latency: load.requests as f64 / LOADS_IN_FLIGHT * MEMORY_LATENCY + chain / gpu.clock(),
    }
}

/// Cycles of an SM's load-store path: at least one for each request, and each sector by how much
/// of it is used.
fn path(requests: u64, sectors: u64, bytes: u64) -> f64 {
    let (requests, sectors) = (requests as f64, sectors as f64);
    if sectors == 0.0 {
        return requests;
    }
    let word = WORD / SECTOR;
    let beyond = ((bytes as f64 / (sectors * SECTOR) - word) / (1.0 - word)).clamp(0.0, 1.0);
    let cost = SPARSE_SECTOR + (DENSE_SECTOR - SPARSE_SECTOR) * beyond;
    requests.max(sectors * cost)
}

#[cfg(test)]
#[path = "model_tests.rs"]
mod tests;
