//! A solution's source in, a library out, with what is known of its kernels.
//!
//! ```text
//! Source ─► signature check ─► cache? ─► nvcc (unit.rs) ─► image ─► PTX ─► ptxas -v ─► Artifact
//!              by text          by hash     │                          └─ facts
//!                                           └─ signature check by type
//! ```
//!
//! Everything runs in a folder of its own in the cache, with time and memory limited, and is killed
//! as a whole. One nvcc run makes the library; the PTX is read out of it, and ptxas is asked about
//! that text in addition (30 ms for a small kernel, against 1.5 s of nvcc).

pub mod process;

mod cage;
mod declaration;
mod error;
mod failure;
mod headers;
mod image;
mod includes;
mod name;
mod nvcc;
mod ptxas;
mod scan;
mod short_name;
mod signature;
mod source;
mod unit;

use std::{
    path::PathBuf,
    time::{Duration, Instant, SystemTime},
};

use serde::{Deserialize, Serialize};

pub use error::CompileError;
pub use name::{plain, readable};
pub use short_name::short;
pub use signature::{Difference, Parameter, SignatureError, prototype};
pub use source::{Source, SourceError};

use ptx::KernelFacts;

use crate::{
    Event, Interrupt, Toolchain,
    cache::{Cache, Key, MOST_BYTES},
    diagnose::Diagnostic,
    directive::check_flag,
};

/// What the library is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// PTX only, and no CUDA runtime: nibble supplies it.
    Emulator,
    /// Machine code and PTX, the static runtime linked in.
    Cuda,
    /// As for the emulator, but a whole program: `main` instead of `solution`.
    Program,
}

impl Target {
    fn name(self) -> &'static str {
        match self {
            Self::Emulator => "emulator",
            Self::Cuda => "cuda",
            Self::Program => "program",
        }
    }
}

/// What to compile, and how.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    pub source: &'a Source,
    /// `sm_100a`
    pub arch: &'a str,
    /// The problem's signature, which `solution` must have.
    pub parameters: &'a [Parameter],
    /// Of the allow-list, see [`check_flag`].
    pub flags: &'a [String],
    pub target: Target,
    /// Wall time of nvcc.
    pub limit: Duration,
}

/// A compiled solution. Its files lie in the cache and are not changed by anyone.
#[derive(Clone, Debug)]
pub struct Artifact {
    pub library: PathBuf,
    /// The very text that the library registers with the runtime.
    pub ptx: PathBuf,
    pub kernels: Vec<KernelFacts>,
    pub arch: String,
    /// What nvcc was told besides files and folders.
    pub flags: Vec<String>,
    /// What the compiler warned of.
    pub warnings: Vec<Diagnostic>,
    /// Names the content: source, includes, flags, compiler.
    pub hash: String,
    /// It was there already.
    pub cached: bool,
}

/// What the cache keeps beside the files.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Facts {
    kernels: Vec<KernelFacts>,
    flags: Vec<String>,
    warnings: Vec<Diagnostic>,
}

/// Whether a source defines `solution` with these parameters, as far as its text alone can tell.
pub fn defines(source: &str, parameters: &[Parameter]) -> bool {
    matches!(signature::check(source, parameters), Ok(Some(_)))
}

/// Compiles, or finds what an earlier call compiled.
///
/// # Errors
///
/// [`CompileError`]: the solution's fault in most cases, the machine's in some; see
/// [`CompileError::verdict`].
pub fn compile(
    toolchain: &Toolchain,
    request: &Request<'_>,
    interrupt: &Interrupt,
    emit: &mut dyn FnMut(Event),
) -> Result<Artifact, CompileError> {
    let Request { source, arch, parameters, flags, target, .. } = *request;
    for flag in flags {
        check_flag(flag)?;
    }
    let declaration = match target {
        Target::Program => None,
        Target::Emulator | Target::Cuda => signature::check(&source.text, parameters)?,
    };

    let started = Instant::now();
    emit(Event::Compiling { file: source.typed.display().to_string(), arch: arch.to_owned() });
    let key = Key {
        revision: unit::REVISION,
        toolchain: toolchain.fingerprint(),
        path: &source.path,
        source: &source.hash,
        arch,
        target: target.name(),
        flags,
        parameters,
    };
    let key = key.hash();
    let cache = Cache::new(&toolchain.cache);
    let mut cached = true;
    let found = match cache.find::<Facts>(&key) {
        Some(found) => found,
        None => {
            let failed = |error| CompileError::cache(&toolchain.cache, &error);
            let lock = cache.lock(&key, interrupt).map_err(failed)?;
            let _lock = lock.ok_or(CompileError::Interrupted)?;
            // Another process may have compiled it while this one waited.
            match cache.find::<Facts>(&key) {
                Some(found) => found,
                None => {
                    cached = false;
                    let work = nvcc::Work::new(cache.work(&key)).map_err(failed)?;
                    let before = SystemTime::now();
                    let made =
                        nvcc::build(toolchain, request, declaration.as_ref(), &work, interrupt)?;
                    // A header that was saved while nvcc read it may be in the library by halves.
                    let unchanged = made.includes.iter().all(|path| {
                        path.metadata().and_then(|m| m.modified()).is_ok_and(|time| time < before)
                    });
                    let includes = unchanged.then_some(&*made.includes);
                    let facts =
                        Facts { kernels: made.kernels, flags: made.flags, warnings: made.warnings };
                    let stored = cache
                        .store(&key, &made.library, &made.ptx, facts, includes)
                        .map_err(failed)?;
                    drop(work);
                    stored
                }
            }
        }
    };
    if !cached {
        cache.prune(MOST_BYTES);
    }
    emit(Event::Compiled { cached, seconds: started.elapsed().as_secs_f64() });
    Ok(Artifact {
        library: found.library,
        ptx: found.ptx,
        kernels: found.facts.kernels,
        arch: arch.to_owned(),
        flags: found.facts.flags,
        warnings: found.facts.warnings,
        hash: found.content,
        cached,
    })
}
