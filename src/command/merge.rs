//! `nibble leaderboard merge FOLDER…`: two groups' attempts in one leaderboard.

use std::path::{Path, PathBuf};

use leaderboard::{Merged, Store, locate};
use serde::Serialize;

use crate::{
    config::Config,
    exit::{Exit, Failure, Result},
    render::{json, style, words},
};

#[derive(Serialize)]
struct Object<'a> {
    folder: &'a Path,
    #[serde(flatten)]
    merged: &'a Merged,
}

pub fn run(folders: &[PathBuf], config: &Config) -> Result<Exit> {
    let ours = Store::at(config.leaderboard()?);
    // All are looked at before the first is taken in.
    for folder in folders {
        if !locate::is_leaderboard(folder) {
            return Err(Failure::usage(format!("{} is no leaderboard", folder.display()))
                .next("name a folder that holds a folder `attempts`"));
        }
        if same_folder(folder, ours.root()) {
            return Err(Failure::usage(format!("{} is this leaderboard itself", folder.display()))
                .next("name another, or say with --leaderboard which takes it in"));
        }
    }
    let mut exit = Exit::Accepted;
    for folder in folders {
        let merged = ours.merge(&Store::at(folder))?;
        config.terminal.print(&match config.json {
            true => json::line(&Object { folder, merged: &merged }),
            false => screen(folder, &merged),
        })?;
        if !merged.left.is_empty() {
            exit = Exit::Failed;
        }
    }
    Ok(exit)
}

fn same_folder(a: &Path, b: &Path) -> bool {
    matches!((a.canonicalize(), b.canonicalize()), (Ok(a), Ok(b)) if a == b)
}

fn screen(folder: &Path, merged: &Merged) -> String {
    let took = words::count(merged.count() as u64, "attempt");
    let known = match merged.known {
        0 => String::new(),
        known => format!("; {} known before", words::grouped(known as u64)),
    };
    let head =
        format!("{} {took} of {}{known}", style::paint(style::GOOD, "✓ took"), folder.display());
    let mut text = format!("{}\n", words::hanging(&head, 2));
    for (problem, ids) in &merged.taken {
        text.push_str(&format!("    {problem}  {}\n", words::grouped(ids.len() as u64)));
    }
    for finding in &merged.left {
        let left = style::paint(style::BAD, "✗ left");
        let line = format!("{left}  {}: {}", finding.path.display(), finding.flaw);
        text.push_str(&format!("{}\n", words::hanging(&line, 4)));
    }
    text
}
