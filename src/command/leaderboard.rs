//! `nibble leaderboard [PROBLEM]`: who is fastest, one board for each device and architecture.

use jiff::Timestamp;
use leaderboard::board::boards;

use super::attempts;
use crate::{
    config::Config,
    exit::{Exit, Result},
    render::{board, json},
};

pub fn run(problem: Option<&str>, config: &Config) -> Result<Exit> {
    let problem = problem.map(problems::find).transpose()?.map(problems::Problem::name);
    let collection = attempts::read(config, problem)?;
    let boards = boards(&collection.attempts);
    if config.json {
        for board in &boards {
            config.terminal.print(&json::line(board))?;
        }
        return Ok(Exit::Accepted);
    }
    if boards.is_empty() {
        config.terminal.note("no attempts yet; `nibble submit FILE` makes the first");
        return Ok(Exit::Accepted);
    }
    let ids = attempts::short_ids(config)?;
    let now = Timestamp::now();
    let screens: Vec<String> = boards.iter().map(|one| board::screen(one, &ids, now)).collect();
    config.terminal.print(&screens.join("\n"))?;
    Ok(Exit::Accepted)
}
