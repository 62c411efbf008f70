//! The managed copy: installed once, whole or not at all.
//!
//! ```text
//! CACHE/toolchains/
//!     lock              held while installing; the kernel lets go of it when its holder dies
//!     installing-XXXX/  what a running installation has so far
//!     cuda-13.0.88/     complete: it got this name by one rename
//! ```
//!
//! Two processes at once: the second waits for the lock, then finds the copy. A process that was
//! killed leaves its folder without a holder of the lock, and the next one removes it; wheels that
//! were downloaded whole are in the installer's own cache and are not fetched again. The folders
//! have names of their own because a killed nibble may leave a pip that goes on writing for a while.

use std::{
    fs::{self, File, TryLockError},
    io,
    path::{Path, PathBuf},
    thread,
    time::Duration,
};

use crate::{
    Damage, Search, ToolchainError,
    integrity::{self, Depth},
    pins::{self, DOWNLOAD_BYTES, UNPACKED_BYTES},
    pip::{self, Installer},
};
use crate::{
    Event, Interrupt,
    compile::process::{self, Bounds, Ended},
};

/// Bytes of disk an installation needs while it runs.
pub const NEEDED_BYTES: u64 = DOWNLOAD_BYTES + UNPACKED_BYTES;

/// How the folder of an installation under way begins.
const UNFINISHED: &str = "installing-";

/// A slow line (1 Mbit/s) takes 14 minutes.
const MINUTES: u64 = 30;

fn store(cache: &Path) -> PathBuf {
    cache.join("toolchains")
}

fn home(cache: &Path) -> PathBuf {
    store(cache).join(format!("cuda-{}", pins::VERSION))
}

/// The managed nvcc, if there is a copy of the pinned version.
///
/// # Errors
///
/// [`Damage`], where the copy is not what was installed.
pub fn installed(cache: &Path, depth: Depth) -> Result<Option<PathBuf>, Damage> {
    let home = home(cache);
    if !home.exists() {
        return Ok(None);
    }
    let toolkit = home.join("nvidia/cu13");
    let parts =
        ["bin/nvcc", "bin/ptxas", "nvvm/bin/cicc", "include/cuda_runtime.h", "include/crt", "lib"];
    if let Some(lost) = parts.iter().map(|part| toolkit.join(part)).find(|part| !part.exists()) {
        return Err(Damage::Missing(lost));
    }
    integrity::examine(&home, depth)?;
    Ok(Some(toolkit.join("bin/nvcc")))
}

/// Whether an installation could begin: an installer, and a folder that may be written and has room.
///
/// # Errors
///
/// [`ToolchainError`], each with the command that mends it.
pub fn possible(search: &Search) -> Result<(), ToolchainError> {
    let store = store(&search.cache);
    writable(&store)?;
    Installer::find(search)?;
    room(&store)
}

/// Whether files may be made in a folder of the cache, which is made where it is not there.
pub fn writable(folder: &Path) -> Result<(), ToolchainError> {
    fs::create_dir_all(folder)
        .and_then(|()| tempfile::tempfile_in(folder))
        .map(drop)
        .map_err(|error| ToolchainError::cache(folder, &error))
}

fn room(folder: &Path) -> Result<(), ToolchainError> {
    match free(folder) {
        Some(free) if free < NEEDED_BYTES => {
            Err(ToolchainError::DiskFull { folder: folder.to_owned(), needed: NEEDED_BYTES })
        }
        _ => Ok(()),
    }
}

/// Installs the copy unless it is there; the path of its nvcc.
pub fn install(
    search: &Search,
    interrupt: &Interrupt,
    emit: &mut dyn FnMut(Event),
) -> Result<PathBuf, ToolchainError> {
    let store = store(&search.cache);
    fs::create_dir_all(&store).map_err(|error| ToolchainError::cache(&store, &error))?;
    let _lock = lock(&store.join("lock"), interrupt, emit)?;
    for stale in fs::read_dir(&store).into_iter().flatten().flatten() {
        if stale.file_name().as_encoded_bytes().starts_with(UNFINISHED.as_bytes()) {
            // What an orphan is still writing to cannot always be removed; the next one tries again.
            let _ = fs::remove_dir_all(stale.path());
        }
    }
    match installed(&search.cache, Depth::Contents) {
        Ok(Some(nvcc)) => return Ok(nvcc),
        Ok(None) => {}
        Err(damage) => emit(Event::Warning(format!("{damage}: the compiler is installed again"))),
    }
    if !matches!(std::env::consts::ARCH, "x86_64" | "aarch64") {
        return Err(ToolchainError::NoWheels { machine: std::env::consts::ARCH.to_owned() });
    }
    let installer = Installer::find(search)?;
    // Removed when dropped: whatever comes of it, nothing half-done stays.
    let scratch = tempfile::Builder::new().prefix(UNFINISHED).tempdir_in(&store);
    let scratch = scratch.map_err(|error| ToolchainError::cache(&store, &error))?;
    fetch(&installer, search, scratch.path(), interrupt, emit)?;
    settle(&scratch.path().join("toolkit"), &search.cache)?;
    match installed(&search.cache, Depth::Sizes) {
        Ok(Some(nvcc)) => Ok(nvcc),
        Ok(None) => Err(ToolchainError::InstallFailed { tail: "    nothing came of it".into() }),
        Err(damage) => Err(ToolchainError::InstallFailed { tail: format!("    {damage}") }),
    }
}

fn lock(
    path: &Path,
    interrupt: &Interrupt,
    emit: &mut dyn FnMut(Event),
) -> Result<File, ToolchainError> {
    let failed = |error: &io::Error| ToolchainError::cache(path, error);
    let file = File::create(path).map_err(|error| failed(&error))?;
    let mut told = false;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::Error(error)) => return Err(failed(&error)),
            Err(TryLockError::WouldBlock) if interrupt.raised() => {
                return Err(ToolchainError::Interrupted);
            }
            Err(TryLockError::WouldBlock) => {
                if !told {
                    let what = "waiting for another nibble that installs the compiler".to_owned();
                    emit(Event::Installing { what, done: 0, total: None });
                    told = true;
                }
                thread::sleep(Duration::from_millis(50));
            }
        }
    }
}

/// Fills `scratch/toolkit`.
fn fetch(
    installer: &Installer,
    search: &Search,
    scratch: &Path,
    interrupt: &Interrupt,
    emit: &mut dyn FnMut(Event),
) -> Result<(), ToolchainError> {
    let failed = |error: &io::Error| ToolchainError::cache(scratch, error);
    let temporary = scratch.join("tmp");
    fs::create_dir_all(&temporary).map_err(|error| failed(&error))?;
    room(scratch)?;
    let requirements = scratch.join("requirements.txt");
    fs::write(&requirements, pins::requirements()).map_err(|error| failed(&error))?;
    let log = scratch.join("log");
    let output = File::create(&log).map_err(|error| failed(&error))?;
    let mut command = installer
        .command(search, &requirements, &scratch.join("toolkit"), &temporary, output)
        .map_err(|error| failed(&error))?;

    // Installers offer no machine-readable progress; the bytes on disk are what there is. The
    // downloads are deleted near the end, hence the maximum.
    let mut done = 0;
    let mut progress = || {
        done = size(scratch).max(done).min(NEEDED_BYTES);
        emit(Event::Installing {
            what: format!("NVIDIA's compiler {}", pins::VERSION),
            done,
            total: Some(NEEDED_BYTES),
        });
    };
    progress();
    let bounds = Bounds { wall: Duration::from_secs(MINUTES * 60), memory: None, file: None };
    match process::run(&mut command, &bounds, interrupt, &mut progress) {
        Ok(Ended::Exited(status)) if status.success() => Ok(()),
        Ok(Ended::Exited(_)) => {
            let output = fs::read(&log).unwrap_or_default();
            Err(pip::explain(&String::from_utf8_lossy(&output), scratch))
        }
        Ok(Ended::TimedOut) => Err(ToolchainError::InstallTimedOut { minutes: MINUTES }),
        Ok(Ended::Interrupted) => Err(ToolchainError::Interrupted),
        Err(error) => Err(ToolchainError::InstallFailed { tail: format!("    {error}") }),
    }
}

/// Gives the finished copy its name. A damaged one of that name makes way.
fn settle(toolkit: &Path, cache: &Path) -> Result<(), ToolchainError> {
    let home = home(cache);
    let failed = |error: io::Error| ToolchainError::cache(&home, &error);
    if home.exists() {
        fs::remove_dir_all(&home).map_err(failed)?;
    }
    fs::rename(toolkit, &home).map_err(failed)
}

fn free(folder: &Path) -> Option<u64> {
    let facts = rustix::fs::statvfs(folder).ok()?;
    Some(facts.f_bavail * facts.f_frsize)
}

/// Bytes of all files below; what vanishes meanwhile counts nothing.
fn size(folder: &Path) -> u64 {
    let Ok(entries) = fs::read_dir(folder) else { return 0 };
    let bytes = entries.flatten().map(|entry| match entry.metadata() {
        Ok(facts) if facts.is_dir() => size(&entry.path()),
        Ok(facts) => facts.len(),
        Err(_) => 0,
    });
    bytes.sum()
}
