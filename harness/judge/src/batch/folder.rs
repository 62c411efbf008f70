//! The folder of a batch that is under way: what was asked for, and how far it is.
//!
//! ```text
//! RUNS/20260812-143015-k7f2qa/plan.json      what was asked for; written once
//!                             lock           held by whoever sees to the batch
//!                             *.journal      see journal.rs
//! ```
//!
//! It is there from the beginning of a batch to its end, and so it is what is left of one that was
//! killed. What is *done* it does not decide: that is whatever has been recorded.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::journal::{self, Journal, Step};

const PLAN: &str = "plan.json";

/// A batch's folder.
#[derive(Clone, Debug)]
pub struct Folder(PathBuf);

/// Held by the process that sees to a batch; the kernel lets go of it with that process.
#[derive(Debug)]
pub struct Hold(#[expect(dead_code, reason = "closing the file ends the hold")] File);

impl Folder {
    /// A new one, below `runs`, with what is asked for. It is not seen before it is whole.
    ///
    /// # Errors
    ///
    /// Where `runs` cannot be written.
    pub fn create(runs: &Path, name: &str, plan: &impl Serialize) -> io::Result<(Self, Hold)> {
        fs::create_dir_all(runs)?;
        // Of no use to anybody else, so not for git.
        fs::write(runs.join(".gitignore"), "*\n")?;
        let new = tempfile::Builder::new().prefix(".new-").tempdir_in(runs)?;
        fs::write(new.path().join(PLAN), serde_json::to_vec(plan)?)?;
        let hold = Self(new.path().to_owned()).hold()?;
        let place = runs.join(name);
        fs::rename(new.keep(), &place)?;
        let taken = || io::Error::other("the new folder is held by somebody else");
        Ok((Self(place), hold.ok_or_else(taken)?))
    }

    pub fn at(runs: &Path, name: &str) -> Self {
        Self(runs.join(name))
    }

    /// Those below `runs`, by their names.
    pub fn all(runs: &Path) -> Vec<Self> {
        let entries = fs::read_dir(runs).into_iter().flatten().flatten();
        let mut all: Vec<Self> = entries
            .filter(|entry| !entry.file_name().to_string_lossy().starts_with('.'))
            .map(|entry| Self(entry.path()))
            .filter(|folder| folder.0.join(PLAN).is_file())
            .collect();
        all.sort_by(|a, b| a.0.cmp(&b.0));
        all
    }

    pub fn path(&self) -> &Path {
        &self.0
    }

    pub fn name(&self) -> String {
        self.0.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }

    /// What is asked for; absent where it cannot be read, or another nibble wrote it.
    pub fn plan<P: DeserializeOwned>(&self) -> Option<P> {
        serde_json::from_slice(&fs::read(self.0.join(PLAN)).ok()?).ok()
    }

    /// Sees to the batch; `None` where somebody else does.
    ///
    /// # Errors
    ///
    /// Where the folder cannot be written.
    pub fn hold(&self) -> io::Result<Option<Hold>> {
        let file = File::create(self.0.join("lock"))?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Hold(file))),
            Err(fs::TryLockError::WouldBlock) => Ok(None),
            Err(fs::TryLockError::Error(error)) => Err(error),
        }
    }

    /// Where this process notes how far it is.
    ///
    /// # Errors
    ///
    /// Where the folder cannot be written.
    pub fn journal(&self) -> io::Result<Journal> {
        Journal::create(&self.0)
    }

    /// How far each run is that was begun.
    pub fn steps(&self) -> BTreeMap<usize, Step> {
        journal::steps(&self.0)
    }

    /// Removes it: nothing is left to do.
    ///
    /// # Errors
    ///
    /// Where it cannot be removed.
    pub fn finish(self) -> io::Result<()> {
        fs::remove_dir_all(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_is_seen_to_by_one_and_gone_when_it_is_finished() {
        let root = tempfile::tempdir().unwrap();
        let runs = root.path().join("runs");
        assert!(Folder::all(&runs).is_empty());
        let (folder, hold) = Folder::create(&runs, "20260812-143015-k7f2qa", &[1, 2]).unwrap();
        assert_eq!(folder.plan::<Vec<u32>>(), Some(vec![1, 2]));
        assert!(folder.hold().unwrap().is_none());
        drop(hold);
        assert!(folder.hold().unwrap().is_some());
        let names: Vec<String> = Folder::all(&runs).iter().map(Folder::name).collect();
        assert_eq!(names, ["20260812-143015-k7f2qa"]);
        folder.finish().unwrap();
        assert!(Folder::all(&runs).is_empty());
    }
}
