//! What can go wrong, with what to do next.

use std::io;
use std::path::{Path, PathBuf};

use crate::AttemptId;
use crate::record::Defect;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("no room left in {}; free some, or give another folder with --leaderboard DIR", .folder.display())]
    DiskFull { folder: PathBuf },
    #[error("{} is read-only for you; make it writable, or give another folder with --leaderboard DIR", .folder.display())]
    ReadOnly { folder: PathBuf },
    #[error("cannot {action} {}: {source}", .path.display())]
    Io { action: &'static str, path: PathBuf, source: io::Error },
    #[error("{} line {line}: {why}; docs/groups.md shows one that is right", .path.display())]
    Manifest { path: PathBuf, line: usize, why: String },
    #[error("`{0}` is no problem's name; use small letters, digits and underscores")]
    ProblemName(String),
    /// What was to be recorded contradicts itself; a defect of the caller, not of the user.
    #[error("this attempt cannot be recorded: {0}")]
    Invalid(String),
    #[error("no attempt begins with `{typed}`; `nibble history` lists them all")]
    NoSuchAttempt { typed: String },
    #[error("`{typed}` begins {} attempts: {}; type one more letter", .candidates.len(), list(.candidates))]
    Ambiguous {
        typed: String,
        /// Newest first.
        candidates: Vec<AttemptId>,
    },
    #[error("attempt {}: {defect}", .path.display())]
    Unreadable { path: PathBuf, defect: Defect },
}

impl Error {
    /// Gives an operating system's error its meaning for a leaderboard in `folder`.
    pub(crate) fn io(action: &'static str, path: &Path, folder: &Path, source: io::Error) -> Self {
        use io::ErrorKind::{PermissionDenied, QuotaExceeded, ReadOnlyFilesystem, StorageFull};
        let folder = folder.to_owned();
        match source.kind() {
            StorageFull | QuotaExceeded => Self::DiskFull { folder },
            PermissionDenied | ReadOnlyFilesystem if action != "read" => Self::ReadOnly { folder },
            _ => Self::Io { action, path: path.to_owned(), source },
        }
    }
}

/// The first few: a message is one line.
fn list(candidates: &[AttemptId]) -> String {
    const SHOWN: usize = 6;
    let mut names: Vec<&str> = candidates.iter().take(SHOWN).map(AttemptId::as_str).collect();
    if candidates.len() > SHOWN {
        names.push("…");
    }
    names.join(", ")
}
