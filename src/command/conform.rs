//! `nibble __conform`: the emulator and this machine's GPU, side by side. For `scripts/gpu`.

use std::path::Path;

use judge::conformance::{self, Conformance};
use judge::{DeviceChoice, Stage};
use serde::Serialize;

use crate::{
    config::Config,
    exit::{Exit, Result},
    render::json,
};

#[derive(Serialize)]
struct Line<'a> {
    file: Option<&'a Path>,
    #[serde(flatten)]
    conformance: &'a Conformance,
}

/// One object for each program; without files, the list of instructions.
pub fn run(files: &[std::path::PathBuf], config: &Config) -> Result<Exit> {
    let ordinal = match config.device {
        DeviceChoice::Cuda(ordinal) => ordinal,
        _ => 0,
    };
    let say = |file: Option<&Path>, all: &[Conformance]| -> Result<()> {
        for conformance in all {
            config.terminal.print(&json::line(&Line { file, conformance }))?;
        }
        Ok(())
    };
    if files.is_empty() {
        say(None, &conformance::instructions(ordinal)?)?;
    }
    for file in files {
        if file.extension().is_some_and(|extension| extension == "ptx") {
            say(Some(file), &[conformance::program(ordinal, file)?])?;
            continue;
        }
        let mut run = judge::Config::new(file, Stage::Check);
        run.arch.clone_from(&config.arch);
        run.nvcc.clone_from(&config.nvcc);
        say(Some(file), &conformance::solution(&run, &mut |_| ())?)?;
    }
    Ok(Exit::Accepted)
}
