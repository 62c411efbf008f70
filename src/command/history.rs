//! `nibble history [PROBLEM|FILE]`: attempts in the order of time, failed ones too.

use jiff::Timestamp;
use leaderboard::{Attempt, Store, Summary, attempt::solution_name, history::histories};
use serde::Serialize;

use super::attempts;
use crate::{
    config::Config,
    exit::{Exit, Result},
    render::{history, json},
};

/// An attempt and its source, as one row of a data set.
#[derive(Serialize)]
struct Whole<'a> {
    #[serde(flatten)]
    attempt: &'a Attempt,
    source: String,
}

pub fn run(of: Option<&str>, limit: usize, source: bool, config: &Config) -> Result<Exit> {
    let of = of.map(Of::new).transpose()?;
    let problem = match &of {
        Some(Of::Problem(name)) => Some(*name),
        _ => None,
    };
    let mut attempts = attempts::read(config, problem)?.attempts;
    if let Some(Of::Solution(name)) = &of {
        attempts.retain(|attempt: &Summary| attempt.solution() == name);
    }
    if source {
        return whole(&attempts, config);
    }
    let histories = histories(&attempts);
    if config.json {
        for history in &histories {
            config.terminal.print(&json::line(history))?;
        }
        return Ok(Exit::Accepted);
    }
    if histories.is_empty() {
        let what = match of {
            Some(Of::Solution(name)) => format!("no attempts at {name} yet"),
            _ => "no attempts yet".to_owned(),
        };
        config.terminal.note(&format!("{what}; `nibble submit FILE` makes the first"));
        return Ok(Exit::Accepted);
    }
    let ids = attempts::short_ids(config)?;
    let now = Timestamp::now();
    let screens: Vec<String> =
        histories.iter().map(|one| history::screen(one, limit, &ids, now)).collect();
    config.terminal.print(&screens.join("\n"))?;
    Ok(Exit::Accepted)
}

fn whole(attempts: &[Summary], config: &Config) -> Result<Exit> {
    let store = Store::at(config.leaderboard()?);
    for summary in attempts {
        let source = String::from_utf8_lossy(&store.source(&summary.id)?).into_owned();
        let attempt = &store.attempt(&summary.id)?;
        config.terminal.print(&json::line(&Whole { attempt, source }))?;
    }
    Ok(Exit::Accepted)
}

/// Whose history.
enum Of {
    Problem(&'static str),
    /// The file's name; attempts at it count wherever it lay.
    Solution(String),
}

impl Of {
    /// Problems have no dot and no slash in their names, files of solutions do.
    fn new(typed: &str) -> Result<Self> {
        match problems::find(typed) {
            Ok(problem) => Ok(Self::Problem(problem.name())),
            Err(_) if typed.contains(['.', '/']) => {
                Ok(Self::Solution(solution_name(typed).to_owned()))
            }
            Err(unknown) => Err(unknown.into()),
        }
    }
}
