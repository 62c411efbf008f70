//! `nibble queue`: batches that are under way, or that were killed.

use judge::batch::{Folder, Step};
use leaderboard::RunId;

use super::plan::{self, Plan};
use crate::{
    config::Config,
    exit::{Exit, Result},
    render::{json, queue},
};

pub fn run(config: &Config) -> Result<Exit> {
    let mut shown = Vec::new();
    for folder in Folder::all(&plan::runs(config)?) {
        let (Ok(id), Some(plan)) = (folder.name().parse::<RunId>(), folder.plan::<Plan>()) else {
            continue;
        };
        let noted = folder.steps();
        let done = plan::done(&id, config)?;
        let step = |index: usize| match done.contains_key(&index) {
            true => Step::Done,
            false => noted.get(&index).copied().unwrap_or(Step::Queued),
        };
        let items = plan.items.iter().enumerate();
        shown.push(queue::Run {
            author: plan.said.author.clone(),
            directory: plan.directory.clone(),
            // Where it cannot be held, somebody else sees to it.
            running: !matches!(folder.hold(), Ok(Some(_))),
            items: items
                .map(|(index, item)| queue::Item {
                    file: item.file.clone(),
                    values: item.values.clone(),
                    step: step(index),
                })
                .collect(),
            run: id,
        });
    }
    if shown.is_empty() && !config.json {
        config.terminal.note("no batch is under way");
    }
    for run in &shown {
        config.terminal.print(&match config.json {
            true => json::line(run),
            false => queue::screen(run),
        })?;
    }
    Ok(Exit::Accepted)
}
