//! Why there is no compiler, and the one command that mends it.

use std::{fs, path::PathBuf};

use crate::{Damage, Origin, Version};

/// Why no usable nvcc could be found or installed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ToolchainError {
    #[error("no nvcc at {}, which {origin} names", path.display())]
    Missing { path: PathBuf, origin: Origin },
    #[error("{} (from {origin}) is not usable: {why}", path.display())]
    Unusable { path: PathBuf, origin: Origin, why: String },
    #[error(
        "nvcc {version} at {} (from {origin}) is too old: FP4 and sm_100a came with {}",
        path.display(),
        crate::OLDEST
    )]
    TooOld { path: PathBuf, origin: Origin, version: Version },
    #[error("nvcc needs a C++ compiler for host code, and there is no g++ in PATH")]
    NoHostCompiler,
    #[error("no nvcc, and installing one needs Python 3 with pip (or uv): none is in PATH")]
    NoPython,
    #[error("no nvcc, and installing one needs pip, which {python} does not have")]
    NoPip { python: String },
    #[error("no nvcc, and the package index cannot be reached to install one")]
    NoNetwork,
    #[error(
        "the disk of {} is full: nibble needs {} MB there",
        folder.display(),
        needed / 1_000_000
    )]
    DiskFull { folder: PathBuf, needed: u64 },
    #[error("the package index delivered a compiler that is not the pinned one:\n{tail}")]
    WrongHash { tail: String },
    #[error("no nvcc, and NVIDIA publishes no wheels for this machine ({machine})")]
    NoWheels { machine: String },
    #[error("installing the compiler failed:\n{tail}")]
    InstallFailed { tail: String },
    #[error("installing the compiler took longer than {minutes} minutes")]
    InstallTimedOut { minutes: u64 },
    #[error("nibble's copy of the compiler is damaged: {0}")]
    Damaged(Damage),
    #[error("interrupted while installing the compiler")]
    Interrupted,
    #[error(
        "no folder for the compiler and the cache: NIBBLE_CACHE, XDG_CACHE_HOME, HOME are unset"
    )]
    NoCacheFolder,
    #[error("{}: {why}", path.display())]
    Cache { path: PathBuf, why: String },
}

/// What compiling takes on disk: intermediate files of a large kernel, and its library.
const WORK_BYTES: u64 = 64_000_000;

impl ToolchainError {
    pub(crate) fn cache(path: impl Into<PathBuf>, error: &std::io::Error) -> Self {
        let path = path.into();
        if matches!(
            error.kind(),
            std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded
        ) {
            return Self::DiskFull { folder: path, needed: WORK_BYTES };
        }
        Self::Cache { path, why: error.to_string() }
    }

    /// The one command or act that mends it.
    pub fn mend(&self) -> String {
        match self {
            Self::Missing { origin, .. }
            | Self::Unusable { origin, .. }
            | Self::TooOld { origin, .. } => match origin {
                Origin::Argument => "leave --nvcc out: nibble then fetches its own".to_owned(),
                Origin::NibbleNvcc => "unset NIBBLE_NVCC".to_owned(),
                Origin::CudaHome => "unset CUDA_HOME".to_owned(),
                Origin::Path | Origin::Managed => "nibble toolchain install".to_owned(),
            },
            Self::NoHostCompiler => package("g++", "gcc-c++", "gcc"),
            Self::NoPython | Self::NoPip { .. } => {
                package("python3-pip", "python3-pip", "python-pip")
            }
            Self::NoNetwork
            | Self::InstallTimedOut { .. }
            | Self::Interrupted
            | Self::Damaged(_) => "nibble toolchain install".to_owned(),
            Self::DiskFull { .. } => {
                "NIBBLE_CACHE=/a/folder/with/room nibble toolchain install".into()
            }
            Self::WrongHash { .. } => "python3 -m pip cache purge".to_owned(),
            Self::NoWheels { .. } => "NIBBLE_NVCC=/path/to/nvcc".to_owned(),
            Self::InstallFailed { .. } => "python3 -m pip install --upgrade pip".to_owned(),
            Self::NoCacheFolder => "export NIBBLE_CACHE=/a/folder".to_owned(),
            Self::Cache { .. } => "NIBBLE_CACHE=/a/folder/you/may/write nibble doctor".to_owned(),
        }
    }
}

/// The command that installs a package, by this machine's distribution.
fn package(debian: &str, fedora: &str, arch: &str) -> String {
    let release = fs::read_to_string("/etc/os-release").unwrap_or_default();
    let family: Vec<&str> = release
        .lines()
        .filter_map(|line| line.strip_prefix("ID=").or_else(|| line.strip_prefix("ID_LIKE=")))
        .flat_map(|ids| ids.trim_matches('"').split(' '))
        .collect();
    let is = |name| family.contains(&name);
    if is("fedora") || is("rhel") {
        format!("sudo dnf install {fedora}")
    } else if is("arch") {
        format!("sudo pacman -S {arch}")
    } else if is("suse") {
        format!("sudo zypper install {fedora}")
    } else {
        format!("sudo apt-get install {debian}")
    }
}
