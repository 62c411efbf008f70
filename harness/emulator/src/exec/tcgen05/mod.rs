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
//! ```
//!
//! `ld` and `st` are done at once, and so their `wait` does nothing: the registers of an `ld` hold their
//! values earlier here than the manual promises (9.7.16.6).

mod allocate;
mod memory;
mod shape;
mod transfer;

pub use allocate::{allocate, free, relinquish};
pub use memory::TensorMemory;
pub use shape::Shape;
pub use transfer::{HALVES, load, store};

use super::bulk::lanes;
use super::{Core, Flow};
use crate::fault::FaultKind;
use crate::program::Slot;

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
