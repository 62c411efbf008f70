//! What `check`, `bench` and `submit` share: each file through the harness, each result shown.

use std::{fs, path::Path};

use judge::{Interrupt, Report, Selection, Stage, device::Scrutiny, report::Verdict};

use super::batch::Batch;
use crate::{
    args::Solve,
    config::Config,
    exit::{Exit, Failure, Result},
    render::{self, json},
};

/// A report as text, for people and for programs.
pub struct Shown {
    pub screen: String,
    pub json: String,
    /// What could not be done with the result.
    pub failure: Option<Failure>,
}

impl Shown {
    pub fn of(report: &Report) -> Self {
        Self {
            screen: render::report::screen(report),
            json: json::report(report, json::Recorded::default()),
            failure: None,
        }
    }
}

/// How far each file goes, on which sizes, and how closely the emulator looks.
pub struct How<'a> {
    pub stage: Stage,
    /// Instead of the problem's own, if there are any.
    pub sizes: &'a [Vec<(String, u64)>],
    pub scrutiny: Scrutiny,
    pub selection: Selection,
}

impl How<'_> {
    pub fn to(stage: Stage) -> Self {
        Self { stage, sizes: &[], scrutiny: Scrutiny::default(), selection: Selection::default() }
    }
}

/// Runs every file to the stage and prints what `show` makes of each report. The exit code is the
/// worst of all files'.
pub fn each(
    solve: &Solve,
    how: &How,
    config: &Config,
    show: impl FnMut(usize, &Report) -> Result<Shown>,
) -> Result<Exit> {
    match Batch::prepare(solve, how, config)? {
        Some(batch) => batch.run(show),
        None => Ok(Exit::Usage),
    }
}

/// How the harness is to run a file, as far as every command knows it.
pub fn configured(
    file: &Path,
    stage: Stage,
    interrupt: &Interrupt,
    config: &Config,
) -> judge::Config {
    judge::Config {
        device: config.device.clone(),
        arch: config.arch.clone(),
        nvcc: config.nvcc.clone(),
        interrupt: interrupt.clone(),
        ..judge::Config::new(file, stage)
    }
}

pub fn exit(verdict: Verdict) -> Exit {
    match verdict {
        Verdict::Accepted => Exit::Accepted,
        Verdict::Interrupted => Exit::Interrupted,
        _ => Exit::Failed,
    }
}

pub fn readable(file: &Path) -> Result<()> {
    let shown = file.display();
    let metadata = fs::metadata(file).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => Failure::usage(format!("there is no file {shown}"))
            .next("`nibble new PROBLEM` starts one; `nibble list` names the problems"),
        _ => Failure::usage(format!("cannot read {shown}: {error}")),
    })?;
    if metadata.is_dir() {
        return Err(Failure::usage(format!("{shown} is a folder, not a solution")).next(format!(
            "name the files in it: {}/*.cu",
            shown.to_string().trim_end_matches('/')
        )));
    }
    if !metadata.is_file() {
        return Err(Failure::usage(format!("{shown} is a pipe or a device, not a file"))
            .next("write the solution into a .cu file"));
    }
    fs::File::open(file)
        .map(drop)
        .map_err(|error| Failure::usage(format!("cannot read {shown}: {error}")))
}
