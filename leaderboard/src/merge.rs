//! Taking in another leaderboard's attempts.
//!
//! An attempt never changes and its id is its own, so that two leaderboards made one are the union of
//! their folders: no server, no lock, and no conflict that a person must settle. What makes it more
//! than a copy is doubt. The other leaderboard may come from a stick, a broken transfer or somebody
//! who edited a time, so every file is read and held to its hashes before anything is taken, and an
//! attempt with a flaw stays where it is and is named.
//!
//! All that is new is written beside the attempts first, then the disk is asked once to have it all,
//! and then each attempt is renamed to its place. Asking for each by itself would cost 4 ms for every
//! one. Killed in between, some are there, whole, and the next merge takes the rest.

use std::collections::{BTreeMap, HashSet};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use rayon::prelude::*;
use serde::Serialize;

use crate::audit::{Finding, Flaw};
use crate::incoming::Incoming;
use crate::store::SOURCE;
use crate::{AttemptId, Error, Store, collection, file, incoming};

/// The files of an attempt; whatever else lies beside them is not taken.
const FILES: [&str; 3] = ["attempt.toml", SOURCE, "samples.json"];

/// What [`Store::merge`] did.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Merged {
    /// New here, by their problems.
    pub taken: BTreeMap<String, Vec<AttemptId>>,
    /// There already.
    pub known: usize,
    /// Not taken, and why.
    pub left: Vec<Finding>,
}

impl Merged {
    pub fn count(&self) -> usize {
        self.taken.values().map(Vec::len).sum()
    }
}

/// An attempt on its way.
struct Move {
    problem: String,
    id: AttemptId,
    from: PathBuf,
    place: PathBuf,
}

impl Store {
    /// Takes in the attempts of `other` that are not here and that nothing is wrong with.
    pub fn merge(&self, other: &Self) -> Result<Merged, Error> {
        let flaws = other.verify()?.findings;
        // What killed writers left and an old index are no attempts.
        let mut left: Vec<Finding> =
            flaws.into_iter().filter(|finding| !finding.flaw.mendable()).collect();
        let flawed: HashSet<PathBuf> = left.iter().map(|finding| finding.path.clone()).collect();
        let mut merged = Merged::default();
        let mut moves = Vec::new();
        for problem in other.problems()? {
            let folder = other.attempts().join(&problem);
            let ids = collection::list(&folder)
                .map_err(|error| Error::io("read", &folder, other.root(), error))?;
            for id in ids {
                let from = folder.join(id.as_str());
                let place = self.attempts().join(&problem).join(id.as_str());
                if flawed.contains(&from) {
                    continue;
                }
                if !place.exists() {
                    moves.push(Move { problem: problem.clone(), id, from, place });
                } else if same(&from, &place) {
                    merged.known += 1;
                } else {
                    left.push(Finding { path: from, flaw: Flaw::Taken });
                }
            }
        }
        self.take(&moves)?;
        for Move { problem, id, .. } in moves {
            merged.taken.entry(problem).or_default().push(id);
        }
        merged.left = left;
        Ok(merged)
    }

    fn take(&self, moves: &[Move]) -> Result<(), Error> {
        if moves.is_empty() {
            return Ok(());
        }
        let failed = |path: &Path, error| Error::io("write", path, self.root(), error);
        incoming::sweep(&self.incoming());
        let arriving = Incoming::create(&self.incoming());
        let arriving = arriving.map_err(|error| failed(&self.incoming(), error))?;
        self.write_git_files().map_err(|error| failed(&self.attempts(), error))?;
        moves.par_iter().try_for_each(|one| {
            let new = arriving.path().join(one.id.as_str());
            let copy = || {
                fs::create_dir(&new)?;
                FILES.iter().try_for_each(|name| {
                    fs::write(new.join(name), file::read(&one.from, name, file::LARGEST)?)
                })
            };
            copy().map_err(|error| failed(&one.place, error))
        })?;
        let folders: HashSet<&Path> = moves.iter().filter_map(|one| one.place.parent()).collect();
        for folder in &folders {
            fs::create_dir_all(folder).map_err(|error| failed(folder, error))?;
        }
        let whole = File::open(arriving.path()).and_then(|file| Ok(rustix::fs::syncfs(file)?));
        whole.map_err(|error| failed(arriving.path(), error))?;
        for one in moves {
            match fs::rename(arriving.path().join(one.id.as_str()), &one.place) {
                // Another merge was faster with the same attempt.
                Err(_) if same(&one.from, &one.place) => {}
                renamed => renamed.map_err(|error| failed(&one.place, error))?,
            }
        }
        let folders = folders.into_iter().map(File::open).collect::<io::Result<Vec<_>>>();
        let synced = folders.and_then(|folders| incoming::sync(folders.iter()));
        synced.map_err(|error| failed(&self.attempts(), error))
    }
}

/// Whether two folders hold one attempt. The source and the samples hang on the record by their
/// hash and their numbers.
fn same(a: &Path, b: &Path) -> bool {
    let read = |folder: &Path| file::read(folder, FILES[0], file::LARGEST).ok();
    read(a).is_some_and(|text| read(b) == Some(text))
}
