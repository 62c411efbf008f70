//! The files of one command: worked on beside each other, shown in the order in which they were given.

mod far;
mod in_order;

use std::{
    num::NonZero,
    ops::ControlFlow,
    path::{Path, PathBuf},
    time::Duration,
};

use judge::{
    Event, Interrupt, Report, Stage,
    batch::{self, Journal, News, Step},
    report::Verdict,
};

use self::{
    far::Far,
    in_order::{InOrder, Outcome, failed},
};
use super::{
    attempts,
    solution::Solution,
    solve::{How, Shown},
};
use crate::{
    args::Solve,
    config::Config,
    exit::{Exit, Failure, Result},
    interrupt, record,
    render::{
        batch::{self as screen, Settled},
        queue,
    },
};

/// What a command was given, looked at and not begun.
pub struct Batch<'a> {
    config: &'a Config,
    tasks: Vec<Task>,
    jobs: NonZero<usize>,
    interrupt: Interrupt,
    /// Where others read how far it is.
    pub journal: Option<Journal>,
}

/// One file to run.
pub struct Task {
    /// As it was typed.
    pub file: PathBuf,
    pub run: judge::Config,
    /// An attempt that makes the run unnecessary.
    pub settled: Option<Settled>,
}

impl Task {
    /// For a line on which others stand too.
    fn name(&self) -> String {
        let name = self.file.file_name().unwrap_or(self.file.as_os_str());
        queue::name(Path::new(name), &self.run.values)
    }
}

impl<'a> Batch<'a> {
    /// All files are looked at before the first one runs. `None` where one cannot be run: then that
    /// has been told, and nothing runs.
    pub fn prepare(solve: &Solve, how: &How, config: &'a Config) -> Result<Option<Self>> {
        let find = |file: &PathBuf| match how.stage {
            // What is recorded is a file of the author's.
            Stage::Submit => Solution::file(file),
            _ => Solution::find(file, config),
        };
        let found: Vec<Result<Solution>> = solve.files.iter().map(find).collect();
        if found.iter().any(Result::is_err) {
            refuse(&solve.files, found, config)?;
            return Ok(None);
        }
        let interrupt = interrupt::install();
        let tasks = solve.files.iter().zip(found.into_iter().flatten()).map(|(file, solution)| {
            let mut run = solution.configured(how.stage, &interrupt, config);
            if solve.problem.is_some() {
                run.problem.clone_from(&solve.problem);
            }
            run.selection.clone_from(&how.selection);
            run.sizes = how.sizes.to_vec();
            run.scrutiny = how.scrutiny;
            if let Some(seconds) = solve.time_limit {
                run.limits.check = Some(Duration::from_secs(seconds));
            }
            Task { file: file.clone(), run, settled: None }
        });
        let jobs = solve.many.jobs.unwrap_or_else(batch::usual_jobs);
        let mut batch = Self { config, tasks: tasks.collect(), jobs, interrupt, journal: None };
        if solve.many.skip_known {
            batch.skip_known()?;
        }
        Ok(Some(batch))
    }

    pub fn tasks(&self) -> &[Task] {
        &self.tasks
    }

    pub fn interrupt(&self) -> &Interrupt {
        &self.interrupt
    }

    pub fn jobs(&self) -> NonZero<usize> {
        self.jobs
    }

    pub fn settle(&mut self, index: usize, settled: Settled) {
        if let Some(task) = self.tasks.get_mut(index) {
            task.settled = Some(settled);
        }
    }

    /// Leaves out what the leaderboard has of the same problem, source, values and device.
    fn skip_known(&mut self) -> Result<()> {
        let attempts = attempts::read(self.config, None)?.attempts;
        for task in &mut self.tasks {
            // Why it cannot be run is said when it is its turn.
            let Ok(wanted) = judge::identity(&task.run) else { continue };
            let device = record::device(&wanted.device);
            let known = attempts.iter().rev().find(|attempt| {
                attempt.source_hash == wanted.source_hash
                    && attempt.values == task.run.values
                    && attempt.problem == wanted.problem
                    && attempt.revision == wanted.revision
                    && attempt.device == device
            });
            task.settled = known.map(|known| Settled::Known(Box::new(known.clone())));
        }
        Ok(())
    }

    /// Leaves out what is not settled: it was somebody else's to do. Which files they are.
    pub fn give_up(&mut self) -> Vec<PathBuf> {
        let (settled, others) = self.tasks.drain(..).partition(|task| task.settled.is_some());
        self.tasks = settled;
        others.into_iter().map(|task: Task| task.file).collect()
    }

    /// Of these runs, whatever they are of.
    pub fn of(tasks: Vec<Task>, jobs: Option<NonZero<usize>>, config: &'a Config) -> Self {
        let interrupt = tasks.first().map(|task| task.run.interrupt.clone()).unwrap_or_default();
        let jobs = jobs.unwrap_or_else(batch::usual_jobs);
        Self { config, tasks, jobs, interrupt, journal: None }
    }

    /// Runs what is not settled and prints what `show` makes of each report, which it is given as
    /// soon as there is one. The exit code is the worst of all files'.
    pub fn run(self, show: impl FnMut(usize, &Report) -> Result<Shown>) -> Result<Exit> {
        let tasks = &self.tasks;
        let mut shower = Shower { shown: InOrder::new(tasks, self.config), show };
        shower.shown.print()?;
        let stopped = drive(tasks, &self.interrupt, self.jobs, self.journal, &mut shower)?;
        shower.shown.end(stopped)
    }

    /// Runs what is not settled, and prints nothing but how far it is. What ended it, if something
    /// did.
    pub fn silently(
        self,
        finished: impl FnMut(usize, Result<Report>) -> Result<()>,
    ) -> Result<Option<Failure>> {
        let mut quiet = Quiet { far: Far::new(&self.tasks, self.config), finished };
        drive(&self.tasks, &self.interrupt, self.jobs, self.journal, &mut quiet)
    }
}

/// Who is told of what goes on.
trait Watcher {
    fn event(&mut self, index: usize, event: &Event);
    fn finished(&mut self, index: usize, report: Result<Report>) -> Result<()>;
}

/// Runs the tasks. What ends one file may end all: a machine that lacks something lacks it for the
/// next file too, and Ctrl-C is meant for the command; then that is given back.
fn drive(
    tasks: &[Task],
    interrupt: &Interrupt,
    jobs: NonZero<usize>,
    mut journal: Option<Journal>,
    watcher: &mut dyn Watcher,
) -> Result<Option<Failure>> {
    let todo: Vec<usize> = (0..tasks.len()).filter(|i| tasks[*i].settled.is_none()).collect();
    let runs: Vec<judge::Config> = todo.iter().map(|index| tasks[*index].run.clone()).collect();
    let mut stopped: Option<Failure> = None;
    let mut broken: Option<Failure> = None;
    batch::batch(&runs, jobs, &mut |place, news| {
        let index = todo[place];
        let report = match news {
            News::Event(event) => {
                if let (Some(journal), Some(step)) = (&mut journal, Step::of(&event)) {
                    journal.note(index, step);
                }
                watcher.event(index, &event);
                return ControlFlow::Continue(());
            }
            News::Finished(report) => {
                report.map(|report| *report).map_err(|error| match interrupt.raised() {
                    true => Failure::interrupted(),
                    false => Failure::from(error),
                })
            }
        };
        if let Err(failure) = &report
            && failure.exit > Exit::Usage
        {
            stopped.get_or_insert_with(|| failure.clone());
        }
        // What the machine could not do, or was told to leave, is still to be done.
        let judged = match &report {
            Ok(report) => report.verdict != Verdict::Interrupted,
            Err(failure) => failure.exit <= Exit::Usage,
        };
        match watcher.finished(index, report) {
            Err(failure) => broken = Some(failure),
            Ok(()) => {
                if let Some(journal) = journal.as_mut().filter(|_| judged) {
                    journal.note(index, Step::Done);
                }
            }
        }
        if interrupt.raised() {
            stopped.get_or_insert_with(Failure::interrupted);
        }
        match stopped.is_some() || broken.is_some() {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    });
    match broken {
        Some(failure) => Err(failure),
        None => Ok(stopped),
    }
}

struct Quiet<'a, F> {
    far: Far<'a>,
    finished: F,
}

impl<F: FnMut(usize, Result<Report>) -> Result<()>> Watcher for Quiet<'_, F> {
    fn event(&mut self, index: usize, event: &Event) {
        self.far.event(index, event);
    }

    fn finished(&mut self, index: usize, report: Result<Report>) -> Result<()> {
        self.far.finished(index);
        (self.finished)(index, report)
    }
}

struct Shower<'a, F> {
    shown: InOrder<'a>,
    show: F,
}

impl<F: FnMut(usize, &Report) -> Result<Shown>> Watcher for Shower<'_, F> {
    fn event(&mut self, index: usize, event: &Event) {
        self.shown.far.event(index, event);
    }

    fn finished(&mut self, index: usize, report: Result<Report>) -> Result<()> {
        let outcome = match report {
            Ok(report) => {
                let line = screen::Line::of(&report);
                Outcome::Shown { shown: (self.show)(index, &report)?, line }
            }
            Err(failure) => Outcome::Failed(failure),
        };
        self.shown.put(index, outcome)
    }
}

/// Nothing runs. People read of the files that cannot, programs get an object for each.
fn refuse(files: &[PathBuf], found: Vec<Result<Solution>>, config: &Config) -> Result<()> {
    for (file, found) in files.iter().zip(found) {
        match found {
            Err(failure) => {
                failed(file, &failure, config)?;
            }
            Ok(_) if config.json => {
                let failure = Failure::usage("not run, because another file cannot be read");
                failed(file, &failure, config)?;
            }
            Ok(_) => {}
        }
    }
    Ok(())
}
