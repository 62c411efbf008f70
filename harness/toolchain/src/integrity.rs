//! Whether the managed copy is still what was installed.
//!
//! Each wheel brings a list of its files, which installers keep beside them:
//!
//! ```text
//! nvidia_nvvm-13.0.88.dist-info/RECORD
//!     nvidia/cu13/nvvm/bin/cicc,sha256=R1qUhvHMyUCDI8x16i-hFZnwjp3uE3u3rHFQzlIIxCU,76506792
//! ```
//!
//! Paths are relative to the folder of installation, hashes are in URL-safe base64 without padding
//! (packaging.python.org, "Recording installed projects"). Sizes of the 30 programs are looked at before
//! each use, which costs less than 1 ms; all 1,882 hashes (271 MB, 1 s) where somebody asks.

use std::{
    fs,
    io::{self, Read as _},
    path::{Path, PathBuf},
};

use base64::{Engine as _, prelude::BASE64_URL_SAFE_NO_PAD};
use sha2::{Digest as _, Sha256};

/// How closely to look.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Depth {
    /// Programs, by their sizes.
    Sizes,
    /// Every file, by its contents.
    Contents,
}

/// The first file found that is not what was installed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Damage {
    #[error("{} is not there", .0.display())]
    Missing(PathBuf),
    #[error("{} has {is} bytes instead of {installed}", path.display())]
    Size { path: PathBuf, is: u64, installed: u64 },
    #[error("the contents of {} have changed", .0.display())]
    Contents(PathBuf),
}

/// One line of a RECORD.
struct Entry<'a> {
    path: &'a str,
    hash: &'a str,
    size: u64,
}

impl Entry<'_> {
    /// None for the record itself, which has neither hash nor size.
    fn parse(line: &str) -> Option<Entry<'_>> {
        let (rest, size) = line.trim_end().rsplit_once(',')?;
        let (path, hash) = rest.rsplit_once(",sha256=")?;
        Some(Entry { path, hash, size: size.parse().ok()? })
    }

    fn is_program(&self) -> bool {
        ["nvidia/cu13/bin/", "nvidia/cu13/nvvm/"].iter().any(|dir| self.path.starts_with(dir))
    }

    fn examine(&self, home: &Path, depth: Depth) -> Result<(), Damage> {
        let path = home.join(self.path);
        let Ok(facts) = fs::metadata(&path) else { return Err(Damage::Missing(path)) };
        if facts.len() != self.size {
            return Err(Damage::Size { path, is: facts.len(), installed: self.size });
        }
        match depth {
            Depth::Contents if !hash(&path).is_ok_and(|hash| hash == self.hash) => {
                Err(Damage::Contents(path))
            }
            _ => Ok(()),
        }
    }
}

/// Holds what lies in `home` to the records of its wheels; without records nothing can be said.
pub fn examine(home: &Path, depth: Depth) -> Result<(), Damage> {
    for folder in fs::read_dir(home).into_iter().flatten().flatten() {
        let Ok(record) = fs::read_to_string(folder.path().join("RECORD")) else { continue };
        record
            .lines()
            .filter_map(Entry::parse)
            .filter(|entry| depth == Depth::Contents || entry.is_program())
            .try_for_each(|entry| entry.examine(home, depth))?;
    }
    Ok(())
}

fn hash(path: &Path) -> io::Result<String> {
    let mut file = fs::File::open(path)?;
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; 1 << 16];
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(BASE64_URL_SAFE_NO_PAD.encode(hasher.finalize())),
            len => hasher.update(&buffer[..len]),
        }
    }
}
