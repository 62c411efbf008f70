//! `nibble list`: the problems, and how far you are with each.

use leaderboard::{Summary, board::Board};
use problems::Problem;
use serde::Serialize;

use super::attempts;
use crate::{
    config::Config,
    exit::{Exit, Result},
    render::{board, json, style, words},
};

#[derive(Serialize)]
struct Listed<'a> {
    problem: &'a str,
    title: &'a str,
    revision: u32,
    arch: &'a str,
    bench: Vec<String>,
    best: Vec<&'a Summary>,
}

pub fn run(config: &Config) -> Result<Exit> {
    let attempts = attempts::read(config, None)?.attempts;
    let agreed = attempts::manifest(config)?;
    let boards = leaderboard::board::boards(&attempts, &agreed);
    let mut text = String::new();
    for problem in problems::catalog() {
        let manifest = problem.manifest();
        let current = |board: &&Board<'_>| {
            board.key.problem == problem.name()
                && board.key.revision == manifest.revision
                && !board.rows.is_empty()
        };
        let boards: Vec<&Board<'_>> = boards.iter().filter(current).collect();
        text.push_str(&match config.json {
            true => json::line(&Listed {
                problem: problem.name(),
                title: &manifest.title,
                revision: manifest.revision,
                arch: &manifest.arch,
                bench: sizes(problem),
                best: boards.iter().map(|board| board.rows[0].best).collect(),
            }),
            false => entry(problem, &boards),
        });
    }
    if !config.json {
        text.push_str(&style::paint(style::DIM, "`nibble show PROBLEM` states one\n"));
    }
    config.terminal.print(&text)?;
    Ok(Exit::Accepted)
}

fn entry(problem: &Problem, boards: &[&Board<'_>]) -> String {
    let mut text =
        format!("{}  {}\n", style::paint(style::BOLD, problem.name()), problem.manifest().title);
    let sizes = format!("  {}  {}", style::paint(style::DIM, "sizes"), sizes(problem).join(", "));
    text.push_str(&format!("{}\n", words::hanging(&sizes, 9)));
    let label = style::paint(style::DIM, "best ");
    for board in boards {
        let best = board.rows[0].best;
        let time = best.geomean.map(|time| words::micros(time.us)).unwrap_or_default();
        let line = format!(
            "  {label}  {} {} by {}, {}",
            style::paint(style::GOOD, time),
            best.solution(),
            best.author,
            board::place(&board.key)
        );
        text.push_str(&format!("{}\n", words::hanging(&line, 9)));
    }
    if boards.is_empty() {
        text.push_str(&format!("  {label}  nothing accepted yet\n"));
    }
    text.push('\n');
    text
}

fn sizes(problem: &Problem) -> Vec<String> {
    problem.manifest().bench.sizes.iter().map(ToString::to_string).collect()
}
