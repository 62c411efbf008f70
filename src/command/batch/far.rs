//! How far a batch is, on stderr.

use std::collections::BTreeMap;

use judge::{Event, batch::Step};

use super::Task;
use crate::{config::Config, render::progress::Progress};

/// How far the tasks are, on stderr.
pub struct Far<'a> {
    config: &'a Config,
    tasks: &'a [Task],
    finished: usize,
    running: BTreeMap<usize, Step>,
    /// Taken away while something is printed.
    pub progress: Option<Progress>,
}

impl<'a> Far<'a> {
    pub fn new(tasks: &'a [Task], config: &'a Config) -> Self {
        let finished = tasks.iter().filter(|task| task.settled.is_some()).count();
        Self { config, tasks, finished, running: BTreeMap::new(), progress: None }
    }

    pub fn event(&mut self, index: usize, event: &Event) {
        let progress = self.progress.get_or_insert_with(|| self.config.terminal.progress());
        let Some(step) = Step::of(event).filter(|_| self.tasks.len() > 1) else {
            return progress.event(event);
        };
        self.running.insert(index, step);
        let running = self.running.iter();
        let running = running.map(|(index, step)| (*step, self.tasks[*index].name()));
        progress.batch(self.finished, self.tasks.len(), running);
    }

    pub fn finished(&mut self, index: usize) {
        self.running.remove(&index);
        self.finished += 1;
    }
}
