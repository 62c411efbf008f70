//! `nibble run FILE.cu [FLAGS OF NVCC] [-- ARGS]`: a CUDA program with its own `main`, on the emulator.
//!
//! This process compiles, then becomes the one that runs: signals, standard streams and the exit
//! code are the program's own.

use std::{
    env,
    ffi::OsString,
    os::unix::process::CommandExt as _,
    path::{Path, PathBuf},
    process::Command,
    sync::{Mutex, OnceLock},
    time::Duration,
};

use judge::{
    DeviceChoice, Stage,
    device::Scrutiny,
    profile::Sources,
    program::{self, BuildError, Program},
};

use crate::{
    args::Compiler,
    config::Config,
    exit::{Exit, Failure, Result},
    interrupt,
    render::{clean::clean, json, profile as render, style, words},
};

/// Lines of source that are shown of each kernel.
const LINES: usize = 8;

/// For nvcc: a program of CUTLASS takes it a minute on an idle processor.
const COMPILE: Duration = Duration::from_secs(600);

pub fn run(
    file: &Path,
    scrutiny: Scrutiny,
    whole_names: bool,
    compiler: &Compiler,
    arguments: &[OsString],
    config: &Config,
) -> Result<Exit> {
    if !matches!(config.device, DeviceChoice::Auto | DeviceChoice::Emulator) {
        return Err(Failure::usage("`run` is for the emulator")
            .next("on a GPU, compile the program with nvcc and start it"));
    }
    let mut build = judge::Config::new(file, Stage::Check);
    build.arch.clone_from(&config.arch);
    build.nvcc.clone_from(&config.nvcc);
    build.interrupt = interrupt::install();
    build.scrutiny = scrutiny;
    build.limits.compile = COMPILE;
    build.flags = compiler
        .flags()
        .map_err(|error| Failure::machine(format!("there is no current folder: {error}")))?;
    let progress = config.terminal.progress();
    let built = program::build(&build, &mut |event| progress.event(&event));
    drop(progress);
    let program = match built {
        Ok(program) => Program { whole_names, ..program },
        Err(BuildError::Other(error)) => return Err(error.into()),
        Err(BuildError::Compile(error)) => {
            let exit = if build.interrupt.raised() { Exit::Interrupted } else { Exit::Failed };
            return Err(Failure { exit, message: error.to_string(), next: None });
        }
    };
    let itself = env::current_exe()
        .map_err(|error| Failure::machine(format!("this program cannot find itself: {error}")))?;
    let mut command = Command::new(itself);
    if config.json {
        command.arg("--json");
    }
    if config.quiet {
        command.arg("--quiet");
    }
    let program = json::line(&program);
    let error = command.arg("__run").arg(program).arg(file).args(arguments).exec();
    Err(Failure::machine(format!("cannot start the program: {error}")))
}

/// What is to be said when the program ends.
struct Farewell {
    program: Program,
    name: PathBuf,
    /// The texts that faults and profiles quote.
    sources: Option<Mutex<Sources>>,
    json: bool,
    quiet: bool,
}

static FAREWELL: OnceLock<Farewell> = OnceLock::new();

/// `__run PROGRAM NAME ARGS…`, the program as JSON: the second half, in the process that is its own.
pub fn enter(program: &str, name: &Path, arguments: &[OsString], config: &Config) -> Result<Exit> {
    let program: Program = serde_json::from_str(program)
        .map_err(|error| Failure::usage(format!("no program that `run` has built: {error}")))?;
    // Read now: the program may change the folder, and the file.
    let sources = Sources::read(name).map(Mutex::new);
    let farewell = FAREWELL.get_or_init(|| Farewell {
        program,
        name: name.to_owned(),
        sources,
        json: config.json,
        quiet: config.quiet,
    });
    let code = program::enter(&farewell.program, name, arguments, take_leave)?;
    std::process::exit(code)
}

/// When the program ends: what its kernels did, which a program that asks no errors would hide. On
/// stderr, as stdout is the program's own. Whether it failed.
fn take_leave() -> bool {
    let Some(Farewell { program, name, sources, json, quiet }) = FAREWELL.get() else {
        return false;
    };
    let mut sources = sources.as_ref().and_then(|sources| sources.lock().ok());
    let ended = program::ended(program, sources.as_deref_mut());
    if program.scrutiny.profile {
        let file = name.display().to_string();
        anstream::eprint!(
            "{}",
            clean(&match json {
                true => json::line(&ended.kernels),
                false => render::of_program(&ended.kernels, &file, &program.arch, LINES),
            })
        );
    }
    // What the program does not know it must be told; otherwise the limit helps who asked.
    for (refused, _) in ended.refused.iter().filter(|(_, asked)| !(*asked && *quiet)) {
        let headline = format!("{} {refused}", style::paint(style::BAD, "launch:"));
        anstream::eprintln!("{}", clean(&words::hanging(&headline, 8)));
    }
    for (headline, details) in ended.complaints {
        let headline = format!("{} {headline}", style::paint(style::BAD, "fault:"));
        anstream::eprintln!("{}", clean(&words::hanging(&headline, 7)));
        for line in details {
            anstream::eprintln!("{}", clean(&words::hanging(&format!("  {line}"), 4)));
        }
    }
    ended.failed
}
