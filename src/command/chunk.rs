//! `nibble __chunk RUN PLACE…`: a part of a batch, on whatever machine its engine chose.
//!
//! What it is to do stands in the batch's folder, beside the attempts; so all that a machine needs
//! is nibble and that folder. What was recorded meanwhile is not done again.

use judge::{Stage, batch::Folder};
use leaderboard::{Member, RunId};

use super::{
    batch::{Batch, Task},
    plan::{self, Item, Plan},
    solve, submit,
};
use crate::{
    config::Config,
    exit::{Exit, Failure, Result},
    interrupt,
    render::batch::Settled,
};

pub fn run(run: &str, places: &[usize], config: &Config) -> Result<Exit> {
    let id: RunId = run.parse().map_err(Failure::usage)?;
    let runs = plan::runs(config)?;
    let folder = Folder::at(&runs, id.as_str());
    let unseen = || {
        Failure::machine(format!("{} is not there on this machine", folder.path().display()))
            .next("keep the leaderboard in a folder that all nodes share")
    };
    let plan: Plan = folder.plan().ok_or_else(unseen)?;
    let interrupt = interrupt::install();
    let task = |item: &Item| {
        let mut run = solve::configured(&item.file, Stage::Submit, &interrupt, config);
        run.problem.clone_from(&item.problem);
        run.values.clone_from(&item.values);
        run.limits.check = item.limit;
        Task { file: item.file.clone(), run, settled: None }
    };
    let wanted: Vec<(usize, &Item)> =
        places.iter().filter_map(|place| Some((*place, plan.items.get(*place)?))).collect();
    let tasks = wanted.iter().map(|(_, item)| task(item)).collect();
    let mut batch = Batch::of(tasks, None, config);
    let done = plan::done(&id, config)?;
    for (index, (place, _)) in wanted.iter().enumerate() {
        if let Some(attempt) = done.get(place) {
            batch.settle(index, Settled::Done(Box::new(attempt.clone())));
        }
    }
    let mut journal = folder.journal()?;
    journal.renumber(wanted.iter().map(|(place, _)| *place).collect());
    batch.journal = Some(journal);
    let mut worst = Exit::Accepted;
    let stopped = batch.silently(|index, report| {
        let (place, item) = wanted[index];
        match report {
            Ok(report) => {
                let member = Member { run: id.clone(), index: place as u32 };
                let shown = submit::shown(&report, &plan.said, Some(member), config)?;
                worst = worst.max(solve::exit(report.verdict));
                if let Some(failure) = shown.failure {
                    failure.report(false, &config.terminal);
                    return Err(failure);
                }
                Ok(())
            }
            Err(failure) => {
                config.terminal.note(&format!("{}:", item.file.display()));
                worst = worst.max(failure.report(false, &config.terminal));
                Ok(())
            }
        }
    })?;
    Ok(worst.max(stopped.map_or(Exit::Accepted, |failure| failure.exit)))
}
