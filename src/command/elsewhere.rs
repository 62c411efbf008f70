//! `--on slurm`: a batch in chunks, each a process that an engine starts.

use std::{collections::BTreeSet, env, ffi::OsString, fs, path::Path};

use judge::{
    DeviceChoice,
    batch::{
        self, Step, Tiding,
        engine::{Engine, Local, Order, Slurm},
    },
};

use super::{
    batch::Batch,
    plan::{self, UnderWay},
};
use crate::{
    args::{Elsewhere, EngineName},
    config::Config,
    exit::{Exit, Failure, Result},
    render::{batch::Settled, words},
};

/// Runs in a chunk where nobody says how many: at 3 s each, half a minute.
const CHUNK: usize = 10;
/// Chunks of one batch that keep any cluster busy.
const CHUNKS: usize = 64;

/// Has what is missing of a batch done by an engine, and settles it. What ended it, if something did.
pub fn run(
    batch: &mut Batch<'_>,
    under_way: &UnderWay,
    elsewhere: &Elsewhere,
    config: &Config,
) -> Result<Option<Failure>> {
    let mut engine = engine(batch, elsewhere)?;
    let tasks = batch.tasks().iter().enumerate();
    let missing: Vec<usize> =
        tasks.filter(|(_, task)| task.settled.is_none()).map(|(index, _)| index).collect();
    let chunk = elsewhere.chunk.map_or(CHUNK.max(missing.len().div_ceil(CHUNKS)), Into::into);
    let leaderboard = std::path::absolute(config.leaderboard()?)?;
    let (program, directory) = (env::current_exe()?, env::current_dir()?);
    let folder = &under_way.folder;
    let order = |places: &[usize], number: usize| {
        let mut command: Vec<OsString> = vec![program.clone().into(), "__chunk".into()];
        command.push(under_way.id.as_str().into());
        command.extend(places.iter().map(|place| place.to_string().into()));
        command.extend(["--leaderboard".into(), leaderboard.clone().into()]);
        command.extend(config.again());
        Order {
            command,
            directory: directory.clone(),
            log: folder.path().join(format!("chunk-{number}.log")),
            gpu: matches!(config.device, DeviceChoice::Cuda(_)),
            excluded: Vec::new(),
        }
    };
    // Recorded, or without anything to record.
    let mut done = || {
        let mut done: BTreeSet<usize> =
            plan::done(&under_way.id, config).unwrap_or_default().into_keys().collect();
        let steps = folder.steps();
        done.extend(steps.iter().filter(|(_, step)| **step == Step::Done).map(|(place, _)| *place));
        done
    };
    let progress = config.terminal.progress();
    let count = batch.tasks().len();
    let name = engine.name();
    let spread = batch::spread(
        &mut *engine,
        &missing,
        chunk,
        batch.interrupt(),
        &order,
        &mut done,
        &mut |tiding| match tiding {
            Tiding::Far { orders, done } => progress.elsewhere(done, count, orders, name),
            Tiding::Excluded(node) => {
                config.terminal.warning(&format!("{node} lacks something, and is left out"));
            }
            Tiding::Again(runs) => config.terminal.warning(&format!(
                "a chunk was killed, or its node lost: {} begun again",
                words::count(runs as u64, "run")
            )),
        },
    )?;
    drop(progress);
    for (index, attempt) in plan::done(&under_way.id, config)? {
        batch.settle(index, Settled::Done(Box::new(attempt)));
    }
    if batch.interrupt().raised() {
        return Ok(Some(Failure::interrupted()));
    }
    if let Some(log) = spread.lacking {
        return Ok(Some(lacking(&log)));
    }
    if !spread.lost.is_empty() {
        let lost = words::count(spread.lost.len() as u64, "run");
        let failure = Failure::machine(format!("{lost} killed or lost three times, and given up"));
        return Ok(Some(failure.next(format!("{} has the logs", folder.path().display()))));
    }
    Ok(None)
}

fn engine(batch: &Batch<'_>, elsewhere: &Elsewhere) -> Result<Box<dyn Engine>> {
    Ok(match elsewhere.on {
        Some(EngineName::Slurm) => Box::new(Slurm::new(elsewhere.sbatch.clone())?),
        _ if !elsewhere.sbatch.is_empty() => {
            return Err(Failure::usage("what stands behind -- goes to sbatch")
                .next("write --on slurm, or leave it out"));
        }
        _ => Box::new(Local::new(batch.jobs().get())),
    })
}

/// What the last chunk said before it ended with 3.
fn lacking(log: &Path) -> Failure {
    let text = fs::read_to_string(log).unwrap_or_default();
    let said = |label: &str| {
        let line = text.lines().rev().find_map(|line| line.trim_start().strip_prefix(label));
        line.map(|line| line.trim().to_owned())
    };
    let lacks = said("error:").unwrap_or_else(|| format!("see {}", log.display()));
    let failure = Failure { exit: Exit::Machine, message: lacks, next: None };
    match said("next:") {
        Some(next) => failure.next(next),
        None => failure,
    }
}
