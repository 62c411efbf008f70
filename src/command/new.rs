//! `nibble new PROBLEM [NAME] [--from ATTEMPT|RUNG]`: a first solution to change. Never overwrites.

use std::{
    env, fs, io,
    io::Write as _,
    path::{Path, PathBuf},
};

use leaderboard::Store;
use problems::Problem;
use serde::Serialize;
use toolchain::{
    compile::{self, Parameter},
    directive::Directives,
};

use super::values;
use crate::{
    args::New,
    config::Config,
    exit::{Exit, Failure, Result},
    render::{json, style, words},
    rungs,
};

#[derive(Serialize)]
struct Written<'a> {
    problem: &'a str,
    file: String,
    /// The rung or the attempt that it begins as; absent where it is the starter.
    from: Option<String>,
}

pub fn run(new: &New, config: &Config) -> Result<Exit> {
    let (problem, of_attempt) = problem(new, config)?;
    let origin =
        new.from.as_deref().or(of_attempt).map(|from| origin(problem, from, config)).transpose()?;
    let (from, source) = match origin {
        Some((from, source)) => (Some(from), source),
        None => (None, problem.starter().to_owned()),
    };
    let file = place(&env::current_dir()?, problem.name(), new.name.as_deref());
    write(&file, problem.name(), &source)?;

    let shown = file.display();
    let what = match &from {
        Some(from) => format!("as {from} is"),
        None => "right and slow".to_owned(),
    };
    config.terminal.print(&match config.json {
        true => json::line(&Written { problem: problem.name(), file: shown.to_string(), from }),
        false => format!(
            "{} {shown}, {what}\n{} {}\n",
            style::paint(style::GOOD, "✓ wrote"),
            style::paint(style::DIM, "next:"),
            style::paint(
                style::ACCENT,
                format!("nibble check {}", words::shell(&shown.to_string()))
            )
        ),
    })?;
    Ok(Exit::Accepted)
}

/// The problem that is named, else that of the attempt whose id is, and then the id.
fn problem<'a>(new: &'a New, config: &Config) -> Result<(&'static Problem, Option<&'a str>)> {
    let unknown = match problems::find(&new.problem) {
        Ok(problem) => return Ok((problem, None)),
        Err(unknown) => unknown,
    };
    let store = Store::at(config.leaderboard()?);
    match store.find(&new.problem) {
        Ok(id) => Ok((problems::find(&store.attempt(&id)?.problem)?, Some(&new.problem))),
        Err(_) => Err(unknown.into()),
    }
}

/// A rung of the problem's ladder, else an attempt: its name and its source.
fn origin(problem: &Problem, typed: &str, config: &Config) -> Result<(String, String)> {
    if let Some(rung) = rungs::find(problem.name(), typed) {
        return Ok((rung.name.to_owned(), rung.source.to_owned()));
    }
    let store = Store::at(config.leaderboard()?);
    let id = store.find(typed).map_err(|error| match error {
        leaderboard::Error::NoSuchAttempt { typed } => neither(problem, &typed),
        other => other.into(),
    })?;
    let attempt = store.attempt(&id)?;
    if attempt.problem != problem.name() {
        let text = format!("attempt {id} is one at {}, not at {}", attempt.problem, problem.name());
        return Err(Failure::usage(text)
            .next(format!("nibble new {} NAME --from {typed}", attempt.problem)));
    }
    let source = String::from_utf8(store.source(&id)?)
        .map_err(|_| Failure::usage(format!("the source of attempt {id} is no text")))?;
    let source = values::written(&source, &attempt.values);
    Ok((format!("attempt {}", id.tail()), source))
}

fn neither(problem: &Problem, typed: &str) -> Failure {
    let rungs: Vec<&str> = rungs::of(problem.name()).map(|rung| rung.name).collect();
    let failure = Failure::usage(format!(
        "`{typed}` is neither a rung of {} nor the beginning of an attempt's id",
        problem.name()
    ));
    match rungs.is_empty() {
        true => failure.next("`nibble history` lists the attempts"),
        false => failure.next(format!("the rungs are {}", words::list(&rungs, "and"))),
    }
}

/// A path is taken as it is. A name goes into the folder whose name tells the problem: this one,
/// or the one under `solutions/`, or a new one here.
pub fn place(here: &Path, problem: &str, name: Option<&str>) -> PathBuf {
    if let Some(path) = name.filter(|name| name.contains('/')) {
        return PathBuf::from(path).with_extension("cu");
    }
    let folder = if here.ends_with(problem) {
        PathBuf::new()
    } else if here.join("solutions").is_dir() {
        Path::new("solutions").join(problem)
    } else {
        PathBuf::from(problem)
    };
    let name = match name {
        Some(name) => name.trim_end_matches(".cu").to_owned(),
        None => format!("{:02}_solution", next_number(&here.join(&folder))),
    };
    folder.join(format!("{name}.cu"))
}

/// One more than the largest `NN_…` in the folder.
fn next_number(folder: &Path) -> u32 {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let numbers = entries
        .filter_map(|entry| entry.file_name().to_str()?.split_once('_')?.0.parse::<u32>().ok());
    numbers.max().unwrap_or(0) + 1
}

/// Writes a solution that is not there yet. Where its folder does not say which problem it solves,
/// its first line does.
pub fn write(file: &Path, problem: &str, source: &str) -> Result<()> {
    let folder_says = file.parent().and_then(Path::file_name).map_or_else(
        || env::current_dir().is_ok_and(|here| here.ends_with(problem)),
        |folder| folder == problem,
    );
    let says = Directives::parse(source).is_ok_and(|directives| directives.problem.is_some());
    let mut text = String::new();
    if !folder_says && !says {
        text.push_str(&format!("//! problem = \"{problem}\"\n"));
    }
    text.push_str(source);

    write_new(file, &text)
}

/// Writes a file that is not there yet, and the folders it needs.
pub fn write_new(file: &Path, text: &str) -> Result<()> {
    let shown = file.display();
    let failed = |error: io::Error| match error.kind() {
        io::ErrorKind::AlreadyExists => {
            Failure::usage(format!("{shown} exists, and nothing is overwritten"))
                .next("give another name")
        }
        _ => Failure::usage(format!("cannot write {shown}: {error}")),
    };
    if let Some(folder) = file.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        fs::create_dir_all(folder).map_err(failed)?;
    }
    let mut file = fs::File::create_new(file).map_err(failed)?;
    file.write_all(text.as_bytes()).map_err(failed)
}

/// What a solution solves: what was said, else its directive, else its folder's name, else the one
/// problem whose signature it has.
pub fn problem_of(file: &Path, source: &str, said: Option<&str>) -> Result<&'static Problem> {
    let directives = Directives::parse(source)
        .map_err(|error| Failure::usage(format!("{}: {error}", file.display())))?;
    if let Some(name) = said.or(directives.problem.as_deref()) {
        return Ok(problems::find(name)?);
    }
    let absolute = std::path::absolute(file).unwrap_or_else(|_| file.to_owned());
    let folders = absolute.ancestors().skip(1).filter_map(|folder| folder.file_name()?.to_str());
    if let Some(problem) = folders.filter_map(|name| problems::find(name).ok()).next() {
        return Ok(problem);
    }
    let mut fits = problems::catalog().iter().filter(|problem| {
        let signature = problem.manifest().signature.iter();
        let parameters: Vec<Parameter> =
            signature.map(|one| Parameter::new(one.c_type(), &one.name)).collect();
        compile::defines(source, &parameters)
    });
    match (fits.next(), fits.next()) {
        (Some(problem), None) => Ok(problem),
        (first, _) => {
            let why = match first {
                Some(_) => "more than one problem has its parameters",
                None => "no problem has its parameters",
            };
            Err(Failure::usage(format!("which problem does {} solve? {why}", file.display()))
                .next("say it with --problem; `nibble list` names them"))
        }
    }
}
