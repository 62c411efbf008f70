//! How far each run of a batch is, written down for whoever asks while it goes on.
//!
//! Each process that works on a batch appends to a journal of its own, a line for every step, and holds
//! `flock` on it. So no two writers meet, on one machine or on several that share a folder; a line
//! that a kill cut off is no line; and what a dead process was at is known to hang,
//! because its lock is free.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::Event;

/// What a run of a batch waits for, or is at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Step {
    Queued,
    Compiling,
    Checking,
    WaitingForGpu,
    Timing,
    Done,
}

impl Step {
    /// All, in the order in which they come.
    pub const ALL: [Self; 6] = [
        Self::Queued,
        Self::Compiling,
        Self::Checking,
        Self::WaitingForGpu,
        Self::Timing,
        Self::Done,
    ];

    /// The step that begins with this event.
    pub fn of(event: &Event) -> Option<Self> {
        match event {
            Event::Toolchain(toolchain::Event::Compiling { .. }) => Some(Self::Compiling),
            Event::CaseStarted { .. } => Some(Self::Checking),
            Event::WaitingForGpu => Some(Self::WaitingForGpu),
            Event::BenchStarted { .. } => Some(Self::Timing),
            _ => None,
        }
    }
}

#[derive(Serialize, Deserialize)]
struct Line {
    index: usize,
    step: Step,
}

const EXTENSION: &str = "journal";

/// What one process writes of a batch.
#[derive(Debug)]
pub struct Journal {
    file: File,
    /// So that the second case of a check is no line.
    last: BTreeMap<usize, Step>,
    /// The places in the batch of the runs that this process counts from 0; empty: they are those.
    places: Vec<usize>,
}

impl Journal {
    /// A new one in the batch's folder.
    pub(super) fn create(folder: &Path) -> io::Result<Self> {
        let name = tempfile::Builder::new()
            .prefix("")
            .suffix(&format!(".{EXTENSION}"))
            .tempfile_in(folder)?;
        let (file, _) = name.keep().map_err(|error| error.error)?;
        // On a file system without locks the journal looks as if its writer were dead.
        let _ = file.try_lock();
        Ok(Self { file, last: BTreeMap::new(), places: Vec::new() })
    }

    /// From now on the run of index `i` is the batch's `places[i]`.
    pub fn renumber(&mut self, places: Vec<usize>) {
        self.places = places;
    }

    /// That the run of this index is at this step now. What cannot be written is not seen by others,
    /// and changes nothing else.
    pub fn note(&mut self, index: usize, step: Step) {
        let index = self.places.get(index).copied().unwrap_or(index);
        if self.last.insert(index, step) == Some(step) {
            return;
        }
        let mut line = serde_json::to_vec(&Line { index, step }).unwrap_or_default();
        line.push(b'\n');
        let _ = self.file.write_all(&line);
    }
}

/// The step of each run that was begun, by all journals of a folder. What a dead process was at is
/// queued again.
pub(super) fn steps(folder: &Path) -> BTreeMap<usize, Step> {
    let mut steps = BTreeMap::new();
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let paths = entries.map(|entry| entry.path());
    for path in paths.filter(|path| path.extension().is_some_and(|known| known == EXTENSION)) {
        let Ok(text) = fs::read_to_string(&path) else { continue };
        let dead = File::open(&path).is_ok_and(|file| file.try_lock().is_ok());
        let whole = text.split_inclusive('\n').filter(|line| line.ends_with('\n'));
        for Line { index, step } in whole.filter_map(|line| serde_json::from_str(line).ok()) {
            let step = if dead && step != Step::Done { Step::Queued } else { step };
            let known = steps.entry(index).or_insert(step);
            // Of one writer the last word counts; of several, what is done stays done.
            if *known != Step::Done {
                *known = step;
            }
        }
    }
    steps
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_living_writer_is_believed_and_a_dead_one_only_in_what_is_done() {
        let folder = tempfile::tempdir().unwrap();
        let mut dead = Journal::create(folder.path()).unwrap();
        dead.note(0, Step::Compiling);
        dead.note(0, Step::Done);
        dead.note(1, Step::Checking);
        drop(dead);
        let mut living = Journal::create(folder.path()).unwrap();
        living.note(2, Step::Checking);
        living.note(2, Step::WaitingForGpu);
        fs::write(
            folder.path().join("cut.journal"),
            "{\"index\":3,\"step\":\"done\"}\n{\"index\":4",
        )
        .unwrap();
        let expected =
            [(0, Step::Done), (1, Step::Queued), (2, Step::WaitingForGpu), (3, Step::Done)];
        assert_eq!(steps(folder.path()), BTreeMap::from(expected));
    }
}
