//! `nibble leaderboard [PROBLEM]`: who is fastest, one board for each device and architecture.

use jiff::Timestamp;
use leaderboard::board::boards;

use super::{attempts, remeasure};
use crate::{
    args::{Board, BoardFormat},
    config::Config,
    exit::{Exit, Result},
    render::{board, json},
};

pub fn run(arguments: &Board, config: &Config) -> Result<Exit> {
    let problem = arguments.problem.as_deref().map(problems::find).transpose()?;
    let problem = problem.map(problems::Problem::name);
    let mut exit = Exit::Accepted;
    if let Some(top) = arguments.remeasure {
        exit = remeasure::run(problem, top, config)?;
    }
    let collection = attempts::read(config, problem)?;
    let boards = boards(&collection.attempts, &attempts::manifest(config)?);
    let format = match config.json {
        true => BoardFormat::Json,
        false => arguments.format.unwrap_or(BoardFormat::Table),
    };
    if boards.is_empty() && matches!(format, BoardFormat::Table | BoardFormat::Markdown) {
        config.terminal.note("no attempts yet; `nibble submit FILE` makes the first");
        return Ok(exit);
    }
    let ids = attempts::short_ids(config)?;
    let now = Timestamp::now();
    let joined = |of: &dyn Fn(&leaderboard::board::Board<'_>) -> String, gap: &str| {
        boards.iter().map(of).collect::<Vec<_>>().join(gap)
    };
    config.terminal.print(&match format {
        BoardFormat::Table => joined(&|one| board::screen(one, &ids, now), "\n"),
        BoardFormat::Markdown => joined(&|one| board::markdown::table(one, &ids, now), "\n"),
        BoardFormat::Csv => board::csv::table(&boards),
        BoardFormat::Json => joined(&|one| json::line(one), ""),
    })?;
    Ok(exit)
}
