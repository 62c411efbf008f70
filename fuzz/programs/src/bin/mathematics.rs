//! `mathematics`: the functions of CUDA's mathematics appendix on every architecture. Takes a minute or two.
#![expect(clippy::print_stdout, reason = "a tool of its own, whose output is for people")]

use std::process::ExitCode;

use programs::{BuildError, Compiler, VARIANTS, mathematics};

fn main() -> Result<ExitCode, BuildError> {
    let compiler = Compiler::find()?;
    let mut code = ExitCode::SUCCESS;
    for variant in VARIANTS.iter().filter(|variant| variant.flags == ["-O3"]) {
        let (report, within) = mathematics(&compiler, variant)?;
        println!("{}\n{report}", variant.arch);
        if !within {
            code = ExitCode::FAILURE;
        }
    }
    Ok(code)
}
