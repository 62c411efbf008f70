//! `nibble export ATTEMPT --to tensara|gpu-mode`: what to hand in there.

use std::fs;

use leaderboard::attempt::Verdict;
use serde::Serialize;

use super::{new, solution::Solution, values};
use crate::{
    args::{Export, Platform},
    config::Config,
    exit::{Exit, Failure, Result},
    platform::{Outgoing, gpu_mode, tensara},
    record,
    render::{json, style, words},
};

#[derive(Serialize)]
struct Written<'a> {
    to: Platform,
    problem: &'a str,
    /// Absent where it was written to stdout.
    file: Option<String>,
    text: &'a str,
    lost: &'a [String],
}

pub fn run(export: &Export, config: &Config) -> Result<Exit> {
    let solution = Solution::find(&export.solution, config)?;
    let source = fs::read_to_string(&solution.file)
        .map_err(|error| Failure::usage(format!("{}: {error}", solution.file.display())))?;
    let source = match &solution.attempt {
        Some(attempt) => values::written(&source, &attempt.values),
        None => source,
    };
    let problem = match &solution.attempt {
        Some(attempt) => problems::find(&attempt.problem)?,
        None => new::problem_of(&solution.file, &source, export.problem.as_deref())?,
    };
    let name = match &solution.attempt {
        Some(attempt) => format!("attempt {} by {}", attempt.id.tail(), attempt.author),
        None => export.solution.clone(),
    };
    let outgoing = Outgoing { problem, name, source: &source };
    let mut exported = match export.to {
        Platform::Tensara => tensara::export(&outgoing)?,
        Platform::GpuMode => gpu_mode::export(&outgoing)?,
    };
    if let Some(attempt) = &solution.attempt
        && attempt.outcome.verdict != Verdict::Accepted
    {
        let verdict = style::words(record::reported(attempt.outcome.verdict));
        exported.lost.insert(0, format!("it was not accepted here: {verdict}"));
    }
    if let Some(file) = &export.output {
        new::write_new(file, &exported.text)?;
    }
    let file = export.output.as_ref().map(|file| file.display().to_string());
    for lost in exported.lost.iter().filter(|_| !config.json) {
        config.terminal.warning(lost);
    }
    config.terminal.print(&match (config.json, &file) {
        (true, _) => json::line(&Written {
            to: export.to,
            problem: problem.name(),
            file,
            text: &exported.text,
            lost: &exported.lost,
        }),
        (false, None) => exported.text,
        (false, Some(file)) => wrote(file, export.to, problem),
    })?;
    Ok(Exit::Accepted)
}

fn wrote(file: &str, to: Platform, problem: &problems::Problem) -> String {
    let next = match to {
        Platform::Tensara => format!(
            "paste it into Tensara's editor for {}",
            tensara::slug(problem).unwrap_or(problem.name())
        ),
        Platform::GpuMode => format!("popcorn submit {file}"),
    };
    let next = style::paint(style::ACCENT, next);
    let text = format!("{} {next}", style::paint(style::DIM, "next:"));
    format!("{} {file}\n{}\n", style::paint(style::GOOD, "✓ wrote"), words::hanging(&text, 6))
}
