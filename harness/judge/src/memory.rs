//! Whether this machine has the memory that a size asks for, asked before any of it is taken: an
//! allocation that fails ends the process.

use std::fs;

use problems::{Problem, Sizes};

use crate::Error;

/// Copies of a case's buffers that are alive at once: the judge's inputs and what it expects, what
/// is shared with the worker, and the device's.
const COPIES: u64 = 4;
const GIB: f64 = (1u64 << 30) as f64;

/// # Errors
///
/// [`Error::Usage`] where the sizes are not the problem's, or need more than there is.
pub(crate) fn fits(problem: &Problem, sizes: &Sizes) -> Result<(), Error> {
    let buffers = problem.buffers(sizes).map_err(|error| Error::Usage(error.to_string()))?;
    let bytes = buffers.iter().fold(0u64, |sum, buffer| sum.saturating_add(buffer.bytes as u64));
    let needed = bytes.saturating_mul(COPIES);
    match available() {
        Some(free) if needed > free => Err(Error::Usage(format!(
            "{sizes} needs about {:.0} GiB of memory, and {:.0} GiB are free here; ask for a smaller size",
            needed as f64 / GIB,
            free as f64 / GIB
        ))),
        _ => Ok(()),
    }
}

/// What the system says it can give without swapping, bytes; nothing where it does not say.
fn available() -> Option<u64> {
    let text = fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kib.checked_mul(1024)
}
