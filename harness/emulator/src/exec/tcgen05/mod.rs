//! Blackwell's tensor cores of the fifth generation: `tcgen05` (PTX ISA 9.7.16).
//!
//! They work on *tensor memory*, which belongs to the CTA, holds operands and sums, and is reached by
//! instructions of its own only. A warp allocates columns of it, moves registers to it and from it, and
//! frees it:
//!
//! ```text
//! tcgen05.alloc [s], 64     s: address 0x00000000, lane 0 of column 0; columns 0 to 63 are the CTA's
//! tcgen05.ld.32x32b.x8      warp 1, address 0x00200000: lane 32 + t of columns 0 to 7 to eight registers
//! ```
//!
//! ```text
//! memory.rs    lanes and columns, and who owns them
//! allocate.rs  alloc, dealloc, relinquish_alloc_permit
//! shape.rs     which register of which lane is which cell
//! transfer.rs  ld and st
//! multiply.rs  mma: what a thread asks for, checked
//!  instruction_descriptor.rs   what is multiplied
//!  layout.rs                   which cells hold which sums
//! copy.rs      cp
//! queue.rs     what was asked for and is not done yet; commit.rs: who is told when it is
//! product.rs   mma, when its turn has come: tiles of 16 x 8 through the code of the older mma
//!  operand.rs                  A and B, from shared memory to the registers of tiles
//! ```
//!
//! `ld` and `st` are done at once, and so their `wait` does nothing: the registers of an `ld` hold their
//! values earlier here than the manual promises (9.7.16.6).

mod allocate;
mod commit;
mod copy;
mod instruction_descriptor;
mod layout;
mod memory;
mod multiply;
mod operand;
mod product;
mod queue;
mod shape;
mod transfer;

pub use allocate::{allocate, free, relinquish};
pub use commit::commit;
pub use copy::{CopyShape, FROM_4, FROM_6, PAIR as COPIES_IN_PAIR, copy};
pub use instruction_descriptor::Kind;
pub use multiply::{
    FROM_TENSOR, PAIR, SPARSE, VECTORS, WEIGHT_STATIONARY, multiply, multiply_wide, multiply_widest,
};
pub use queue::{Queue, deliver};
pub use shape::Shape;
pub use transfer::{HALVES, load, store};

pub use memory::TensorMemory;
use operand::Registers;
use queue::{Columns, Queued};

use super::bulk::lanes;
use super::matrix::descriptor::{Descriptor, PIECE};
use super::{Core, Flow};
use crate::fault::{Access, FaultKind};
use crate::program::Slot;
use crate::sanitize::{Earlier, Until};

/// Stop: the kernel does what the manual forbids. `message` is a sentence without its subject; the
/// section comes behind it.
#[cold]
fn illegal(core: &mut Core, section: &str, message: &str) -> Flow {
    let lane = core.mask.trailing_zeros();
    let message = format!("{message} (PTX ISA {section})");
    core.stop(FaultKind::Illegal { message }, lane)
}

/// An operand that is the same in every lane that runs.
///
/// # Safety
/// `slot` must be a register of the warp.
unsafe fn uniform(core: &mut Core, slot: Slot, what: &str) -> Result<u32, Flow> {
    // SAFETY: by the contract.
    let values = unsafe { core.read::<u32>(slot) };
    let first = values[core.mask.trailing_zeros() as usize & 31];
    match lanes(core.mask).find(|&lane| values[lane] != first) {
        None => Ok(first),
        Some(lane) => {
            let message = format!(
                "gives {what} {first:#x} and {:#x} in lanes of one warp, which must agree",
                values[lane]
            );
            Err(illegal(core, "9.7.16.5", &message))
        }
    }
}

/// Tensor memory of a cluster, and what is under way in it.
#[derive(Default)]
pub struct Pipe {
    /// By rank.
    pub memories: Vec<TensorMemory>,
    pub queue: Queue,
    /// Registers of tiles, once there has been a product.
    pub registers: Option<Box<Registers>>,
}

impl Pipe {
    /// For clusters of so many CTAs.
    pub fn new(ctas: u32) -> Self {
        let memories = (0..ctas).map(|_| TensorMemory::default()).collect();
        Self { memories, ..Self::default() }
    }

    /// Ready for another cluster.
    pub fn reset(&mut self) {
        self.memories.iter_mut().for_each(TensorMemory::reset);
        self.queue.clear();
    }
}

/// The tensor memory of the CTA that runs.
fn own_memory<'a>(core: &'a mut Core) -> &'a mut TensorMemory {
    &mut core.tensor.memories[core.cluster_rank as usize]
}

/// CTAs that an instruction works in.
struct Ranks {
    first: u32,
    count: u32,
}

/// The CTA that runs, or with `.cta_group::2` its pair (9.7.16.5): those whose ranks differ in bit 0.
fn ranks(core: &mut Core, pair: bool) -> Result<Ranks, Flow> {
    let rank = core.cluster_rank;
    if !pair {
        return Ok(Ranks { first: rank, count: 1 });
    }
    let ctas = core.tensor.memories.len();
    if (rank | 1) as usize >= ctas {
        let message =
            format!("uses .cta_group::2 in a cluster of {ctas}, where block {rank} has no peer");
        return Err(illegal(core, "9.7.16.5", &message));
    }
    Ok(Ranks { first: rank & !1, count: 2 })
}

/// Host address and length of the shared memory of the CTA of this rank.
fn shared_of(core: &Core, rank: u32) -> (u64, u64) {
    match core.peers.get(rank as usize) {
        Some(&peer) if rank != core.cluster_rank => peer,
        _ => (core.shared.expose_provenance() as u64, core.shared_len),
    }
}

/// A matrix descriptor's fields.
fn descriptor(core: &mut Core, bits: u64) -> Result<Descriptor, Flow> {
    Descriptor::of_tcgen05(bits).map_err(|what| {
        let message = format!("has a matrix descriptor {bits:#018x} that is none: {what}");
        illegal(core, "9.7.16.4.1", &message)
    })
}

#[cold]
fn outside_shared(core: &mut Core, bits: u64, outside: u32) -> Flow {
    let message = format!(
        "has a matrix descriptor {bits:#018x} that leads to byte {outside} of shared memory, where the \
         block has {}",
        core.shared_len
    );
    illegal(core, "9.7.16.4.1", &message)
}

/// The host address of a CTA's shared memory, if it has all these pieces.
fn in_shared(core: &mut Core, rank: u32, bits: u64, pieces: &[u32]) -> Result<u64, Flow> {
    let (base, len) = shared_of(core, rank);
    match pieces.iter().find(|&&piece| u64::from(piece) + u64::from(PIECE) > len) {
        Some(&outside) => Err(outside_shared(core, bits, outside)),
        None => Ok(base),
    }
}

/// Where the launch is sanitized, a stop if `tcgen05` still works with these columns of the CTA that runs.
fn at_rest(
    core: &mut Core,
    (first, count): (u32, u32),
    access: Access,
    frees: bool,
) -> Result<(), Flow> {
    let Some(sanitizer) = &mut core.sanitizer else { return Ok(()) };
    let columns = Columns { rank: core.cluster_rank, first, count, written: false };
    let Some(ip) = core.tensor.queue.at_work(columns, access == Access::Read) else {
        return Ok(());
    };
    sanitizer.earlier = Some(Earlier { ip, thread: None, cta: None });
    let columns = [first, first + count - 1];
    let lane = core.mask.trailing_zeros();
    Err(core.stop(FaultKind::TensorInFlight { access, frees, columns }, lane))
}

/// Where the launch is sanitized, a stop unless somebody has written something in each of these columns, or is about
/// to: `what` should be there.
fn filled(core: &mut Core, columns: Columns, what: &str) -> Result<(), Flow> {
    if core.sanitizer.is_none() {
        return Ok(());
    }
    let Columns { rank, first, count, .. } = columns;
    let memory = &core.tensor.memories[rank as usize];
    let empty = |&column: &u32| {
        let one = Columns { first: column, count: 1, ..columns };
        memory.written(column) == 0 && core.tensor.queue.at_work(one, true).is_none()
    };
    if (first..first + count).find(empty).is_none() {
        return Ok(());
    }
    let columns = [first, first + count - 1];
    let lane = core.mask.trailing_zeros();
    Err(core.stop(FaultKind::TensorUndefined { what: what.to_owned(), columns }, lane))
}

/// Put it into the queue. Where the launch is sanitized, the pieces of shared memory of the CTA that runs stay as they
/// are until it is done.
fn ask(core: &mut Core, mut queued: Queued, pieces: impl FnOnce() -> Vec<Vec<u32>>) {
    let Some(sanitizer) = &mut core.sanitizer else {
        core.tensor.queue.push(queued);
        return;
    };
    queued.ip = sanitizer.ip;
    let number = core.tensor.queue.push(queued);
    for pieces in pieces() {
        sanitizer.reads(Until::Done(number), pieces);
    }
}

/// A stop unless the columns are allocated.
fn owned(
    core: &mut Core,
    section: &str,
    rank: u32,
    does: &str,
    (first, count): (u32, u32),
) -> Result<(), Flow> {
    let memory = &core.tensor.memories[rank as usize];
    if memory.owns(first, count) {
        return Ok(());
    }
    let message = format!(
        "{does} columns {first} to {} of tensor memory, and {}",
        first.saturating_add(count) - 1,
        memory.described()
    );
    Err(illegal(core, section, &message))
}
