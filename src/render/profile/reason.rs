//! What bounds a call, in a sentence that names the numbers it rests on.

use emulator::Counters;
use judge::profile::{KernelReport, Profile};
use timing::model::Limiter;

use super::{super::words, SECTOR};

/// Where a call stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    Memory,
    Compute,
    Latency,
    Launch,
}

impl Bound {
    /// `None` where nothing was counted.
    pub fn of(profile: &Profile) -> Option<Self> {
        Some(match profile.limiter? {
            Limiter::Dram | Limiter::L2 | Limiter::Lsu | Limiter::Constants | Limiter::Atomics => {
                Self::Memory
            }
            Limiter::Issue | Limiter::Units | Limiter::Tensor => Self::Compute,
            Limiter::Latency => Self::Latency,
            Limiter::Dispatch | Limiter::Launch => Self::Launch,
        })
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::Compute => "compute",
            Self::Latency => "latency",
            Self::Launch => "launch",
        }
    }
}

/// Moving so many times what must move is as good as it gets.
const ALL_BUT: f64 = 1.05;

pub fn sentence(bound: Bound, profile: &Profile) -> String {
    let Some(kernel) = profile.kernels.first() else { return String::new() };
    match (bound, kernel.limiter) {
        (Bound::Launch, Limiter::Dispatch) => format!(
            "The GPU hands out {} one by one, which takes {}: fewer and larger ones would do.",
            words::count(kernel.counters.ctas, "block"),
            words::micros(kernel.terms_us.dispatch)
        ),
        (Bound::Launch, _) => {
            let running: f64 = profile.kernels.iter().map(|kernel| kernel.modelled_us).sum();
            format!(
                "Starting takes {} of it, and the kernels {}: at this size there is little to gain \
                 in them.",
                words::micros(profile.modelled_us - running),
                words::micros(running)
            )
        }
        (Bound::Memory, Limiter::Dram) => dram(profile, kernel),
        (Bound::Memory, Limiter::Constants) => constants(kernel),
        (Bound::Memory, Limiter::Atomics) => atomics(kernel),
        (Bound::Memory, _) => path(kernel),
        (Bound::Compute, Limiter::Tensor) => tensor(kernel),
        (Bound::Compute, _) => issue(kernel),
        (Bound::Latency, _) => latency(kernel),
    }
}

fn dram(profile: &Profile, kernel: &KernelReport) -> String {
    let moved: u64 = profile
        .kernels
        .iter()
        .map(|kernel| {
            (kernel.counters.dram_read_sectors + kernel.counters.dram_write_sectors) * SECTOR
        })
        .sum();
    let must = profile.floor.bytes;
    let busy = words::micros(kernel.terms_us.dram);
    let moved_text = words::bytes(moved);
    if moved as f64 <= ALL_BUT * must {
        format!(
            "DRAM is busy for {busy} with {moved_text}, and that much must move: this is nearly all \
             there is to gain."
        )
    } else {
        format!(
            "DRAM is busy for {busy} with {moved_text}; {} would do.",
            words::bytes(must as u64)
        )
    }
}

fn path(kernel: &KernelReport) -> String {
    let counters = &kernel.counters;
    let sectors = counters.global_load_sectors + counters.global_store_sectors;
    let asked = counters.global_load_bytes + counters.global_store_bytes;
    if counters.shared_wavefronts > sectors {
        let conflicts = conflicts(kernel);
        return format!(
            "Shared memory takes {} over its banks, {} of them for conflicts.",
            passes(counters.shared_wavefronts),
            words::percent(100.0 * conflicts as f64 / counters.shared_wavefronts.max(1) as f64)
        );
    }
    format!(
        "Not by DRAM but by the L1 to L2 path, which moves {} in sectors of 32 bytes where lanes asked \
         for {}.",
        words::bytes(sectors * SECTOR),
        words::bytes(asked)
    )
}

fn constants(kernel: &KernelReport) -> String {
    let Counters { constant_words, constant_requests, .. } = kernel.counters;
    format!(
        "Constant memory gives one word at a time, and a warp asks for {:.1} different ones.",
        constant_words as f64 / constant_requests.max(1) as f64
    )
}

fn atomics(kernel: &KernelReport) -> String {
    format!(
        "Atomic updates wait for each other in L2 for {}: they go to one address, or to few that lie \
         together.",
        words::micros(kernel.terms_us.atomics)
    )
}

fn tensor(kernel: &KernelReport) -> String {
    format!("The tensor cores are busy for {}.", words::micros(kernel.terms_us.tensor))
}

fn passes(n: u64) -> String {
    format!("{} passes", words::short_count(n as f64))
}

pub fn conflicts(kernel: &KernelReport) -> u64 {
    kernel.lines.iter().map(|line| line.counts.traffic.shared_conflicts).sum()
}

fn issue(kernel: &KernelReport) -> String {
    let instructions = words::short_count(kernel.counters.warp_instructions as f64);
    let busy = words::micros(kernel.terms_us.issue.max(kernel.terms_us.units));
    match kernel.narrow_unit {
        Some(unit) => format!(
            "The {unit} unit is busy for {busy}: it is narrower than the schedulers, which issue \
             {instructions} warp instructions."
        ),
        None => {
            format!("{instructions} warp instructions keep the schedulers busy for {busy}.")
        }
    }
}

/// By what a warp does most of its life; then what would hide it.
fn latency(kernel: &KernelReport) -> String {
    let (life, flight, residency) = (kernel.life_us, kernel.in_flight, kernel.residency);
    let bytes = |bytes: f64| words::bytes(bytes as u64);
    let whole = words::micros(life.seconds());
    let mut text = if life.start > life.memory.max(life.chain) {
        format!(
            "A warp lives {whole}, and its block takes {} to start: too little to do for each.",
            words::micros(life.start)
        )
    } else if life.chain > life.memory {
        format!(
            "A warp lives {whole}, {} of it for instructions that wait for those before them.",
            words::micros(life.chain)
        )
    } else {
        format!(
            "A warp lives {whole} and waits {} of it for memory: {} are on their way to an SM at a \
             time, and it takes {} to keep DRAM busy.",
            words::micros(life.memory),
            bytes(flight.bytes),
            bytes(flight.needed_bytes)
        )
    };
    if residency.present < 0.9 * f64::from(residency.warps) {
        text.push_str(&format!(
            " The grid brings {:.1} warps for each SM, and {} fit.",
            residency.present, residency.warps
        ));
    } else if residency.warps < residency.most_warps / 2 {
        text.push_str(&format!(
            " Of {} warps, {} fit an SM: the limiter is {}.",
            residency.most_warps, residency.warps, residency.limit
        ));
    }
    text
}
