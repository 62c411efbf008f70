//! `nibble attempt ID`: one attempt, whole.

use std::io::{IsTerminal as _, Write as _};

use jiff::Timestamp;
use leaderboard::Store;

use super::attempts;
use crate::{
    config::Config,
    exit::{Exit, Result},
    render::{attempt, clean::clean, json},
};

pub fn run(typed: &str, source: bool, config: &Config) -> Result<Exit> {
    let store = Store::at(config.leaderboard()?);
    let id = attempts::find(config, typed)?;
    if source {
        let source = store.source(&id)?;
        let mut stdout = std::io::stdout().lock();
        if stdout.is_terminal() {
            stdout.write_all(clean(&String::from_utf8_lossy(&source)).as_bytes())?;
        } else {
            // Its bytes, not its text: what was submitted comes out again.
            stdout.write_all(&source)?;
        }
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
