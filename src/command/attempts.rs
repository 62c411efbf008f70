//! What the verbs of the leaderboard share: reading it, and saying what could not be read.

use leaderboard::{AttemptId, Collection, Manifest, ShortIds, Store};

use crate::{config::Config, exit::Result, render::words};

/// Damaged attempts that are named; `nibble history` would otherwise be nothing else.
const NAMED: usize = 3;

/// Reads the attempts of one problem or of all. What cannot be read is named on stderr and passed
/// over.
pub fn read(config: &Config, problem: Option<&str>) -> Result<Collection> {
    let collection = Store::at(config.leaderboard()?).read(problem)?;
    for unreadable in collection.unreadable.iter().take(NAMED) {
        let name = unreadable.path.file_name().unwrap_or(unreadable.path.as_os_str());
        let defect = &unreadable.defect;
        config.terminal.warning(&format!("attempt {} is {defect}", name.display()));
    }
    if collection.unreadable.len() > NAMED {
        let more = (collection.unreadable.len() - NAMED) as u64;
        let more = words::count(more, "more attempt");
        let text = format!("{more} cannot be read: `nibble leaderboard verify` names them all");
        config.terminal.warning(&text);
    }
    Ok(collection)
}

/// What the group has agreed on about its leaderboard.
pub fn manifest(config: &Config) -> Result<Manifest> {
    Ok(Store::at(config.leaderboard()?).manifest()?)
}

/// How little of each id must be typed.
pub fn short_ids(config: &Config) -> Result<ShortIds> {
    Ok(ShortIds::new(&Store::at(config.leaderboard()?).ids()?))
}

/// The attempt whose id begins with what was typed.
pub fn find(config: &Config, typed: &str) -> Result<AttemptId> {
    Ok(Store::at(config.leaderboard()?).find(typed)?)
}
