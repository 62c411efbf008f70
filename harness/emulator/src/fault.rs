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
    /// The earlier access of a race; the read of what turned out undefined.
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
            Self::Deadlock { .. } => "deadlock",
            Self::BrokenBarrier { .. } => "broken_barrier",
            Self::Budget { .. } => "budget",
            Self::StackOverflow { .. } => "stack_overflow",
            Self::Race { with: Other::Block, .. } => "race_between_blocks",
            Self::Race { .. } => "race",
            Self::Undefined { .. } => "undefined",
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

impl Access {
    fn done(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "wrote",
            Self::Atomic => "updated",
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
            FaultKind::Race { space, access, earlier, bytes, near, with } => {
                let place = near.as_ref().map(Near::place).unwrap_or_default();
                let (verb, space, done) = (access.verb(), space.word(), earlier.done());
                let other = match with {
                    Other::Thread => {
                        format!("another thread {done}, with no barrier between the two")
                    }
                    Other::Copy => "a copy is still writing: nobody waited for it".to_owned(),
                    Other::Block => {
                        format!("another block {done} in the same launch: nothing orders the two")
                    }
                };
                format!("{kernel} {verb} {bytes} bytes of {space} memory{place} that {other}")
            }
            FaultKind::Undefined { used, space, near } => {
                let place = near.as_ref().map(Near::place).unwrap_or_default();
                let what = match space {
                    Some(space) => format!("{} memory{place}", space.word()),
                    None => "a register".to_owned(),
                };
                format!("{kernel} {} {what} that nobody has written yet", used.words())
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
            lines.push(ptx(self.ptx_line, &self.instruction));
        }
        if let Some(other) = &self.other {
            lines.extend(self.other_lines(other));
        }
        lines
    }

    /// The other place, in as many lines as it takes.
    fn other_lines(&self, other: &Site) -> Vec<String> {
        let what = match &self.kind {
            FaultKind::Race { with: Other::Copy, .. } => "the copy began".to_owned(),
            FaultKind::Race { earlier, .. } => format!("the other one {}", earlier.done()),
            _ => "it was read".to_owned(),
        };
        let mut lines = Vec::new();
        if let Some(SourcePoint { file, line, .. }) = other.source.first() {
            lines.push(format!("{what} at {file}:{line}"));
        }
        let [bx, by, bz] = other.block;
        match other.thread {
            Some([x, y, z]) => {
                lines.push(format!("as thread ({x},{y},{z}) of block ({bx},{by},{bz})"));
            }
            None if matches!(self.kind, FaultKind::Race { with: Other::Block, .. }) => {
                lines.push(format!("as block ({bx},{by},{bz})"));
            }
            None => {}
        }
        let line = ptx(other.ptx_line, &other.instruction);
        lines.push(if other.source.is_empty() { format!("{what} in {line}") } else { line });
        lines
    }
}

/// An instruction of the PTX text on one line.
fn ptx(line: u32, instruction: &str) -> String {
    let words: Vec<_> = instruction.split_whitespace().collect();
    format!("PTX line {line}: {}", words.join(" "))
}

impl Use {
    fn words(self) -> &'static str {
        match self {
            Self::Address => "takes an address from",
            Self::Branch => "decides a branch by",
            Self::Store => "stores a value made from",
            Self::Update => "updates",
        }
    }
}

impl Near {
    /// ` (byte 12 of `x`)`
    fn place(&self) -> String {
        format!(" (byte {} of `{}`)", self.offset, self.name)
    }

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
