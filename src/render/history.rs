//! Attempts in the order of time: how fast each was, and what it changed.

use anstyle::Style;
use jiff::Timestamp;
use leaderboard::{
    ShortIds,
    attempt::Verdict,
    facts::{Difference, Fact, Value},
    history::{Entry, History},
};

use super::{
    board, facts, style,
    table::{Align, Table},
    words,
};
use crate::record;

const SOLUTION: usize = 18;

pub fn screen(history: &History<'_>, limit: usize, ids: &ShortIds, now: Timestamp) -> String {
    let shown = &history.entries[history.entries.len().saturating_sub(limit)..];
    let speeds = history.sparkline();
    let line = sparkline(&speeds[speeds.len() - shown.len()..]);
    let heading = format!(
        "{}  {}",
        style::paint(style::BOLD, &history.key.problem),
        style::paint(style::DIM, board::place(&history.key))
    );
    let mut text = format!("{}\n", words::hanging(&heading, 2));
    let count = words::count(history.entries.len() as u64, "attempt");
    text.push_str(&format!("  {count}  {}  taller is faster\n", style::paint(style::ACCENT, line)));

    let mut table = Table::new([
        ("id", Align::Left),
        ("age", Align::Right),
        ("solution", Align::Left),
        ("", Align::Left),
        ("geomean", Align::Right),
        ("change", Align::Right),
        ("what", Align::Left),
    ]);
    for entry in shown {
        table.row(cells(entry, ids, now));
    }
    text.push_str(&table.to_string());
    if shown.iter().any(|entry| entry.is_best) {
        let note = "  ★ the fastest until then; change: against the attempt before it";
        text.push_str(&format!("{}\n", style::paint(style::DIM, note)));
    }
    text
}

fn cells(entry: &Entry<'_>, ids: &ShortIds, now: Timestamp) -> Vec<(Style, String)> {
    let attempt = entry.attempt;
    let verdict = record::reported(attempt.verdict);
    let (result, result_style) = match attempt.geomean {
        Some(time) => (words::micros(time.us), style::BOLD),
        None => (style::words(verdict).to_owned(), style::of(verdict)),
    };
    let mark = if entry.is_best { "★" } else { style::symbol(verdict) };
    let time = entry.changes.iter().find(|change| change.fact == Fact::Time);
    let change = time.and_then(Difference::relative);
    let change_style = match time.and_then(Difference::improved) {
        Some(true) => style::GOOD,
        Some(false) => style::WARNING,
        None => style::DIM,
    };
    vec![
        (style::ACCENT, ids.of(&attempt.id).to_owned()),
        (style::DIM, words::age(attempt.created, now)),
        (style::PLAIN, words::cut(attempt.solution(), SOLUTION)),
        (style::of(verdict), mark.to_owned()),
        (result_style, result),
        (change_style, change.map(|by| words::change(1.0, 1.0 + by)).unwrap_or_default()),
        (style::PLAIN, what(entry, ids)),
    ]
}

/// The author's own words, else what can be told without them.
fn what(entry: &Entry<'_>, ids: &ShortIds) -> String {
    if let Some(message) = &entry.attempt.message {
        return message.clone();
    }
    if entry.attempt.verdict != Verdict::Accepted && !entry.attempt.reasons.is_empty() {
        return entry.attempt.reasons.join(", ");
    }
    if let Some(earlier) = entry.same_source {
        return format!("same source as {}", ids.of(earlier));
    }
    let facts = entry
        .changes
        .iter()
        .filter(|change| !matches!(change.fact, Fact::Time | Fact::SpeedOfLight | Fact::Verdict));
    let facts: Vec<String> = facts.filter_map(changed).collect();
    facts.join(", ")
}

/// "registers 40 → 32"
fn changed(change: &Difference) -> Option<String> {
    match (&change.a, &change.b) {
        (Some(Value::Number(a)), Some(Value::Number(b))) => Some(format!(
            "{} {} → {}",
            change.fact.label(),
            facts::number(change.fact, *a),
            facts::number(change.fact, *b)
        )),
        (Some(Value::Text(a)), Some(Value::Text(b))) => {
            Some(format!("{} {a} → {b}", change.fact.label()))
        }
        _ => None,
    }
}

/// One character for each attempt, low is slow; a failed one leaves a dot.
fn sparkline(speeds: &[Option<f64>]) -> String {
    const LEVELS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let level = |speed: f64| LEVELS[(speed.clamp(0.0, 1.0) * 7.0).round() as usize];
    speeds.iter().map(|speed| speed.map_or('·', level)).collect()
}
