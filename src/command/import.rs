//! `nibble import FILE`: a solution from Tensara or GPU MODE becomes one here.

use std::{env, fs, path::Path};

use serde::Serialize;

use super::{new, solve};
use crate::{
    args::Import,
    config::Config,
    exit::{Exit, Failure, Result},
    platform::{Imported, gpu_mode},
    render::{json, style, words},
};

#[derive(Serialize)]
struct Written<'a> {
    problem: &'a str,
    file: String,
    lost: &'a [String],
}

pub fn run(import: &Import, config: &Config) -> Result<Exit> {
    solve::readable(&import.file)?;
    let shown = import.file.display();
    let text = fs::read_to_string(&import.file)
        .map_err(|error| Failure::usage(format!("cannot read {shown}: {error}")))?;
    let python = import.file.extension().is_some_and(|extension| extension == "py");
    let Imported { source, leaderboard, lost } = match python {
        true => gpu_mode::import(&text).map_err(|failure| Failure {
            message: format!("{shown}: {}", failure.message),
            ..failure
        })?,
        false => Imported { source: text, leaderboard: None, lost: Vec::new() },
    };
    // Several problems have the same parameters: what the submission says counts, if it is one of ours.
    let said = leaderboard.filter(|name| problems::find(name).is_ok());
    let said = import.problem.as_deref().or(said.as_deref());
    let problem = new::problem_of(&import.file, &source, said)?;
    let stem = import.file.file_stem().and_then(|stem| stem.to_str());
    // Everybody's file is called so: it names nothing.
    let stem = stem.filter(|stem| !matches!(*stem, "submission" | "solution"));
    let name = import.name.as_deref().or(stem);
    let file = new::place(&env::current_dir()?, problem.name(), name);
    new::write(&file, problem.name(), &source)?;
    for lost in lost.iter().filter(|_| !config.json) {
        config.terminal.warning(lost);
    }
    config.terminal.print(&match config.json {
        true => json::line(&Written {
            problem: problem.name(),
            file: file.display().to_string(),
            lost: &lost,
        }),
        false => wrote(&file, problem.name()),
    })?;
    Ok(Exit::Accepted)
}

fn wrote(file: &Path, problem: &str) -> String {
    let file = file.display();
    format!(
        "{} {file}, for {problem}\n{} {}\n",
        style::paint(style::GOOD, "✓ wrote"),
        style::paint(style::DIM, "next:"),
        style::paint(style::ACCENT, format!("nibble check {}", words::shell(&file.to_string())))
    )
}
