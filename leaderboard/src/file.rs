//! Reading a board's files.
//!
//! A board may come from strangers: cloned, mounted, sent. What stands where a file should be may be a link to
//! the reader's own secrets, which a report would publish, or a pipe that never ends. So files are read if
//! they are files, in a folder that is one, and of a size that such files have.

use std::io::{self, Read as _};
use std::path::Path;

use rustix::fs::{CWD, Mode, OFlags};

/// Bytes of a source or of samples, far more than any has.
pub(crate) const LARGEST: u64 = 64 << 20;

/// The content of the file `name` in `folder`.
///
/// # Errors
/// The system's; and for a link, for what is no file, and for more than `largest` bytes.
pub(crate) fn read(folder: &Path, name: &str, largest: u64) -> io::Result<Vec<u8>> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let folder = rustix::fs::openat(CWD, folder, flags | OFlags::DIRECTORY, Mode::empty())?;
    // A pipe is opened at once, and then it is no file.
    let file = rustix::fs::openat(&folder, name, flags | OFlags::NONBLOCK, Mode::empty());
    let file = std::fs::File::from(file.map_err(|error| match error {
        rustix::io::Errno::LOOP => {
            io::Error::other("is a link, which nobody follows out of a board")
        }
        error => error.into(),
    })?);
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Err(io::Error::other("is not a file"));
    }
    let mut bytes = Vec::with_capacity(metadata.len().min(largest) as usize);
    file.take(largest.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > largest {
        return Err(io::Error::other(format!("has more than {largest} bytes")));
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::{read as read_in, *};

    #[test]
    fn only_files_are_read() {
        let place = tempfile::tempdir().unwrap();
        let board = place.path().join("board");
        std::fs::create_dir(&board).unwrap();
        std::fs::write(place.path().join("secret"), "mine").unwrap();
        std::fs::write(board.join("file"), "theirs").unwrap();
        symlink("../secret", board.join("link")).unwrap();
        symlink(".", place.path().join("folder")).unwrap();
        rustix::fs::mknodat(CWD, board.join("pipe"), rustix::fs::FileType::Fifo, Mode::RWXU, 0)
            .unwrap();

        let read =
            |name: &str, largest| read_in(&board, name, largest).map_err(|error| error.to_string());
        assert_eq!(read("file", 6), Ok(b"theirs".to_vec()));
        assert_eq!(read("file", 5), Err("has more than 5 bytes".to_owned()));
        assert!(read("link", 100).unwrap_err().starts_with("is a link"));
        assert_eq!(read("pipe", 100), Err("is not a file".to_owned()));
        assert!(read_in(&place.path().join("folder"), "secret", 100).is_err());
    }
}
