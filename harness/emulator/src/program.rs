//! A kernel decoded: what the warps run.
//!
//! Instructions name their operands by *slot*. A slot is 128 bytes: 32 lanes of 32 bits, or half of
//! 32 lanes of 64 bits. Immediates, special registers and kernel parameters have slots too, filled
//! before a warp starts, so that every operand is read the same way and no instruction has an
//! "immediate form".
//!
//! Blocks stand in weak topological order (see `lower::order`): of several groups of lanes that
//! wait in one warp, the one in the lowest block runs first, and lanes that reach the same block
//! go on together.

mod listing;
mod verify;

pub use listing::Listing;

use crate::exec::Handler;
use crate::sanitize::Effect;

/// Bytes of a slot.
pub const SLOT: usize = 128;

/// Where a slot begins in a warp's register file, bytes: ready to be added to its address.
pub type Slot = u32;
pub type BlockId = u32;

/// What an instruction does to lanes of its destination that are not active.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Writes {
    /// Leaves them alone.
    Active,
    /// Overwrites them: 32 bits, or 64, which the warp must put back.
    AllNarrow,
    AllWide,
}

#[derive(Clone, Copy)]
pub struct Inst {
    pub run: Handler,
    /// Address offset, lane mask, barrier number: whatever the handler takes besides slots.
    pub imm: u64,
    pub dst: Slot,
    pub a: Slot,
    pub b: Slot,
    pub c: Slot,
    /// Second destination, or number of vector elements.
    pub d: Slot,
    /// Writes every lane of `dst`, active or not.
    pub writes: Writes,
    /// Number of this memory instruction: of its entry in the cache of allocations, and in the tally.
    pub cache: u16,
    /// Runtime modifiers: bits of `isa::flag`.
    pub flags: u32,
    /// First of the instruction's `d` entries in [`Program::lists`].
    pub list: u32,
    /// Index into [`Program::origins`].
    pub origin: u32,
}

/// What is known of a memory instruction for counting.
#[derive(Clone, Copy, Debug)]
pub struct MemoryInst {
    /// Index into [`Program::origins`].
    pub origin: u32,
    pub block: BlockId,
    /// Of scalars that the machine code loads or stores together: the first of them, and how many bytes
    /// all have. Where the addresses are no multiples of that, each goes by itself.
    pub joins: Option<(u16, u8)>,
}

/// Loads that a warp has under way at the same time. Numbers of [`Program::memory`].
pub type Round = Vec<u16>;

/// A loop that can do nothing but wait for others: see `lower::polls`.
#[derive(Clone, Debug)]
pub struct Poll {
    pub blocks: std::ops::Range<BlockId>,
    /// Blocks that lead into it.
    pub entered: Vec<BlockId>,
}

impl Poll {
    pub fn holds(&self, block: BlockId) -> bool {
        self.blocks.contains(&block)
    }
}

/// How control leaves a block.
#[derive(Clone, Debug)]
pub enum Exit {
    Jump(BlockId),
    /// Lanes whose predicate (differing from `negated`) is set go to `taken`, the others to `next`.
    Branch {
        predicate: Slot,
        negated: bool,
        taken: BlockId,
        next: BlockId,
    },
    /// `brx.idx`: lane by lane.
    Switch {
        index: Slot,
        targets: Vec<BlockId>,
    },
    /// The lanes end.
    Leave,
}

pub struct Block {
    pub first: u32,
    pub end: u32,
    pub exit: Exit,
    /// The PTX instructions it holds, the branch at its end included: a range of
    /// [`Program::origins`]. Fewer may have code: copies of constants have none.
    pub origins: std::ops::Range<u32>,
    /// Cycles of the longest chain in it of instructions that need each other's values; loads count for
    /// nothing here, since it is memory that decides.
    pub chain: u32,
}

/// Where an instruction came from.
#[derive(Clone, Debug)]
pub struct Origin {
    /// Byte range in the PTX text.
    pub span: ptx::ast::Span,
    /// Index into [`Program::locations`], if the compiler gave lines.
    pub location: Option<u32>,
    /// Class of the instruction, for counting: index into `isa::Class`.
    pub class: crate::isa::Class,
    pub machine: crate::isa::Machine,
    /// Changes registers only, and reads nothing that others may change but an `mbarrier` and the clock:
    /// what a loop consists of that can do nothing but wait.
    pub idle: bool,
}

/// What a slot holds before the first instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Preset {
    Constant32(u32),
    Constant64(u64),
    /// `bytes` (1, 2, 4 or 8) of the parameters at `offset`; 8 bytes fill two slots.
    Param {
        offset: u32,
        bytes: u8,
    },
    /// Address of the parameters, plus this.
    ParamAddress(u32),
    /// Address in the CTA's shared memory of what lies at this offset, in 32 bits: the CTA's rank in its
    /// cluster stands above the offset (see `exec::access::RANK_SHIFT`).
    Shared(u32),
    /// The same in 64 bits.
    Shared64(u32),
    Special(crate::isa::Special),
}

impl Preset {
    /// Whether it has 64 bits.
    pub fn is_wide(self) -> bool {
        match self {
            Self::Constant64(_) | Self::ParamAddress(_) | Self::Shared64(_) => true,
            Self::Constant32(_) | Self::Shared(_) => false,
            Self::Param { bytes, .. } => bytes == 8,
            Self::Special(special) => special.is_wide(),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParamLayout {
    pub offset: u32,
    pub size: u32,
    pub align: u32,
}

pub struct Program {
    pub code: Vec<Inst>,
    pub blocks: Vec<Block>,
    pub lists: Vec<Slot>,
    pub origins: Vec<Origin>,
    pub locations: Vec<ptx::ast::SourceLocation>,
    /// What instructions that cannot run say of themselves.
    pub messages: Vec<String>,
    pub presets: Vec<(Slot, Preset)>,
    /// Slots in a warp's register file.
    pub slots: usize,
    /// The number of the first slot of registers of 64 bits, which take two each.
    pub first_wide: usize,
    /// Memory instructions: the place of each here is its [`Inst::cache`].
    pub memory: Vec<MemoryInst>,
    /// Where loads stay where the text has them, and where they go as early as their addresses allow.
    pub rounds: Vec<Round>,
    pub levels: Vec<Round>,
    pub polls: Vec<Poll>,
    pub params: Vec<ParamLayout>,
    pub param_bytes: u32,
    /// Bytes of `.shared` variables of known size; dynamic shared memory follows.
    pub static_shared: u32,
    /// `.shared` variables: name, first byte and length.
    pub shared_arrays: Vec<(String, u32, u32)>,
    /// Alignment of the dynamic part.
    pub dynamic_align: u32,
    /// Where in a thread's local memory its stack begins, if it has one.
    pub stack: Option<u32>,
    /// Bytes of `.local` variables of a thread.
    pub local_bytes: u32,
    /// What the `mma` instructions multiply.
    pub multiplies: Vec<crate::exec::matrix::Product>,
    /// What the `wgmma` instructions multiply.
    pub wgmmas: Vec<crate::exec::matrix::WarpgroupMultiply>,
    /// What is multiplied in each block, by the number of the block.
    pub works: Vec<(BlockId, crate::exec::matrix::Work)>,
    /// What the video instructions do.
    pub videos: Vec<crate::isa::video::Plan>,
    /// What the `wmma` loads and stores move.
    pub tiles: Vec<crate::exec::matrix::Tile>,
    /// For the sanitizer, what each instruction of `code` does; else empty.
    pub effects: Vec<Effect>,
    /// Numbers of slots that the effects name.
    pub touched: Vec<u32>,
    /// Numbers of slots that may be read before anything is written to them.
    pub unwritten: Vec<u32>,
}

impl Program {
    /// Entries of whatever is kept for each memory instruction. One more than there are, since others
    /// have the number of the next.
    pub fn caches(&self) -> usize {
        self.memory.len() + 1
    }

    /// Bytes of a thread's local memory, where a stack has this many.
    pub fn local_len(&self, stack: u32) -> u32 {
        self.stack.map_or(self.local_bytes, |first| first + stack)
    }

    /// Where the instructions of a block came from.
    pub fn origins(&self, block: &Block) -> &[Origin] {
        &self.origins[block.origins.start as usize..block.origins.end as usize]
    }

    /// Whether what a block ends with is a branch: a predicated instruction is lowered to one, too, and
    /// counts as none.
    pub fn branches(&self, block: &Block) -> bool {
        self.origins(block).last().is_some_and(|origin| origin.class == crate::isa::Class::Branch)
    }

    /// The slots of a vector operand.
    #[inline]
    pub fn list(&self, inst: &Inst) -> &[Slot] {
        &self.lists[inst.list as usize..][..inst.d as usize]
    }

    /// Numbers of the slots that an instruction writes.
    #[inline]
    pub fn written_by(&self, effect: Effect) -> &[u32] {
        &self.touched[effect.first as usize..][..effect.written as usize]
    }

    /// Numbers of the slots that an instruction reads.
    #[inline]
    pub fn read_by(&self, effect: Effect) -> &[u32] {
        let first = effect.first as usize + effect.written as usize;
        &self.touched[first..][..effect.read as usize]
    }
}
