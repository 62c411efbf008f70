//! One kernel of a call: its counts, how it fills the GPU, and what bounds it.

use emulator::{Counters, KernelProfile};
use serde::Serialize;

use super::lines::{self, LineReport, Sources};
use ptx::KernelFacts;
use timing::Launch;
use timing::gpus::Gpu;
use timing::model::{self, Life, Limiter, Terms};

/// All launches of one kernel in a call.
#[derive(Clone, Debug, Serialize)]
pub struct KernelReport {
    /// As its author wrote it, without parameters.
    pub name: String,
    pub mangled: String,
    pub launches: u64,
    /// Of the launch that takes longest.
    pub grid: [u32; 3],
    pub block: [u32; 3],
    pub dynamic_shared: u32,
    /// What `ptxas` says of it.
    pub facts: Option<KernelFacts>,
    pub modelled_us: f64,
    /// What each resource alone would take, microseconds.
    pub terms_us: Terms,
    /// Of an average warp of the launch that takes longest, microseconds.
    pub life_us: Life,
    /// The slowest of the terms.
    pub limiter: Limiter,
    /// The class whose unit is busier than the schedulers, where there is one.
    pub narrow_unit: Option<&'static str>,
    pub counters: Counters,
    pub residency: Residency,
    pub in_flight: InFlight,
    pub caches: Caches,
    /// The most expensive first.
    pub lines: Vec<LineReport>,
}

/// How many warps one SM holds at a time, in the launch that takes longest.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Residency {
    /// That fit.
    pub ctas: u32,
    pub warps: u32,
    /// What keeps another CTA out: "warps", "CTAs", "registers", "shared memory".
    pub limit: &'static str,
    /// That any kernel can have.
    pub most_warps: u32,
    /// That there are: fewer than fit where the grid is small.
    pub present: f64,
}

/// Bytes on their way from DRAM to one SM while its warps wait, and what it takes to keep DRAM busy:
/// by Little's law its share of the bandwidth times the latency.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct InFlight {
    /// Of a warp, on average: those of one basic block that do not need each other's values.
    pub loads: f64,
    pub bytes: f64,
    pub needed_bytes: f64,
}

/// What L1 and L2 save DRAM, if they keep what was read. How soon it is asked for again is not modelled,
/// so where a launch reads more than L2 holds, the hits are a bound.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Caches {
    /// Share of the sectors read that the launch had touched before, 0 to 1.
    pub hits: f64,
    /// Distinct bytes that a launch reads, on average.
    pub footprint_bytes: f64,
    pub l2_bytes: u64,
}

const SECTOR: f64 = 32.0;

/// The kernels of a call, the one that takes longest first.
pub fn reports(
    gpu: &Gpu,
    launches: &[Launch],
    profiles: &[KernelProfile],
    facts: &[KernelFacts],
    sources: &mut Sources,
) -> Vec<KernelReport> {
    let mut names: Vec<&str> = Vec::new();
    for launch in launches {
        if !names.contains(&launch.kernel.as_str()) {
            names.push(&launch.kernel);
        }
    }
    let mut reports: Vec<KernelReport> = names
        .into_iter()
        .filter_map(|name| {
            let own: Vec<&Launch> = launches.iter().filter(|one| one.kernel == name).collect();
            let profile = profiles.iter().find(|profile| profile.kernel == name);
            report(gpu, &own, profile, facts, sources)
        })
        .collect();
    reports.sort_by(|a, b| b.modelled_us.total_cmp(&a.modelled_us));
    reports
}

/// `None` without a launch.
fn report(
    gpu: &Gpu,
    launches: &[&Launch],
    profile: Option<&KernelProfile>,
    kernels: &[KernelFacts],
    sources: &mut Sources,
) -> Option<KernelReport> {
    let mut counters = Counters::default();
    let mut sum = Terms::default();
    let mut seconds = 0.0;
    let mut longest: Option<(f64, &Launch)> = None;
    for &launch in launches {
        let terms = model::terms(gpu, launch, kernels);
        counters.add(&launch.counters);
        sum = sum.zip(&terms, |a, b| a + b * 1e6);
        seconds += terms.seconds(gpu);
        if longest.is_none_or(|(most, _)| terms.seconds(gpu) > most) {
            longest = Some((terms.seconds(gpu), launch));
        }
    }
    let (_, longest) = longest?;
    let resident = model::resident(gpu, longest, kernels);
    let sms = f64::from(gpu.sms);
    let present = (longest.counters.warps as f64 / sms).min(f64::from(resident.warps));
    let rounds = profile.map_or(0, |profile| profile.load_rounds).max(1) as f64;
    let unit = model::narrowest(gpu, &counters);
    let limiter = sum.limiter();
    Some(KernelReport {
        name: toolchain::compile::readable(&longest.kernel),
        mangled: longest.kernel.clone(),
        launches: launches.len() as u64,
        grid: longest.grid,
        block: longest.block,
        dynamic_shared: longest.dynamic_shared,
        facts: model::facts(&longest.kernel, kernels).cloned(),
        modelled_us: seconds * 1e6,
        terms_us: sum,
        life_us: model::life(
            gpu,
            &longest.counters,
            longest.block.iter().product::<u32>().div_ceil(32),
        )
        .micros(),
        limiter,
        narrow_unit: unit,
        residency: Residency {
            ctas: resident.ctas,
            warps: resident.warps,
            limit: resident.limit.name(),
            most_warps: gpu.warps,
            present,
        },
        in_flight: InFlight {
            loads: counters.global_load_requests as f64 / rounds,
            bytes: present * counters.dram_read_sectors as f64 * SECTOR / rounds,
            needed_bytes: gpu.dram * gpu.figures.latency_ns * 1e-9 / sms,
        },
        caches: Caches {
            hits: match counters.global_load_sectors {
                0 => 0.0,
                read => (1.0 - counters.dram_read_sectors as f64 / read as f64).max(0.0),
            },
            footprint_bytes: counters.dram_read_sectors as f64 * SECTOR / launches.len() as f64,
            l2_bytes: gpu.l2_bytes,
        },
        lines: profile.map_or_else(Vec::new, |profile| {
            lines::lines(profile, sources, limiter, |line| model::weights(gpu, line, unit))
        }),
        counters,
    })
}
