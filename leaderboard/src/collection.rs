//! Reading all attempts of a problem: from the index where it fits, from the attempts where not.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::{fs, io};

use rayon::prelude::*;
use serde::Serialize;

use crate::index::{self, Entry, Stamp};
use crate::record::{self, Defect};
use crate::{Attempt, AttemptId, Summary, file};

/// What a leaderboard holds.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Collection {
    /// Oldest first.
    pub attempts: Vec<Summary>,
    /// Named, skipped and left as they are.
    pub unreadable: Vec<Unreadable>,
    pub reading: Reading,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Unreadable {
    /// The attempt's folder.
    pub path: PathBuf,
    pub defect: Defect,
}

/// How much work it was.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Reading {
    /// Attempts taken from the index.
    pub indexed: usize,
    /// `attempt.toml` files parsed.
    pub parsed: usize,
}

impl Collection {
    pub(crate) fn append(&mut self, other: Self) {
        self.attempts.extend(other.attempts);
        self.unreadable.extend(other.unreadable);
        self.reading.indexed += other.reading.indexed;
        self.reading.parsed += other.reading.parsed;
    }

    pub(crate) fn sort(&mut self) {
        self.attempts.par_sort_by(|a, b| (a.created, &a.id).cmp(&(b.created, &b.id)));
        self.unreadable.sort_by(|a, b| a.path.cmp(&b.path));
    }
}

/// An index older than this share of its problem is written anew. Parsing an attempt costs some
/// thirty times as much as writing its entry, so that reading stays cheap either way.
const STALE: usize = 16;

/// Reads the attempts in `folder`, whose name is the problem's.
pub(crate) fn read(folder: &Path, index: &Path, incoming: &Path) -> io::Result<Collection> {
    let ids = list(folder)?;
    let known = index::load(index).unwrap_or_default();
    let known_count = known.len();
    let listed = ids.len();

    let mut known = known.into_iter().peekable();
    let mut pairs = Vec::with_capacity(ids.len());
    for id in ids {
        while known.next_if(|entry| entry.summary.id < id).is_some() {}
        let entry = known.next_if(|entry| entry.summary.id == id);
        pairs.push((id, entry));
    }
    let read: Vec<(bool, Result<Entry, Unreadable>)> =
        pairs.into_par_iter().map(|(id, entry)| read_one(folder, &id, entry)).collect();

    let mut collection = Collection::default();
    let mut entries = Vec::with_capacity(read.len());
    for (indexed, outcome) in read {
        collection.reading.indexed += usize::from(indexed);
        collection.reading.parsed += usize::from(!indexed);
        match outcome {
            Ok(entry) => entries.push(entry),
            Err(unreadable) => collection.unreadable.push(unreadable),
        }
    }
    let vanished = known_count.saturating_sub(collection.reading.indexed);
    let fresh = entries.len() - collection.reading.indexed;
    if (vanished + fresh) * STALE > listed {
        // Where this fails (a read-only folder, a full disk), the next reading is slower: no harm.
        let _ = index::store(index, incoming, &entries);
    }
    collection.attempts = entries.into_iter().map(|entry| entry.summary).collect();
    Ok(collection)
}

/// The ids of the attempts in a problem's folder, in order. What has no id's name is no attempt.
pub(crate) fn list(folder: &Path) -> io::Result<Vec<AttemptId>> {
    let mut ids = Vec::new();
    for entry in fs::read_dir(folder)? {
        if let Ok(id) = entry?.file_name().into_string().unwrap_or_default().parse() {
            ids.push(id);
        }
    }
    ids.par_sort();
    Ok(ids)
}

/// One attempt, and whether the index's entry was still good.
fn read_one(
    folder: &Path,
    id: &AttemptId,
    entry: Option<Entry>,
) -> (bool, Result<Entry, Unreadable>) {
    let path = folder.join(id.as_str());
    let stamp = stamp(&path);
    if let (Ok(stamp), Some(entry)) = (&stamp, entry)
        && entry.stamp == *stamp
    {
        return (true, Ok(entry));
    }
    let parsed = load(&path).and_then(|attempt| match stamp {
        Ok(stamp) => Ok(Entry { stamp, summary: Summary::from(&attempt) }),
        Err(error) => Err(Defect::Damaged(error.to_string())),
    });
    (false, parsed.map_err(|defect| Unreadable { path, defect }))
}

/// How the attempt in `path` looks from outside.
pub(crate) fn stamp(path: &Path) -> io::Result<Stamp> {
    fs::metadata(path.join("attempt.toml")).map(|metadata| Stamp::from(&metadata))
}

/// Reads the attempt in `path`, the attempt's folder, and makes sure that it belongs there.
pub(crate) fn load(path: &Path) -> Result<Attempt, Defect> {
    let damaged = |why: String| Defect::Damaged(why);
    let bytes = file::read(path, "attempt.toml", record::LARGEST).map_err(|error| {
        damaged(match error.kind() {
            io::ErrorKind::NotFound => "attempt.toml is missing".into(),
            _ => format!("attempt.toml {error}"),
        })
    })?;
    let text = String::from_utf8(bytes).map_err(|error| {
        damaged(format!("byte {} is no UTF-8", error.utf8_error().valid_up_to()))
    })?;
    let attempt = record::decode(&text)?;
    if path.file_name() != Some(OsStr::new(attempt.id.as_str())) {
        return Err(damaged(format!("the folder of attempt {} has another name", attempt.id)));
    }
    if path.parent().and_then(Path::file_name) != Some(OsStr::new(&attempt.problem)) {
        return Err(damaged(format!("it belongs to the problem {}", attempt.problem)));
    }
    Ok(attempt)
}
