//! Which nvcc compiles, where it came from, and nibble's own copy where the machine has none.
//!
//! The order is that of intent: what was asked for by name (`--nvcc`, `NIBBLE_NVCC`) must work or
//! is an error; what merely lies about (`CUDA_HOME`, `PATH`) is used where it can compile FP4, and
//! otherwise explained and passed over; the managed copy is last, and is installed by the first
//! command that needs it.
//!
//! ```text
//! --nvcc ─► NIBBLE_NVCC ─► CUDA_HOME ─► PATH ─► managed copy ─► install it
//! └──── must work ────┘    └ used if ≥ 12.8 ┘
//! ```

use std::{
    env,
    ffi::OsString,
    fmt, fs,
    os::unix::fs::{MetadataExt as _, PermissionsExt as _},
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use crate::{Event, Interrupt, ToolchainError, cache, install, integrity::Depth};

/// The first nvcc that knows `e2m1`, `sm_100a` and `sm_120a`.
pub const OLDEST: Version = Version { major: 12, minor: 8, build: 0 };

/// `13.0.88`
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version {
    pub major: u32,
    pub minor: u32,
    pub build: u32,
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)?;
        if self.build > 0 {
            write!(f, ".{}", self.build)?;
        }
        Ok(())
    }
}

/// Who named the nvcc.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// `--nvcc`
    Argument,
    /// `NIBBLE_NVCC`
    NibbleNvcc,
    /// `CUDA_HOME/bin/nvcc`
    CudaHome,
    Path,
    /// nibble's own copy, from NVIDIA's wheels.
    Managed,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Argument => "--nvcc",
            Self::NibbleNvcc => "NIBBLE_NVCC",
            Self::CudaHome => "CUDA_HOME",
            Self::Path => "PATH",
            Self::Managed => "nibble's cache",
        })
    }
}

/// A compiler that was found, asked for its version and has its parts.
#[derive(Clone, Debug)]
pub struct Toolchain {
    pub nvcc: PathBuf,
    pub version: Version,
    pub ptxas: PathBuf,
    /// The toolkit's headers: `include`, and `include/cccl` where CCCL has a folder of its own.
    pub include_dirs: Vec<PathBuf>,
    /// Where `libcudart_static.a` lies.
    pub library_dir: Option<PathBuf>,
    /// The `g++` that compiles host code.
    pub host_compiler: PathBuf,
    pub origin: Origin,
    /// The folder of the cache, which compiled solutions share with the managed copy.
    pub cache: PathBuf,
}

impl Toolchain {
    /// Changes whenever the compiler does: version, and path, size and time of the executables.
    /// A path alone would miss an upgrade in place.
    pub(crate) fn fingerprint(&self) -> Vec<String> {
        let identity = |path: &Path| {
            let real = path.canonicalize().unwrap_or_else(|_| path.to_owned());
            let facts = fs::metadata(&real).map(|m| (m.len(), m.mtime(), m.mtime_nsec()));
            format!("{} {facts:?}", real.display())
        };
        vec![
            self.version.to_string(),
            identity(&self.nvcc),
            identity(&self.ptxas),
            identity(&self.host_compiler),
        ]
    }

    /// The folder above `bin`: whatever lies in it belongs to the compiler.
    pub(crate) fn root(&self) -> Option<PathBuf> {
        root(&self.nvcc)
    }
}

/// Where to look: the command line and the environment, captured once.
#[derive(Clone, Debug)]
pub struct Search {
    pub argument: Option<PathBuf>,
    pub nibble_nvcc: Option<PathBuf>,
    pub cuda_home: Option<PathBuf>,
    /// `PATH`; nvcc, g++, python3, uv and pip are looked for here.
    pub path: OsString,
    /// nibble's cache folder.
    pub cache: PathBuf,
}

impl Search {
    /// From this process's environment. `argument` is `--nvcc`.
    ///
    /// # Errors
    ///
    /// [`ToolchainError::NoCacheFolder`].
    pub fn from_environment(argument: Option<PathBuf>) -> Result<Self, ToolchainError> {
        let named = |name| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let nibble_nvcc = named("NIBBLE_NVCC");
        Ok(Self {
            // A command line that takes the variable for its flag's default says nothing new.
            argument: argument.filter(|path| Some(path) != nibble_nvcc.as_ref()),
            nibble_nvcc,
            cuda_home: named("CUDA_HOME"),
            path: env::var_os("PATH").unwrap_or_default(),
            cache: cache::folder().ok_or(ToolchainError::NoCacheFolder)?,
        })
    }

    /// The compiler, installed first where there is none.
    ///
    /// # Errors
    ///
    /// [`ToolchainError`], each with the command that mends it.
    pub fn find_or_install(
        &self,
        interrupt: &Interrupt,
        emit: &mut dyn FnMut(Event),
    ) -> Result<Toolchain, ToolchainError> {
        // Before the download: a machine without g++ would otherwise wait for nothing.
        self.host_compiler()?;
        match self.find(emit)? {
            Some(found) => Ok(found),
            None => self.install(interrupt, emit),
        }
    }

    /// The compiler, if there is one; nothing is installed.
    ///
    /// # Errors
    ///
    /// Where `--nvcc` or `NIBBLE_NVCC` names something unusable, or there is no g++. An unusable
    /// `CUDA_HOME` or `PATH` is a warning.
    pub fn find(&self, emit: &mut dyn FnMut(Event)) -> Result<Option<Toolchain>, ToolchainError> {
        let demanded =
            [(&self.argument, Origin::Argument), (&self.nibble_nvcc, Origin::NibbleNvcc)];
        if let Some((path, origin)) =
            demanded.into_iter().find_map(|(path, origin)| Some((path.as_ref()?, origin)))
        {
            // A folder is taken for a toolkit's: that is what people have in their environment.
            let path = if path.is_dir() { path.join("bin/nvcc") } else { path.clone() };
            return self.probe(&path, origin).map(Some);
        }
        let ambient = [
            (self.cuda_home.as_ref().map(|home| home.join("bin/nvcc")), Origin::CudaHome),
            (self.in_path("nvcc"), Origin::Path),
        ];
        for (path, origin) in ambient {
            let Some(path) = path else { continue };
            match self.probe(&path, origin) {
                Ok(found) => return Ok(Some(found)),
                Err(ToolchainError::NoHostCompiler) => return Err(ToolchainError::NoHostCompiler),
                Err(error) => emit(Event::Warning(format!("{error}; passed over"))),
            }
        }
        match install::installed(&self.cache, Depth::Sizes) {
            Ok(Some(nvcc)) => self.probe(&nvcc, Origin::Managed).map(Some),
            Ok(None) => Ok(None),
            Err(damage) => {
                emit(Event::Warning(format!("{damage}: the compiler must be installed again")));
                Ok(None)
            }
        }
    }

    /// Looks at the cache, which must take what is compiled, and unless `found` is another compiler at
    /// each file of the managed copy, which takes a second; where there is none, at what an
    /// installation needs.
    ///
    /// # Errors
    ///
    /// [`ToolchainError`], each with the command that mends it.
    pub fn verify(&self, found: Option<&Toolchain>) -> Result<(), ToolchainError> {
        install::writable(&self.cache)?;
        if found.is_some_and(|found| found.origin != Origin::Managed) {
            return Ok(());
        }
        match install::installed(&self.cache, Depth::Contents) {
            Ok(Some(_)) => Ok(()),
            Ok(None) => install::possible(self),
            Err(damage) => Err(ToolchainError::Damaged(damage)),
        }
    }

    /// Installs the managed copy, unless it is there already.
    ///
    /// # Errors
    ///
    /// [`ToolchainError`], each with the command that mends it.
    pub fn install(
        &self,
        interrupt: &Interrupt,
        emit: &mut dyn FnMut(Event),
    ) -> Result<Toolchain, ToolchainError> {
        let nvcc = install::install(self, interrupt, emit)?;
        self.probe(&nvcc, Origin::Managed)
    }

    fn probe(&self, nvcc: &Path, origin: Origin) -> Result<Toolchain, ToolchainError> {
        let path = nvcc.to_owned();
        if !path.exists() {
            return Err(ToolchainError::Missing { path, origin });
        }
        let unusable =
            |why: &str| ToolchainError::Unusable { path: path.clone(), origin, why: why.into() };
        let version = version(&path).map_err(|why| unusable(&why))?;
        if version < OLDEST {
            return Err(ToolchainError::TooOld { path, origin, version });
        }
        let root = root(&path).ok_or_else(|| unusable("it lies in no toolkit"))?;
        let beside = path.with_file_name("ptxas");
        let ptxas = [beside, root.join("bin/ptxas")]
            .into_iter()
            .find(|ptxas| executable(ptxas))
            .or_else(|| self.in_path("ptxas"))
            .ok_or_else(|| unusable("there is no ptxas beside it"))?;
        Ok(Toolchain {
            version,
            ptxas,
            include_dirs: existing(["include", "include/cccl"].map(|dir| root.join(dir))),
            library_dir: existing(
                ["lib64", "lib", "targets/x86_64-linux/lib"].map(|d| root.join(d)),
            )
            .into_iter()
            .find(|dir| dir.join("libcudart_static.a").exists()),
            host_compiler: self.host_compiler()?,
            origin,
            nvcc: path,
            cache: self.cache.clone(),
        })
    }

    /// `NVCC_CCBIN` is nvcc's own variable for another host compiler, and is honoured by it.
    fn host_compiler(&self) -> Result<PathBuf, ToolchainError> {
        let named = env::var("NVCC_CCBIN").ok().filter(|name| !name.is_empty());
        let named = named.map(|name| match name.contains('/') {
            true => Some(PathBuf::from(name)).filter(|path| path.exists()),
            false => self.in_path(&name),
        });
        named.unwrap_or_else(|| self.in_path("g++")).ok_or(ToolchainError::NoHostCompiler)
    }

    pub(crate) fn in_path(&self, name: &str) -> Option<PathBuf> {
        env::split_paths(&self.path).map(|dir| dir.join(name)).find(|path| executable(path))
    }
}

fn existing<const N: usize>(dirs: [PathBuf; N]) -> Vec<PathBuf> {
    dirs.into_iter().filter(|dir| dir.is_dir()).collect()
}

fn executable(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|m| m.is_file() && m.permissions().mode() & 0o111 != 0)
}

/// The toolkit that an nvcc belongs to, through links: `/usr/local/cuda` is one.
fn root(nvcc: &Path) -> Option<PathBuf> {
    Some(nvcc.canonicalize().ok()?.parent()?.parent()?.to_owned())
}

/// Reads `Cuda compilation tools, release 13.0, V13.0.88`.
fn version(nvcc: &Path) -> Result<Version, String> {
    let output = Command::new(nvcc)
        .arg("--version")
        .stdin(Stdio::null())
        .output()
        .map_err(|error| error.to_string())?;
    let text = String::from_utf8_lossy(&output.stdout);
    parse_version(&text).ok_or_else(|| {
        let said = String::from_utf8_lossy(&output.stderr);
        let said = text.lines().chain(said.lines()).find(|line| !line.trim().is_empty());
        format!("`nvcc --version` says {}", said.map_or("nothing".into(), |l| format!("`{l}`")))
    })
}

fn parse_version(text: &str) -> Option<Version> {
    let number = text.lines().find_map(|line| line.split_once(", V"))?.1;
    let mut parts = number.trim().split('.').map(str::parse);
    let mut next = || parts.next()?.ok();
    Some(Version { major: next()?, minor: next()?, build: next()? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_from_what_nvcc_prints() {
        let text = "nvcc: NVIDIA (R) Cuda compiler driver\n\
                    Cuda compilation tools, release 12.4, V12.4.131\n\
                    Build cuda_12.4.r12.4/compiler.34097967_0\n";
        let version = parse_version(text).unwrap();
        assert_eq!(version, Version { major: 12, minor: 4, build: 131 });
        assert!(version < OLDEST);
        assert_eq!(version.to_string(), "12.4.131");
        assert_eq!(OLDEST.to_string(), "12.8");
        for damaged in ["", "nvcc 13", ", V13.0", ", V13.x.88"] {
            assert_eq!(parse_version(damaged), None, "{damaged}");
        }
    }
}
