//! A batch that records: begun once, and taken up again by the same command if it was killed.
//!
//! What was asked for lies in a folder beside the attempts while the batch is under way. The same
//! command finds it there, and does what is missing. What is missing, the attempts decide: each
//! carries its batch and its place in it.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    time::Duration,
};

use jiff::Timestamp;
use judge::batch::{Folder, Hold};
use leaderboard::{Member, RunId, Store, Summary, attempt::source_hash};
use serde::{Deserialize, Serialize};

use super::{
    attempts,
    batch::{Batch, Task},
    submit::Said,
};
use crate::{
    config::Config,
    exit::{Exit, Failure, Result},
    render::batch::Settled,
};

/// What was asked for. Two commands with equal plans are one batch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    pub said: Said,
    pub device: String,
    pub arch: Option<String>,
    pub directory: PathBuf,
    pub items: Vec<Item>,
}

/// One run of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Item {
    pub file: PathBuf,
    pub source_hash: String,
    pub values: BTreeMap<String, String>,
    pub problem: Option<String>,
    pub limit: Option<Duration>,
}

impl Plan {
    pub fn of(tasks: &[Task], said: &Said, config: &Config) -> Result<Self> {
        let items = tasks.iter().map(|task| {
            let source = std::fs::read(&task.run.file).map_err(|error| {
                Failure::usage(format!("cannot read {}: {error}", task.file.display()))
            })?;
            Ok(Item {
                file: task.file.clone(),
                source_hash: source_hash(&source),
                values: task.run.values.clone(),
                problem: task.run.problem.clone(),
                limit: task.run.limits.check,
            })
        });
        Ok(Self {
            said: said.clone(),
            device: config.device.to_string(),
            arch: config.arch.clone(),
            directory: std::env::current_dir()?,
            items: items.collect::<Result<_>>()?,
        })
    }
}

/// A batch that this process sees to.
pub struct UnderWay {
    pub id: RunId,
    pub folder: Folder,
    _hold: Hold,
    count: usize,
}

impl UnderWay {
    /// Begins the batch, or takes it up: then what it has done before is settled.
    pub fn begin(batch: &mut Batch<'_>, said: &Said, config: &Config) -> Result<Self> {
        let plan = Plan::of(batch.tasks(), said, config)?;
        let count = plan.items.len();
        let runs = runs(config)?;
        let under_way = match unfinished(&runs, &plan)? {
            Some((id, folder, hold)) => {
                let done = done(&id, config)?;
                let (run, done_count) = (id.tail(), done.len());
                config
                    .terminal
                    .note(&format!("run {run} goes on: {done_count} of {count} are done"));
                for (index, attempt) in done {
                    batch.settle(index, Settled::Done(Box::new(attempt)));
                }
                Self { id, folder, _hold: hold, count }
            }
            None => {
                let id = RunId::new(Timestamp::now());
                let (folder, hold) =
                    Folder::create(&runs, id.as_str(), &plan).map_err(|e| unwritable(&runs, &e))?;
                Self { id, folder, _hold: hold, count }
            }
        };
        let journal = under_way.folder.journal();
        batch.journal = Some(journal.map_err(|error| unwritable(&runs, &error))?);
        Ok(under_way)
    }

    pub fn member(&self, index: usize) -> Member {
        Member { run: self.id.clone(), index: index as u32 }
    }

    /// The batch is over, unless what ended it may not end it the next time.
    pub fn end(self, exit: Exit, config: &Config) {
        if exit < Exit::Machine {
            // What stays of it is a batch in which everything is done.
            let _ = self.folder.finish();
            return;
        }
        let done = done(&self.id, config).map_or(0, |done| done.len());
        let count = self.count;
        config.terminal.note(&format!(
            "{done} of {count} are recorded; the same command goes on with the rest"
        ));
    }
}

/// Where batches under way lie: beside the attempts, out of git.
pub fn runs(config: &Config) -> Result<PathBuf> {
    Ok(Store::at(config.leaderboard()?).root().join("attempts/.runs"))
}

/// The batch of that plan that was begun and not ended.
fn unfinished(runs: &Path, plan: &Plan) -> Result<Option<(RunId, Folder, Hold)>> {
    for folder in Folder::all(runs) {
        let Ok(id) = folder.name().parse::<RunId>() else { continue };
        if folder.plan::<Plan>().as_ref() != Some(plan) {
            continue;
        }
        return match folder.hold().map_err(|error| unwritable(runs, &error))? {
            Some(hold) => Ok(Some((id, folder, hold))),
            None => Err(Failure::usage(format!("this is under way already, as run {}", id.tail()))
                .next("`nibble queue` shows how far it is")),
        };
    }
    Ok(None)
}

/// The attempts of a batch, by their places.
pub fn done(id: &RunId, config: &Config) -> Result<BTreeMap<usize, Summary>> {
    let attempts = attempts::read(config, None)?.attempts;
    let own = attempts.into_iter().filter_map(|attempt| {
        let member = attempt.batch.as_ref().filter(|member| member.run == *id)?;
        Some((member.index as usize, attempt))
    });
    Ok(own.collect())
}

fn unwritable(runs: &Path, error: &std::io::Error) -> Failure {
    Failure::machine(format!("cannot write {}: {error}", runs.display()))
        .next("free some room, or give another folder with --leaderboard DIR")
}
