//! Every way for a launch to stop, as data. Whoever shows it decides how; [`Fault::headline`] and
//! [`Fault::details`] are the one place where it becomes English.

mod words;

use serde::{Deserialize, Serialize};

/// Whose mistake a fault is. A user must never wonder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Blame {
    /// The kernel did what has no meaning on a GPU either.
    Kernel,
    /// nibble does not provide what the kernel uses.
    Nibble,
    /// A limit of this run, not of the kernel.
    Limit,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Access {
    Read,
    Write,
    Atomic,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MemorySpace {
    Global,
    Shared,
    Local,
    Constant,
    Param,
    /// Of the tensor cores, reached by `tcgen05` only.
    Tensor,
}

/// An array that an address misses, and by how much.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Near {
    pub name: String,
    pub len: u64,
    /// Bytes from the array's first byte to the address; negative before it.
    pub offset: i64,
    /// It was freed before.
    pub freed: bool,
}

/// A position in CUDA source, and where it was inlined.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourcePoint {
    pub file: String,
    pub line: u32,
    pub column: u32,
    /// The function inlined here, where the compiler says it.
    pub function: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum FaultKind {
    OutOfBounds {
        access: Access,
        space: MemorySpace,
        address: u64,
        bytes: u32,
        near: Option<Near>,
    },
    Misaligned {
        access: Access,
        space: MemorySpace,
        address: u64,
        bytes: u32,
        near: Option<Near>,
    },
    /// A store to `__constant__` memory or a parameter.
    ReadOnly {
        name: String,
    },
    /// Something that nibble does not do; `what` names it.
    Unsupported {
        what: String,
    },
    /// `trap`, or a failed `assert` with its text.
    Trap {
        message: Option<String>,
    },
    /// A `.sync` instruction waits for lanes that will not come.
    MissingLanes {
        wanted: u32,
        arrived: u32,
    },
    /// A lane executes a `.sync` instruction with a mask that does not name it; looked for where the launch
    /// is sanitized.
    OutsideMask {
        mask: u32,
    },
    /// A value matters that was shuffled from a lane that took no part.
    AbsentLane {
        used: Use,
    },
    /// Nothing can go on: who waits where.
    Deadlock {
        waiting: Vec<String>,
    },
    /// An `mbarrier` used against its rules; the message is a sentence without its subject.
    BrokenBarrier {
        message: String,
    },
    /// Operands that a GPU refuses as an illegal instruction; the message as above.
    Illegal {
        message: String,
    },
    /// The run's time or instruction budget is used up.
    Budget {
        what: String,
    },
    /// The result of one of integers is used; looked for where the launch is sanitized.
    DivisionByZero {
        remainder: bool,
    },
    StackOverflow {
        bytes: u64,
        limit: u64,
    },
    /// Two accesses to the same bytes that nothing orders, at least one of them a write.
    Race {
        space: MemorySpace,
        access: Access,
        /// What the other one did; [`Fault::other`] says where.
        earlier: Access,
        bytes: u32,
        near: Option<Near>,
        with: Other,
    },
    /// A register of the sums of `wgmma`, before its group was waited for; [`Fault::other`] says where the product is.
    SumsInFlight {
        access: Access,
    },
    /// Columns of tensor memory that `tcgen05` still works with, before the mbarrier of its `commit` was waited for;
    /// [`Fault::other`] says where it was asked to.
    TensorInFlight {
        access: Access,
        /// They were to be freed.
        frees: bool,
        columns: [u32; 2],
    },
    /// A block has ended, and these columns of tensor memory are allocated still.
    TensorNotFreed {
        columns: [u32; 2],
    },
    /// Columns of tensor memory that a product needs, and nobody has written or asked to be written.
    TensorUndefined {
        /// What is in them: "sums".
        what: String,
        columns: [u32; 2],
    },
    /// A value that matters was made from what nobody wrote.
    Undefined {
        used: Use,
        /// The memory that was read; absent for a register. [`Fault::other`] says where.
        space: Option<MemorySpace>,
        near: Option<Near>,
    },
}

/// With whom an access races.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Other {
    /// Another thread of the block.
    Thread,
    /// A copy that the block has started, and not waited for.
    Copy,
    /// A product of `wgmma` that nobody has waited for.
    Product,
    /// One of `tcgen05`, or its copy to tensor memory.
    TensorProduct,
    /// Another block of the launch.
    Block,
}

/// Where an undefined value matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Use {
    Address,
    Branch,
    Store,
    /// An atomic on memory that nobody wrote.
    Update,
}

/// Another place that a fault has to do with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Site {
    /// The PTX instruction as written, and its line.
    pub instruction: String,
    pub ptx_line: u32,
    /// Innermost first.
    pub source: Vec<SourcePoint>,
    pub block: [u32; 3],
    /// Where it is known.
    pub thread: Option<[u32; 3]>,
}

/// Why a launch stopped, where, and who did it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fault {
    pub kernel: String,
    pub kind: FaultKind,
    /// The PTX instruction as written.
    pub instruction: String,
    /// Line of the PTX text, from 1; 0 where no instruction is to blame.
    pub ptx_line: u32,
    /// Innermost first; the others are the calls it was inlined through.
    pub source: Vec<SourcePoint>,
    pub block: [u32; 3],
    pub thread: [u32; 3],
    /// Other threads of the warp that were active with it.
    pub active_lanes: u32,
    /// The earlier access of a race; the read of what turned out undefined; the division.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub other: Option<Site>,
}

impl FaultKind {
    pub fn blame(&self) -> Blame {
        match self {
            Self::Unsupported { .. } => Blame::Nibble,
            Self::Budget { .. } => Blame::Limit,
            _ => Blame::Kernel,
        }
    }

    /// A stable name: `out_of_bounds`.
    pub fn name(&self) -> &'static str {
        match self {
            Self::OutOfBounds { near: Some(Near { freed: true, .. }), .. } => "use_after_free",
            Self::OutOfBounds { .. } => "out_of_bounds",
            Self::Misaligned { .. } => "misaligned",
            Self::ReadOnly { .. } => "read_only",
            Self::Unsupported { .. } => "unsupported",
            Self::Trap { .. } => "trap",
            Self::MissingLanes { .. } => "missing_lanes",
            Self::OutsideMask { .. } => "outside_mask",
            Self::AbsentLane { .. } => "absent_lane",
            Self::Deadlock { .. } => "deadlock",
            Self::BrokenBarrier { .. } => "broken_barrier",
            Self::Illegal { .. } => "illegal_instruction",
            Self::Budget { .. } => "budget",
            Self::DivisionByZero { .. } => "division_by_zero",
            Self::StackOverflow { .. } => "stack_overflow",
            Self::Race { with: Other::Block, .. } => "race_between_blocks",
            Self::Race { .. } => "race",
            Self::SumsInFlight { .. } => "sums_in_flight",
            Self::TensorInFlight { .. } => "tensor_memory_in_flight",
            Self::TensorNotFreed { .. } => "tensor_memory_not_freed",
            Self::TensorUndefined { .. } => "undefined",
            Self::Undefined { .. } => "undefined",
        }
    }
}

impl Fault {
    /// Replace every name that the compiler made by what `readable` makes of it.
    pub fn rename(&mut self, readable: impl Fn(&str) -> String) {
        // Sentences have names between backticks.
        let quoted = |said: &str| {
            let parts = said.split('`').enumerate();
            let parts =
                parts.map(|(i, part)| if i % 2 == 1 { readable(part) } else { part.into() });
            parts.collect::<Vec<_>>().join("`")
        };
        let other = self.other.iter_mut().flat_map(|site| &mut site.source);
        let functions = self.source.iter_mut().chain(other).flat_map(|point| &mut point.function);
        let near = match &mut self.kind {
            FaultKind::OutOfBounds { near, .. }
            | FaultKind::Misaligned { near, .. }
            | FaultKind::Race { near, .. }
            | FaultKind::Undefined { near, .. } => near.as_mut(),
            FaultKind::Deadlock { waiting } => {
                waiting.iter_mut().for_each(|said| *said = quoted(said));
                None
            }
            _ => None,
        };
        let names = near.map(|near| &mut near.name);
        functions.chain(names).chain([&mut self.kernel]).for_each(|name| *name = readable(name));
    }
}
