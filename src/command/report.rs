//! `nibble report [-o DIR]`: the boards as pages with pictures.

use std::{collections::HashMap, path::Path};

use jiff::Timestamp;
use leaderboard::{Attempt, AttemptId, Store};
use rayon::prelude::*;
use serde::Serialize;

use super::attempts;
use crate::{
    config::Config,
    exit::{Exit, Result},
    render::{json, style, words},
    report::{self, Damaged, Folder, Site},
};

#[derive(Serialize)]
struct Written<'a> {
    folder: String,
    attempts: usize,
    boards: usize,
    /// Relative to the folder.
    pages: Vec<&'a str>,
    /// Attempts that could not be read.
    damaged: Vec<&'a str>,
}

pub fn run(place: &Path, config: &Config) -> Result<Exit> {
    // Before anything is read: a place that cannot be written to is known at once.
    let folder = Folder::create(place)?;
    let store = Store::at(config.leaderboard()?);
    let mut collection = attempts::read(config, None)?;
    let mut damaged: Vec<Damaged> = collection
        .unreadable
        .iter()
        .map(|one| {
            let name = one.path.file_name().unwrap_or(one.path.as_os_str());
            Damaged { name: name.to_string_lossy().into_owned(), defect: one.defect.to_string() }
        })
        .collect();
    let read: Vec<_> = collection.attempts.par_iter().map(|one| store.attempt(&one.id)).collect();
    let mut whole: HashMap<AttemptId, Attempt> = HashMap::with_capacity(read.len());
    // An attempt that goes away or breaks between the two readings.
    for (summary, read) in collection.attempts.iter().zip(read) {
        match read {
            Ok(attempt) => {
                whole.insert(attempt.id.clone(), attempt);
            }
            Err(error) => {
                damaged.push(Damaged { name: summary.id.to_string(), defect: error.to_string() });
            }
        }
    }
    collection.attempts.retain(|summary| whole.contains_key(&summary.id));

    let ids = attempts::short_ids(config)?;
    let site = Site::new(
        &collection.attempts,
        &whole,
        &damaged,
        &ids,
        &attempts::manifest(config)?,
        Timestamp::now(),
    );
    report::write(&site, &store, &folder)?;
    let files = folder.publish()?;

    let pages: Vec<&str> =
        files.iter().map(String::as_str).filter(|file| file.ends_with(".html")).collect();
    let shown = place.display();
    config.terminal.print(&match config.json {
        true => json::line(&Written {
            folder: shown.to_string(),
            attempts: whole.len(),
            boards: site.contests.len(),
            pages,
            damaged: damaged.iter().map(|one| one.name.as_str()).collect(),
        }),
        false => format!(
            "{} {shown}: {} on {}\n{} {}\n",
            style::paint(
                style::GOOD,
                format!("✓ wrote {} to", words::count(pages.len() as u64, "page"))
            ),
            words::count(whole.len() as u64, "attempt"),
            words::count(site.contests.len() as u64, "board"),
            style::paint(style::DIM, "open:"),
            style::paint(style::ACCENT, place.join("index.html").display()),
        ),
    })?;
    Ok(Exit::Accepted)
}
