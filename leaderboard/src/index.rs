//! The summaries of a problem's attempts in one file, so that ten thousand need not be parsed.
//!
//! Derived and disposable: `attempts/.index/<problem>.jsonl` may be deleted at any time, is ignored
//! by git, and is never believed against an attempt. Each entry carries the time and length that
//! its `attempt.toml` had; where either differs the attempt itself is read. The first line counts
//! the entries and carries a checksum of the rest; where it does not fit, there is no index.

use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::incoming::Incoming;
use crate::{Summary, file};

/// Raised whenever [`Summary`] changes its meaning.
const FORMAT: u32 = 3;

/// Bytes of an index: those of a million attempts.
const LARGEST: u64 = 1 << 30;

#[derive(Serialize, Deserialize)]
struct Header {
    format: u32,
    entries: usize,
    blake3: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Entry {
    pub(crate) stamp: Stamp,
    pub(crate) summary: Summary,
}

/// How a file is recognised as unchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Stamp {
    seconds: i64,
    nanoseconds: i64,
    length: u64,
}

impl From<&Metadata> for Stamp {
    fn from(file: &Metadata) -> Self {
        Self { seconds: file.mtime(), nanoseconds: file.mtime_nsec(), length: file.len() }
    }
}

/// The entries, in the order of their ids.
pub(crate) fn load(path: &Path) -> Result<Vec<Entry>, String> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let content = file::read(folder, name, LARGEST).map_err(|error| error.to_string())?;
    let end = content.iter().position(|byte| *byte == b'\n').ok_or("no first line")?;
    let header: Header =
        serde_json::from_slice(&content[..end]).map_err(|error| error.to_string())?;
    let body = content[end + 1..].strip_suffix(b"\n").unwrap_or_default();
    if header.format != FORMAT {
        return Err(format!("format {} instead of {FORMAT}", header.format));
    }
    if header.blake3 != blake3::hash(body).to_hex().as_str() {
        return Err("the checksum does not fit".into());
    }
    if body.is_empty() {
        return Ok(Vec::new());
    }
    let entries: Vec<Entry> = body
        .par_split(|byte| *byte == b'\n')
        .map(|line| serde_json::from_slice(line).map_err(|error| error.to_string()))
        .collect::<Result<_, _>>()?;
    let sorted = entries.is_sorted_by(|a, b| a.summary.id < b.summary.id);
    if !sorted || entries.len() != header.entries {
        return Err("entries are missing or out of order".into());
    }
    Ok(entries)
}

/// Replaces the index at `path`. `entries` are in the order of their ids. Not forced to disk: what
/// a power cut leaves of it, the checksum refuses.
pub(crate) fn store(path: &Path, incoming: &Path, entries: &[Entry]) -> io::Result<()> {
    let lines: Vec<Vec<u8>> =
        entries.par_iter().map(serde_json::to_vec).collect::<Result<_, _>>()?;
    let body = lines.join(&b'\n');
    let header = Header {
        format: FORMAT,
        entries: entries.len(),
        blake3: blake3::hash(&body).to_hex().to_string(),
    };
    let mut content = serde_json::to_vec(&header)?;
    for part in [&b"\n"[..], &body, b"\n"] {
        content.extend_from_slice(part);
    }
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent)?;
    }
    let mut folder = Incoming::create(incoming)?;
    folder.write("index", &content)?;
    folder.publish_file("index", path)
}
