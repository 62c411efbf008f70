//! `nibble attempt ID`: one attempt, whole.

use std::io::Write as _;

use jiff::Timestamp;
use leaderboard::Store;

use super::attempts;
use crate::{
    config::Config,
    exit::{Exit, Result},
    render::{attempt, json},
};

pub fn run(typed: &str, source: bool, config: &Config) -> Result<Exit> {
    let store = Store::at(config.leaderboard()?);
    let id = attempts::find(config, typed)?;
    if source {
        // Its bytes, not its text: what was submitted comes out again.
        let mut stdout = std::io::stdout().lock();
        stdout.write_all(&store.source(&id)?)?;
        stdout.flush()?;
        return Ok(Exit::Accepted);
    }
    let attempt = store.attempt(&id)?;
    config.terminal.print(&match config.json {
        true => json::line(&attempt),
        false => attempt::screen(&attempt, &attempts::short_ids(config)?, Timestamp::now()),
    })?;
    Ok(Exit::Accepted)
}
