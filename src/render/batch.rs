//! Many files: one line for each, and how far a batch is.

use std::{fmt, path::Path};

use judge::{Report, batch::Step, report::Verdict};
use leaderboard::{ShortIds, Summary};
use serde::Serialize;

use super::{
    json, style,
    table::{Align, Table},
    words,
};
use crate::record;

/// Why there is nothing to do.
pub enum Settled {
    /// The leaderboard has the same.
    Known(Box<Summary>),
    /// It was done when this batch ran before.
    Done(Box<Summary>),
}

/// What is said of one file in one line.
pub struct Line {
    pub file: String,
    pub verdict: Verdict,
    pub geomean_us: Option<f64>,
    /// Why it did not run.
    note: Option<String>,
}

impl Line {
    pub fn of(report: &Report) -> Self {
        Self {
            file: report.file.clone(),
            verdict: report.verdict,
            geomean_us: report.geomean_us,
            note: None,
        }
    }

    pub fn settled(file: &Path, settled: &Settled, ids: &ShortIds) -> Self {
        let (why, attempt) = match settled {
            Settled::Known(attempt) => ("known", attempt),
            Settled::Done(attempt) => ("done before", attempt),
        };
        Self {
            file: file.display().to_string(),
            verdict: record::reported(attempt.verdict),
            geomean_us: attempt.geomean.map(|time| time.us),
            note: Some(format!("{why}, attempt {}", ids.of(&attempt.id))),
        }
    }
}

/// Of a file that did not run.
impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verdict = style::paint(style::of(self.verdict), style::symbol(self.verdict));
        let note = self.note.as_deref().unwrap_or_default();
        let text = format!("{verdict} {}  {}", self.file, style::paint(style::DIM, note));
        writeln!(f, "{}", words::hanging(&text, 2))
    }
}

/// Instead of the object of a report.
#[derive(Serialize)]
struct Skipped<'a> {
    schema: u32,
    file: String,
    problem: &'a str,
    verdict: leaderboard::attempt::Verdict,
    geomean_us: Option<f64>,
    attempt: &'a leaderboard::AttemptId,
    skipped: &'static str,
}

pub fn settled_json(file: &Path, settled: &Settled) -> String {
    let (skipped, attempt) = match settled {
        Settled::Known(attempt) => ("known", attempt),
        Settled::Done(attempt) => ("done", attempt),
    };
    json::line(&Skipped {
        schema: json::SCHEMA,
        file: file.display().to_string(),
        problem: &attempt.problem,
        verdict: attempt.verdict,
        geomean_us: attempt.geomean.map(|time| time.us),
        attempt: &attempt.id,
        skipped,
    })
}

/// After several files: one line for each.
pub fn summary(files: &[Line]) -> String {
    let mut table = Table::new([
        ("", Align::Left),
        ("", Align::Left),
        ("", Align::Right),
        ("", Align::Left),
        ("", Align::Left),
    ]);
    for Line { file, verdict, geomean_us, note } in files {
        table.row(vec![
            (style::of(*verdict), style::symbol(*verdict).into()),
            (style::of(*verdict), style::words(*verdict).into()),
            (style::BOLD, geomean_us.map(words::micros).unwrap_or_default()),
            (style::PLAIN, file.clone()),
            (style::DIM, note.clone().unwrap_or_default()),
        ]);
    }
    let accepted = files.iter().filter(|line| line.verdict == Verdict::Accepted).count();
    format!("\n{} of {} accepted\n{table}", accepted, words::count(files.len() as u64, "file"))
}

pub fn step(step: Step) -> &'static str {
    match step {
        Step::Queued => "queued",
        Step::Compiling => "compiling",
        Step::Checking => "checking",
        Step::WaitingForGpu => "waiting for a GPU",
        Step::Timing => "timing",
        Step::Done => "done",
    }
}
