//! `nibble submit FILE…`: check, time, record, rank.

use std::{env, fs, process::Command};

use judge::{Report, Stage, report::Verdict};
use leaderboard::{AttemptId, Member, Store, Summary, board, history, locate};
use serde::{Deserialize, Serialize};

use super::{
    attempts,
    batch::Batch,
    elsewhere,
    plan::UnderWay,
    solve::{self, Shown},
};
use crate::{
    args::Submit,
    config::Config,
    exit::{Exit, Failure, Result},
    record::{self, Provenance},
    render::{
        self, json,
        standing::{self, Context},
    },
};

pub fn run(submit: &Submit, config: &Config) -> Result<Exit> {
    let how = solve::How::to(Stage::Submit);
    let Some(mut batch) = Batch::prepare(&submit.solve, &how, config)? else {
        return Ok(Exit::Usage);
    };
    let said = Said {
        author: author(submit.author.as_deref()),
        message: Some(submit.message.trim().to_owned()).filter(|message| !message.is_empty()),
    };
    // One file is either recorded or not; many can be killed in their midst.
    let run = match (batch.tasks().len(), submit.elsewhere.on) {
        (1, None) => None,
        _ => Some(UnderWay::begin(&mut batch, &said, config)?),
    };
    let (mut stopped, mut exit) = (None, Exit::Accepted);
    if let (Some(run), Some(_)) = (&run, submit.elsewhere.on) {
        stopped = elsewhere::run(&mut batch, run, &submit.elsewhere, config)?;
        for file in batch.give_up().iter().filter(|_| stopped.is_none()) {
            let failure = Failure::usage(format!("{} has no result", file.display()));
            let failure = failure.next(format!("nibble check {} says why", file.display()));
            exit = exit.max(failure.report(config.json, &config.terminal));
        }
    }
    let ran = batch.run(|index, report| {
        shown(report, &said, run.as_ref().map(|run| run.member(index)), config)
    })?;
    let exit = exit.max(ran).max(stopped.as_ref().map_or(Exit::Accepted, |failure| failure.exit));
    if let Some(run) = run {
        run.end(exit, config);
    }
    if let Some(failure) = stopped {
        failure.report(config.json, &config.terminal);
    }
    Ok(exit)
}

/// What an author says of a submission.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Said {
    pub author: String,
    pub message: Option<String>,
}

/// The report, recorded.
pub fn shown(
    report: &Report,
    said: &Said,
    member: Option<Member>,
    config: &Config,
) -> Result<Shown> {
    // Nothing was found out about the solution: there is nothing to remember.
    if report.verdict == Verdict::Interrupted {
        return Ok(Shown::of(report));
    }
    // The result is shown, even where it cannot be kept.
    recorded(report, said, member, config).or_else(|failure| {
        let not_recorded = Some(failure.message.as_str());
        let recorded = json::Recorded { not_recorded, ..Default::default() };
        let json = json::report(report, recorded);
        Ok(Shown { json, failure: Some(failure), ..Shown::of(report) })
    })
}

fn recorded(
    report: &Report,
    said: &Said,
    member: Option<Member>,
    config: &Config,
) -> Result<Shown> {
    let store = Store::at(config.leaderboard()?);
    let mut attempts = attempts::read(config, Some(&report.problem))?.attempts;
    let parent = history::parent(&attempts, &report.problem, &said.author, &report.file);
    let parent = parent.map(|parent| parent.id.clone());
    // Variants of one source are no copies of each other.
    let same_source = history::same_source(&attempts, &report.problem, &report.source_hash)
        .filter(|_| report.values.is_empty())
        .cloned();
    let attempt = store.record(record::submission(
        report,
        Provenance {
            author: said.author.clone(),
            message: said.message.clone(),
            source: source(report)?,
            parent: parent.clone(),
            confirms: None,
            batch: member,
        },
    ))?;
    attempts.push(Summary::from(&attempt));

    let standing = board::standing(&attempts, &attempt.id, &store.manifest()?);
    let best = standing.as_ref().and_then(|standing| standing.best_before);
    let best = best.map(|best| best.id.clone()).filter(|best| parent.as_ref() != Some(best));
    // What cannot be read any more is not compared with; it was named when it was read.
    let load = |id: Option<AttemptId>| id.and_then(|id| store.attempt(&id).ok());
    let rank = standing.as_ref().map(|standing| standing.rank);
    let context = Context {
        standing,
        parent: load(parent),
        best: load(best),
        same_source,
        ids: attempts::short_ids(config)?,
    };
    let recorded = json::Recorded {
        attempt: Some(&attempt.id),
        rank,
        same_source: context.same_source.as_ref().map(|same| &same.id),
        not_recorded: None,
    };
    Ok(Shown {
        json: json::report(report, recorded),
        screen: render::report::screen(report) + &standing::screen(&attempt, &context),
        failure: None,
    })
}

/// What was compiled, unless it has been edited since: then the verdict is another file's.
pub fn source(report: &Report) -> Result<Vec<u8>> {
    let changed = |why: String| {
        Failure::usage(format!("{} {why}, and nothing was recorded", report.file))
            .next("submit it again")
    };
    let source = fs::read(&report.file)
        .map_err(|error| changed(format!("cannot be read any more ({error})")))?;
    if leaderboard::attempt::source_hash(&source) != report.source_hash {
        return Err(changed("was changed while it was judged".into()));
    }
    Ok(source)
}

/// `--author`, else git's user, else the login.
pub fn author(named: Option<&str>) -> String {
    let git = Command::new("git").args(["config", "user.name"]).output().ok();
    let git = git.and_then(|output| String::from_utf8(output.stdout).ok());
    let login = env::var("USER").or_else(|_| env::var("LOGNAME")).ok();
    locate::author(named, git.as_deref(), login.as_deref())
}
