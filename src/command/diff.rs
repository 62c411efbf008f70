//! `nibble diff A [B]`: what changed between two attempts, and what it did.

use leaderboard::{
    Attempt, Store,
    facts::{Caveat, Difference, caveats, side_by_side},
};
use serde::Serialize;

use super::attempts;
use crate::{
    config::Config,
    exit::{Exit, Failure, Result},
    render::{diff, json},
};

#[derive(Serialize)]
struct Compared<'a> {
    /// The older one: what the changes are relative to.
    a: &'a Attempt,
    b: &'a Attempt,
    diff: String,
    facts: Vec<Difference>,
    caveats: Vec<Caveat>,
}

/// With one id, the attempt against its parent; with two, the second against the first.
pub fn run(a: &str, b: Option<&str>, config: &Config) -> Result<Exit> {
    let store = Store::at(&config.leaderboard);
    let first = attempts::find(config, a)?;
    let (old, new) = match b {
        Some(b) => (first, attempts::find(config, b)?),
        None => {
            let parent = store.attempt(&first)?.parent.ok_or_else(|| {
                Failure::usage(format!("attempt {first} has no parent: it was the first"))
                    .next("name another: nibble diff A B")
            })?;
            (parent, first)
        }
    };
    let sources = [store.source(&old)?, store.source(&new)?];
    let sources = sources.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    let (old, new) = (store.attempt(&old)?, store.attempt(&new)?);
    config.terminal.print(&match config.json {
        true => json::line(&Compared {
            a: &old,
            b: &new,
            diff: diff::unified(&sources[0], &sources[1]),
            facts: side_by_side(&old, &new),
            caveats: caveats(&old, &new),
        }),
        false => diff::screen(&old, &new, &sources[0], &sources[1], &attempts::short_ids(config)?),
    })?;
    Ok(Exit::Accepted)
}
