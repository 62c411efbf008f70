//! A CUDA program with a `main` of its own, unedited, on the emulator.
//!
//! ```text
//! build   FILE.cu ─ nvcc -shared -cudart none ─► a library that exports `main`       (cached)
//! enter   opens it in this process, whose CUDA runtime is the emulator's, and calls `main`
//! ```
//!
//! It is the user's own program on the user's own machine: there is no judge and no sandbox. It should
//! have a process to itself, since it may exit, or crash, as it likes.

use std::ffi::{CString, OsString, c_char, c_int};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use ::emulator::cudart::session::Refused;
use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};
use serde::{Deserialize, Serialize};

use crate::compile::{self, CompileError, Source};
use crate::device::{Scrutiny, emulator};
use crate::directive::Directives;
use crate::profile::{self, KernelReport, Sources};
use crate::report::KernelFacts;
use crate::toolchain::Search;
use crate::{Config, Error, Event, gpus};

/// What a program is compiled for where nobody says: the architecture on which everything runs here
/// that runs at all, block-scaled FP4 `mma` included.
const ARCH: &str = "sm_120a";

/// A compiled program.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Program {
    pub library: PathBuf,
    pub arch: String,
    /// What `ptxas` says of them.
    pub kernels: Vec<KernelFacts>,
    pub scrutiny: Scrutiny,
}

/// Why there is no program to run.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// Of the program: what the compiler says.
    #[error("{0}")]
    Compile(CompileError),
    /// Of the command or the machine.
    #[error(transparent)]
    Other(#[from] Error),
}

/// Compiles `config.file`. Its `//! arch` and `//! nvcc` directives count as a solution's do.
///
/// # Errors
///
/// [`BuildError`]: does not compile, has no `main`, or there is no compiler.
pub fn build(config: &Config, emit: &mut dyn FnMut(Event)) -> Result<Program, BuildError> {
    let usage = |error: String| Error::Usage(error);
    let source = Source::read(&config.file).map_err(|error| usage(error.to_string()))?;
    let directives = Directives::parse(&source.text)
        .map_err(|error| usage(format!("{}: {error}", config.file.display())))?;
    let arch = config.arch.clone().or(directives.arch).unwrap_or_else(|| ARCH.to_owned());
    let search = Search::from_environment(config.nvcc.clone()).map_err(Error::from)?;
    let toolchain = search.find_or_install(&config.interrupt, emit).map_err(Error::from)?;
    let request = compile::Request {
        source: &source,
        arch: &arch,
        parameters: &[],
        flags: &directives.nvcc,
        target: compile::Target::Program,
        limit: config.limits.compile,
    };
    match compile::compile(&toolchain, &request, &config.interrupt, emit) {
        Ok(artifact) => {
            let compile::Artifact { library, kernels, .. } = artifact;
            Ok(Program { library, arch, kernels, scrutiny: config.scrutiny })
        }
        Err(CompileError::Machine(error)) => Err(BuildError::Other(error.into())),
        Err(error) => Err(BuildError::Compile(error)),
    }
}

type Main = unsafe extern "C" fn(c_int, *const *const c_char, *const *const c_char) -> c_int;

/// Opens the program in this process and calls its `main`; what that returns. `at_exit` is called when
/// the process exits, however the program ends it; [`ended`] says what happened.
///
/// # Errors
///
/// Where the library cannot be opened, with what the dynamic linker says.
pub fn enter(
    program: &Program,
    name: &Path,
    arguments: &[OsString],
    at_exit: extern "C" fn(),
) -> Result<i32, String> {
    emulator::start(&program.arch, &program.kernels, program.scrutiny)?;
    // SAFETY: it runs whatever the library contains, which is what it is for.
    let library = unsafe { Library::open(Some(&program.library), RTLD_NOW | RTLD_LOCAL) }
        .map_err(|error| error.to_string())?;
    // Its exit handlers may point into it.
    let library = std::mem::ManuallyDrop::new(library);
    // SAFETY: C and C++ give `main` this type, or one that may be called as if it had.
    let main = unsafe { library.get::<Main>(b"main") }.map_err(|error| error.to_string())?;
    let words: Vec<CString> = std::iter::once(name.as_os_str())
        .chain(arguments.iter().map(OsString::as_os_str))
        .filter_map(|word| CString::new(word.as_bytes()).ok())
        .collect();
    let mut pointers: Vec<*const c_char> = words.iter().map(|word| word.as_ptr()).collect();
    pointers.push(std::ptr::null());
    let environment: [*const c_char; 1] = [std::ptr::null()];
    // SAFETY: a function without parameters that does not unwind.
    unsafe { libc::atexit(at_exit) };
    // SAFETY: argument count and vector as C has them, alive until `main` returns.
    Ok(unsafe { main(words.len() as c_int, pointers.as_ptr(), environment.as_ptr()) })
}

/// What a program's kernels did.
pub struct Ended {
    /// Faults, and runtime functions that the emulator does not have: a headline with its details for
    /// each.
    pub complaints: Vec<(String, Vec<String>)>,
    /// Launches that never began, and whether the program knows: it has asked for the last error.
    pub refused: Vec<(String, bool)>,
    /// The one that took longest first; empty without a profile.
    pub kernels: Vec<KernelReport>,
}

/// To be asked once, when the program has ended: what its kernels did, and with its sources where the
/// time went.
pub fn ended(program: &Program, mut sources: Option<&mut Sources>) -> Ended {
    let report = ::emulator::cudart::session::report();
    let mut complaints = Vec::new();
    if let Some(mut fault) = report.fault {
        fault.rename(compile::plain);
        let mut text = |file: &str, line| sources.as_mut()?.own_line(file, line);
        complaints.push((fault.headline(), fault.details(&mut text)));
    }
    complaints.extend(
        report
            .unsupported
            .iter()
            .map(|name| (format!("nibble's emulator does not provide {name}"), Vec::new())),
    );
    let refused = report.refused.into_iter().map(|Refused { kernel, why, asked }| {
        (format!("{} was not launched: {why}", compile::plain(&kernel)), asked)
    });
    let refused = refused.collect();
    let launches: Vec<_> = report.launches.into_iter().map(emulator::launch).collect();
    let sources = sources.filter(|_| program.scrutiny.profile);
    let kernels = sources.zip(gpus::for_arch(&program.arch)).map_or_else(Vec::new, |found| {
        let (sources, gpu) = found;
        profile::reports(gpu, &launches, &report.profiles, &program.kernels, sources)
    });
    Ended { complaints, refused, kernels }
}
