//! A CUDA program with a `main` of its own, unedited, on the emulator.
//!
//! ```text
//! build   FILE.cu ─ nvcc -shared -cudart none ─► a library that exports `main`       (cached)
//! enter   opens it in this process, whose CUDA runtime is the emulator's, and calls `main`
//! ```
//!
//! It is the user's own program on the user's own machine: there is no judge and no sandbox. It should
//! have a process to itself, since it may exit, or crash, as it likes.

mod stack;

use std::error::Error as _;
use std::ffi::{CString, OsString, c_char, c_int, c_void};
use std::os::fd::BorrowedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;

use ::emulator::Blame;
use cudart::server::DeviceReport;
use cudart::session::{Complaints, Refused};
use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};
use serde::{Deserialize, Serialize};

use crate::device::{Scrutiny, emulator, host_touch};
use crate::emulated::link::launch;
use crate::emulated::protocol::{Answer, Order};
use crate::emulated::{Emulated, Lost};
use crate::profile::{self, KernelReport, Sources};
use ptx::KernelFacts;
use timing::{Launch, gpus};
use toolchain::Search;
use toolchain::compile::{self, CompileError, Source};
use toolchain::directive::Directives;

use crate::{Config, Error, Event, Interrupt};

/// What a program is compiled for where nobody says: the architecture on which everything runs here
/// that runs at all, block-scaled FP4 `mma` included.
const ARCH: &str = "sm_120a";

/// What its author may have told nvcc, and what changes no program that does not need it.
const EXTENSIONS: [&str; 2] = ["--extended-lambda", "--expt-relaxed-constexpr"];

/// Without a word from the author: what solutions are compiled as, and nvcc's own default, in which a
/// function of the program's may be called `lerp`.
const LANGUAGES: [&str; 2] = ["-std=c++20", "-std=c++17"];

/// With which flags to try, one after the other: those of the command line, and of the file's directive where
/// the command line does not name a language, too.
fn flags(typed: &[String], directives: &[String]) -> Vec<Vec<String>> {
    let bare = |flag: &str| flag.trim_start_matches('-').to_owned();
    let language = |flag: &String| bare(flag).starts_with("std");
    let decided = typed.iter().any(language);
    let directives = directives.iter().filter(|flag| !decided || !language(flag));
    let given: Vec<String> = typed.iter().chain(directives).cloned().collect();
    let asked = |wanted: &str| given.iter().any(|flag| bare(flag) == bare(wanted));
    let extensions = EXTENSIONS.into_iter().filter(|flag| !asked(flag)).map(str::to_owned);
    let all: Vec<String> = given.iter().cloned().chain(extensions).collect();
    if given.iter().any(language) {
        return vec![all];
    }
    let with = |language: &str| all.iter().cloned().chain([language.to_owned()]).collect();
    LANGUAGES.into_iter().map(with).collect()
}

/// A compiled program.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Program {
    pub library: PathBuf,
    pub arch: String,
    /// What `ptxas` says of them.
    pub kernels: Vec<KernelFacts>,
    pub scrutiny: Scrutiny,
    /// Names of kernels and functions are told in full, however many template arguments they have.
    pub whole_names: bool,
}

impl Program {
    /// A kernel's, a function's or a variable's name, for people.
    fn name(&self, mangled: &str) -> String {
        let name = compile::plain(mangled);
        if self.whole_names { name } else { compile::short(&name) }
    }
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
    let mut emit = |event| emit(Event::Toolchain(event));
    let toolchain = search.find_or_install(&config.interrupt, &mut emit).map_err(Error::from)?;
    let mut compile = |flags: &[String]| {
        let request = compile::Request {
            source: &source,
            arch: &arch,
            parameters: &[],
            flags,
            target: compile::Target::Program,
            limit: config.limits.compile,
        };
        compile::compile(&toolchain, &request, &config.interrupt, &mut emit)
    };
    let mut tries = flags(&config.flags, &directives.nvcc).into_iter();
    let first = compile(&tries.next().unwrap_or_default());
    // The first complaint counts, as of the language that is documented.
    let made = match first {
        Err(CompileError::Rejected { .. }) => {
            tries.find_map(|flags| compile(&flags).ok()).map_or(first, Ok)
        }
        first => first,
    };
    match made {
        Ok(artifact) => {
            let compile::Artifact { library, kernels, .. } = artifact;
            let scrutiny = config.scrutiny;
            Ok(Program { library, arch, kernels, scrutiny, whole_names: false })
        }
        Err(CompileError::Machine(error)) => Err(BuildError::Other(error.into())),
        Err(error) => Err(BuildError::Compile(error)),
    }
}

/// What of the device the host touched, which ended the program.
static TOUCHED: OnceLock<String> = OnceLock::new();

/// Says what happened when the program ends, and returns whether that is a failure, whatever the
/// program says: [`Ended::failed`].
pub type Farewell = fn() -> bool;

static FAREWELL: OnceLock<Farewell> = OnceLock::new();

unsafe extern "C" {
    /// As `atexit`, with the exit code: of the GNU C library.
    fn on_exit(function: extern "C" fn(c_int, *mut c_void), argument: *mut c_void) -> c_int;
}

/// When the process exits, however the program ends it. A program that finds no error exits with 0; with
/// findings it does not.
extern "C" fn leaving(code: c_int, _: *mut c_void) {
    if FAREWELL.get().is_some_and(|farewell| farewell()) && code == 0 {
        // SAFETY: the GNU C library goes on with the exit handlers that are left, with this code.
        unsafe { libc::exit(1) };
    }
}

/// `abort`, as of an exception that nobody catches: Thrust throws one for a kernel's fault, which is the
/// moment to explain it. A call of `abort` is an ordinary place in the program, unless it came from within
/// the runtime, which then cannot be asked. `abort` ends the process when this returns.
extern "C" fn aborting(_signal: c_int) {
    if let Some(farewell) = FAREWELL.get().filter(|_| ::cudart::session::is_free()) {
        farewell();
    }
}

/// Why a library cannot be opened: what the linker says, with what a missing function may be of.
fn unopened(error: &libloading::Error) -> String {
    let said = error.source().map_or_else(|| error.to_string(), ToString::to_string);
    let Some((_, symbol)) = said.split_once("undefined symbol: ") else { return said };
    let symbol = symbol.split([' ', ',', '(']).next().unwrap_or(symbol);
    let capital = |prefix: &str| {
        let rest = symbol.strip_prefix(prefix);
        rest.is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_uppercase()))
    };
    let library = ["cublas", "cudnn", "cufft", "curand", "cusolver", "cusparse", "nccl", "nvrtc"];
    let what = if capital("cu") {
        "a function of the driver that the emulator does not provide".to_owned()
    } else if let Some(name) = library.iter().find(|name| symbol.starts_with(**name)) {
        format!("of the library {name}: there are the runtime and the driver only")
    } else {
        "defined nowhere: a program is one file, which may #include its others".to_owned()
    };
    format!("the program needs `{}`, {what}", compile::plain(symbol))
}

/// Why a program that was built did not start.
#[derive(Debug, thiserror::Error)]
pub enum EnterError {
    /// It needs a function that is nowhere.
    #[error("{0}")]
    Link(String),
    #[error("{0}")]
    Machine(String),
}

/// What this process's program runs kernels on, and whose it is: not its forks'.
static DEVICE: Mutex<Option<(u32, Emulated)>> = Mutex::new(None);

/// How long a device may take to start, or to say what happened: its kernels' calls have returned.
const PATIENCE: Duration = Duration::from_secs(30);

fn start(program: &Program) -> Result<(), String> {
    let words = |error: std::io::Error| error.to_string();
    let executable = std::env::current_exe().map_err(words)?;
    let mut device = Emulated::spawn(&executable, Interrupt::default()).map_err(words)?;
    let Program { arch, kernels, scrutiny, .. } = program.clone();
    device.start(&Order::Start { arch, kernels, scrutiny });
    device.wait(PATIENCE).map_err(|lost| match lost {
        Lost::Refused(why) => why,
        other => format!("{other:?}"),
    })?;
    let owned = |fd: BorrowedFd<'_>| fd.try_clone_to_owned().map_err(words);
    emulator::connect(owned(device.segment())?, Some(owned(device.lifeline())?))?;
    *DEVICE.lock().unwrap_or_else(PoisonError::into_inner) = Some((std::process::id(), device));
    Ok(())
}

/// What happened on the device; nothing where it is gone.
fn happened() -> DeviceReport {
    let mut device = DEVICE.lock().unwrap_or_else(PoisonError::into_inner);
    let own = device.as_mut().filter(|(process, _)| *process == std::process::id());
    let answer = own.map(|(_, device)| device.ask(&Order::Report, None, PATIENCE));
    match answer {
        Some(Ok(Answer::Happened(report))) => *report,
        _ => DeviceReport::default(),
    }
}

/// Opens the program in this process and calls its `main`; what that returns. `farewell` is called when
/// the process exits, however the program ends it; [`ended`] says what happened.
///
/// # Errors
///
/// [`EnterError`]: where the library cannot be opened, with what the dynamic linker says.
pub fn enter(
    program: &Program,
    name: &Path,
    arguments: &[OsString],
    farewell: Farewell,
) -> Result<i32, EnterError> {
    start(program).map_err(|why| EnterError::Machine(format!("no emulated device: {why}")))?;
    // SAFETY: it runs whatever the library contains, which is what it is for.
    let library = unsafe { Library::open(Some(&program.library), RTLD_NOW | RTLD_LOCAL) }
        .map_err(|error| EnterError::Link(unopened(&error)))?;
    // Its exit handlers may point into it.
    let library = std::mem::ManuallyDrop::new(library);
    // SAFETY: C and C++ give `main` this type, or one that may be called as if it had.
    let main = unsafe { library.get::<stack::Main>(b"main") }
        .map_err(|error| EnterError::Link(error.to_string()))?;
    let words: Vec<CString> = std::iter::once(name.as_os_str())
        .chain(arguments.iter().map(OsString::as_os_str))
        .filter_map(|word| CString::new(word.as_bytes()).ok())
        .collect();
    let mut pointers: Vec<*const c_char> = words.iter().map(|word| word.as_ptr()).collect();
    pointers.push(std::ptr::null());
    let environment: [*const c_char; 1] = [std::ptr::null()];
    // As for any program: one whose output nobody reads ends. Rust's runtime has it ignored.
    // SAFETY: the default action is no function.
    unsafe { libc::signal(libc::SIGPIPE, libc::SIG_DFL) };
    let _ = FAREWELL.set(farewell);
    // SAFETY: the handler does not unwind, and needs no argument.
    unsafe { on_exit(leaving, std::ptr::null_mut()) };
    let handler: extern "C" fn(c_int) = aborting;
    // SAFETY: the handler may be called at any time; what it does at which, it says.
    unsafe { libc::signal(libc::SIGABRT, handler as libc::sighandler_t) };
    host_touch::explain(move |text| {
        let _ = TOUCHED.set(text);
        if ::cudart::session::is_free() {
            farewell();
        }
    });
    let mut call = stack::Call {
        main: *main,
        count: words.len() as c_int,
        arguments: pointers.as_ptr(),
        environment: environment.as_ptr(),
        code: 0,
    };
    // SAFETY: argument count and vector as C has them, alive until `main` returns.
    unsafe { stack::run(&mut call) }
        .map_err(|error| EnterError::Machine(format!("no thread for the program: {error}")))
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
    pub launches: Vec<Launch>,
    /// The sanitizer found something, or the program needs what the emulator does not have. Any other
    /// fault is the program's to notice, as on a GPU.
    pub failed: bool,
}

/// To be asked once, when the program has ended: what its kernels did, and with its sources where the
/// time went.
pub fn ended(program: &Program, mut sources: Option<&mut Sources>) -> Ended {
    let report = happened();
    let Complaints { unsupported, refused, .. } = ::cudart::session::complaints();
    let mut complaints: Vec<_> =
        TOUCHED.get().map(|text| (text.clone(), Vec::new())).into_iter().collect();
    let failed = !unsupported.is_empty()
        || report
            .fault
            .as_ref()
            .is_some_and(|fault| program.scrutiny.sanitize || fault.kind.blame() == Blame::Nibble);
    if let Some(mut fault) = report.fault {
        fault.rename(|name| program.name(name));
        let mut text = |file: &str, line| sources.as_mut()?.own_line(file, line);
        complaints.push((fault.headline(), fault.details(&mut text)));
    }
    complaints.extend(
        unsupported
            .iter()
            .map(|name| (format!("nibble's emulator does not provide {name}"), Vec::new())),
    );
    let refused = refused.into_iter().map(|Refused { kernel, why, asked }| {
        (format!("{} was not launched: {why}", program.name(&kernel)), asked)
    });
    let refused = refused.collect();
    let launches: Vec<_> = report.launches.into_iter().map(launch).collect();
    let sources = sources.filter(|_| program.scrutiny.profile);
    let kernels = sources.zip(gpus::for_arch(&program.arch)).map_or_else(Vec::new, |found| {
        let (sources, gpu) = found;
        profile::reports(gpu, &launches, &report.profiles, &program.kernels, sources)
    });
    Ended { complaints, refused, kernels, launches, failed }
}
