//! Every way for a launch to stop, as data. Whoever shows it decides how; [`Fault::headline`] and
//! [`Fault::details`] are the one place where it becomes English.

use std::fmt::Write;

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
    /// Nothing can go on: who waits where.
    Deadlock {
        waiting: Vec<String>,
    },
    /// An `mbarrier` used against its rules; the message is a sentence without its subject.
    BrokenBarrier {
        message: String,
    },
    /// The run's time or instruction budget is used up.
    Budget {
        what: String,
    },
    StackOverflow {
        bytes: u64,
        limit: u64,
    },
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
            Self::Deadlock { .. } => "deadlock",
            Self::BrokenBarrier { .. } => "broken_barrier",
            Self::Budget { .. } => "budget",
            Self::StackOverflow { .. } => "stack_overflow",
        }
    }
}

impl Access {
    fn verb(self) -> &'static str {
        match self {
            Self::Read => "reads",
            Self::Write => "writes",
            Self::Atomic => "updates",
        }
    }
}

impl MemorySpace {
    fn word(self) -> &'static str {
        match self {
            Self::Global => "global",
            Self::Shared => "shared",
            Self::Local => "local",
            Self::Constant => "constant",
            Self::Param => "parameter",
        }
    }
}

impl Fault {
    /// One sentence: what happened.
    pub fn headline(&self) -> String {
        let kernel = &self.kernel;
        match &self.kind {
            FaultKind::OutOfBounds { access, space, bytes, near, address } => {
                let target = match near {
                    Some(near) => near.sentence(*bytes),
                    None => format!("at {address:#x}, where no array is"),
                };
                format!(
                    "{kernel} {} {bytes} bytes of {} memory {target}",
                    access.verb(),
                    space.word()
                )
            }
            FaultKind::Misaligned { access, space, address, bytes, near } => {
                let place = match near {
                    Some(Near { name, offset, .. }) => format!("at byte {offset} of `{name}`"),
                    None => format!("at {address:#x}"),
                };
                let (verb, space) = (access.verb(), space.word());
                format!(
                    "{kernel} {verb} {bytes} bytes of {space} memory {place}, which is no \
                     multiple of {bytes}"
                )
            }
            FaultKind::ReadOnly { name } => format!("{kernel} writes to {name}, which is constant"),
            FaultKind::Unsupported { what } => {
                format!("nibble's emulator does not support {what} (your kernel may be right)")
            }
            FaultKind::Trap { message: Some(message) } => format!("{kernel} stopped: {message}"),
            FaultKind::Trap { message: None } => format!("{kernel} executed trap"),
            FaultKind::MissingLanes { wanted, arrived } => format!(
                "{kernel} waits for the lanes {wanted:#010x} but only {arrived:#010x} arrive"
            ),
            FaultKind::Deadlock { waiting } => {
                format!("{kernel} cannot go on: {}", waiting.join("; "))
            }
            FaultKind::BrokenBarrier { message } => format!("{kernel} {message}"),
            FaultKind::Budget { what } => format!("{kernel} used up {what}"),
            FaultKind::StackOverflow { bytes, limit } => {
                format!("{kernel} needs {bytes} bytes of stack for a thread; the limit is {limit}")
            }
        }
    }

    /// Lines that say where and who, most useful first.
    pub fn details(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for (depth, point) in self.source.iter().enumerate() {
            let mut line = String::new();
            let word = if depth == 0 { "at" } else { "inlined at" };
            let _ = write!(line, "{word} {}:{}", point.file, point.line);
            if let Some(function) = &point.function {
                let _ = write!(line, " (in {function})");
            }
            lines.push(line);
        }
        let [x, y, z] = self.thread;
        let [bx, by, bz] = self.block;
        if !matches!(self.kind, FaultKind::Deadlock { .. }) {
            lines.push(format!("thread ({x},{y},{z}) of block ({bx},{by},{bz})"));
        }
        if self.ptx_line > 0 {
            let instruction: Vec<_> = self.instruction.split_whitespace().collect();
            lines.push(format!("PTX line {}: {}", self.ptx_line, instruction.join(" ")));
        }
        lines
    }
}

impl Near {
    fn sentence(&self, bytes: u32) -> String {
        let Self { name, len, offset, freed } = self;
        if *freed {
            return format!("{offset} bytes into `{name}`, which was freed");
        }
        let behind = offset + i64::from(bytes) - *len as i64;
        if *offset < 0 {
            format!("{} bytes before `{name}` begins", -offset)
        } else if *offset < *len as i64 {
            format!("{behind} bytes over the end of `{name}` ({len} bytes)")
        } else if *offset == *len as i64 {
            format!("just past the end of `{name}` ({len} bytes)")
        } else {
            format!("{} bytes past the end of `{name}` ({len} bytes)", offset - *len as i64)
        }
    }
}
