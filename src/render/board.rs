//! A board: the best attempt of each solution and author.

pub mod csv;
pub mod markdown;

use anstyle::Style;
use jiff::Timestamp;
use leaderboard::{
    ShortIds, Trust,
    attempt::DeviceKind,
    board::{Board, BoardKey, Row},
};

use super::{
    style,
    table::{Align, Table},
    words,
};

/// Cells of a solution's name, and what an interval takes of them.
const NAME: usize = 25;
const INTERVAL: usize = 8;
const AUTHOR: usize = 9;
/// What the column of trust takes of it, where there is one.
const TRUST: usize = 8;

pub fn screen(board: &Board<'_>, ids: &ShortIds, now: Timestamp) -> String {
    let heading = format!(
        "{}  {}",
        style::paint(style::BOLD, &board.key.problem),
        style::paint(style::DIM, place(&board.key))
    );
    let mut text = format!("{}\n", words::hanging(&heading, 2));
    if let Some(note) = other_revision(&board.key) {
        text.push_str(&format!("  {}\n", style::paint(style::WARNING, note)));
    }
    if board.rows.is_empty() {
        let count = words::count(board.attempts as u64, "attempt");
        text.push_str(&format!("  {count}, none accepted yet\n"));
        return text;
    }
    let trusted = trusted(&board.rows);
    let mut table = columns(&board.key, trusted);
    for row in &board.rows {
        table.row(cells(row, board.key.modelled, trusted, ids, now));
        if let Some(message) = &row.best.message {
            table.remark(2, message);
        }
    }
    text.push_str(&table.to_string());
    for note in notes(board, ids) {
        text.push_str(&format!("  {}\n", style::paint(style::DIM, note)));
    }
    text
}

/// Some rows of a board, without what their authors said of them.
pub fn excerpt(key: &BoardKey, rows: &[Row<'_>], ids: &ShortIds, now: Timestamp) -> String {
    let trusted = trusted(rows);
    let mut table = columns(key, trusted);
    for row in rows {
        table.row(cells(row, key.modelled, trusted, ids, now));
    }
    table.to_string()
}

/// Whether anybody stands behind a time but who submitted it; else there is nothing to say.
fn trusted(rows: &[Row<'_>]) -> bool {
    rows.iter().any(|row| row.trust != Trust::OwnWord)
}

fn columns(key: &BoardKey, trusted: bool) -> Table {
    Table::new([
        ("", Align::Right),
        ("id", Align::Left),
        ("solution", Align::Left),
        ("by", Align::Left),
        ("geomean", Align::Right),
        (if key.modelled { "" } else { "±" }, Align::Right),
        ("behind", Align::Right),
        ("% SOL", Align::Right),
        (if trusted { "trust" } else { "" }, Align::Left),
        ("age", Align::Right),
    ])
}

/// What to know of a board whose times are not of today's problem.
pub fn other_revision(key: &BoardKey) -> Option<String> {
    let BoardKey { problem, revision, .. } = key;
    let today = problems::find(problem).ok()?.manifest().revision;
    (today != *revision)
        .then(|| format!("of revision {revision}, today's is {today}: times are not comparable"))
}

/// "modelled for a B200, sm_100a", "measured on NVIDIA H200, sm_90a".
pub fn place(key: &BoardKey) -> String {
    let name = key.device.name.trim_end_matches(" (modelled)");
    let kind = match (key.modelled, key.device.kind) {
        (true, _) => format!("modelled for {name}"),
        (false, DeviceKind::Mock) => format!("scripted times, {name}"),
        (false, _) => format!("measured on {name}"),
    };
    format!("{kind}, {}", key.device.arch)
}

fn cells(
    row: &Row<'_>,
    modelled: bool,
    trusted: bool,
    ids: &ShortIds,
    now: Timestamp,
) -> Vec<(Style, String)> {
    let best = row.best;
    let first = if row.rank == 1 { style::GOOD } else { style::PLAIN };
    let behind = match (row.behind, row.indistinct) {
        (Some(behind), false) => words::change(1.0, 1.0 + behind),
        (Some(behind), true) => format!("~{}", words::change(1.0, 1.0 + behind)),
        (None, _) => String::new(),
    };
    let spread = best.geomean.filter(|_| !modelled).map(|time| {
        let (low, high) = time.interval_us;
        format!("{:.1} %", (high - low) / 2.0 / time.us * 100.0)
    });
    let trust = match row.trust {
        _ if !trusted => "",
        Trust::OwnWord => "own word",
        Trust::Confirmed => "confirmed",
        Trust::House => "house",
    };
    let name = if modelled { NAME } else { NAME - INTERVAL };
    let name = if trusted { name - TRUST } else { name };
    vec![
        (first, row.rank.to_string()),
        (style::ACCENT, ids.of(&best.id).to_owned()),
        (first, words::cut(best.solution(), name)),
        (style::PLAIN, words::cut(&best.author, AUTHOR)),
        (style::BOLD, best.geomean.map(|time| words::micros(time.us)).unwrap_or_default()),
        (style::DIM, spread.unwrap_or_default()),
        (style::PLAIN, behind),
        (style::PLAIN, best.sol_percent.map(words::percent).unwrap_or_default()),
        (if row.trust == Trust::OwnWord { style::DIM } else { style::GOOD }, trust.to_owned()),
        (style::DIM, words::age(best.created, now)),
    ]
}

/// What the table says in signs, said in words.
fn notes(board: &Board<'_>, ids: &ShortIds) -> Vec<String> {
    let mut notes = Vec::new();
    if board.rows.iter().any(|row| row.indistinct) {
        notes.push("~ the measurements overlap: that order may be chance".to_owned());
    }
    for row in &board.rows {
        if let Some(earlier) = row.same_source {
            let (own, earlier) = (ids.of(&row.best.id), ids.of(earlier));
            notes.push(format!("{own} has the same source as {earlier}"));
        }
    }
    notes
}
