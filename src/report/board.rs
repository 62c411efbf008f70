//! A board's page: who is first, how it got there, how far from the speed of light that is, and what went
//! wrong on the way.

pub mod journey;
mod limits;
mod mistakes;
mod pairs;

use leaderboard::{
    attempt::{Time, Verdict},
    board::Row,
};
use maud::{Markup, html};

use super::{
    layout::{self, Page},
    site::{Contest, Site},
    text,
};
use crate::render::{board::place, words};

/// Rows that are shown: two hundred bytes each, a thousand where all of it must be escaped.
const ROWS: usize = 50;
/// Points of each kind that are links, in each picture of the page.
const LINKS: usize = 150;

pub fn page(site: &Site<'_>, contest: &Contest<'_>) -> Page {
    let key = &contest.board.key;
    let current = problems::find(&key.problem).ok();
    let old = current.is_some_and(|problem| problem.manifest().revision != key.revision);
    let content = html! {
        h1 { (current.map_or(key.problem.as_str(), |problem| &problem.manifest().title)) }
        p { code { (key.problem) } ", " (text::label(&place(key), 100)) }
        @if old {
            p.worse {
                "Revision " (key.revision) " of the problem, not today's: its times are not "
                "compared with today's."
            }
        }
        p.answer { (answer(site, contest, "../")) }
        @if !contest.board.rows.is_empty() {
            h2 { "Who is first" }
            (rows(site, contest, contest.board.rows.len().min(ROWS), "../"))
            @if contest.board.rows.len() > ROWS {
                p.dim {
                    (words::count((contest.board.rows.len() - ROWS) as u64, "more solution"))
                    " are slower: " code { "nibble leaderboard " (key.problem) }
                }
            }
            @if contest.board.rows.iter().any(|row| row.indistinct) {
                p.dim { "~ the measurements overlap: that order may be chance." }
            }
        }
        (journey::section(site, contest))
        (limits::bars(site, contest))
        (limits::roofline(site, contest))
        (pairs::section(site, contest))
        (mistakes::section(site, contest))
    };
    Page {
        path: contest.page(),
        title: contest.title(),
        above: vec![("index.html".into(), "Boards".into())],
        content,
    }
}

/// The board in two sentences.
pub fn answer(site: &Site<'_>, contest: &Contest<'_>, up: &str) -> Markup {
    let attempts = contest.history.entries.len();
    let failed = contest
        .history
        .entries
        .iter()
        .filter(|entry| entry.attempt.verdict != Verdict::Accepted)
        .count();
    html! {
        @if let Some(row) = contest.board.rows.first() {
            @let best = row.best;
            (layout::attempt_link(site, &best.id, up)) ", "
            strong { (layout::named(best.solution(), 60)) }
            " by " (layout::named(&best.author, 40)) ", is first with "
            strong { (best.geomean.map(|time| words::micros(time.us)).unwrap_or_default()) }
            @if let Some(percent) = best.sol_percent {
                ", " strong { (words::percent(percent)) } " of the speed of light"
            }
            @if let Some(second) = contest.board.rows.get(1) {
                @if second.indistinct { "; the second cannot be told from it" }
                @else if let Some(behind) = second.behind {
                    "; the second takes " (longer(behind))
                }
            }
            ". "
        } @else {
            "Nothing was accepted yet. "
        }
        (words::count(attempts as u64, "attempt"))
        @if failed > 0 { ", " (failed) " of them failed" }
        @if let Some(last) = contest.history.entries.last() {
            "; the last on " (layout::moment(last.attempt.created))
        }
        "."
    }
}

fn longer(behind: f64) -> String {
    match behind {
        0.0 => "as long".to_owned(),
        behind if behind < 1.0 => format!("{:.1} % longer", behind * 100.0),
        behind => format!("{:.1} times as long", 1.0 + behind),
    }
}

/// The first rows of the board.
pub fn rows(site: &Site<'_>, contest: &Contest<'_>, shown: usize, up: &str) -> Markup {
    let modelled = contest.board.key.modelled;
    let spread = (!modelled).then_some(">±");
    // What decides stands left, where a phone shows it without scrolling.
    let names: Vec<&str> = ["rank", "attempt", ">geomean"]
        .into_iter()
        .chain(spread)
        .chain([">% SOL", ">behind", "solution", "author", "message", ">attempts"])
        .collect();
    let body = html! {
        @for row in contest.board.rows.iter().take(shown) {
            @let best = row.best;
            tr class=[(row.rank == 1).then_some("first")] {
                td.number { (row.rank) }
                td { (layout::attempt_link(site, &best.id, up)) }
                td.number { (best.geomean.map(|time| words::micros(time.us)).unwrap_or_default()) }
                @if !modelled { td.number { (best.geomean.map(half_width).unwrap_or_default()) } }
                td.number { (best.sol_percent.map(words::percent).unwrap_or_default()) }
                td.number { (behind(row)) }
                td { (layout::named(best.solution(), 40)) }
                td { (layout::named(&best.author, 24)) }
                td.text {
                    @if let Some(message) = &best.message { (layout::named(message, 120)) }
                    @if let Some(earlier) = row.same_source {
                        " "
                        small.dim {
                            "the same source as " (layout::attempt_link(site, earlier, up))
                        }
                    }
                }
                td.number { (row.attempts) }
            }
        }
    };
    layout::table("The best attempt of each solution and author", layout::heading(&names), body)
}

/// "0.3 %"
fn half_width(time: Time) -> String {
    let (low, high) = time.interval_us;
    format!("{:.1} %", (high - low) / 2.0 / time.us * 100.0)
}

fn behind(row: &Row<'_>) -> String {
    let sign = if row.indistinct { "~" } else { "" };
    row.behind
        .map(|behind| format!("{sign}{}", words::change(1.0, 1.0 + behind)))
        .unwrap_or_default()
}
