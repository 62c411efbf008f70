//! Writing a folder whole or not at all, among processes that may be killed at any moment.
//!
//! A folder is written under `attempts/.incoming/` and then renamed to its place, which on one file
//! system is a single step: a reader sees all of it or nothing. Readers never look into
//! `.incoming`, so what a killed writer leaves there is litter and not a half attempt.
//!
//! Litter must be told from the folder of a writer that is still at work. Ages and process ids
//! cannot do that (a suspended laptop, a reused id, two containers on one disk), a lock can: each
//! writer holds `flock` on its folder, and the kernel lets go of it with the process. So a folder
//! whose lock can be had is litter. One gap is left, between `mkdir` and `flock`, in which a live
//! folder looks dead: a writer therefore makes sure, once it has the lock, that the folder is still
//! there, and begins again if it was swept away.
//!
//! On file systems without locks nothing is swept, which costs disk space only.

use std::fs::{self, File, TryLockError};
use std::hash::{BuildHasher, RandomState};
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::thread;

/// A folder that only this writer knows, removed with the value.
pub(crate) struct Incoming {
    path: PathBuf,
    /// The folder, held for its lock.
    folder: File,
    files: Vec<File>,
}

impl Incoming {
    /// A new empty folder inside `parent`, which is made if need be.
    pub(crate) fn create(parent: &Path) -> io::Result<Self> {
        fs::create_dir_all(parent)?;
        loop {
            let path = parent.join(format!("{:016x}", random()));
            match fs::create_dir(&path) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                made => made?,
            }
            let lock = match File::open(&path) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                opened => opened?,
            };
            match lock.try_lock() {
                Err(TryLockError::WouldBlock) => continue,
                Err(TryLockError::Error(_)) | Ok(()) => {}
            }
            if same_folder(&lock, &path) {
                return Ok(Self { path, folder: lock, files: Vec::new() });
            }
        }
    }

    /// Where it is for now.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn write(&mut self, name: &str, content: &[u8]) -> io::Result<()> {
        let mut file = File::create_new(self.path.join(name))?;
        file.write_all(content)?;
        self.files.push(file);
        Ok(())
    }

    /// Makes the whole folder appear as `place`, which must not exist or be an empty folder.
    pub(crate) fn publish(self, place: &Path) -> io::Result<()> {
        sync(self.files.iter().chain([&self.folder]))?;
        fs::rename(&self.path, place)
    }

    /// Makes one of the files appear as `place`, instead of what may be there. Not forced to disk.
    pub(crate) fn publish_file(self, name: &str, place: &Path) -> io::Result<()> {
        fs::rename(self.path.join(name), place)
    }
}

impl Drop for Incoming {
    /// After `publish` there is nothing left under this name.
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.path);
    }
}

/// What killed writers left in `parent`.
pub(crate) fn leftovers(parent: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(parent) else { return Vec::new() };
    let mut dead: Vec<PathBuf> =
        entries.flatten().map(|entry| entry.path()).filter(|path| seize(path).is_some()).collect();
    dead.sort();
    dead
}

/// Removes what killed writers left in `parent`, and says what it was.
pub(crate) fn sweep(parent: &Path) -> Vec<PathBuf> {
    let mut swept = leftovers(parent);
    swept.retain(|path| {
        // The lock is held until it is gone, so that two sweepers do not meet.
        let Some(_lock) = seize(path) else { return false };
        let removed = if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
        removed.is_ok()
    });
    swept
}

/// The lock of a folder that nobody holds. If its writer has published it meanwhile, the lock is
/// free too, but the path is gone, and then it is nobody's litter.
fn seize(path: &Path) -> Option<File> {
    let lock = File::open(path).ok()?;
    lock.try_lock().ok()?;
    same_folder(&lock, path).then_some(lock)
}

fn same_folder(open: &File, path: &Path) -> bool {
    match (open.metadata(), fs::symlink_metadata(path)) {
        (Ok(open), Ok(named)) => open.ino() == named.ino() && open.dev() == named.dev(),
        _ => false,
    }
}

/// Waits until the disk has all of these, and of folders the list of names. Each asks on a thread
/// of its own, since the disk answers all of them with one flush: seven waits of 3.5 ms in a row
/// were 25 ms of every submit, two rounds together are 6.
pub(crate) fn sync<'a>(files: impl Iterator<Item = &'a File>) -> io::Result<()> {
    thread::scope(|scope| {
        let waiting: Vec<_> = files
            .map(|file| thread::Builder::new().spawn_scoped(scope, || file.sync_all()))
            .collect::<io::Result<_>>()?;
        waiting.into_iter().try_for_each(|thread| {
            thread.join().unwrap_or_else(|_| Err(io::Error::other("a sync panicked")))
        })
    })
}

/// Seeded by the operating system; a new value at each call.
pub(crate) fn random() -> u64 {
    RandomState::new().hash_one(std::process::id())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_appears_whole_and_leaves_nothing() {
        let root = tempfile::tempdir().unwrap();
        let parent = root.path().join("in/coming");
        let mut incoming = Incoming::create(&parent).unwrap();
        incoming.write("a", b"1").unwrap();
        let place = root.path().join("place");
        incoming.publish(&place).unwrap();
        assert_eq!(fs::read(place.join("a")).unwrap(), b"1");
        assert_eq!(fs::read_dir(&parent).unwrap().count(), 0);

        let mut second = Incoming::create(&parent).unwrap();
        second.write("a", b"2").unwrap();
        assert!(second.publish(&place).is_err(), "a folder in use was replaced");
        assert_eq!(fs::read(place.join("a")).unwrap(), b"1");
        assert_eq!(fs::read_dir(&parent).unwrap().count(), 0);
    }

    #[test]
    fn a_living_writer_is_left_alone_and_a_dead_one_swept() {
        let root = tempfile::tempdir().unwrap();
        let mut living = Incoming::create(root.path()).unwrap();
        living.write("a", b"1").unwrap();
        let dead = root.path().join("dead");
        fs::create_dir(&dead).unwrap();
        fs::write(dead.join("a"), b"1").unwrap();

        assert_eq!(leftovers(root.path()), std::slice::from_ref(&dead));
        assert_eq!(sweep(root.path()), [dead]);
        assert!(living.path.join("a").exists());
        assert_eq!(leftovers(root.path()), [] as [PathBuf; 0]);
    }
}
