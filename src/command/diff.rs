//! `nibble diff A [B]`: what changed between two attempts, and what it did.

use std::{fs, path::Path};

use leaderboard::{
    Attempt, AttemptId, Store,
    board::boards,
    facts::{Caveat, Difference, caveats, side_by_side},
};
use serde::Serialize;

use super::{attempts, new, solve};
use crate::{
    config::Config,
    exit::{Exit, Failure, Result},
    render::{diff, json, words},
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

#[derive(Serialize)]
struct Against<'a> {
    a: &'a Attempt,
    file: String,
    diff: String,
}

/// With two ids, the second attempt against the first; with one, the attempt against its parent; with
/// none, the newest attempt against the one before it; with a file, the file against the attempt that
/// leads its problem's board.
pub fn run(a: Option<&str>, b: Option<&str>, config: &Config) -> Result<Exit> {
    let store = Store::at(config.leaderboard()?);
    let (old, new) = match (a, b) {
        (None, _) => newest(config)?,
        (Some(a), Some(b)) => (attempts::find(config, a)?, attempts::find(config, b)?),
        (Some(file), None) if Path::new(file).exists() || file.contains(['.', '/']) => {
            return against_leader(Path::new(file), config);
        }
        (Some(a), None) => {
            let id = attempts::find(config, a)?;
            let parent = store.attempt(&id)?.parent.ok_or_else(|| {
                Failure::usage(format!("attempt {id} has no parent: it was the first"))
                    .next("name another: nibble diff A B")
            })?;
            (parent, id)
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

/// The newest attempt, and the one at the same problem before it.
fn newest(config: &Config) -> Result<(AttemptId, AttemptId)> {
    let mut attempts = attempts::read(config, None)?.attempts;
    attempts.sort_by_key(|attempt| std::cmp::Reverse(attempt.created));
    let few = || {
        Failure::usage("there are no two attempts at one problem yet")
            .next("`nibble submit FILE` records one")
    };
    let new = attempts.first().ok_or_else(few)?;
    let old = attempts.iter().skip(1).find(|old| old.problem == new.problem).ok_or_else(few)?;
    Ok((old.id.clone(), new.id.clone()))
}

/// A file's text beside that of the fastest attempt at its problem.
fn against_leader(file: &Path, config: &Config) -> Result<Exit> {
    solve::readable(file)?;
    let shown = file.display().to_string();
    let text =
        fs::read(file).map_err(|error| Failure::usage(format!("cannot read {shown}: {error}")))?;
    let text = String::from_utf8_lossy(&text).into_owned();
    let problem = new::problem_of(file, &text, None)?.name();
    let collection = attempts::read(config, Some(problem))?;
    let boards = boards(&collection.attempts, &attempts::manifest(config)?);
    let leader = boards.first().and_then(|board| board.rows.first()).ok_or_else(|| {
        Failure::usage(format!("nobody is on a board of {problem} yet"))
            .next(format!("nibble submit {}", words::shell(&shown)))
    })?;
    let store = Store::at(config.leaderboard()?);
    let attempt = store.attempt(&leader.best.id)?;
    let source = String::from_utf8_lossy(&store.source(&attempt.id)?).into_owned();
    config.terminal.print(&match config.json {
        true => {
            let diff = diff::unified(&source, &text);
            json::line(&Against { a: &attempt, file: shown, diff })
        }
        false => diff::sources(&attempt, &shown, [&source, &text], &attempts::short_ids(config)?),
    })?;
    Ok(Exit::Accepted)
}
