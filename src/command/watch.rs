//! `nibble watch FILE`: checks again at every save, and shows what changed.
//!
//! Looking at the file's time and length twenty times a second costs nothing to speak of, works on
//! every file system, and survives editors that write a new file and rename it over the old one. A
//! save during a check ends that check: what it would say is of a text that is gone.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::{Duration, SystemTime},
};

use judge::{Interrupt, Report, Stage, report::Verdict};

use super::solve;
use crate::{
    args::Watch,
    config::Config,
    exit::{Exit, Result},
    interrupt,
    render::{json, watch},
};

/// Between two looks at the file.
const POLL: Duration = Duration::from_millis(50);
/// A file that has not changed for so long is not being written.
const SETTLED: Duration = Duration::from_millis(20);

pub fn run(arguments: &Watch, config: &Config) -> Result<Exit> {
    solve::readable(&arguments.file)?;
    let stop = interrupt::install();
    let mut watched = Watched { file: &arguments.file, seen: Vec::new(), content: None };
    let mut before: Option<Report> = None;
    config.terminal.note(&format!("watching {}; Ctrl-C ends it", arguments.file.display()));
    while watched.saved(&stop) {
        match checked(arguments, &watched, &stop, config) {
            Ok(report) if report.verdict == Verdict::Interrupted => {}
            Ok(report) => {
                config.terminal.print(&match config.json {
                    true => json::report(&report, json::Recorded::default()),
                    false => watch::screen(before.as_ref(), &report),
                })?;
                before = Some(report);
            }
            // Ctrl-C, or a save in the middle of something: the next one will do.
            Err(_) if stop.raised() || watched.changed() => {}
            Err(failure) if failure.exit == Exit::Usage => {
                failure.report(config.json, &config.terminal);
                before = None;
            }
            Err(failure) => return Err(failure),
        }
    }
    Ok(Exit::Accepted)
}

/// The check of what was saved last, ended by the next save and by Ctrl-C.
fn checked(
    arguments: &Watch,
    watched: &Watched<'_>,
    stop: &Interrupt,
    config: &Config,
) -> Result<Report> {
    let overtaken = Interrupt::default();
    let stage = if arguments.bench { Stage::Bench } else { Stage::Check };
    let mut run = solve::configured(&arguments.file, stage, &overtaken, config);
    run.problem.clone_from(&arguments.problem);
    if let Some(seconds) = arguments.time_limit {
        run.limits.check = Some(Duration::from_secs(seconds));
    }
    let over = AtomicBool::new(false);
    let progress = config.terminal.progress();
    thread::scope(|scope| {
        let look = || {
            while !over.load(Ordering::SeqCst) {
                if stop.raised() || watched.changed() {
                    return overtaken.raise();
                }
                thread::park_timeout(POLL);
            }
        };
        let looking = scope.spawn(look);
        let report = judge::run(&run, &mut |event| progress.event(&event));
        over.store(true, Ordering::SeqCst);
        looking.thread().unpark();
        Ok(report?)
    })
}

/// The file and what it includes by name, as they were when they were last looked at.
struct Watched<'a> {
    file: &'a Path,
    seen: Vec<(PathBuf, Option<Stamp>)>,
    /// Of what was checked last.
    content: Option<Vec<Vec<u8>>>,
}

/// When it was written, and its length. Absent where it is not there just now.
type Stamp = (SystemTime, u64);

fn stamp(path: &Path) -> Option<Stamp> {
    let facts = fs::metadata(path).ok()?;
    Some((facts.modified().ok()?, facts.len()))
}

impl Watched<'_> {
    fn changed(&self) -> bool {
        self.seen.iter().any(|(path, seen)| stamp(path) != *seen)
    }

    /// Waits until there is a text that has not been checked. False when it is to stop.
    fn saved(&mut self, stop: &Interrupt) -> bool {
        loop {
            if stop.raised() {
                return false;
            }
            if self.content.is_none() || self.changed() {
                let files = files(self.file);
                self.seen = files.into_iter().map(|path| (path.clone(), stamp(&path))).collect();
                thread::sleep(SETTLED);
                let content: Option<Vec<Vec<u8>>> =
                    self.seen.iter().map(|(path, _)| fs::read(path).ok()).collect();
                let settled = content.is_some() && !self.changed();
                if settled && content != self.content {
                    self.content = content;
                    return true;
                }
                if settled {
                    continue;
                }
            }
            thread::sleep(POLL);
        }
    }
}

/// The file, and those that it and they include with quotes.
fn files(file: &Path) -> Vec<PathBuf> {
    let mut files = vec![file.to_owned()];
    let mut at = 0;
    while let Some(path) = files.get(at).cloned() {
        let text = fs::read_to_string(&path).unwrap_or_default();
        let folder = path.parent().unwrap_or(Path::new(""));
        for line in text.lines().filter(|line| line.trim_start().starts_with("#include")) {
            let included = line.split('"').nth(1).map(|name| folder.join(name));
            if let Some(included) = included.filter(|path| path.is_file() && !files.contains(path))
            {
                files.push(included);
            }
        }
        at += 1;
    }
    files
}
