//! A report's folder: there whole, or as it was before.
//!
//! ```text
//! <place>               the report
//! <place>/report.json   says that it is one, and lists every file that nibble wrote into it
//! .<place>.new-<pid>    beside it, while nibble writes; then the two change places
//! ```
//!
//! What stands at the place already is replaced only if it is a report and holds nothing but what
//! its list names: somebody's notes among the pages are not ours to remove. The exchange of the two
//! folders is one step of the file system, so that no moment has half a report or none. File
//! systems that cannot do it (some network mounts) get two renames, with a gap of microseconds.
//!
//! A writer that is killed leaves its folder, and the next one removes it: each writer holds a lock
//! on its own, and the kernel lets go of it with the process.

use std::{
    collections::BTreeSet,
    fs::{self, File, TryLockError},
    io,
    path::{Path, PathBuf},
    process,
    sync::Mutex,
};

use rustix::fs::{CWD, RenameFlags, renameat_with};
use serde::{Deserialize, Serialize};

use crate::exit::{Failure, Result};

const LIST: &str = "report.json";
const WRITER: &str = "nibble report";

/// What `report.json` holds.
#[derive(Debug, Serialize, Deserialize)]
struct List {
    written_by: String,
    /// Relative to the folder, in order, without this file.
    files: BTreeSet<String>,
}

/// A folder that is being written. Dropped without [`Folder::publish`], it leaves nothing.
#[derive(Debug)]
pub struct Folder {
    place: PathBuf,
    work: PathBuf,
    files: Mutex<BTreeSet<String>>,
    /// `work`, held for its lock.
    _lock: File,
}

impl Folder {
    /// Begins a report at `place`. Refuses a place that holds anything but a report.
    pub fn create(place: &Path) -> Result<Self> {
        let place = fs::canonicalize(place).unwrap_or_else(|_| place.to_owned());
        replaceable(&place)?;
        let (Some(parent), Some(name)) = (place.parent(), place.file_name()) else {
            return Err(not_a_report(&place));
        };
        let prefix = format!(".{}.new-", name.to_string_lossy());
        let work = parent.join(format!("{prefix}{}", process::id()));
        let failed = |error| failed("write", &work, error);
        if !parent.as_os_str().is_empty() {
            fs::create_dir_all(parent).map_err(failed)?;
        }
        sweep(parent, &prefix);
        loop {
            fs::create_dir(&work).map_err(failed)?;
            let lock = File::open(&work).map_err(failed)?;
            // Until it is locked, another writer takes the folder for a dead one's: it has the lock
            // then, or the folder is gone. Where there are no locks nothing is swept, which costs
            // disk space only.
            let swept = matches!(lock.try_lock(), Err(TryLockError::WouldBlock)) || !work.exists();
            if !swept {
                return Ok(Self { place, work, files: Mutex::default(), _lock: lock });
            }
            let _ = fs::remove_dir(&work);
        }
    }

    /// One file of the report; its folder is made if need be. Several threads may write at once.
    pub fn write(&self, path: &str, content: impl AsRef<[u8]>) -> Result<()> {
        let file = self.work.join(path);
        let failed = |error| failed("write", &file, error);
        let write = || fs::write(&file, &content);
        match write() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                fs::create_dir_all(file.parent().unwrap_or(&self.work)).map_err(failed)?;
                write().map_err(failed)?;
            }
            written => written.map_err(failed)?,
        }
        self.files.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).insert(path.to_owned());
        Ok(())
    }

    /// Puts the report in its place, and says which files it has.
    pub fn publish(self) -> Result<BTreeSet<String>> {
        let files = std::mem::take(
            &mut *self.files.lock().unwrap_or_else(|poisoned| poisoned.into_inner()),
        );
        let list = List { written_by: WRITER.to_owned(), files };
        let text = serde_json::to_vec_pretty(&list)
            .map_err(|error| failed("write", &self.work, error.into()))?;
        fs::write(self.work.join(LIST), text)
            .map_err(|error| failed("write", &self.work, error))?;
        replaceable(&self.place)?;
        exchange(&self.work, &self.place).map_err(|error| failed("write", &self.place, error))?;
        Ok(list.files)
    }
}

impl Drop for Folder {
    /// After `publish` this is the report that was there before, if there was one.
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.work);
    }
}

/// Afterwards `work` stands at `place`, and what was there, if anything, at `work`.
fn exchange(work: &Path, place: &Path) -> io::Result<()> {
    if !place.exists() {
        return fs::rename(work, place);
    }
    match renameat_with(CWD, work, CWD, place, RenameFlags::EXCHANGE) {
        Ok(()) => Ok(()),
        Err(rustix::io::Errno::INVAL | rustix::io::Errno::NOSYS) => {
            let old = work.with_extension("old");
            fs::rename(place, &old)?;
            fs::rename(work, place)?;
            fs::rename(&old, work)
        }
        Err(error) => Err(error.into()),
    }
}

/// Nothing, an empty folder, or a report without anybody else's files.
fn replaceable(place: &Path) -> Result<()> {
    match fs::read_dir(place) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => {
            return Err(Failure::usage(format!("{} is a file", place.display()))
                .next("give another folder: nibble report -o DIR"));
        }
        Err(error) => return Err(failed("read", place, error)),
        Ok(mut entries) => {
            if entries.next().is_none() {
                return Ok(());
            }
        }
    }
    let list: List = fs::read(place.join(LIST))
        .ok()
        .and_then(|text| serde_json::from_slice(&text).ok())
        .filter(|list: &List| list.written_by == WRITER)
        .ok_or_else(|| not_a_report(place))?;
    match stranger(place, place, &list.files).map_err(|error| failed("read", place, error))? {
        None => Ok(()),
        Some(file) => Err(Failure::usage(format!("{} is not of the report", file.display()))
            .next("move it elsewhere, or give another folder: nibble report -o DIR")),
    }
}

/// A file in `folder` that the list does not name.
fn stranger(root: &Path, folder: &Path, files: &BTreeSet<String>) -> io::Result<Option<PathBuf>> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let path = entry.path();
        let name = path.strip_prefix(root).ok().and_then(Path::to_str).unwrap_or_default();
        if entry.file_type()?.is_dir() {
            if let Some(found) = stranger(root, &path, files)? {
                return Ok(Some(found));
            }
        } else if name != LIST && !files.contains(name) {
            return Ok(Some(path));
        }
    }
    Ok(None)
}

/// Removes what killed writers left. Where that fails, it is litter, and no reason to stop.
fn sweep(parent: &Path, prefix: &str) {
    let parent = if parent.as_os_str().is_empty() { Path::new(".") } else { parent };
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        if !entry.file_name().to_string_lossy().starts_with(prefix) {
            continue;
        }
        // The lock is held until the folder is gone.
        let lock = File::open(entry.path()).ok().filter(|lock| lock.try_lock().is_ok());
        if lock.is_some() {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

fn not_a_report(place: &Path) -> Failure {
    Failure::usage(format!("{} is no report of nibble's: it stays as it is", place.display()))
        .next("give an empty folder, or a new one: nibble report -o DIR")
}

fn failed(action: &str, path: &Path, error: io::Error) -> Failure {
    Failure::machine(format!("cannot {action} {}: {error}", path.display()))
        .next("make room or give another folder: nibble report -o DIR")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(place: &Path, text: &str) -> Result<BTreeSet<String>> {
        let folder = Folder::create(place)?;
        folder.write("a/b.html", text)?;
        folder.publish()
    }

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).expect("a folder").flatten();
        let mut names: Vec<_> =
            entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_report_replaces_a_report_and_leaves_nothing_beside_it() {
        let root = tempfile::tempdir().expect("a folder");
        let place = root.path().join("in/report");
        for text in ["old", "new"] {
            let files = write(&place, text).expect("it can be written");
            assert_eq!(files.into_iter().collect::<Vec<_>>(), ["a/b.html"]);
            assert_eq!(fs::read_to_string(place.join("a/b.html")).expect("a page"), text);
            assert_eq!(names(place.parent().expect("in")), ["report"]);
        }
    }

    #[test]
    fn what_is_not_a_report_stays() {
        let root = tempfile::tempdir().expect("a folder");
        let place = root.path().join("report");
        fs::create_dir(&place).expect("a folder");
        write(&place, "an empty folder is free").expect("it can be written");

        fs::write(place.join("a/notes.md"), "mine").expect("a file");
        let refused = write(&place, "new").expect_err("notes would be lost");
        assert!(refused.message.contains("a/notes.md"), "{refused:?}");
        assert_eq!(names(root.path()), ["report"]);

        fs::remove_file(place.join(LIST)).expect("a file");
        assert!(write(&place, "new").is_err(), "a folder without a list was replaced");
        assert!(write(&place.join("a/notes.md"), "new").is_err(), "a file was replaced");
        assert_eq!(fs::read_to_string(place.join("a/notes.md")).expect("a file"), "mine");
    }

    #[test]
    fn an_abandoned_report_is_never_seen_and_a_dead_writers_is_swept() {
        let root = tempfile::tempdir().expect("a folder");
        let place = root.path().join("report");
        fs::create_dir_all(root.path().join(".report.new-1/a")).expect("a folder");
        let folder = Folder::create(&place).expect("it can begin");
        folder.write("index.html", "half").expect("it can be written");
        assert!(!place.exists());
        drop(folder);
        assert_eq!(names(root.path()), [] as [&str; 0]);
    }
}
