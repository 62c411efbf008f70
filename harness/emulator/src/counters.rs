//! What a launch cost, counted while it ran.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::exec::{Tally, Traffic};
use crate::isa::Class;
use crate::program::{Program, Round};

/// Deterministic: the same launch counts the same on any machine, at any number of threads.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Counters {
    pub ctas: u64,
    pub warps: u64,
    /// Instructions issued, one for a warp.
    pub warp_instructions: u64,
    /// Lanes active, summed over those.
    pub thread_instructions: u64,
    /// Warp instructions by class: see `Class`.
    pub by_class: Vec<(String, u64)>,
    /// Global memory requests (one for a warp instruction) and 32-byte sectors they touched.
    pub global_load_requests: u64,
    pub global_load_sectors: u64,
    pub global_store_requests: u64,
    pub global_store_sectors: u64,
    /// Bytes the lanes asked for.
    pub global_load_bytes: u64,
    pub global_store_bytes: u64,
    /// 128-byte lines that requests touched.
    pub global_load_lines: u64,
    pub global_store_lines: u64,
    /// Sectors that CTAs did not find in L1.
    pub global_load_fetched: u64,
    /// Passes of loads over the banks of L1.
    pub global_load_passes: u64,
    /// Sectors of stores that did not cover all bytes of theirs.
    pub global_store_partial: u64,
    /// Distinct sectors of the launch: what DRAM must deliver or take at least once.
    pub dram_read_sectors: u64,
    pub dram_write_sectors: u64,
    pub shared_requests: u64,
    /// Passes over the 32 banks; equal to the requests when nothing conflicts.
    pub shared_wavefronts: u64,
    /// The same as machine code has it, which takes neighbouring scalars together.
    pub shared_joined_requests: u64,
    pub shared_joined_wavefronts: u64,
    pub local_requests: u64,
    pub local_sectors: u64,
    pub local_lines: u64,
    pub local_written_sectors: u64,
    pub constant_requests: u64,
    /// Different words of constant memory, request by request.
    pub constant_words: u64,
    pub atomics: u64,
    /// On shared memory, where lanes that want the same word come one after the other.
    pub shared_atomic_passes: u64,
    /// Eighths of an update of L2 that wait for each other: see `exec::Heat`.
    pub atomic_passes: u64,
    /// Barriers of the whole grid in a cooperative launch.
    pub grid_barriers: u64,
    /// Warp instructions as machine code has them, and what its units get of them: sums of
    /// [`Machine`](crate::Machine), whose latencies are left out.
    pub machine_slots: u64,
    pub machine_logic: u64,
    pub machine_multiplier: u64,
    pub machine_special: u64,
    pub machine_double: u64,
    pub machine_tensor: u64,
    /// How often warps waited for global memory, and for shared memory, if loads stayed where the program
    /// text has them; and at least, if they went as early as the values allow. See `lower::schedule`.
    pub load_rounds: u64,
    pub load_levels: u64,
    pub shared_rounds: u64,
    pub shared_levels: u64,
    /// Cycles that warps need for instructions that need each other's values, if nothing else is in
    /// their way.
    pub chain_cycles: u64,
    pub barriers: u64,
    pub branches: u64,
    pub divergent_branches: u64,
    pub static_shared: u32,
    /// Multiply-adds of the tensor cores, by the elements of A as PTX names them; those that sparse A leaves out count.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub multiply_adds: Vec<(String, u64)>,
    /// Bytes of shared memory that tensor cores read by themselves.
    #[serde(default, skip_serializing_if = "crate::exec::is_zero")]
    pub tensor_shared_bytes: u64,
}

impl Counters {
    /// Add another launch of the same kernel.
    pub fn add(&mut self, other: &Self) {
        let Self { by_class, static_shared, multiply_adds, .. } = self;
        for (all, more) in [(by_class, &other.by_class), (multiply_adds, &other.multiply_adds)] {
            for (name, count) in more {
                match all.iter_mut().find(|(known, _)| known == name) {
                    Some((_, sum)) => *sum += count,
                    None => all.push((name.clone(), *count)),
                }
            }
        }
        *static_shared = (*static_shared).max(other.static_shared);
        for (sum, more) in [
            (&mut self.ctas, other.ctas),
            (&mut self.warps, other.warps),
            (&mut self.warp_instructions, other.warp_instructions),
            (&mut self.thread_instructions, other.thread_instructions),
            (&mut self.global_load_requests, other.global_load_requests),
            (&mut self.global_load_sectors, other.global_load_sectors),
            (&mut self.global_load_bytes, other.global_load_bytes),
            (&mut self.global_store_requests, other.global_store_requests),
            (&mut self.global_store_sectors, other.global_store_sectors),
            (&mut self.global_store_bytes, other.global_store_bytes),
            (&mut self.dram_read_sectors, other.dram_read_sectors),
            (&mut self.dram_write_sectors, other.dram_write_sectors),
            (&mut self.shared_requests, other.shared_requests),
            (&mut self.shared_wavefronts, other.shared_wavefronts),
            (&mut self.local_requests, other.local_requests),
            (&mut self.local_sectors, other.local_sectors),
            (&mut self.local_lines, other.local_lines),
            (&mut self.local_written_sectors, other.local_written_sectors),
            (&mut self.constant_requests, other.constant_requests),
            (&mut self.constant_words, other.constant_words),
            (&mut self.atomic_passes, other.atomic_passes),
            (&mut self.grid_barriers, other.grid_barriers),
            (&mut self.machine_slots, other.machine_slots),
            (&mut self.machine_logic, other.machine_logic),
            (&mut self.machine_multiplier, other.machine_multiplier),
            (&mut self.machine_special, other.machine_special),
            (&mut self.machine_double, other.machine_double),
            (&mut self.machine_tensor, other.machine_tensor),
            (&mut self.load_rounds, other.load_rounds),
            (&mut self.load_levels, other.load_levels),
            (&mut self.shared_rounds, other.shared_rounds),
            (&mut self.shared_levels, other.shared_levels),
            (&mut self.global_load_fetched, other.global_load_fetched),
            (&mut self.global_load_passes, other.global_load_passes),
            (&mut self.shared_atomic_passes, other.shared_atomic_passes),
            (&mut self.chain_cycles, other.chain_cycles),
            (&mut self.shared_joined_requests, other.shared_joined_requests),
            (&mut self.shared_joined_wavefronts, other.shared_joined_wavefronts),
            (&mut self.global_load_lines, other.global_load_lines),
            (&mut self.global_store_lines, other.global_store_lines),
            (&mut self.global_store_partial, other.global_store_partial),
            (&mut self.atomics, other.atomics),
            (&mut self.barriers, other.barriers),
            (&mut self.branches, other.branches),
            (&mut self.divergent_branches, other.divergent_branches),
            (&mut self.tensor_shared_bytes, other.tensor_shared_bytes),
        ] {
            *sum += more;
        }
    }

    pub(crate) fn of(program: &Program, tally: &Tally) -> Self {
        let mut moved = Traffic::default();
        tally.traffic.iter().for_each(|traffic| moved.add(traffic));
        let mut counters = Self {
            ctas: tally.ctas,
            warps: tally.warps,
            global_load_requests: moved.load.requests,
            global_load_sectors: moved.load.sectors,
            global_store_requests: moved.store.requests,
            global_store_sectors: moved.store.sectors,
            global_load_bytes: moved.load.bytes,
            global_store_bytes: moved.store.bytes,
            dram_read_sectors: moved.load.fresh,
            dram_write_sectors: moved.store.fresh,
            shared_requests: moved.shared_requests,
            shared_wavefronts: moved.shared_wavefronts,
            local_requests: moved.local_requests,
            local_sectors: moved.local_sectors,
            local_lines: moved.local_lines,
            local_written_sectors: moved.local_written,
            constant_requests: moved.constant_requests,
            constant_words: moved.constant_words,
            global_load_lines: moved.load.lines,
            global_store_lines: moved.store.lines,
            global_store_partial: moved.store.partial,
            atomic_passes: tally.heat.hottest(),
            grid_barriers: tally.grid_arrivals / tally.ctas.max(1),
            load_rounds: rounds(program, tally, &program.rounds, far),
            load_levels: rounds(program, tally, &program.levels, far),
            shared_rounds: rounds(program, tally, &program.rounds, near),
            shared_levels: rounds(program, tally, &program.levels, near),
            global_load_fetched: moved.load_fetched,
            global_load_passes: moved.load_passes,
            shared_atomic_passes: moved.shared_atomic_passes,
            atomics: moved.atomics,
            barriers: tally.barriers,
            static_shared: program.static_shared,
            tensor_shared_bytes: moved.tensor_shared_bytes,
            ..Self::default()
        };
        let mut classes = BTreeMap::<Class, u64>::new();
        for (block, visits) in program.blocks.iter().zip(&tally.visits) {
            let issued = u64::from(block.origins.end - block.origins.start);
            counters.warp_instructions += visits.warps * issued;
            counters.thread_instructions += visits.lanes * issued;
            if program.branches(block) {
                counters.branches += visits.branches;
                counters.divergent_branches += visits.divergent;
            }
            counters.chain_cycles += visits.warps * u64::from(block.chain);
            for origin in program.origins(block) {
                let machine = origin.machine;
                counters.machine_slots += visits.warps * u64::from(machine.slots);
                counters.machine_logic += visits.warps * u64::from(machine.logic);
                counters.machine_multiplier += visits.warps * u64::from(machine.multiplier);
                counters.machine_special += visits.warps * u64::from(machine.special);
                counters.machine_double += visits.warps * u64::from(machine.double);
                counters.machine_tensor += visits.warps * u64::from(machine.tensor);
                *classes.entry(origin.class).or_default() += visits.warps;
            }
        }
        let mut products = BTreeMap::<&str, u64>::new();
        for (block, work) in &program.works {
            let warps = tally.visits[*block as usize].warps;
            *products.entry(work.element.name()).or_default() += warps * work.multiply_adds;
        }
        let done = products.into_iter().filter(|(_, n)| *n > 0);
        counters.multiply_adds = done.map(|(name, n)| (name.to_owned(), n)).collect();
        (counters.shared_joined_requests, counters.shared_joined_wavefronts) =
            joined(program, tally);
        let named = classes.into_iter().filter(|(_, n)| *n > 0);
        counters.by_class = named.map(|(class, n)| (class.name().to_owned(), n)).collect();
        counters
    }
}

/// Requests to global memory; to shared memory.
pub(crate) fn far(traffic: &Traffic) -> u64 {
    traffic.load.requests
}

fn near(traffic: &Traffic) -> u64 {
    traffic.shared_requests
}

/// How often warps waited for loads that did what `asked` counts: a [round](Round) as often as the block of
/// its loads that ran most.
pub(crate) fn rounds(
    program: &Program,
    tally: &Tally,
    rounds: &[Round],
    asked: impl Fn(&Traffic) -> u64,
) -> u64 {
    let visits = |&load: &u16| {
        let (memory, traffic) =
            (program.memory.get(usize::from(load))?, tally.traffic.get(usize::from(load))?);
        let visits = tally.visits.get(memory.block as usize)?;
        (asked(traffic) > 0).then_some(visits.warps)
    };
    rounds.iter().map(|round| round.iter().filter_map(visits).max().unwrap_or(0)).sum()
}

/// Requests and passes of shared memory, where scalars that machine code joins count once: the passes of
/// the one that has the most, since each of them goes to the same lines.
fn joined(program: &Program, tally: &Tally) -> (u64, u64) {
    let mut rows = BTreeMap::<u16, (u64, u64)>::new();
    let mut sum = (0, 0);
    for (index, traffic) in tally.traffic.iter().enumerate() {
        let joins = program.memory.get(index).and_then(|memory| memory.joins);
        let aligned = |first: u16, bytes: u8| {
            let first = tally.traffic.get(usize::from(first));
            first.is_some_and(|first| first.shared_low_bits.is_multiple_of(u32::from(bytes)))
        };
        match joins {
            Some((first, bytes)) if aligned(first, bytes) => {
                let row = rows.entry(first).or_default();
                row.0 = row.0.max(traffic.shared_requests);
                row.1 = row.1.max(traffic.shared_wavefronts);
            }
            _ => {
                sum.0 += traffic.shared_requests;
                sum.1 += traffic.shared_wavefronts;
            }
        }
    }
    rows.into_values().fold(sum, |sum, row| (sum.0 + row.0, sum.1 + row.1))
}
