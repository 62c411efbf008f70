//! The sanitizer: mistakes that give the right answer today.
//!
//! Bounds and alignment are checked always. What is checked here costs more, and is asked for
//! (`check --sanitize`): two accesses that nothing orders, and values made from memory that nobody wrote.
//! A launch that is sanitized runs on one host thread. [`before`] looks at what an instruction is about to
//! do, [`after`] at what it has done; where a warp holds nothing undefined, as most do all the time, this is
//! asked of instructions that go to memory or order something, and the others cost nothing.
//!
//! ```text
//! watch.rs     around each instruction that matters
//! whole.rs     loads and stores of a warp at once, by how its lanes stand to each other (shapes.rs, runs.rs)
//! access.rs    the same lane by lane, and atomics: where something may be wrong
//! effect.rs    what an instruction does to memory and order: from lowering, one for each
//! epoch.rs     an access in 64 bits, and the last accesses of a word
//! block.rs     order within a CTA (vector clocks of its warps; lanes.rs: of lanes), shared memory
//! grid.rs      order between CTAs, global memory (pages.rs)
//! waiting.rs   accesses that have not got to their words yet
//! registers.rs which bits of which registers hold a value; rule.rs: which of a result do
//! fault.rs     from a finding to a fault
//! ```
//!
//! Two accesses race if they touch the same bytes, one of them writes, they are not both strong (PTX
//! ISA 8.5: volatile, relaxed or stronger, or atomic), and no chain of barriers, fences and atomics
//! leads from one to the other. The order is tracked as FastTrack does (Flanagan and Freund, 2009),
//! with the warp as thread: what a lane releases, its whole warp has released. Within a warp the lanes
//! are told apart, as since Volta they may be anywhere: only `bar.warp.sync`, a barrier, or an atomic
//! orders them. Where exactness would cost too much, the sanitizer errs by silence: it forgets all but
//! two readers of a word, and takes a store that changes nothing for harmless.
//!
//! A value is *undefined* if it was made from bytes that nobody wrote. Undefined values may be loaded and
//! moved about (reading past a row's end into padding is no mistake); they are reported where they
//! matter: in an address, in a branch, in a store to global memory. So are quotients by zero, which C++
//! gives no meaning: compilers divide ahead of the `if` that asks whether they may.
//!
//! ```text
//! s[t] = x;                        write, warp 0, time 1
//! y = s[t ^ 32];                   read, warp 1: it knows nothing of warp 0's time 1: a race
//!
//! s[t] = x; __syncthreads();       the barrier tells every warp of the times of all others
//! y = s[t ^ 32];                   warp 1 knows of warp 0's time 1: no race
//! ```

mod access;
mod bits;
mod block;
mod clash;
mod effect;
mod epoch;
mod fault;
mod grid;
mod lanes;
mod operands;
mod pages;
mod registers;
mod rule;
mod runs;
mod shapes;
mod waiting;
mod watch;
mod whole;

pub use block::Block;
pub use effect::{Action, Effect, Touch};
pub use fault::Earlier;
pub use operands::{Operand, Until};
pub use registers::Registers;
pub use rule::Rule;
pub use watch::{after, before, leaving, matters, met, quiet, range};

use crate::fault::MemorySpace;

/// What the sanitizer keeps during a launch.
pub struct Sanitizer {
    /// Of the CTA that runs now.
    pub block: Option<Box<Block>>,
    pub grid: grid::Grid,
    /// The warp that runs now, and the index of its instruction.
    pub warp: u32,
    pub ip: u32,
    /// For each element that the instruction loads, the lanes that get nothing defined.
    loaded: [u32; 32],
    /// Of the instruction that runs, the undefined bits of the result, and why (`watch.rs`).
    made: ([u64; 32], u32),
    /// Of a shuffle, the lanes that asked one that took no part.
    absent: u32,
    is_well: whole::IsWell,
    /// The allocation of the latest global access, by its place in the table.
    range: Option<usize>,
    /// The first read, by each instruction, of what nobody had written.
    reads: std::collections::HashMap<u32, (MemorySpace, crate::fault::Near)>,
    /// With a fault: the other place that has to do with it.
    pub earlier: Option<Earlier>,
}

impl Sanitizer {
    /// `ctas` run in the launch.
    pub fn new(ctas: u64) -> Self {
        Self {
            block: None,
            grid: grid::Grid::new(ctas),
            warp: 0,
            ip: 0,
            loaded: [0; 32],
            made: ([0; 32], 0),
            absent: 0,
            is_well: whole::of_this_processor(),
            range: None,
            reads: std::collections::HashMap::new(),
            earlier: None,
        }
    }

    /// An `mbarrier` has been told of something: by the warp that runs, or by the copy unit.
    pub fn told(&mut self, object: u64, by_copies: bool) {
        match &mut self.block {
            Some(block) if by_copies => block.copies_done(object),
            Some(block) => block.release(self.warp as usize, object),
            None => {}
        }
    }

    /// These lanes of a shuffle asked one that took no part.
    pub fn shuffled(&mut self, lanes: u32) {
        self.absent = lanes;
    }

    /// A copy that a lane of the warp waited for is in shared memory.
    pub fn landed(&mut self, lane: u32, offset: u64, bytes: u64) {
        if let Some(block) = &mut self.block {
            let (warp, ip) = (self.warp, self.ip);
            block.landed(
                clash::Party { warp, lane, ip, strong: false, copies: false },
                offset,
                bytes,
            );
        }
    }

    /// A product of the warp that runs reads these pieces until then.
    pub fn reads(&mut self, until: Until, pieces: Vec<u32>) {
        let (warp, ip) = (self.warp, self.ip);
        if let Some(block) = &mut self.block {
            block.operands.add(Operand { warp, ip, until, pieces });
        }
    }

    /// The warp that runs has waited for all groups of products before `group`.
    pub fn has_read(&mut self, group: u32) {
        if let Some(block) = &mut self.block {
            block.operands.read(self.warp, group);
        }
    }

    /// A lane has found a phase of an `mbarrier` over.
    pub fn learned(&mut self, lane: usize, object: u64) {
        if let Some(block) = &mut self.block {
            block.acquire(self.warp as usize, lane, object);
        }
    }
}
