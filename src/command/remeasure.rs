//! `nibble leaderboard --remeasure [N]`: the fastest of an older revision, run under today's.
//!
//! When a problem changes, old times stay on the board of their revision. Their sources are all
//! there: run again, each becomes a new attempt by its author, with the old one as its parent.

use std::collections::HashSet;

use judge::DeviceChoice;
use leaderboard::{
    AttemptId, Manifest, Store, Summary,
    attempt::DeviceKind,
    board::{BoardKey, boards},
};

use super::{attempts, solution::Solution, solve};
use crate::{
    config::Config,
    exit::{Exit, Result},
    interrupt,
    record::{self, Provenance},
    render::{style, words},
};

pub fn run(problem: Option<&str>, top: usize, config: &Config) -> Result<Exit> {
    let collection = attempts::read(config, problem)?;
    let chosen = outdated(&collection.attempts, top, &config.device);
    if chosen.is_empty() {
        config.terminal.note("nothing to run again: no accepted attempt is of an older revision");
        return Ok(Exit::Accepted);
    }
    let interrupt = interrupt::install();
    let store = Store::at(config.leaderboard()?);
    let mut worst = Exit::Accepted;
    for old in chosen {
        let report = Solution::attempt(&old.id, config)?.run_again(&interrupt, config)?;
        let provenance = Provenance {
            author: old.author.clone(),
            message: old.message.clone(),
            source: store.source(&old.id)?,
            parent: Some(old.id.clone()),
            confirms: None,
            batch: None,
        };
        let new = store.record(record::submission(&report, provenance))?;
        let verdict = style::paint(style::of(report.verdict), style::symbol(report.verdict));
        let time = match (old.geomean, new.outcome.geomean) {
            (Some(old), Some(new)) => {
                format!("{}, was {}", words::micros(new.us), words::micros(old.us))
            }
            _ => style::words(report.verdict).to_owned(),
        };
        let ids = attempts::short_ids(config)?;
        let (from, to) = (ids.of(&old.id), ids.of(&new.id));
        config.terminal.note(&format!("{verdict} {from} → {to}  {}: {time}", old.solution()));
        worst = worst.max(solve::exit(report.verdict));
    }
    Ok(worst)
}

/// The first `top` of each board that is of an older revision than today's, without those that were
/// run again already. Only boards of the device that is asked for, else of the emulator.
fn outdated<'a>(attempts: &'a [Summary], top: usize, device: &DeviceChoice) -> Vec<&'a Summary> {
    let kind = match device {
        DeviceChoice::Auto | DeviceChoice::Emulator => DeviceKind::Emulator,
        DeviceChoice::Cuda(_) => DeviceKind::Cuda,
        DeviceChoice::Mock(_) => DeviceKind::Mock,
    };
    let today = |key: &BoardKey| problems::find(&key.problem).ok().map(|p| p.manifest().revision);
    let again: HashSet<&AttemptId> = attempts
        .iter()
        .filter(|one| Some(one.revision) == today(&BoardKey::of(one)))
        .filter_map(|one| one.parent.as_ref())
        .collect();
    // Whoever times them again need not be who timed them first.
    let boards = boards(attempts, &Manifest::default());
    let old = boards.iter().filter(|board| {
        board.key.device.kind == kind
            && today(&board.key).is_some_and(|today| board.key.revision < today)
    });
    old.flat_map(|board| board.rows.iter().take(top).map(|row| row.best))
        .filter(|best| !again.contains(&best.id))
        .collect()
}
