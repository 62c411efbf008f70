//! What `check`, `bench` and `submit` share: each file through the harness, each result shown.

use std::{
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use judge::{Interrupt, Report, Selection, Stage, device::Scrutiny, report::Verdict};

use super::solution::Solution;
use crate::{
    args::Solve,
    config::Config,
    exit::{Exit, Failure, Result},
    interrupt,
    render::{self, json, style, words},
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
///
/// All files are looked at before the first one runs. What ends one file may end all: a machine
/// that lacks something lacks it for the next file too, and Ctrl-C is meant for the command.
pub fn each(
    solve: &Solve,
    how: How,
    config: &Config,
    mut show: impl FnMut(&Report) -> Result<Shown>,
) -> Result<Exit> {
    let find = |file: &PathBuf| match how.stage {
        // What is recorded is a file of the author's.
        Stage::Submit => Solution::file(file),
        _ => Solution::find(file, config),
    };
    let found: Vec<Result<Solution>> = solve.files.iter().map(find).collect();
    if found.iter().any(Result::is_err) {
        return refuse(&solve.files, found, config);
    }
    let interrupt = interrupt::install();
    let mut worst = Exit::Accepted;
    let mut stopped: Option<Failure> = None;
    let mut summary = Vec::new();
    for (index, (file, solution)) in solve.files.iter().zip(found.into_iter().flatten()).enumerate()
    {
        if let Some(failure) = &stopped {
            if config.json {
                failed(file, failure, config)?;
            }
            continue;
        }
        match judged(&solution, solve, &how, &interrupt, config) {
            Ok(report) => {
                worst = worst.max(exit(report.verdict));
                let shown = show(&report)?;
                let gap = if index > 0 { "\n" } else { "" };
                config.terminal.print(&match config.json {
                    true => shown.json,
                    false => format!("{gap}{}", shown.screen),
                })?;
                stopped = interrupt.raised().then(Failure::interrupted);
                if let Some(failure) = shown.failure {
                    worst = worst.max(failure.exit);
                    if !config.json {
                        failure.report(false, &config.terminal);
                    }
                }
                summary.push((report.file, report.verdict, report.geomean_us));
            }
            Err(failure) => {
                let failure = if interrupt.raised() { Failure::interrupted() } else { failure };
                worst = worst.max(failed(file, &failure, config)?);
                stopped = (failure.exit > Exit::Usage).then_some(failure);
            }
        }
    }
    if solve.files.len() > 1 && !config.json {
        config.terminal.print(&summarised(&summary))?;
    }
    Ok(worst.max(stopped.map_or(Exit::Accepted, |failure| failure.exit)))
}

/// One file through the harness, its progress on stderr.
fn judged(
    solution: &Solution,
    solve: &Solve,
    how: &How,
    interrupt: &Interrupt,
    config: &Config,
) -> Result<Report> {
    let mut run = solution.configured(how.stage, interrupt, config);
    if solve.problem.is_some() {
        run.problem.clone_from(&solve.problem);
    }
    run.selection.clone_from(&how.selection);
    run.sizes = how.sizes.to_vec();
    run.scrutiny = how.scrutiny;
    if let Some(seconds) = solve.time_limit {
        run.limits.check = Some(Duration::from_secs(seconds));
    }
    let progress = config.terminal.progress();
    Ok(judge::run(&run, &mut |event| progress.event(&event))?)
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

/// Nothing runs. People read of the files that cannot, programs get an object for each.
fn refuse(files: &[PathBuf], found: Vec<Result<Solution>>, config: &Config) -> Result<Exit> {
    for (file, found) in files.iter().zip(found) {
        match found {
            Err(failure) => {
                failed(file, &failure, config)?;
            }
            Ok(_) if config.json => {
                let failure = Failure::usage("not run, because another file cannot be read");
                failed(file, &failure, config)?;
            }
            Ok(_) => {}
        }
    }
    Ok(Exit::Usage)
}

pub fn exit(verdict: Verdict) -> Exit {
    match verdict {
        Verdict::Accepted => Exit::Accepted,
        Verdict::Interrupted => Exit::Interrupted,
        _ => Exit::Failed,
    }
}

/// Shows why a file has no report, where the other results are shown.
fn failed(file: &Path, failure: &Failure, config: &Config) -> Result<Exit> {
    if config.json {
        config.terminal.print(&json::failure(Some(&file.display().to_string()), failure))?;
        return Ok(failure.exit);
    }
    Ok(failure.report(false, &config.terminal))
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

/// After several files: one line for each.
fn summarised(files: &[(String, Verdict, Option<f64>)]) -> String {
    use render::table::{Align, Table};
    let mut table =
        Table::new([("", Align::Left), ("", Align::Left), ("", Align::Right), ("", Align::Left)]);
    for (file, verdict, geomean) in files {
        table.row(vec![
            (style::of(*verdict), style::symbol(*verdict).into()),
            (style::of(*verdict), style::words(*verdict).into()),
            (style::BOLD, geomean.map(words::micros).unwrap_or_default()),
            (style::PLAIN, file.clone()),
        ]);
    }
    let accepted = files.iter().filter(|(_, verdict, _)| *verdict == Verdict::Accepted).count();
    format!("\n{} of {} accepted\n{table}", accepted, words::count(files.len() as u64, "file"))
}
