//! Attempts in time: how far each one got, and what it changed.

use std::collections::{BTreeMap, HashMap};

use serde::Serialize;

use crate::attempt::{Verdict, solution_name};
use crate::board::BoardKey;
use crate::facts::{Difference, changes};
use crate::{AttemptId, Summary};

/// The attempts of one board in time. Failed ones are in it too.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct History<'a> {
    pub key: BoardKey,
    /// Oldest first.
    pub entries: Vec<Entry<'a>>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Entry<'a> {
    pub attempt: &'a Summary,
    /// The least geomean up to here, microseconds.
    pub best_us: Option<f64>,
    /// It was this attempt that brought it down to there.
    pub is_best: bool,
    /// What differs from the parent, if the parent is known.
    pub changes: Vec<Difference>,
    /// The earliest attempt at the problem with the same source.
    pub same_source: Option<&'a AttemptId>,
}

/// One history for each board, in the boards' order. `attempts` are oldest first; where they are
/// filtered (one file, one author), so is the best so far.
pub fn histories(attempts: &[Summary]) -> Vec<History<'_>> {
    let by_id: HashMap<&AttemptId, &Summary> =
        attempts.iter().map(|attempt| (&attempt.id, attempt)).collect();
    let mut first_with: HashMap<(&str, &str), &AttemptId> = HashMap::new();
    let mut histories: BTreeMap<BoardKey, Vec<Entry<'_>>> = BTreeMap::new();
    for attempt in attempts {
        let first =
            *first_with.entry((&attempt.problem, &attempt.source_hash)).or_insert(&attempt.id);
        let entries = histories.entry(BoardKey::of(attempt)).or_default();
        let before = entries.last().and_then(|entry| entry.best_us);
        let own =
            attempt.geomean.filter(|_| attempt.verdict == Verdict::Accepted).map(|time| time.us);
        let is_best = own.is_some_and(|own| before.is_none_or(|before| own < before));
        let parent = attempt.parent.as_ref().and_then(|parent| by_id.get(parent));
        entries.push(Entry {
            attempt,
            best_us: if is_best { own } else { before },
            is_best,
            changes: parent.map(|parent| changes(parent, attempt)).unwrap_or_default(),
            same_source: (*first != attempt.id).then_some(first),
        });
    }
    histories.into_iter().map(|(key, entries)| History { key, entries }).collect()
}

impl History<'_> {
    /// For a sparkline: each attempt's speed from 0 (the slowest) to 1 (the fastest), in the
    /// logarithm of its time, so that every halving is a step of one height. Absent for a failed
    /// attempt. Where all are equally fast, they are at 1.
    pub fn sparkline(&self) -> Vec<Option<f64>> {
        let logs: Vec<Option<f64>> = self
            .entries
            .iter()
            .map(|entry| entry.attempt.geomean.map(|time| time.us.ln()))
            .collect();
        let fastest = logs.iter().flatten().copied().fold(f64::INFINITY, f64::min);
        let slowest = logs.iter().flatten().copied().fold(f64::NEG_INFINITY, f64::max);
        let range = slowest - fastest;
        logs.into_iter()
            .map(|log| log.map(|log| if range > 0.0 { (slowest - log) / range } else { 1.0 }))
            .collect()
    }
}

/// The attempt that a new one by `author` at `file` follows. `attempts` are oldest first.
pub fn parent<'a>(
    attempts: &'a [Summary],
    problem: &str,
    author: &str,
    file: &str,
) -> Option<&'a Summary> {
    let solution = solution_name(file);
    attempts.iter().rev().find(|attempt| {
        attempt.problem == problem && attempt.author == author && attempt.solution() == solution
    })
}

/// The earliest attempt at `problem` whose source has this hash.
pub fn same_source<'a>(
    attempts: &'a [Summary],
    problem: &str,
    source_hash: &str,
) -> Option<&'a Summary> {
    attempts.iter().find(|attempt| attempt.problem == problem && attempt.source_hash == source_hash)
}
