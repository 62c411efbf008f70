//! nibble's cache folder, and in it the compiled solutions.
//!
//! ```text
//! CACHE/artifacts/<key>/includes.json      which files the last compilation read besides the source
//! CACHE/artifacts/<key>/<content>/         solution.so, solution.ptx, entry.json
//! CACHE/locks/<2 digits>                   who compiles which keys
//! CACHE/work/<key>/                        a compilation that is under way
//! ```
//!
//! Two steps, because what a solution includes is known only after compiling it once. `key` covers
//! what is known before: the source, the flags, the compiler. `content` is the key together with
//! the content of every file named in `includes.json`. A changed header gives another `content`,
//! and changing it back finds the old entry again. Known gap: a *new* header that would be found
//! before the one recorded is not noticed.
//!
//! Entries appear by one rename and are never changed. Each file's hash stands in `entry.json`, so
//! that a damaged entry (a full disk, a power cut, a curious solution) is rebuilt, not loaded.

use std::{
    env,
    fs::{self, File, TryLockError},
    io,
    path::{Path, PathBuf},
    thread,
    time::{Duration, SystemTime},
};

use serde::{Deserialize, Serialize};

use crate::Interrupt;

/// Entries are removed, oldest use first, when all together are larger. One is 40 KB for the
/// emulator, 1 MB for a GPU; looking through 6,000 of them after a compilation takes about 50 ms.
pub const MOST_BYTES: u64 = 256 << 20;

/// Younger entries are never removed: a worker may be about to load one.
const SPARED: Duration = Duration::from_secs(600);

/// `NIBBLE_CACHE`, else `XDG_CACHE_HOME/nibble`, else `~/.cache/nibble`.
pub fn folder() -> Option<PathBuf> {
    let named = |name| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let folder = named("NIBBLE_CACHE")
        .or_else(|| Some(named("XDG_CACHE_HOME")?.join("nibble")))
        .or_else(|| Some(named("HOME")?.join(".cache/nibble")))?;
    std::path::absolute(folder).ok()
}

/// Everything that decides what a compilation gives, as far as it is known before.
#[derive(Debug, Serialize)]
pub struct Key<'a> {
    /// Of the generated unit and nvcc's flags.
    pub revision: u32,
    pub toolchain: Vec<String>,
    pub path: &'a Path,
    pub source: &'a str,
    pub arch: &'a str,
    pub target: &'a str,
    pub flags: &'a [String],
    pub parameters: &'a [crate::compile::Parameter],
}

impl Key<'_> {
    /// In hexadecimal.
    pub fn hash(&self) -> String {
        let text = serde_json::to_vec(self).unwrap_or_default();
        blake3::hash(&text).to_hex().to_string()
    }
}

/// The files of an entry, and the `content` that names it.
#[derive(Clone, Debug)]
pub struct Found<T> {
    pub content: String,
    pub library: PathBuf,
    pub ptx: PathBuf,
    pub facts: T,
}

/// What is stored beside the files.
#[derive(Debug, Serialize, Deserialize)]
struct Entry<T> {
    library: String,
    ptx: String,
    facts: T,
}

const LIBRARY: &str = "solution.so";
const PTX: &str = "solution.ptx";
const ENTRY: &str = "entry.json";
const INCLUDES: &str = "includes.json";

/// The compiled solutions of one cache folder.
#[derive(Clone, Debug)]
pub struct Cache {
    root: PathBuf,
}

/// Held while compiling one key; let go of by the kernel when its holder dies.
#[derive(Debug)]
pub struct Lock(#[expect(dead_code, reason = "closing the file ends the lock")] File);

impl Cache {
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    fn home(&self, key: &str) -> PathBuf {
        self.root.join("artifacts").join(key)
    }

    /// Where a compilation of `key` works; whoever holds the lock may empty it.
    pub fn work(&self, key: &str) -> PathBuf {
        self.root.join("work").join(key)
    }

    /// The entry for `key` with the includes as they are now. A damaged one is removed.
    pub fn find<T: for<'de> Deserialize<'de>>(&self, key: &str) -> Option<Found<T>> {
        let home = self.home(key);
        let includes: Vec<PathBuf> = read_json(&home.join(INCLUDES))?;
        let content = content(key, &includes)?;
        let folder = home.join(&content);
        let (library, ptx) = (folder.join(LIBRARY), folder.join(PTX));
        let whole = || {
            let entry: Entry<T> = read_json(&folder.join(ENTRY))?;
            (hash(&library)? == entry.library && hash(&ptx)? == entry.ptx).then_some(entry.facts)
        };
        let Some(facts) = whole() else {
            let _ = fs::remove_dir_all(&folder);
            return None;
        };
        // The time of last use, for `prune`. A read-only cache is as good.
        let _ =
            File::open(folder.join(ENTRY)).and_then(|file| file.set_modified(SystemTime::now()));
        Some(Found { content, library, ptx, facts })
    }

    /// Waits until nobody else compiles `key`; `None` when interrupted.
    ///
    /// # Errors
    ///
    /// Where the cache folder cannot be written.
    pub fn lock(&self, key: &str, interrupt: &Interrupt) -> io::Result<Option<Lock>> {
        let file = self.lock_file(key)?;
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(Some(Lock(file))),
                Err(TryLockError::Error(error)) => return Err(error),
                Err(TryLockError::WouldBlock) if interrupt.raised() => return Ok(None),
                Err(TryLockError::WouldBlock) => thread::sleep(Duration::from_millis(10)),
            }
        }
    }

    /// 256 files for all keys, so that they need no cleaning; two keys of one file take turns.
    fn lock_file(&self, key: &str) -> io::Result<File> {
        let folder = self.root.join("locks");
        fs::create_dir_all(&folder)?;
        File::create(folder.join(key.get(..2).unwrap_or("00")))
    }

    /// Stores a compilation, under the lock of its key. `includes` are the files it read besides
    /// the source; with `None` the entry is not found again, which is right when one of them
    /// changed meanwhile.
    ///
    /// # Errors
    ///
    /// Where the cache folder cannot be written.
    pub fn store<T: Serialize>(
        &self,
        key: &str,
        library: &Path,
        ptx: &str,
        facts: T,
        includes: Option<&[PathBuf]>,
    ) -> io::Result<Found<T>> {
        let home = self.home(key);
        fs::create_dir_all(&home)?;
        let content = includes
            .and_then(|includes| content(key, includes))
            .unwrap_or_else(|| blake3::hash(ptx.as_bytes()).to_hex().to_string());
        let folder = home.join(&content);
        let new = tempfile::Builder::new().prefix("new-").tempdir_in(&home)?;
        // The library was made on this file system, in `work`; where it was not, it is copied.
        let target = new.path().join(LIBRARY);
        fs::rename(library, &target).or_else(|_| fs::copy(library, &target).map(|_| ()))?;
        fs::write(new.path().join(PTX), ptx)?;
        let lost = || io::Error::other("the library vanished while it was stored");
        let entry = Entry {
            library: hash(&target).ok_or_else(lost)?,
            ptx: blake3::hash(ptx.as_bytes()).to_hex().to_string(),
            facts,
        };
        fs::write(new.path().join(ENTRY), serde_json::to_vec(&entry)?)?;
        if folder.exists() {
            fs::remove_dir_all(&folder)?;
        }
        fs::rename(new.keep(), &folder)?;
        if let Some(includes) = includes {
            let record = tempfile::NamedTempFile::new_in(&home)?;
            fs::write(record.path(), serde_json::to_vec(includes)?)?;
            record.persist(home.join(INCLUDES)).map_err(|error| error.error)?;
        }
        let facts = entry.facts;
        Ok(Found { content, library: folder.join(LIBRARY), ptx: folder.join(PTX), facts })
    }

    /// Removes the entries unused for longest until all together hold at most `most` bytes, and
    /// what killed compilations left. Best effort: what cannot be removed stays.
    pub fn prune(&self, most: u64) {
        let now = SystemTime::now();
        let mut entries: Vec<(SystemTime, u64, PathBuf)> = Vec::new();
        for home in children(&self.root.join("artifacts")) {
            for folder in children(&home).into_iter().filter(|path| path.is_dir()) {
                let used = fs::metadata(folder.join(ENTRY)).or_else(|_| fs::metadata(&folder));
                let Ok(used) = used.and_then(|facts| facts.modified()) else { continue };
                let files = children(&folder).into_iter().filter_map(|file| file.metadata().ok());
                entries.push((used, files.map(|facts| facts.len()).sum(), folder));
            }
        }
        entries.sort();
        let mut total: u64 = entries.iter().map(|(_, bytes, _)| bytes).sum();
        for (used, bytes, folder) in entries {
            if total <= most {
                break;
            }
            if now.duration_since(used).unwrap_or_default() < SPARED {
                continue;
            }
            let Some(home) = folder.parent() else { continue };
            let Some(_lock) = self.try_lock(home) else { continue };
            if fs::remove_dir_all(&folder).is_ok() {
                total -= bytes;
            }
            if !children(home).iter().any(|path| path.is_dir()) {
                let _ = fs::remove_dir_all(home);
            }
        }
        for work in children(&self.root.join("work")) {
            if let Some(_lock) = self.try_lock(&work) {
                let _ = fs::remove_dir_all(&work);
            }
        }
    }

    fn try_lock(&self, folder: &Path) -> Option<Lock> {
        let file = self.lock_file(folder.file_name()?.to_str()?).ok()?;
        file.try_lock().ok()?;
        Some(Lock(file))
    }
}

/// The key and what the includes hold now; `None` where one is gone.
fn content(key: &str, includes: &[PathBuf]) -> Option<String> {
    let mut hasher = blake3::Hasher::new();
    hasher.update(key.as_bytes());
    for path in includes {
        hasher.update(path.as_os_str().as_encoded_bytes());
        hasher.update(b"\0");
        hasher.update(blake3::hash(&fs::read(path).ok()?).as_bytes());
    }
    Some(hasher.finalize().to_hex().to_string())
}

fn hash(path: &Path) -> Option<String> {
    Some(blake3::hash(&fs::read(path).ok()?).to_hex().to_string())
}

fn read_json<T: for<'de> Deserialize<'de>>(path: &Path) -> Option<T> {
    serde_json::from_slice(&fs::read(path).ok()?).ok()
}

fn children(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    entries.flatten().map(|entry| entry.path()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Place {
        cache: Cache,
        folder: tempfile::TempDir,
    }

    fn place() -> Place {
        let folder = tempfile::tempdir().unwrap();
        Place { cache: Cache::new(folder.path()), folder }
    }

    const KEY: &str = "0123456789abcdef";

    impl Place {
        fn store(&self, facts: u32, includes: Option<&[PathBuf]>) -> Found<u32> {
            let library = self.folder.path().join("made.so");
            fs::write(&library, format!("library {facts}")).unwrap();
            self.cache.store(KEY, &library, "ptx", facts, includes).unwrap()
        }

        fn find(&self) -> Option<u32> {
            self.cache.find::<u32>(KEY).map(|found| found.facts)
        }
    }

    #[test]
    fn what_is_stored_is_found() {
        let place = place();
        assert_eq!(place.find(), None);
        let stored = place.store(7, Some(&[]));
        assert_eq!(place.find(), Some(7));
        assert_eq!(fs::read_to_string(stored.library).unwrap(), "library 7");
        assert_eq!(place.cache.find::<u32>("ffff").map(|found| found.facts), None);
    }

    #[test]
    fn an_include_decides_which_entry_is_found() {
        let place = place();
        let header = place.folder.path().join("h.cuh");
        fs::write(&header, "one").unwrap();
        place.store(1, Some(std::slice::from_ref(&header)));
        fs::write(&header, "two").unwrap();
        assert_eq!(place.find(), None);
        place.store(2, Some(std::slice::from_ref(&header)));
        assert_eq!(place.find(), Some(2));
        fs::write(&header, "one").unwrap();
        assert_eq!(place.find(), Some(1));
        fs::remove_file(&header).unwrap();
        assert_eq!(place.find(), None);
    }

    #[test]
    fn an_entry_of_unknown_includes_is_not_found_again() {
        let place = place();
        assert!(place.store(1, None).library.exists());
        assert_eq!(place.find(), None);
    }

    #[test]
    fn a_damaged_entry_is_removed() {
        for damaged in [LIBRARY, PTX, ENTRY] {
            let place = place();
            let stored = place.store(1, Some(&[]));
            let folder = stored.library.parent().unwrap();
            fs::write(folder.join(damaged), "{").unwrap();
            assert_eq!(place.find(), None, "{damaged}");
            assert!(!folder.exists());
            place.store(2, Some(&[]));
            assert_eq!(place.find(), Some(2));
        }
        let place = place();
        place.store(1, Some(&[]));
        fs::write(place.cache.home(KEY).join(INCLUDES), "junk").unwrap();
        assert_eq!(place.find(), None);
    }

    #[test]
    fn the_oldest_use_is_pruned_first_and_recent_use_never() {
        let place = place();
        let hour = Duration::from_secs(3600);
        let mut folders = Vec::new();
        for (age, key) in [(3, "aa01"), (2, "bb02"), (0, "cc03")] {
            let library = place.folder.path().join("made.so");
            fs::write(&library, [0; 1000]).unwrap();
            let stored = place.cache.store(key, &library, "ptx", age, Some(&[])).unwrap();
            let folder = stored.library.parent().unwrap().to_owned();
            let entry = File::options().write(true).open(folder.join(ENTRY)).unwrap();
            entry.set_modified(SystemTime::now() - hour * age).unwrap();
            folders.push(folder);
        }
        let left = || folders.iter().map(|folder| folder.exists()).collect::<Vec<_>>();
        place.cache.prune(3000);
        assert_eq!(left(), [false, true, true]);
        place.cache.prune(0);
        assert_eq!(left(), [false, false, true]);
        assert!(!place.cache.home("aa01").exists());
    }

    #[test]
    fn what_a_killed_compilation_left_is_removed_unless_it_is_alive() {
        let place = place();
        let (dead, alive) = (place.cache.work("aa"), place.cache.work("bb"));
        fs::create_dir_all(&dead).unwrap();
        fs::create_dir_all(&alive).unwrap();
        let lock = place.cache.lock("bb", &Interrupt::default()).unwrap().unwrap();
        place.cache.prune(0);
        assert!(!dead.exists() && alive.exists());
        let interrupt = Interrupt::default();
        interrupt.raise();
        assert!(place.cache.lock("bb", &interrupt).unwrap().is_none());
        drop(lock);
        assert!(place.cache.lock("bb", &interrupt).unwrap().is_some());
    }

    #[test]
    fn every_part_of_the_key_counts() {
        let flags = ["-w".to_owned()];
        let parameters = [crate::compile::Parameter::new("float*", "a")];
        let key = || Key {
            revision: 1,
            toolchain: vec!["13.0".into()],
            path: Path::new("/a.cu"),
            source: "x",
            arch: "sm_80",
            target: "emulator",
            flags: &flags,
            parameters: &parameters,
        };
        let all = [
            key(),
            Key { revision: 2, ..key() },
            Key { toolchain: vec!["13.1".into()], ..key() },
            Key { path: Path::new("/b.cu"), ..key() },
            Key { source: "y", ..key() },
            Key { arch: "sm_90", ..key() },
            Key { target: "cuda", ..key() },
            Key { flags: &[], ..key() },
            Key { parameters: &[], ..key() },
        ];
        let mut hashes: Vec<String> = all.iter().map(Key::hash).collect();
        hashes.sort();
        hashes.dedup();
        assert_eq!(hashes.len(), all.len());
        assert_eq!(key().hash(), all[0].hash());
    }
}
