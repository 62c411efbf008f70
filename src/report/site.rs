//! Everything that the pages are made of, read once, and where each page is.

use std::{
    collections::{BTreeSet, HashMap, HashSet},
    iter,
};

use jiff::Timestamp;
use leaderboard::{
    Attempt, AttemptId, Manifest, ShortIds, Summary,
    attempt::Verdict,
    board::{Board, BoardKey, boards},
    history::{History, histories},
};

use super::text;
use crate::render::board;

/// An attempt that could not be read: its folder's name, and what is wrong with it.
pub struct Damaged {
    pub name: String,
    pub defect: String,
}

/// A board and its attempts in time, which are shown on one page.
pub struct Contest<'a> {
    /// Its page's name: `mxfp4_quantize-b200-sm_100a-modelled`.
    pub name: String,
    pub board: Board<'a>,
    pub history: History<'a>,
}

pub struct Site<'a> {
    /// Oldest first.
    pub summaries: &'a [Summary],
    /// Those of `summaries`, whole.
    pub attempts: &'a HashMap<AttemptId, Attempt>,
    pub damaged: &'a [Damaged],
    pub contests: Vec<Contest<'a>>,
    pub ids: &'a ShortIds,
    pub made: Timestamp,
    /// Of each attempt its contest, and where in that one's history it is.
    places: HashMap<&'a AttemptId, (usize, usize)>,
    /// Of each attempt, those that began with it.
    pub children: HashMap<&'a AttemptId, Vec<&'a AttemptId>>,
    /// Which two have a page beside each other: the one that changes are relative to comes first.
    pub pairs: BTreeSet<(&'a AttemptId, &'a AttemptId)>,
}

/// Of each board so many are compared with one another.
pub const COMPARED: usize = 5;

impl<'a> Site<'a> {
    pub fn new(
        summaries: &'a [Summary],
        attempts: &'a HashMap<AttemptId, Attempt>,
        damaged: &'a [Damaged],
        ids: &'a ShortIds,
        agreed: &Manifest,
        made: Timestamp,
    ) -> Self {
        // Both are in the order of their keys, and every board has a history.
        let mut names = HashSet::new();
        let contests: Vec<Contest<'_>> = boards(summaries, agreed)
            .into_iter()
            .zip(histories(summaries))
            .map(|(board, history)| Contest {
                name: unused(file_name(&board.key), &mut names),
                board,
                history,
            })
            .collect();
        let known = |id: &AttemptId| attempts.get_key_value(id).map(|(id, _)| id);
        let mut children: HashMap<&AttemptId, Vec<&AttemptId>> = HashMap::new();
        let mut pairs = BTreeSet::new();
        let mut pair = |from, to| {
            if from != to && !pairs.contains(&(to, from)) {
                pairs.insert((from, to));
            }
        };
        for summary in summaries {
            if let Some(parent) = summary.parent.as_ref().and_then(known) {
                children.entry(parent).or_default().push(&summary.id);
                pair(parent, &summary.id);
            }
        }
        for contest in &contests {
            let first: Vec<_> = contest.board.rows.iter().take(COMPARED).collect();
            for (place, better) in first.iter().enumerate() {
                for worse in &first[place + 1..] {
                    pair(&worse.best.id, &better.best.id);
                }
            }
            let records: Vec<_> = contest.records().collect();
            for step in records.windows(2) {
                pair(&step[0].attempt.id, &step[1].attempt.id);
            }
        }
        let mut places = HashMap::new();
        for (contest, one) in contests.iter().enumerate() {
            for (at, entry) in one.history.entries.iter().enumerate() {
                places.insert(&entry.attempt.id, (contest, at));
            }
        }
        Self { summaries, attempts, damaged, contests, ids, made, places, children, pairs }
    }

    /// The attempt's board, and where among its attempts it is.
    pub fn place(&self, id: &AttemptId) -> Option<(&Contest<'a>, usize)> {
        let (contest, at) = *self.places.get(id)?;
        Some((&self.contests[contest], at))
    }

    /// The nearest of the attempts before it, parent by parent, that was accepted.
    pub fn accepted_before(&self, attempt: &Attempt) -> Option<&'a Attempt> {
        // A record can claim any parent, itself too.
        const FAR: usize = 1000;
        let parent = |attempt: &Attempt| self.attempts.get(attempt.parent.as_ref()?);
        iter::successors(parent(attempt), |one| parent(one))
            .take(FAR)
            .find(|one| one.outcome.verdict == Verdict::Accepted)
            .filter(|one| one.id != attempt.id)
    }

    /// The page that shows these two, if there is one, whichever of them is the older.
    pub fn comparison(&self, a: &AttemptId, b: &AttemptId) -> Option<String> {
        let listed = |a, b| self.pairs.contains(&(a, b)).then(|| comparison(a, b));
        listed(a, b).or_else(|| listed(b, a))
    }
}

impl<'a> Contest<'a> {
    pub fn page(&self) -> String {
        format!("boards/{}.html", self.name)
    }

    /// "mxfp4_quantize, modelled for B200, sm_100a"
    pub fn title(&self) -> String {
        let title = format!("{}, {}", self.board.key.problem, board::place(&self.board.key));
        text::label(&title, 120)
    }

    /// The least time that the sizes can take, their geometric mean, microseconds; as the fastest
    /// attempt knows it, since its record has it.
    pub fn floor_us(&self, site: &Site<'_>) -> Option<f64> {
        let sizes = &site.attempts.get(&self.board.rows.first()?.best.id)?.outcome.sizes;
        let logs: f64 = sizes.iter().map(|size| size.sol_us.ln()).sum();
        Some((logs / sizes.len() as f64).exp()).filter(|us| us.is_finite() && *us > 0.0)
    }

    /// The pages of all its attempts, from 1.
    pub fn list(&self, page: usize) -> String {
        format!("boards/{}-attempts-{page}.html", self.name)
    }

    /// The attempts that were the fastest when they were made, oldest first.
    pub fn records(&self) -> impl Iterator<Item = &leaderboard::history::Entry<'a>> {
        self.history.entries.iter().filter(|entry| entry.is_best)
    }
}

pub fn attempt(id: &AttemptId) -> String {
    format!("attempts/{id}.html")
}

pub fn source(id: &AttemptId) -> String {
    format!("attempts/{id}.cu")
}

pub fn comparison(a: &AttemptId, b: &AttemptId) -> String {
    format!("compare/{a}-{b}.html")
}

/// Letters, digits and hyphens of what a record says; a record can say anything.
fn file_name(key: &BoardKey) -> String {
    let device = key.device.name.trim_end_matches(" (modelled)");
    let kind = if key.modelled { "modelled" } else { "measured" };
    let words = format!("{} {device} {} {kind} r{}", key.problem, key.device.arch, key.revision);
    let clean =
        |c: char| if c.is_ascii_alphanumeric() || c == '_' { c.to_ascii_lowercase() } else { '-' };
    let name: String = words.chars().take(120).map(clean).collect();
    name.split('-').filter(|part| !part.is_empty()).collect::<Vec<_>>().join("-")
}

fn unused(name: String, names: &mut HashSet<String>) -> String {
    let mut free = name.clone();
    let mut number = 2;
    while !names.insert(free.clone()) {
        free = format!("{name}-{number}");
        number += 1;
    }
    free
}
