//! Each bound of a launch, from its counts.

use emulator::Counters;
use ptx::KernelFacts;

use super::{Terms, facts, life, resident};
use crate::figures::Figures;
use crate::gpus::Gpu;
use crate::launch::Launch;

pub(super) const SECTOR: f64 = 32.0;
/// Bytes of a word, of which spilled registers consist.
const WORD: f64 = 4.0;
/// Sectors that a warp writes when it spills one register.
const SPILLED: f64 = 4.0;

/// What goes through the load-store path.
pub(super) struct Path {
    pub load_lines: u64,
    /// Passes over the banks of L1.
    pub load_passes: u64,
    /// Sectors that L1 did not have.
    pub fetched_sectors: u64,
    pub store_lines: u64,
    /// Sectors written in part, and whole.
    pub partial: u64,
    pub whole: u64,
    /// Lines of local memory.
    pub local_lines: u64,
    pub wavefronts: u64,
    pub shuffles: u64,
    /// Of atomics on shared memory.
    pub atomic_passes: u64,
}

impl Path {
    /// Of one SM, if it did all.
    pub fn cycles(&self, figures: &Figures) -> f64 {
        self.load_passes as f64 * figures.load_pass
            + self.load_lines as f64 * figures.load_line
            + self.fetched_sectors as f64 * figures.load_sector
            + self.store_lines as f64 * figures.store_line
            + self.partial as f64 * figures.store_part
            + self.whole as f64 * figures.store_whole
            + self.local_lines as f64 * figures.local_line
            + self.atomic_passes as f64 * figures.shared_atomic
            + (self.wavefronts + self.shuffles) as f64
    }

    /// Of the whole GPU, in L2.
    pub fn l2_cycles(&self, figures: &Figures) -> f64 {
        let lines = if self.partial > 0 { self.store_lines } else { 0 };
        let cycles = self.partial as f64 * figures.l2_part
            + lines as f64 * figures.l2_line
            + self.whole as f64 * figures.l2_whole;
        cycles * figures.l2_cost
    }
}

/// What bounds one launch.
pub fn terms(gpu: &Gpu, launch: &Launch, kernels: &[KernelFacts]) -> Terms {
    let counted = &launch.counters;
    let figures = &gpu.figures;
    let resident = resident(gpu, launch, kernels);
    let sms = f64::from(gpu.sms);
    let ctas = counted.ctas.max(1) as f64;
    let warps = counted.warps.max(1) as f64;
    // The SM with the most CTAs ends last; work is taken to be spread evenly over CTAs.
    let busiest = (ctas / sms).ceil() / ctas;
    let seconds = |cycles: f64| cycles / gpu.clock();
    let of_busiest = |cycles: f64| seconds(cycles * busiest);

    // Each spilled word is a line of its warp's local memory.
    let spilled = |bytes: fn(&KernelFacts) -> u32| {
        facts(&launch.kernel, kernels).map_or(0.0, |facts| f64::from(bytes(facts)) / WORD * warps)
    };
    let (stored, loaded) =
        (spilled(|facts| facts.spill_store_bytes), spilled(|facts| facts.spill_load_bytes));

    let read = counted.dram_read_sectors as f64 * SECTOR;
    let written = counted.dram_write_sectors as f64 * SECTOR;
    let kept = written.min(figures.kept * gpu.l2_bytes as f64);
    let whole = counted.global_store_sectors.saturating_sub(counted.global_store_partial);
    let load_lines = counted.global_load_lines.max(counted.global_load_requests);
    // `ptxas` finds registers for an array whose indices it knows: then there is no stack.
    let stack = facts(&launch.kernel, kernels).map_or(0, |facts| facts.stack_bytes);
    let resident_threads =
        f64::from(resident.ctas.max(1)) * f64::from(launch.block.iter().product::<u32>());
    // What is written goes through L1; what is read is found there, unless it is too much.
    let lost = (f64::from(stack) * resident_threads / figures.local_l1 - 1.0).clamp(0.0, 1.0);
    let local = |count: u64| if stack > 0 { count as f64 } else { 0.0 };
    let path = Path {
        load_lines,
        load_passes: counted.global_load_passes,
        fetched_sectors: counted.global_load_fetched,
        store_lines: counted.global_store_lines,
        partial: counted.global_store_partial,
        whole,
        local_lines: (local(counted.local_lines) + stored + loaded) as u64,
        wavefronts: counted.shared_joined_wavefronts,
        shuffles: of_class(counted, "shuffle"),
        atomic_passes: counted.shared_atomic_passes,
    };
    let near = local(counted.local_written_sectors) + stored * SPILLED * figures.spills;
    let unfound = counted.local_sectors.saturating_sub(counted.local_written_sectors);
    let from_l2 = counted.global_load_fetched as f64 + local(unfound) * lost;
    let l2 = path.l2_cycles(figures) + from_l2 * figures.l2_read * figures.l2_cost;

    let life = life(gpu, counted, launch.block.iter().product::<u32>().div_ceil(32));
    let barriers = counted.grid_barriers as f64
        * (figures.grid_barrier_ns + ctas * figures.grid_barrier_cta_ns);
    Terms {
        dram: read / (gpu.dram * figures.read_reached)
            + (written - kept + kept * figures.kept_cost) / (gpu.dram * figures.write_reached),
        l2: seconds(l2) + near * SECTOR / (gpu.dram * figures.write_reached),
        lsu: of_busiest(path.cycles(figures)),
        issue: of_busiest(issued(figures, counted)),
        units: of_busiest(unit(figures, counted).1),
        tensor: of_busiest(counted.machine_tensor as f64 / EIGHTHS * figures.tensor_cycles),
        constants: of_busiest(counted.constant_words as f64 * figures.constant_word),
        latency: life.seconds()
            * waves(figures.whole_waves, ctas / (sms * f64::from(resident.ctas.max(1)))),
        dispatch: ctas * figures.dispatch_ns * 1e-9,
        atomics: counted.atomic_passes as f64 / EIGHTHS * figures.atomic_ns * 1e-9,
        added: figures.fill * (life.seconds() - life.start).min(figures.fill_most_ns * 1e-9)
            + barriers * 1e-9,
    }
}

/// Counters of machine instructions are in eighths.
const EIGHTHS: f64 = 8.0;

/// Waves from which on CTAs no longer end together.
const FEW_WAVES: f64 = 4.0;

/// How many times a launch with so many GPUs full of CTAs lasts as long as one of them. A launch too small
/// to fill the SMs has one wave.
fn waves(whole: f64, full: f64) -> f64 {
    if full.ceil() <= FEW_WAVES {
        (whole * full.ceil() + (1.0 - whole) * full).max(1.0)
    } else {
        full + 0.5 * whole
    }
}

fn of_class(counted: &Counters, name: &str) -> u64 {
    counted.by_class.iter().find(|(class, _)| class == name).map_or(0, |(_, count)| *count)
}

/// Cycles of one SM to issue everything.
fn issued(figures: &Figures, counted: &Counters) -> f64 {
    let slots = counted.machine_slots as f64 / EIGHTHS;
    let moves = of_class(counted, "move") as f64 * figures.move_slots;
    let splits = counted.divergent_branches as f64 * figures.split_slots;
    (slots * figures.issued + moves + splits) / 4.0
}

/// The unit that is busy longest, and its cycles.
fn unit(figures: &Figures, counted: &Counters) -> (&'static str, f64) {
    let of = |eighths: u64, rate: f64| eighths as f64 / EIGHTHS / rate;
    let units = [
        ("logic", of(counted.machine_logic, 2.0) * figures.logic),
        ("multiplier", of(counted.machine_multiplier, 2.0) * figures.multiplier),
        ("special", of(counted.machine_special, 0.5) * figures.special),
        ("double", of(counted.machine_double, 2.0)),
    ];
    units.into_iter().fold(("logic", 0.0), |most, unit| if unit.1 > most.1 { unit } else { most })
}

/// The unit that is busy longer than the schedulers.
pub(super) fn narrowest(gpu: &Gpu, counted: &Counters) -> Option<&'static str> {
    let (name, cycles) = unit(&gpu.figures, counted);
    (cycles > issued(&gpu.figures, counted)).then_some(name)
}
