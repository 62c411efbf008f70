//! The time of a call, modelled from what the emulator counted.
//!
//! A launch takes about as long as the slowest of what it cannot do without: the others hide behind it,
//! though not perfectly. `docs/measuring.md` has each term with its reason:
//!
//! ```text
//! dram       bytes to and from memory, over what a GPU reaches of its bandwidth
//! l2         sectors between the SMs and L2; stores of parts of sectors cost it most
//! lsu        lines and passes over banks on the busiest SM's load-store path
//! issue      machine instructions of that SM, four a cycle
//! units      the narrowest of its units: logic, multiplier, special functions, doubles
//! tensor     products of 16 x 8 x 16 on its tensor cores
//! constants  words of constant memory, one after the other
//! latency    waves of CTAs x the life of a warp: waits for memory, barriers, chains of instructions
//! dispatch   CTAs, which one unit of the GPU hands out one by one
//! atomics    updates that wait for each other in one slice of L2
//! ```
//!
//! The rest adds up: starting a call, starting each further launch, filling the GPU with the first warps,
//! and barriers of the whole grid.
//!
//! The constants are fitted to the calibration set (`harness/timing/calibration`): some 700 calls of 330
//! kernels, timed on an H200 and counted by the emulator. `tests/calibration.rs` holds the model to it.
//! For other GPUs the figures of `gpus.toml` take the place of the H200's, and no more than that is known.

mod bounds;
mod life;
mod terms;

use emulator::{Counters, LineCounters, Traffic};
use ptx::KernelFacts;

pub use self::bounds::terms;
pub use self::life::{Life, life};
pub use self::terms::{Limiter, Terms};
use crate::gpus::Gpu;
use crate::launch::Launch;
use crate::occupancy::{Demand, Occupancy, occupancy};

/// Two kernels of one problem whose modelled times differ by less than this share may be in either order on a
/// GPU: `tests/calibration` counts how often they are.
pub const APART: f64 = 0.15;

/// Registers of a kernel that `ptxas` said nothing of.
const UNKNOWN_REGISTERS: u32 = 32;

/// A call's modelled time.
#[derive(Clone, Debug, PartialEq)]
pub struct Modelled {
    pub seconds: f64,
    /// What limits the launch that takes longest, or [`Limiter::Launch`] where starting takes longer than
    /// all of them.
    pub limiter: Limiter,
    /// Of the launch that has the least: the share of an SM's warps that are resident.
    pub occupancy: f64,
}

/// Models one call: its launches in order, one after the other.
pub fn call(gpu: &Gpu, launches: &[Launch], kernels: &[KernelFacts]) -> Modelled {
    let times: Vec<(f64, Limiter)> = launches
        .iter()
        .map(|launch| terms(gpu, launch, kernels))
        .map(|terms| (terms.seconds(gpu), terms.limiter()))
        .collect();
    let running: f64 = times.iter().map(|(seconds, _)| seconds).sum();
    let further = launches.len().saturating_sub(1) as f64;
    let starting = (gpu.figures.launch_ns + gpu.figures.further_launch_ns * further) * 1e-9;
    let longest = times.into_iter().max_by(|a, b| a.0.total_cmp(&b.0));
    let limiter = match longest {
        Some((_, limiter)) if running > starting => limiter,
        _ => Limiter::Launch,
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

/// What `ptxas` says of a kernel, by its name in the PTX or as its author wrote it.
pub fn facts<'a>(kernel: &str, kernels: &'a [KernelFacts]) -> Option<&'a KernelFacts> {
    kernels.iter().find(|facts| facts.mangled == kernel || facts.name == kernel)
}

/// The unit that takes longer than issuing everything; `None` where the schedulers do.
pub fn narrowest(gpu: &Gpu, counted: &Counters) -> Option<&'static str> {
    bounds::narrowest(gpu, counted)
}

/// What one line adds to each term. To be compared with other lines of the same kernel only: nothing is
/// divided by what they have in common.
pub fn weights(gpu: &Gpu, line: &LineCounters, unit: Option<&str>) -> Terms {
    let class = |names: &[&str]| {
        let of = line.by_class.iter().filter(|(class, _)| names.contains(&class.name()));
        of.map(|(_, count)| *count as f64).sum::<f64>()
    };
    let instructions = line.warp_instructions as f64;
    let Traffic { load, store, .. } = line.traffic;
    let path = bounds::Path {
        load_lines: load.lines.max(load.requests),
        load_passes: line.traffic.load_passes,
        fetched_sectors: line.traffic.load_fetched,
        store_lines: store.lines,
        partial: store.partial,
        whole: store.sectors - store.partial.min(store.sectors),
        local_lines: line.traffic.local_lines,
        wavefronts: line.traffic.shared_wavefronts,
        shuffles: class(&["shuffle"]) as u64,
        atomic_passes: line.traffic.shared_atomic_passes,
    };
    let waits = load.requests as f64 * gpu.figures.latency_ns * 1e-9;
    Terms {
        dram: (load.fresh + store.fresh) as f64,
        l2: path.l2_cycles(&gpu.figures) + line.traffic.local_written as f64,
        lsu: path.cycles(&gpu.figures),
        issue: instructions,
        units: match unit {
            Some("special") => class(&["special", "convert"]),
            Some("double") => class(&["double"]),
            _ => class(&["integer", "compare", "convert"]),
        },
        tensor: class(&["matrix"]),
        constants: line.traffic.constant_words as f64,
        latency: waits + instructions * gpu.figures.chain / gpu.clock(),
        dispatch: instructions,
        atomics: line.traffic.atomics as f64,
        added: 0.0,
    }
}

#[cfg(test)]
#[path = "model_tests.rs"]
mod tests;
