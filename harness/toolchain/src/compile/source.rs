//! A solution's file, read once. Everything later (directives, signature, hash, record) speaks of
//! this text, not of whatever the file holds by then.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

/// More than the longest kernel anyone writes by hand; generated ones of CUTLASS are headers.
pub const MOST_BYTES: u64 = 4 << 20;

/// One `.cu` file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// As the user typed it; messages use this.
    pub typed: PathBuf,
    /// Absolute, with links resolved in nothing: relative includes start here.
    pub path: PathBuf,
    pub text: String,
    /// blake3 of the text, in hexadecimal.
    pub hash: String,
}

/// Why a file is no solution.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SourceError {
    #[error("{}: no such file", .0.display())]
    Missing(PathBuf),
    #[error("{} is a folder: name the .cu file in it", .0.display())]
    Folder(PathBuf),
    #[error("{} is not a regular file", .0.display())]
    Special(PathBuf),
    #[error("{} is empty", .0.display())]
    Empty(PathBuf),
    #[error("{} is not text: line {line} is not UTF-8", path.display())]
    Binary { path: PathBuf, line: usize },
    #[error("{} is larger than {} MiB", .0.display(), MOST_BYTES >> 20)]
    TooLarge(PathBuf),
    #[error("{}: the path holds a quote or a line break, which #include cannot name", .0.display())]
    Unnameable(PathBuf),
    #[error("{}: {why}", path.display())]
    Unreadable { path: PathBuf, why: String },
}

impl Source {
    /// # Errors
    ///
    /// [`SourceError`] for whatever is not a text file of sensible size.
    pub fn read(typed: &Path) -> Result<Self, SourceError> {
        let owned = || typed.to_owned();
        let unreadable = |error: io::Error| match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => SourceError::Missing(owned()),
            _ => SourceError::Unreadable { path: owned(), why: error.to_string() },
        };
        let facts = fs::metadata(typed).map_err(unreadable)?;
        if facts.is_dir() {
            return Err(SourceError::Folder(owned()));
        }
        if !facts.is_file() {
            return Err(SourceError::Special(owned()));
        }
        if facts.len() > MOST_BYTES {
            return Err(SourceError::TooLarge(owned()));
        }
        let bytes = fs::read(typed).map_err(unreadable)?;
        let path = std::path::absolute(typed).map_err(unreadable)?;
        match path.to_str() {
            Some(name) if !name.contains(['"', '\n', '\r']) => {}
            _ => return Err(SourceError::Unnameable(owned())),
        }
        // NUL is valid UTF-8, and no compiler takes it.
        let nul = bytes.iter().position(|&byte| byte == 0);
        let text = match (nul, String::from_utf8(bytes)) {
            (None, Ok(text)) => text,
            (Some(at), Ok(text)) => return Err(binary(typed, &text.as_bytes()[..at])),
            (_, Err(error)) => {
                let valid = error.utf8_error().valid_up_to();
                let at = nul.map_or(valid, |nul| nul.min(valid));
                return Err(binary(typed, &error.as_bytes()[..at]));
            }
        };
        if text.trim().is_empty() {
            return Err(SourceError::Empty(owned()));
        }
        Ok(Self { path, ..Self::of(typed, &text) })
    }

    /// A text that is part of the program, under this name.
    pub fn of(typed: &Path, text: &str) -> Self {
        Self {
            typed: typed.to_owned(),
            path: typed.to_owned(),
            text: text.to_owned(),
            hash: blake3::hash(text.as_bytes()).to_hex().to_string(),
        }
    }
}

fn binary(path: &Path, before: &[u8]) -> SourceError {
    let line = before.iter().filter(|&&byte| byte == b'\n').count() + 1;
    SourceError::Binary { path: path.to_owned(), line }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_solution_is_said_to_be_none() {
        let folder = tempfile::tempdir().unwrap();
        let read = |name: &str, bytes: &[u8]| {
            let path = folder.path().join(name);
            fs::write(&path, bytes).unwrap();
            (Source::read(&path), path)
        };
        assert!(matches!(Source::read(folder.path()), Err(SourceError::Folder(_))));
        assert!(matches!(Source::read(Path::new("/dev/null")), Err(SourceError::Special(_))));
        let missing = folder.path().join("nothing.cu");
        assert_eq!(Source::read(&missing), Err(SourceError::Missing(missing.clone())));
        assert!(matches!(read("empty.cu", b"").0, Err(SourceError::Empty(_))));
        assert!(matches!(read("blank.cu", b" \n\t\n").0, Err(SourceError::Empty(_))));
        let (junk, path) = read("junk.cu", b"int x;\n\x7fELF\xff\xfe");
        assert_eq!(junk, Err(SourceError::Binary { path, line: 2 }));
        let (nul, path) = read("nul.cu", b"\n\nint\0 x;");
        assert_eq!(nul, Err(SourceError::Binary { path, line: 3 }));
        assert!(matches!(read("a\"b.cu", b"int x;").0, Err(SourceError::Unnameable(_))));
        let big = vec![b'\n'; MOST_BYTES as usize + 1];
        assert!(matches!(read("big.cu", &big).0, Err(SourceError::TooLarge(_))));
    }

    #[test]
    fn the_hash_is_of_the_text() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.cu");
        fs::write(&path, "int x;\n").unwrap();
        let source = Source::read(&path).unwrap();
        assert_eq!(source.text, "int x;\n");
        assert_eq!(source.hash, blake3::hash(b"int x;\n").to_hex().as_str());
    }
}
