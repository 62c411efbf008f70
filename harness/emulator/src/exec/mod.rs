//! Running a decoded program: lanes, warps, CTAs, grids.
//!
//! ```text
//! grid.rs     CTAs over host threads (thread_pool.rs); schedule_rng.rs: in an order left to chance
//!  cluster.rs CTAs in turns, most often one; deadlock.rs: those that can only wait
//!   cta.rs    warps in turns, barriers, shared memory
//!     warp.rs groups of lanes (splits), block by block, in weak topological order
//!      straight.rs  a block's instructions, one after another; with the sanitizer around each
//!       core.rs what an instruction sees: registers of the warp, memories, counters (tally.rs), clock.rs
//!         lane.rs, level.rs  element-wise instructions over 32 lanes, compiled for each level
//!         access/            loads, stores, atomics
//!         shuffle.rs         instructions that look across lanes
//!         copy_async.rs      cp.async
//!         bulk.rs            bulk copies; tensor.rs: boxes of tensors; reduction.rs: combined
//!         tensor_map.rs      what kernels change in the maps that describe tensors
//!         store_async.rs     stores that an mbarrier is told of
//!         mbarrier.rs        barriers that are objects in shared memory
//!         launch_control.rs  clusters that take over the work of others
//!         system.rs          printf, assert, malloc
//!         matrix/            matrix products, and rows of matrices to and from shared memory
//!         tcgen05/           tensor memory
//! ```

#[expect(clippy::needless_range_loop, reason = "several arrays are indexed by lane")]
pub mod access;
pub mod bulk;
mod clock;
mod cluster;
pub mod copy_async;
#[expect(clippy::needless_range_loop, reason = "several arrays are indexed by lane")]
mod core;
mod cta;
mod deadlock;
mod grid;
mod heat;
mod l1;
mod lane;
pub mod lanes;
pub mod launch_control;
mod level;
#[expect(clippy::needless_range_loop, reason = "several arrays are indexed by row")]
pub mod matrix;
pub mod mbarrier;
mod printf;
pub mod reduction;
mod reserved;
pub mod schedule_rng;
pub mod shuffle;
pub mod store_async;
mod straight;
pub mod system;
mod tally;
pub mod tcgen05;
pub mod tensor;
pub mod tensor_map;
mod thread_pool;
mod warp;

pub use core::{Asked, Core};
pub use cta::CLUSTER;
pub use grid::{Launch, Stopped, run_grid};
pub use lane::{Lane, Op1, Op2, Op3, PLAIN, WIDE, WIDEST, each_lane, lane_by_lane, op1, op2, op3};
pub use level::{Handlers, Level};
pub(crate) use level::{both, element_wise, once, op, rare, thrice};
pub use tally::{Moved, Sectors, Tally, Traffic, is_zero};
pub use thread_pool::ThreadPool;

use crate::program::Inst;

/// What comes after an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Flow {
    Next,
    /// `core.fault` says why.
    Stop,
    /// The warp waits at a CTA barrier; `core.wait` says at which.
    Barrier,
    /// Lanes of the instruction's mask are missing; try again when other lanes have run.
    Rendezvous,
    /// The lanes of a `.sync` instruction have different masks; those of the first are in `wanted`.
    Apart,
    /// Nothing to do here for now (a spin loop's hint): let others run, then go on.
    Yield,
    /// What `core.polled` asks for is not to be had: let others run, then execute this again.
    Again,
    /// Done, and all other warps of the CTA go on first.
    Last,
}

/// One instruction over the active lanes of `core`.
///
/// # Safety
/// `core` must run the program that `Inst` belongs to, with a register file of its size; a handler
/// for AVX2 needs a processor that has it.
pub type Handler = unsafe fn(&mut Core, &Inst) -> Flow;
