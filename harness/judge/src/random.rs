//! Randomness of the operating system: seeds that no solution can know beforehand.

use std::io;

/// # Errors
///
/// The system's, where it has no randomness to give; on Linux only with `/dev/urandom` missing.
pub(crate) fn bytes<const N: usize>() -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    io::Read::read_exact(&mut std::fs::File::open("/dev/urandom")?, &mut bytes)?;
    Ok(bytes)
}
