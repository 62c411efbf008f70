//! How far batches are.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use judge::batch::Step;
use leaderboard::RunId;
use serde::Serialize;

use super::{batch, style, words};

/// One batch.
#[derive(Serialize)]
pub struct Run {
    pub run: RunId,
    pub author: String,
    pub directory: PathBuf,
    /// Somebody sees to it; else it was killed, and the same command goes on with it.
    pub running: bool,
    pub items: Vec<Item>,
}

/// One file of it.
#[derive(Serialize)]
pub struct Item {
    pub file: PathBuf,
    pub values: BTreeMap<String, String>,
    pub step: Step,
}

/// Files that are named; a batch may have thousands.
const NAMED: usize = 8;

pub fn screen(run: &Run) -> String {
    let state = match run.running {
        true => style::paint(style::GOOD, "running"),
        false => style::paint(style::WARNING, "stopped; the same command goes on with it"),
    };
    let count = words::count(run.items.len() as u64, "file");
    let mut text = format!(
        "run {}  {count} by {}, {state}\n",
        style::paint(style::BOLD, run.run.tail()),
        run.author
    );
    let counts = Step::ALL.into_iter().filter_map(|step| {
        let count = run.items.iter().filter(|item| item.step == step).count();
        (count > 0).then(|| format!("{} {}", words::grouped(count as u64), batch::step(step)))
    });
    let counts: Vec<String> = counts.collect();
    text.push_str(&format!("{}\n", words::hanging(&format!("  {}", counts.join(", ")), 4)));
    let active = run.items.iter().filter(|item| !matches!(item.step, Step::Queued | Step::Done));
    for item in active.take(NAMED) {
        let name = name(&item.file, &item.values);
        let line = format!("    {:<19}{name}", batch::step(item.step));
        text.push_str(&format!("{}\n", words::cut(&line, words::COLUMNS)));
    }
    let folder = run.directory.display();
    text.push_str(&format!(
        "{}\n",
        style::paint(style::DIM, words::hanging(&format!("  in {folder}"), 4))
    ));
    text
}

/// The file, and its macros where it has some: "k.cu TILE=64".
pub fn name(file: &Path, values: &BTreeMap<String, String>) -> String {
    let values = values.iter().map(|(name, value)| format!(" {name}={value}"));
    format!("{}{}", file.display(), values.collect::<String>())
}
