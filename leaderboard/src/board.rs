//! Who is fastest. One board for each problem, revision, device and kind of time: a modelled time
//! and a measured one are never in one list, nor two GPUs, nor two revisions of a problem.

use std::collections::{BTreeMap, HashMap};

use serde::Serialize;

use crate::attempt::{Device, Time, Verdict};
use crate::{AttemptId, Manifest, Summary, Trust};

/// What attempts must share to be ranked together. In the order of boards: by problem, today's
/// revision first.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct BoardKey {
    pub problem: String,
    pub revision: u32,
    pub device: Device,
    pub modelled: bool,
}

impl BoardKey {
    pub fn of(attempt: &Summary) -> Self {
        Self {
            problem: attempt.problem.clone(),
            revision: attempt.revision,
            device: attempt.device.clone(),
            modelled: attempt.modelled,
        }
    }

    pub fn holds(&self, attempt: &Summary) -> bool {
        self.problem == attempt.problem
            && self.revision == attempt.revision
            && self.device == attempt.device
            && self.modelled == attempt.modelled
    }
}

impl Ord for BoardKey {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (&self.problem, other.revision, &self.device, self.modelled).cmp(&(
            &other.problem,
            self.revision,
            &other.device,
            other.modelled,
        ))
    }
}

impl PartialOrd for BoardKey {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Board<'a> {
    pub key: BoardKey,
    /// Fastest first; empty where nothing was accepted yet.
    pub rows: Vec<Row<'a>>,
    /// Attempts on this board, failed ones too.
    pub attempts: usize,
}

/// The best of one author's attempts at one solution.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row<'a> {
    /// From 1. Equal times share a rank, and the next one is skipped: 1, 2, 2, 4.
    pub rank: usize,
    pub best: &'a Summary,
    /// How many attempts at this solution it took, failed ones too.
    pub attempts: usize,
    /// Time relative to the row above, less one: 0.05 is 5 % slower.
    pub behind: Option<f64>,
    /// The intervals of this row and the one above overlap: their order may be chance.
    pub indistinct: bool,
    pub trust: Trust,
    /// An earlier attempt on this board, of another solution or author, has the same source.
    pub same_source: Option<&'a AttemptId>,
}

/// All boards, in the order of their keys, by the group's `manifest`. `attempts` are oldest first.
pub fn boards<'a>(attempts: &'a [Summary], manifest: &Manifest) -> Vec<Board<'a>> {
    let mut groups: HashMap<(&str, u32, &Device, bool), Vec<&Summary>> = HashMap::new();
    for attempt in attempts {
        groups
            .entry((&attempt.problem, attempt.revision, &attempt.device, attempt.modelled))
            .or_default()
            .push(attempt);
    }
    let sorted: BTreeMap<BoardKey, Vec<&Summary>> =
        groups.into_values().map(|group| (BoardKey::of(group[0]), group)).collect();
    sorted.into_iter().map(|(key, group)| board(key, &group, manifest)).collect()
}

fn board<'a>(key: BoardKey, attempts: &[&'a Summary], manifest: &Manifest) -> Board<'a> {
    let ranked = |attempt: &Summary| {
        ranked(attempt).filter(|_| !manifest.house.only || manifest.is_house(attempt))
    };
    let (attempts, confirming): (Vec<&'a Summary>, Vec<&'a Summary>) =
        attempts.iter().partition(|attempt| attempt.confirms.is_none());
    let trust = |attempt: &Summary| match attempt {
        house if manifest.is_house(house) => Trust::House,
        own if confirming.iter().any(|other| confirms(other, own)) => Trust::Confirmed,
        _ => Trust::OwnWord,
    };
    let mut solutions: HashMap<(&str, &str), (usize, Option<&'a Summary>)> = HashMap::new();
    let mut first_with: HashMap<&str, &'a Summary> = HashMap::new();
    for attempt in &attempts {
        let (count, best) = solutions.entry((&attempt.author, attempt.solution())).or_default();
        *count += 1;
        // On a tie the older stays: it was there first.
        if let Some(time) = ranked(attempt)
            && best.and_then(ranked).is_none_or(|best| time.us < best.us)
        {
            *best = Some(attempt);
        }
        first_with.entry(&attempt.source_hash).or_insert(attempt);
    }
    let mut best: Vec<(f64, &Summary, usize)> = solutions
        .into_values()
        .filter_map(|(count, best)| best.and_then(|best| Some((ranked(best)?.us, best, count))))
        .collect();
    best.sort_by(|a, b| {
        a.0.total_cmp(&b.0).then_with(|| (a.1.created, &a.1.id).cmp(&(b.1.created, &b.1.id)))
    });

    let mut rows: Vec<Row<'a>> = Vec::with_capacity(best.len());
    for (place, (us, best, attempts)) in best.into_iter().enumerate() {
        let above = rows.last();
        let time_above = above.and_then(|row| row.best.geomean);
        let rank = match (above, time_above) {
            (Some(above), Some(time)) if time.us == us => above.rank,
            _ => place + 1,
        };
        rows.push(Row {
            rank,
            best,
            attempts,
            behind: time_above.map(|time| us / time.us - 1.0),
            indistinct: time_above
                .zip(best.geomean)
                .is_some_and(|(above, own)| above.us != own.us && above.overlaps(&own)),
            trust: trust(best),
            same_source: first_with
                .get(best.source_hash.as_str())
                .filter(|first| {
                    (&first.author, first.solution()) != (&best.author, best.solution())
                })
                .map(|first| &first.id),
        });
    }
    Board { key, rows, attempts: attempts.len() }
}

/// How much slower a time may be and still confirm another: two machines of a kind differ by that.
const AGREES: f64 = 1.05;

/// Whether `other` bears out what `own` says.
fn confirms(other: &Summary, own: &Summary) -> bool {
    let times = ranked(other).zip(ranked(own));
    other.confirms.as_ref() == Some(&own.id)
        && other.author != own.author
        && (&other.source_hash, &other.values) == (&own.source_hash, &own.values)
        && times.is_some_and(|(other, own)| other.us <= AGREES * own.us)
}

/// The time that a board ranks by.
fn ranked(attempt: &Summary) -> Option<Time> {
    attempt.geomean.filter(|_| attempt.verdict == Verdict::Accepted)
}

/// What a new attempt means for its board.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Standing<'a> {
    /// Of its solution's row, which may show an earlier, faster attempt.
    pub rank: usize,
    /// Rows on the board.
    pub of: usize,
    /// It is its solution's fastest.
    pub own_best: bool,
    /// It is faster than everything before it, or the first that was accepted.
    pub new_first: bool,
    /// The fastest before it, by whomever.
    pub best_before: Option<&'a Summary>,
    /// Its solution's row, with the ones above and below it.
    pub near: Vec<Row<'a>>,
}

/// How `id` stands among `attempts` (oldest first, itself included). Absent where it is unknown or
/// was not accepted.
pub fn standing<'a>(
    attempts: &'a [Summary],
    id: &AttemptId,
    manifest: &Manifest,
) -> Option<Standing<'a>> {
    let at = attempts.iter().position(|attempt| attempt.id == *id)?;
    let own = &attempts[at];
    let time = ranked(own)?;
    let key = BoardKey::of(own);
    let mine: Vec<&Summary> = attempts.iter().filter(|attempt| key.holds(attempt)).collect();
    let best_before = attempts[..at]
        .iter()
        .filter(|attempt| key.holds(attempt))
        .filter_map(|attempt| Some((ranked(attempt)?.us, attempt)))
        .min_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, attempt)| attempt);
    let board = board(key, &mine, manifest);
    let at = board
        .rows
        .iter()
        .position(|row| (&row.best.author, row.best.solution()) == (&own.author, own.solution()))?;
    let row = &board.rows[at];
    let near = &board.rows[at.saturating_sub(1)..board.rows.len().min(at + 2)];
    Some(Standing {
        near: near.to_vec(),
        rank: row.rank,
        of: board.rows.len(),
        own_best: row.best.id == own.id,
        new_first: best_before.and_then(ranked).is_none_or(|before| time.us < before.us),
        best_before,
    })
}
