//! How a board's best came down: the line, and each of its steps.

use leaderboard::{
    Summary,
    facts::{Difference, Fact, changes},
    history::Entry,
};
use maud::{Markup, html};

use crate::{
    render::words,
    report::{
        comparison, facts, layout,
        picture::progress::Progress,
        site::{Contest, Site},
    },
};

/// Records that are listed; all are on the pages of all attempts.
const RECORDS: usize = 40;

pub fn section(site: &Site<'_>, contest: &Contest<'_>) -> Markup {
    let attempts = words::count(contest.history.entries.len() as u64, "attempt");
    html! {
        h2 { "How it got there" }
        @if let Some(picture) = picture(site, contest, "../", 300.0, super::LINKS) {
            figure {
                (picture)
                figcaption {
                    "Every attempt, oldest left; lower is faster. Green points are records, the "
                    "line is the best so far, and red strokes on top are attempts that failed. "
                    "Points lead to their attempt."
                }
            }
        }
        (records(site, contest))
        p { a href={ "../" (contest.list(1)) } { "All " (attempts) } }
    }
}

/// `links` and `height` are as in [`Progress`].
pub fn picture(
    site: &Site<'_>,
    contest: &Contest<'_>,
    up: &str,
    height: f64,
    links: usize,
) -> Option<Markup> {
    Progress {
        site,
        entries: &contest.history.entries,
        floor_us: contest.floor_us(site),
        here: None,
        links,
        height,
        up,
        name: &format!("progress-{}", contest.name),
    }
    .draw()
}

/// Each step of the best-so-far line: who took it, what it gained, and what it changed for that.
fn records(site: &Site<'_>, contest: &Contest<'_>) -> Markup {
    let records: Vec<&Entry<'_>> = contest.records().collect();
    let from = records.len().saturating_sub(RECORDS);
    let head =
        layout::heading(&["attempt", ">geomean", ">gained", "how", "compared", "author", "when"]);
    let body = html! {
        @for (index, entry) in records.iter().enumerate().skip(from) {
            @let attempt = entry.attempt;
            @let before = index.checked_sub(1).map(|before| records[before].attempt);
            tr {
                td { (layout::attempt_link(site, &attempt.id, "../")) }
                td.number { (attempt.geomean.map(|time| words::micros(time.us)).unwrap_or_default()) }
                td.number {
                    @let times = before.and_then(|before| before.geomean.zip(attempt.geomean));
                    @if let Some((before, now)) = times { (words::change(before.us, now.us)) }
                }
                td.text { (how(site, before, entry)) }
                td {
                    @if let Some(before) = before {
                        @let text = format!("with {}", site.ids.of(&before.id));
                        (comparison::link(site, &before.id, &attempt.id, &text).unwrap_or_default())
                    }
                }
                td { (layout::named(&attempt.author, 24)) }
                td { (layout::moment(attempt.created)) }
            }
        }
    };
    html! {
        @if !records.is_empty() {
            (layout::table("Records: attempts that were the fastest until then", head, body))
        }
        @if from > 0 { p.dim { "And " (words::count(from as u64, "earlier record")) "." } }
    }
}

/// The author's words, and the facts that moved since the record before it.
fn how(site: &Site<'_>, before: Option<&Summary>, entry: &Entry<'_>) -> Markup {
    let explains = [
        Fact::Registers,
        Fact::Spills,
        Fact::DramBytes,
        Fact::WarpInstructions,
        Fact::SectorsPerRequest,
        Fact::ActiveLanes,
        Fact::Occupancy,
    ];
    let changes = before.map(|before| changes(before, entry.attempt)).unwrap_or_default();
    let moved: Vec<&Difference> = changes
        .iter()
        .filter(|change| explains.contains(&change.fact))
        .filter(|change| change.relative().is_some_and(|by| by.abs() >= 0.01))
        .collect();
    html! {
        @if let Some(message) = &entry.attempt.message { (layout::named(message, 120)) }
        @if !moved.is_empty() {
            @if entry.attempt.message.is_some() { br; }
            small.dim {
                "against " (before.map_or("", |before| site.ids.of(&before.id))) ": "
                @for (index, change) in moved.iter().enumerate() {
                    @if index > 0 { ", " }
                    (change.fact.label()) " " (facts::change(change))
                }
            }
        }
    }
}
