//! `tcgen05.cp`: shared memory to tensor memory (PTX ISA 9.7.16.9).
//!
//! Rows of 16 or 32 bytes, where a descriptor says, go to lanes; 16 bytes are four columns. Some go to several
//! lanes, and `.warpx4`, which scales are copied by, to the lanes of all four warps:
//!
//! ```text
//! shape                    row r goes to lane
//! .128x256b, .128x128b     r
//! .64x128b  .02_13         r, r + 64
//!           .01_23         r, r + 32 below row 32; r + 32, r + 64 from there on
//! .32x128b  .warpx4        r, r + 32, r + 64, r + 96
//! .4x256b                  32·r, plus the lane of the address
//! ```

use super::memory::{Address, LANES};
use super::operand::spread;
use super::queue::{Columns, Operation, Queued};
use super::{Ranks, ask, descriptor, illegal, in_shared, ranks};
use crate::exec::bulk::{lanes, narrow, wide};
use crate::exec::matrix::descriptor::PIECE;
use crate::exec::{Core, Flow};
use crate::program::Inst;

const SECTION: &str = "9.7.16.9";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CopyShape {
    Rows128Bits256 = 0,
    Rows128Bits128 = 1,
    Rows64Warps02And13 = 2,
    Rows64Warps01And23 = 3,
    Rows32AllWarps = 4,
    Rows4Bits256 = 5,
}

impl CopyShape {
    const ALL: [Self; 6] = [
        Self::Rows128Bits256,
        Self::Rows128Bits128,
        Self::Rows64Warps02And13,
        Self::Rows64Warps01And23,
        Self::Rows32AllWarps,
        Self::Rows4Bits256,
    ];

    /// By the modifiers of an instruction.
    pub fn named(has: impl Fn(&str) -> bool) -> Option<Self> {
        let shapes: [&[&str]; 6] = [
            &["128x256b"],
            &["128x128b"],
            &["64x128b", "warpx2::02_13"],
            &["64x128b", "warpx2::01_23"],
            &["32x128b", "warpx4"],
            &["4x256b"],
        ];
        let at = shapes.iter().position(|names| names.iter().all(|name| has(name)))?;
        Some(Self::ALL[at])
    }

    fn rows(self) -> u32 {
        match self {
            Self::Rows128Bits256 | Self::Rows128Bits128 => 128,
            Self::Rows64Warps02And13 | Self::Rows64Warps01And23 => 64,
            Self::Rows32AllWarps => 32,
            Self::Rows4Bits256 => 4,
        }
    }

    /// Pieces of 16 bytes in a row.
    fn pieces(self) -> u32 {
        if matches!(self, Self::Rows128Bits256 | Self::Rows4Bits256) { 2 } else { 1 }
    }

    /// Lanes that a row goes to.
    fn lanes(self, row: u32) -> impl Iterator<Item = u32> {
        let (first, step, count) = match self {
            Self::Rows128Bits256 | Self::Rows128Bits128 => (row, 0, 1),
            Self::Rows64Warps02And13 => (row, 64, 2),
            Self::Rows64Warps01And23 => (row + row / 32 * 32, 32, 2),
            Self::Rows32AllWarps => (row, 32, 4),
            Self::Rows4Bits256 => (32 * row, 0, 1),
        };
        (0..count).map(move |copy| first + copy * step)
    }
}

/// In the flags, beside the [`CopyShape`]: a pair of CTAs; elements of four or six bits get a byte each.
pub const PAIR: u32 = 1 << 3;
pub const FROM_4: u32 = 1 << 4;
pub const FROM_6: u32 = 1 << 5;

/// A copy, checked and waiting for its turn.
pub struct Copied {
    shape: CopyShape,
    to: Address,
    /// Bits that elements have in shared memory, where that is less than they get.
    unpack: Option<u32>,
    /// Rank of each CTA, host address of its shared memory, and offsets of pieces there.
    parts: Vec<(u32, u64, Vec<u32>)>,
}

impl Copied {
    /// # Safety
    /// The shared memory of the parts' CTAs must be there, and `core` must hold the tensor memories of their
    /// cluster.
    pub unsafe fn run(&self, core: &mut Core) {
        for (rank, base, pieces) in &self.parts {
            let memory = &mut core.tensor.memories[*rank as usize];
            for (number, &piece) in pieces.iter().enumerate() {
                let at = (base + u64::from(piece)) as usize;
                // SAFETY: it was found to lie in that shared memory.
                let piece = unsafe { std::ptr::with_exposed_provenance::<[u32; 4]>(at).read() };
                let piece = self.unpack.map_or(piece, |bits| spread(piece, bits));
                let number = number as u32;
                let (row, chunk) = (number / self.shape.pieces(), number % self.shape.pieces());
                for lane in self.shape.lanes(row) {
                    for (word, value) in piece.into_iter().enumerate() {
                        let column = self.to.column + 4 * chunk + word as u32;
                        let lane = (self.to.lane + lane) as usize % LANES;
                        memory.column_mut(column, 1 << lane)[lane] = value;
                    }
                }
            }
        }
    }
}

/// `tcgen05.cp [address], descriptor`: both stand in the list.
///
/// # Safety
/// See [`crate::exec::Handler`].
pub unsafe fn copy(core: &mut Core, inst: &Inst) -> Flow {
    for lane in lanes(core.mask) {
        // SAFETY: passed on.
        if let Err(flow) = unsafe { one(core, inst, lane) } {
            return flow;
        }
    }
    Flow::Next
}

unsafe fn one(core: &mut Core, inst: &Inst, lane: usize) -> Result<(), Flow> {
    let program = core.program;
    let &[to, from] = program.list(inst) else { return Ok(()) };
    // SAFETY: lowering keeps slots within the file.
    let (to, bits) = unsafe { (Address::from(narrow(core, to, lane)), wide(core, from, lane)) };
    let shape = CopyShape::ALL[(inst.flags & 7) as usize % CopyShape::ALL.len()];
    let lanes = if shape == CopyShape::Rows4Bits256 { 32 } else { 1 };
    if to.lane >= lanes {
        let message = format!(
            "copies {} rows to tensor memory from lane {} on; the lane must be {}",
            shape.rows(),
            to.lane,
            if lanes == 1 { "0" } else { "below 32" }
        );
        return Err(illegal(core, SECTION, &message));
    }
    let descriptor = descriptor(core, bits)?;
    let Ranks { first, count } = ranks(core, inst.flags & PAIR != 0)?;
    let width = 4 * shape.pieces();
    let mut parts = Vec::new();
    let mut columns = Vec::new();
    for rank in first..first + count {
        let pieces: Vec<u32> = (0..shape.rows() * shape.pieces())
            .map(|piece| {
                descriptor.k_major(piece / shape.pieces(), PIECE * (piece % shape.pieces()))
            })
            .collect();
        let base = in_shared(core, rank, bits, &pieces)?;
        super::owned(core, SECTION, rank, "copies to", (to.column, width))?;
        columns.push(Columns { rank, first: to.column, count: width, written: true });
        parts.push((rank, base, pieces));
    }
    let unpack = match inst.flags & (FROM_4 | FROM_6) {
        0 => None,
        FROM_4 => Some(4),
        _ => Some(6),
    };
    let thread = (core.cluster_rank, core.warp, lane as u32);
    let own = parts.iter().find(|(rank, ..)| *rank == core.cluster_rank);
    let pieces = own.map(|(.., pieces)| pieces.clone()).unwrap_or_default();
    let operation = Operation::Copy(Box::new(Copied { shape, to, unpack, parts }));
    ask(core, Queued { operation, thread, columns, ip: 0 }, || vec![pieces]);
    Ok(())
}
