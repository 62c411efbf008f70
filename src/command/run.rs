//! `nibble run FILE.cu [-- ARGS]`: a CUDA program with its own `main`, on the emulator.
//!
//! This process compiles, then becomes the one that runs: signals, standard streams and the exit
//! code are the program's own.

use std::{
    env,
    ffi::OsString,
    os::unix::process::CommandExt as _,
    path::{Path, PathBuf},
    process::Command,
};

use harness::{
    DeviceChoice, Stage,
    program::{self, BuildError, Program},
};

use crate::{
    config::Config,
    exit::{Exit, Failure, Result},
    interrupt,
    render::{style, words},
};

pub fn run(file: &Path, arguments: &[OsString], config: &Config) -> Result<Exit> {
    if !matches!(config.device, DeviceChoice::Auto | DeviceChoice::Emulator) {
        return Err(Failure::usage("`run` is for the emulator")
            .next("on a GPU, compile the program with nvcc and start it"));
    }
    let mut build = harness::Config::new(file, Stage::Check);
    build.arch.clone_from(&config.arch);
    build.nvcc.clone_from(&config.nvcc);
    build.interrupt = interrupt::install();
    let progress = config.terminal.progress();
    let built = program::build(&build, &mut |event| progress.event(&event));
    drop(progress);
    let program = match built {
        Ok(program) => program,
        Err(BuildError::Other(error)) => return Err(error.into()),
        Err(BuildError::Compile(error)) => {
            let exit = if build.interrupt.raised() { Exit::Interrupted } else { Exit::Failed };
            return Err(Failure { exit, message: error.to_string(), next: None });
        }
    };
    let itself = env::current_exe()
        .map_err(|error| Failure::machine(format!("this program cannot find itself: {error}")))?;
    let error = Command::new(itself)
        .arg("__run")
        .arg(&program.library)
        .arg(&program.arch)
        .arg(file)
        .args(arguments)
        .exec();
    Err(Failure::machine(format!("cannot start the program: {error}")))
}

/// `__run LIBRARY ARCH NAME ARGS…`: the second half, in the process that is the program's.
pub fn enter(library: PathBuf, arch: String, name: &Path, arguments: &[OsString]) -> ! {
    let program = Program { library, arch };
    match program::enter(&program, name, arguments, complain) {
        Ok(code) => std::process::exit(code),
        Err(error) => {
            anstream::eprintln!("{} {error}", style::paint(style::BAD, "error:"));
            std::process::exit(Exit::Machine as i32)
        }
    }
}

/// When the program ends: what its kernels did, which a program that asks no errors would hide.
extern "C" fn complain() {
    for (headline, details) in program::complaints() {
        let headline = format!("{} {headline}", style::paint(style::BAD, "fault:"));
        anstream::eprintln!("{}", words::hanging(&headline, 7));
        for line in details {
            anstream::eprintln!("{}", words::hanging(&format!("  {line}"), 4));
        }
    }
}
