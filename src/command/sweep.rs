//! `nibble sweep FILE -D TILE=64,128 -D STAGES=2..5`: every combination, and what each value did.
//!
//! Where there is a GPU, all variants are first checked and modelled on the emulator, which costs no time
//! of the GPU, and those that the model calls fastest are then measured.

use std::{fs, path::Path, time::Duration};

use jiff::Timestamp;
use judge::{
    DeviceChoice, Report, Stage,
    report::{DeviceKind, Verdict},
    sweep::{self, Axis, Values},
};
use leaderboard::{Attempt, AttemptId, Member, Store, history};

use super::{
    attempts,
    batch::{Batch, Task},
    elsewhere,
    plan::UnderWay,
    solution::Solution,
    submit::{self, Said},
};
use crate::{
    args::{Recorded, Sweep},
    config::Config,
    exit::{Exit, Failure, Result},
    interrupt,
    record::{self, Provenance},
    render::{batch::Settled, json, sweep as screen},
};

pub fn run(arguments: &Sweep, config: &Config) -> Result<Exit> {
    if arguments.elsewhere.on.is_some() && arguments.submit != Recorded::All {
        return Err(Failure::usage("what is done elsewhere comes back as attempts")
            .next("leave out --submit, or --on"));
    }
    let axes: Vec<Axis> = arguments
        .define
        .iter()
        .map(|typed| typed.parse().map_err(|why: String| Failure::from_library(Exit::Usage, why)))
        .collect::<Result<_>>()?;
    let variants = sweep::variants(&axes).map_err(|why| Failure::from_library(Exit::Usage, why))?;
    let solution = Solution::file(&arguments.file)?;
    decided(&arguments.file, &axes)?;
    let interrupt = interrupt::install();
    let mut base = solution.configured(Stage::Submit, &interrupt, config);
    base.problem.clone_from(&arguments.problem);
    base.limits.check = arguments.time_limit.map(Duration::from_secs);

    let identity = judge::identity(&base)?;
    let measured = identity.device.kind == DeviceKind::Cuda;
    let mut first = base.clone();
    if measured {
        first.device = DeviceChoice::Emulator;
        first.arch = Some(identity.device.arch.clone());
    }
    let said = Said { author: submit::author(arguments.author.as_deref()), message: None };
    let sweeper = Sweeper { arguments, said, config };
    let mut wave = sweeper.wave(&first, &variants)?;
    let mut tried = wave.attempts(&variants);
    let mut modelled = Vec::new();
    if measured && wave.stopped.is_none() {
        let mut accepted: Vec<(f64, &Values)> = tried
            .iter()
            .filter_map(|(values, one)| Some((one.outcome.geomean?.us, values)))
            .collect();
        accepted.sort_by(|a, b| a.0.total_cmp(&b.0));
        let best: Vec<Values> = accepted
            .into_iter()
            .take(arguments.measure)
            .map(|(_, values)| values.clone())
            .collect();
        wave = sweeper.wave(&base, &best)?;
        modelled = std::mem::replace(&mut tried, wave.attempts(&best));
    }
    let best = sweeper.record_best(&wave)?;
    let shown = screen::Sweep::new(&identity, &arguments.file, &axes, &tried, &modelled, best);
    config.terminal.print(&match config.json {
        true => json::line(&shown),
        false => shown.screen(&attempts::short_ids(config)?),
    })?;
    match wave.stopped {
        Some(failure) => Err(failure),
        None if shown.accepted() => Ok(Exit::Accepted),
        None => Ok(Exit::Failed),
    }
}

/// A macro that decides nothing would give as many equal variants as it has values.
fn decided(file: &Path, axes: &[Axis]) -> Result<()> {
    let source = fs::read_to_string(file)
        .map_err(|error| Failure::usage(format!("cannot read {}: {error}", file.display())))?;
    for axis in axes {
        sweep::decides(&source, &axis.name).map_err(|why| {
            let mut failure = Failure::from_library(Exit::Usage, why);
            failure.message = format!("{}: {}", file.display(), failure.message);
            failure
        })?;
    }
    Ok(())
}

/// What was done before, or elsewhere.
fn settled(batch: &Batch<'_>, store: &Store) -> Result<Vec<Option<Found>>> {
    let found = batch.tasks().iter().map(|task| match &task.settled {
        Some(Settled::Done(one) | Settled::Known(one)) => {
            Ok(Some(Found { attempt: store.attempt(&one.id)?, report: None }))
        }
        None => Ok(None),
    });
    found.collect()
}

struct Sweeper<'a> {
    arguments: &'a Sweep,
    said: Said,
    config: &'a Config,
}

/// What came of some variants on one device.
struct Wave {
    /// Absent where it was not begun, or was interrupted.
    found: Vec<Option<Found>>,
    stopped: Option<Failure>,
}

struct Found {
    attempt: Attempt,
    /// Of one that is not recorded.
    report: Option<Report>,
}

impl Wave {
    fn attempts(&self, variants: &[Values]) -> Vec<(Values, Attempt)> {
        let pairs = variants.iter().zip(&self.found);
        pairs.filter_map(|(v, found)| Some((v.clone(), found.as_ref()?.attempt.clone()))).collect()
    }
}

impl Sweeper<'_> {
    fn wave(&self, base: &judge::Config, variants: &[Values]) -> Result<Wave> {
        let task = |values: &Values| Task {
            file: self.arguments.file.clone(),
            run: judge::Config { values: values.clone(), ..base.clone() },
            settled: None,
        };
        let tasks = variants.iter().map(task).collect();
        let mut batch = Batch::of(tasks, self.arguments.jobs, self.config);
        let under_way = match self.arguments.submit {
            Recorded::All => Some(UnderWay::begin(&mut batch, &self.said, self.config)?),
            Recorded::Best | Recorded::None => None,
        };
        let store = Store::at(self.config.leaderboard()?);
        if let (Some(run), Some(_)) = (&under_way, self.arguments.elsewhere.on) {
            let stopped = elsewhere::run(&mut batch, run, &self.arguments.elsewhere, self.config)?;
            let found = settled(&batch, &store)?;
            if let Some(run) = under_way {
                run.end(stopped.as_ref().map_or(Exit::Accepted, |why| why.exit), self.config);
            }
            return Ok(Wave { found, stopped });
        }
        let mut found = settled(&batch, &store)?;
        // What came before the sweep, not another of its variants.
        let parent = self.parent(base)?;
        let stopped = batch.silently(|index, report| {
            let report = report?;
            if report.verdict != Verdict::Interrupted {
                let member = under_way.as_ref().map(|run| run.member(index));
                found[index] = Some(self.kept(report, parent.clone(), member)?);
            }
            Ok(())
        })?;
        if let Some(run) = under_way {
            run.end(stopped.as_ref().map_or(Exit::Accepted, |why| why.exit), self.config);
        }
        Ok(Wave { found, stopped })
    }

    /// Recorded where it is a member of a batch.
    fn kept(
        &self,
        report: Report,
        parent: Option<AttemptId>,
        member: Option<Member>,
    ) -> Result<Found> {
        let provenance = Provenance {
            author: self.said.author.clone(),
            message: None,
            source: submit::source(&report)?,
            parent,
            confirms: None,
            batch: member.clone(),
        };
        let submission = record::submission(&report, provenance);
        if member.is_none() {
            let attempt = submission.attempt(AttemptId::new(Timestamp::now(), 0));
            return Ok(Found { attempt, report: Some(report) });
        }
        let attempt = Store::at(self.config.leaderboard()?).record(submission)?;
        Ok(Found { attempt, report: None })
    }

    fn parent(&self, base: &judge::Config) -> Result<Option<AttemptId>> {
        if self.arguments.submit == Recorded::None {
            return Ok(None);
        }
        let problem = judge::identity(base)?.problem;
        let attempts = attempts::read(self.config, Some(&problem))?.attempts;
        let file = self.arguments.file.display().to_string();
        let parent = history::parent(&attempts, &problem, &self.said.author, &file);
        Ok(parent.map(|parent| parent.id.clone()))
    }

    /// The fastest, recorded if it is to be and is not.
    fn record_best(&self, wave: &Wave) -> Result<Option<AttemptId>> {
        let time =
            |found: &&Found| found.attempt.outcome.geomean.map_or(f64::INFINITY, |time| time.us);
        let accepted = wave.found.iter().flatten().filter(|found| time(found).is_finite());
        let Some(best) = accepted.min_by(|a, b| time(a).total_cmp(&time(b))) else {
            return Ok(None);
        };
        match (self.arguments.submit, &best.report) {
            (Recorded::None, _) => Ok(None),
            (_, None) => Ok(Some(best.attempt.id.clone())),
            (_, Some(report)) => {
                let provenance = Provenance {
                    author: self.said.author.clone(),
                    message: None,
                    source: submit::source(report)?,
                    parent: best.attempt.parent.clone(),
                    confirms: None,
                    batch: None,
                };
                let store = Store::at(self.config.leaderboard()?);
                Ok(Some(store.record(record::submission(report, provenance))?.id))
            }
        }
    }
}
