//! Results in the order in which the files were given, whatever finishes first.

use std::{collections::BTreeMap, path::Path};

use super::{Far, Task};
use crate::{
    command::{
        attempts,
        solve::{self, Shown},
    },
    config::Config,
    exit::{Exit, Failure, Result},
    render::{batch as screen, json},
};

/// What came of a task, until it is its turn to be shown.
pub enum Outcome {
    Shown { shown: Shown, line: screen::Line },
    Failed(Failure),
}

/// Prints what came of each task when all before it are printed.
pub struct InOrder<'a> {
    config: &'a Config,
    tasks: &'a [Task],
    pub far: Far<'a>,
    outcomes: BTreeMap<usize, Outcome>,
    /// How many are printed.
    printed: usize,
    summary: Vec<screen::Line>,
    worst: Exit,
}

impl<'a> InOrder<'a> {
    pub fn new(tasks: &'a [Task], config: &'a Config) -> Self {
        Self {
            config,
            tasks,
            far: Far::new(tasks, config),
            outcomes: BTreeMap::new(),
            printed: 0,
            summary: Vec::new(),
            worst: Exit::Accepted,
        }
    }

    pub fn put(&mut self, index: usize, outcome: Outcome) -> Result<()> {
        self.far.finished(index);
        self.outcomes.insert(index, outcome);
        self.print()
    }

    /// What is next, as far as it is known.
    pub fn print(&mut self) -> Result<()> {
        while self.tasks.get(self.printed).is_some_and(|task| task.settled.is_some())
            || self.outcomes.contains_key(&self.printed)
        {
            self.print_one(self.printed)?;
            self.printed += 1;
        }
        Ok(())
    }

    /// What came of a task; nothing where nothing did.
    fn print_one(&mut self, index: usize) -> Result<()> {
        let (task, config) = (&self.tasks[index], self.config);
        self.far.progress = None;
        let gap = if index > 0 { "\n" } else { "" };
        match (&task.settled, self.outcomes.remove(&index)) {
            (Some(settled), _) => {
                let line =
                    screen::Line::settled(&task.file, settled, &attempts::short_ids(config)?);
                config.terminal.print(&match config.json {
                    true => screen::settled_json(&task.file, settled),
                    false => format!("{gap}{line}"),
                })?;
                self.worst = self.worst.max(solve::exit(line.verdict));
                self.summary.push(line);
            }
            (None, Some(Outcome::Shown { shown, line })) => {
                self.worst = self.worst.max(solve::exit(line.verdict));
                config.terminal.print(&match config.json {
                    true => shown.json,
                    false => format!("{gap}{}", shown.screen),
                })?;
                if let Some(failure) = shown.failure {
                    self.worst = self.worst.max(failure.exit);
                    if !config.json {
                        failure.report(false, &config.terminal);
                    }
                }
                self.summary.push(line);
            }
            (None, Some(Outcome::Failed(failure))) => {
                self.worst = self.worst.max(failed(&task.file, &failure, config)?);
            }
            (None, None) => {}
        }
        Ok(())
    }

    /// The tasks that were not begun have the fate of what ended them.
    pub fn end(mut self, stopped: Option<Failure>) -> Result<Exit> {
        for index in self.printed..self.tasks.len() {
            if let Some(failure) = stopped.as_ref().filter(|_| self.config.json) {
                let unbegun = || Outcome::Failed(failure.clone());
                self.outcomes.entry(index).or_insert_with(unbegun);
            }
            self.print_one(index)?;
        }
        self.far.progress = None;
        if self.tasks.len() > 1 && !self.config.json {
            self.config.terminal.print(&screen::summary(&self.summary))?;
        }
        Ok(self.worst.max(stopped.map_or(Exit::Accepted, |failure| failure.exit)))
    }
}

/// Shows why a file has no report, where the other results are shown.
pub fn failed(file: &Path, failure: &Failure, config: &Config) -> Result<Exit> {
    if config.json {
        config.terminal.print(&json::failure(Some(&file.display().to_string()), failure))?;
        return Ok(failure.exit);
    }
    Ok(failure.report(false, &config.terminal))
}
