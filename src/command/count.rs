//! `nibble __count FILE [ARGS]`: a program with its own `main` on the emulator, and what each of its
//! launches counted. For the calibration of the time model (`harness/timing/calibration/`).

use std::ffi::OsString;
use std::path::Path;
use std::sync::OnceLock;

use judge::device::Scrutiny;
use judge::program::{self, BuildError, Program};
use judge::{Config as Build, Stage};
use serde::Serialize;
use timing::Launch;

use crate::{
    config::Config,
    exit::{Exit, Failure, Result},
    interrupt,
    render::json,
};

#[derive(Serialize)]
struct Counted<'a> {
    arch: &'a str,
    kernels: &'a [ptx::KernelFacts],
    launches: Vec<Launch>,
    faults: Vec<String>,
}

static PROGRAM: OnceLock<Program> = OnceLock::new();

pub fn run(file: &Path, arguments: &[OsString], config: &Config) -> Result<Exit> {
    let mut build = Build::new(file, Stage::Check);
    build.arch.clone_from(&config.arch);
    build.nvcc.clone_from(&config.nvcc);
    build.interrupt = interrupt::install();
    build.scrutiny = Scrutiny::default();
    let built = program::build(&build, &mut |_| ()).map_err(|error| match error {
        BuildError::Other(error) => Failure::from(error),
        BuildError::Compile(error) => {
            Failure { exit: Exit::Failed, message: error.to_string(), next: None }
        }
    })?;
    let program = PROGRAM.get_or_init(|| built);
    let code = program::enter(program, file, arguments, tell)?;
    std::process::exit(code)
}

/// One line on stderr: stdout is the program's own.
fn tell() -> bool {
    let Some(program) = PROGRAM.get() else { return false };
    let ended = program::ended(program, None);
    let counted = Counted {
        arch: &program.arch,
        kernels: &program.kernels,
        launches: ended.launches,
        faults: ended.complaints.into_iter().map(|(headline, _)| headline).collect(),
    };
    anstream::eprintln!("{}", json::line(&counted));
    ended.failed
}
