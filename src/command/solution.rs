//! A solution that is named by its file or by an attempt at it.

use std::path::{Path, PathBuf};

use judge::{Interrupt, Report, Stage, report::Verdict};
use leaderboard::{Attempt, AttemptId, Store};

use super::solve;
use crate::{
    config::Config,
    exit::{Failure, Result},
};

/// What was typed, found.
pub struct Solution {
    /// Of an attempt, the one in the leaderboard: compiled before, it is in the cache.
    pub file: PathBuf,
    pub attempt: Option<Attempt>,
}

impl Solution {
    /// A file if there is one of that name, else the attempt whose id begins so.
    pub fn find(typed: impl AsRef<Path>, config: &Config) -> Result<Self> {
        let file = typed.as_ref();
        let typed = match file.to_str() {
            Some(typed) if !file.exists() && !typed.contains(['.', '/']) => typed,
            _ => return Self::file(file),
        };
        let found = Store::at(config.leaderboard()?).find(typed);
        let id = found.map_err(|error| match error {
            leaderboard::Error::NoSuchAttempt { typed } => {
                Failure::usage(format!("`{typed}` is no file, and no attempt's id begins so"))
                    .next("`nibble history` lists the attempts")
            }
            other => other.into(),
        })?;
        Self::attempt(&id, config)
    }

    pub fn file(file: &Path) -> Result<Self> {
        solve::readable(file)?;
        Ok(Self { file: file.to_owned(), attempt: None })
    }

    pub fn attempt(id: &AttemptId, config: &Config) -> Result<Self> {
        let store = Store::at(config.leaderboard()?);
        let attempt = store.attempt(id)?;
        if leaderboard::attempt::source_hash(&store.source(id)?) != attempt.source_hash {
            let why = format!("the source of attempt {id} is not the one that was recorded");
            return Err(Failure::usage(why).next("`nibble verify` names what was changed"));
        }
        let folder = store.folder(id).ok_or_else(|| {
            Failure::machine(format!("attempt {id} went away while it was looked at"))
        })?;
        Ok(Self { file: folder.join("solution.cu"), attempt: Some(attempt) })
    }

    /// Checks and times it as for the record, with progress; an interrupt is a failure.
    pub fn run_again(&self, interrupt: &Interrupt, config: &Config) -> Result<Report> {
        let run = self.configured(Stage::Submit, interrupt, config);
        let progress = config.terminal.progress();
        let report = judge::run(&run, &mut |event| progress.event(&event))?;
        if interrupt.raised() || report.verdict == Verdict::Interrupted {
            return Err(Failure::interrupted());
        }
        Ok(report)
    }

    /// How the harness is to run it. An attempt is one at its problem, for its architecture.
    pub fn configured(
        &self,
        stage: Stage,
        interrupt: &Interrupt,
        config: &Config,
    ) -> judge::Config {
        let mut run = solve::configured(&self.file, stage, interrupt, config);
        if let Some(attempt) = &self.attempt {
            run.called = Some(attempt.file.clone());
            run.problem = Some(attempt.problem.clone());
            run.values.clone_from(&attempt.values);
            run.arch = run.arch.or_else(|| Some(attempt.outcome.device.arch.clone()));
        }
        run
    }
}
