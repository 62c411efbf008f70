//! Faults in English.

use std::fmt::Write;

use super::{Access, Fault, FaultKind, MemorySpace, Near, Other, SourcePoint, Use};

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
            Self::Tensor => "tensor",
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
            FaultKind::OutsideMask { mask } => format!(
                "{kernel} has a lane at a .sync instruction whose mask, {mask:#010x}, does not name it"
            ),
            FaultKind::AbsentLane { used } => format!(
                "{kernel} {} what a shuffle asked of a lane that took no part, which has no meaning: \
                 an H200 gives 0",
                used.words()
            ),
            FaultKind::Deadlock { waiting } => {
                format!("{kernel} cannot go on: {}", waiting.join("; "))
            }
            FaultKind::BrokenBarrier { message } | FaultKind::Illegal { message } => {
                format!("{kernel} {message}")
            }
            FaultKind::Budget { what } => format!("{kernel} used up {what}"),
            FaultKind::DivisionByZero { remainder } => {
                let what = if *remainder { "the remainder" } else { "the quotient" };
                format!("{kernel} uses {what} of a division by zero: a GPU gives all ones")
            }
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
                    Other::Product => {
                        "wgmma is still reading: nobody waited for its group (wgmma.wait_group)"
                            .to_owned()
                    }
                    Other::TensorProduct => {
                        "tcgen05 is still reading: nobody waited at the mbarrier of a \
                                             tcgen05.commit behind it"
                            .to_owned()
                    }
                    Other::Copy => "a copy is still writing: nobody waited for it".to_owned(),
                    Other::Block => {
                        format!("another block {done} in the same launch: nothing orders the two")
                    }
                };
                format!("{kernel} {verb} {bytes} bytes of {space} memory{place} that {other}")
            }
            FaultKind::SumsInFlight { access } => format!(
                "{kernel} {} a register that wgmma has not written its sums to yet: wgmma.commit_group and \
                 wgmma.wait_group come first",
                access.verb()
            ),
            FaultKind::TensorInFlight { access, frees, columns: [first, last] } => {
                let does = if *frees { "frees" } else { access.verb() };
                let how = match access {
                    Access::Read => "has not written yet",
                    _ => "still works with",
                };
                format!(
                    "{kernel} {does} columns {first} to {last} of tensor memory that tcgen05 {how}: a wait at \
                     the mbarrier of a tcgen05.commit comes first"
                )
            }
            FaultKind::TensorNotFreed { columns: [first, last] } => format!(
                "{kernel} ends with columns {first} to {last} of tensor memory allocated: tcgen05.dealloc \
                 frees them, and the next block waits for that"
            ),
            FaultKind::TensorUndefined { what, columns: [first, last] } => format!(
                "{kernel} finds {what} in columns {first} to {last} of tensor memory, which nobody has \
                 written"
            ),
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

    /// Lines that say where and who, most useful first. `text` gives a line of a source file, for those
    /// files that the reader wrote.
    ///
    /// ```text
    /// at race.cu:8, thread (0,0,0) of block (0,0,0)
    ///    8 |     out[i] = tile[i];
    ///      |     ^
    /// ```
    pub fn details(&self, text: &mut dyn FnMut(&str, u32) -> Option<String>) -> Vec<String> {
        let [x, y, z] = self.thread;
        let [bx, by, bz] = self.block;
        let who = match self.kind {
            FaultKind::Deadlock { .. } => String::new(),
            _ => format!("thread ({x},{y},{z}) of block ({bx},{by},{bz})"),
        };
        let mut lines = place("at", &self.source, &who, (self.ptx_line, &self.instruction), text);
        if let Some(other) = &self.other {
            let what = match &self.kind {
                FaultKind::Race { with: Other::Copy, .. } => "the copy began at".to_owned(),
                FaultKind::Race { earlier, .. } => format!("the other one {} at", earlier.done()),
                FaultKind::TensorInFlight { .. } => "it was asked to at".to_owned(),
                FaultKind::DivisionByZero { .. } => "the division is at".to_owned(),
                FaultKind::AbsentLane { .. } => "the shuffle is at".to_owned(),
                _ => "it was read at".to_owned(),
            };
            let [bx, by, bz] = other.block;
            let who = match other.thread {
                Some([x, y, z]) => format!("thread ({x},{y},{z}) of block ({bx},{by},{bz})"),
                None if matches!(self.kind, FaultKind::Race { with: Other::Block, .. }) => {
                    format!("block ({bx},{by},{bz})")
                }
                None => String::new(),
            };
            lines.extend(place(
                &what,
                &other.source,
                &who,
                (other.ptx_line, &other.instruction),
                text,
            ));
        }
        lines
    }
}

/// A place in the source, who was there, and the instruction.
fn place(
    what: &str,
    source: &[SourcePoint],
    who: &str,
    (ptx_line, instruction): (u32, &str),
    text: &mut dyn FnMut(&str, u32) -> Option<String>,
) -> Vec<String> {
    let mut lines = Vec::new();
    let mut shown = false;
    for (depth, point) in source.iter().enumerate() {
        let SourcePoint { file, line, column, function } = point;
        let mut said = match depth {
            0 => format!("{what} {file}:{line}"),
            _ => format!("inlined at {file}:{line}"),
        };
        if let Some(function) = function {
            let _ = write!(said, " (in {function})");
        }
        if depth == 0 && !who.is_empty() {
            let _ = write!(said, ", {who}");
        }
        lines.push(said);
        // One line of the reader's own is enough, and the innermost says most.
        if !shown && let Some(text) = text(file, *line) {
            lines.extend(excerpt(&text, *line, *column));
            shown = true;
        }
    }
    if ptx_line > 0 {
        let words: Vec<_> = instruction.split_whitespace().collect();
        let ptx = format!("PTX line {ptx_line}: {}", words.join(" "));
        lines.push(if source.is_empty() { format!("{what} {ptx}") } else { ptx });
    }
    if source.is_empty() && !who.is_empty() {
        lines.push(who.to_owned());
    }
    lines
}

/// Cells of a source line that are shown.
const WIDE: usize = 66;

/// A source line with a caret under the column, cut to what is around it. Where CUDA's words are macros
/// (`__device__`) the compiler counts columns of what they expand to, so there is no caret.
fn excerpt(text: &str, line: u32, column: u32) -> Vec<String> {
    let cells: Vec<char> = text.trim_end().replace('\t', " ").chars().collect();
    let at = (column.max(1) as usize - 1).min(cells.len());
    let blank = cells.iter().take_while(|c| **c == ' ').count().min(at);
    let first =
        if cells.len() - blank <= WIDE { blank } else { blank.max(at.saturating_sub(WIDE / 2)) };
    let part: String = cells[first..].iter().take(WIDE).collect();
    let number = line.to_string();
    let margin = " ".repeat(number.len());
    let mut lines = vec![format!("  {number} | {part}")];
    if !text.contains("__") {
        lines.push(format!("  {margin} | {}^", " ".repeat(at - first)));
    }
    lines
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
