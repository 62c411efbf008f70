//! A board's page: who is first, how it got there, how far from the light that is, and what went
//! wrong on the way.

use std::collections::BTreeMap;

use leaderboard::{
    attempt::{Time, Verdict},
    board::Row,
    facts::Fact,
    history::Entry,
};
use maud::{Markup, html};

use super::{
    comparison, facts,
    layout::{self, Page},
    picture::{
        bars::{self, Series},
        progress::Progress,
        roofline::Roofline,
    },
    site::{COMPARED, Contest, Site},
    text,
};
use crate::render::words;

/// Rows and records that are shown; the rest is on the pages of all attempts.
const ROWS: usize = 50;
const RECORDS: usize = 40;
/// Points of each kind that are links, in each picture of the page.
const LINKS: usize = 150;
/// Attempts whose bars are drawn.
const BARS: usize = 3;
const MISTAKES: usize = 20;

pub fn page(site: &Site<'_>, contest: &Contest<'_>) -> Page {
    let key = &contest.board.key;
    let current = problems::find(&key.problem).ok();
    let old = current.is_some_and(|problem| problem.manifest().revision != key.revision);
    let progress = progress(site, contest, "../", 300.0, LINKS);
    let content = html! {
        h1 { (current.map_or(key.problem.as_str(), |problem| &problem.manifest().title)) }
        p { code { (key.problem) } ", " (text::label(&crate::render::board::place(key), 100)) }
        @if old {
            p.worse { "Revision " (key.revision) " of the problem, not today's: its times are not compared with today's." }
        }
        p.answer { (answer(site, contest, "../")) }
        @if !contest.board.rows.is_empty() {
            h2 { "Who is first" }
            (rows(site, contest, contest.board.rows.len().min(ROWS), "../"))
            @if contest.board.rows.len() > ROWS {
                p.dim { (words::count((contest.board.rows.len() - ROWS) as u64, "more solution")) " are slower: " code { "nibble leaderboard " (key.problem) } }
            }
            @if contest.board.rows.iter().any(|row| row.indistinct) {
                p.dim { "~ the measurements overlap: that order may be chance." }
            }
        }
        h2 { "How it got there" }
        @if let Some(picture) = progress {
            figure {
                (picture)
                figcaption {
                    "Every attempt, oldest left; lower is faster. Green points are records, the line is the "
                    "best so far, and red strokes on top are attempts that failed. Points lead to their attempt."
                }
            }
        }
        (records(site, contest))
        p { a href={ "../" (contest.list(1)) } { "All " (words::count(contest.history.entries.len() as u64, "attempt")) } }
        (light(site, contest))
        (roofline(site, contest))
        (compare(site, contest))
        (mistakes(site, contest))
    };
    Page {
        path: contest.page(),
        title: contest.title(),
        above: vec![("index.html".into(), "Boards".into())],
        content,
    }
}

pub fn progress(
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
            (layout::attempt_link(site, &best.id, up)) ", " strong { (layout::named(best.solution(), 60)) }
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
        .chain([">of light", ">behind", "solution", "author", "message", ">attempts"])
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
                        " " small.dim { "the same source as " (layout::attempt_link(site, earlier, up)) }
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
                    @if let Some((before, now)) = before.and_then(|before| before.geomean.zip(attempt.geomean)) {
                        (words::change(before.us, now.us))
                    }
                }
                td.text { (how(entry)) }
                td {
                    @if let Some(before) = before {
                        @if let Some(link) = comparison::link(site, &before.id, &attempt.id, &format!("with {}", site.ids.of(&before.id))) { (link) }
                    }
                }
                td { (layout::named(&attempt.author, 24)) }
                td { (layout::moment(attempt.created)) }
            }
        }
    };
    html! {
        @if !records.is_empty() { (layout::table("Records: attempts that were the fastest until then", head, body)) }
        @if from > 0 { p.dim { "And " (words::count(from as u64, "earlier record")) "." } }
    }
}

/// The author's words, and the facts that moved.
fn how(entry: &Entry<'_>) -> Markup {
    let explains = [
        Fact::Registers,
        Fact::Spills,
        Fact::DramBytes,
        Fact::WarpInstructions,
        Fact::SectorsPerRequest,
        Fact::ActiveLanes,
        Fact::Occupancy,
    ];
    let moved: Vec<_> = entry
        .changes
        .iter()
        .filter(|change| {
            explains.contains(&change.fact) && change.relative().is_some_and(|by| by.abs() >= 0.01)
        })
        .collect();
    html! {
        @if let Some(message) = &entry.attempt.message { (layout::named(message, 120)) }
        @if !moved.is_empty() {
            @if entry.attempt.message.is_some() { br; }
            small.dim {
                "against its parent: "
                @for (index, change) in moved.iter().enumerate() {
                    @if index > 0 { ", " }
                    (change.fact.label()) " " (facts::change(change))
                }
            }
        }
    }
}

fn light(site: &Site<'_>, contest: &Contest<'_>) -> Markup {
    let first: Vec<_> = contest
        .board
        .rows
        .iter()
        .take(BARS)
        .filter_map(|row| site.attempts.get(&row.best.id))
        .collect();
    let series: Vec<Series<'_>> = first
        .iter()
        .map(|attempt| Series { name: site.ids.of(&attempt.id), sizes: &attempt.outcome.sizes })
        .collect();
    let Some(picture) = bars::draw("sizes", &series) else { return html! {} };
    let head = layout::heading(&["size", ">light", "attempt", ">time", ">reached"]);
    let numbers = html! {
        @for size in &first[0].outcome.sizes {
            @for attempt in &first {
                @if let Some(own) = attempt.outcome.sizes.iter().find(|own| own.name == size.name) {
                    tr {
                        th scope="row" { (layout::named(&size.name, 40)) }
                        td.number { (words::micros(own.sol_us)) }
                        td { (layout::attempt_link(site, &attempt.id, "../")) }
                        td.number { (words::micros(own.median.us)) }
                        td.number { (words::percent(own.sol_percent)) }
                    }
                }
            }
        }
    };
    html! {
        h2 { "How far from light" }
        (layout::figure(
            picture,
            html! {
                "What share of the speed of light the first " (first.len()) " reach at each size. The speed of "
                "light is the least time that a size can take on this device, whatever the kernel."
            },
            layout::table("Each size against the speed of light", head, numbers),
        ))
    }
}

fn roofline(site: &Site<'_>, contest: &Contest<'_>) -> Markup {
    let Some(roofline) = Roofline::new(site, &contest.board.key, &contest.history.entries) else {
        return html! {};
    };
    let Some(picture) = roofline.draw(site, LINKS, "../") else { return html! {} };
    let head = layout::heading(&[
        "attempt",
        ">FLOP per byte",
        ">GFLOP/s",
        ">of the roof above it",
        ">bytes moved over the least",
    ]);
    let records: Vec<_> = roofline.points.iter().filter(|point| point.is_best).collect();
    let numbers = html! {
        @for point in records.iter().rev().take(RECORDS) {
            tr {
                th scope="row" { (layout::attempt_link(site, &point.attempt.id, "../")) }
                td.number { (words::magnitude(point.intensity)) }
                td.number { (words::grouped((point.rate / 1e9).round() as u64)) }
                td.number { (words::percent(100.0 * roofline.reached(point))) }
                td.number { (roofline.traffic(point).map(|over| format!("{over:.2} ×")).unwrap_or_default()) }
            }
        }
    };
    html! {
        h2 { "What limits it" }
        (layout::figure(
            picture,
            html! {
                (roofline.verdict(site)) " A point below the slope waits for something other than memory; a point left "
                "of the dashed line moves bytes that it need not."
            },
            layout::table("Records on the roofline, newest first", head, numbers),
        ))
    }
}

/// Every pair of the first few has a page.
fn compare(site: &Site<'_>, contest: &Contest<'_>) -> Markup {
    let first: Vec<_> = contest.board.rows.iter().take(COMPARED).collect();
    if first.len() < 2 {
        return html! {};
    }
    let head = html! {
        tr {
            td {}
            @for column in &first[..first.len() - 1] { th scope="col" { (site.ids.of(&column.best.id)) } }
        }
    };
    let body = html! {
        @for (place, row) in first.iter().enumerate().skip(1) {
            tr {
                th scope="row" { (site.ids.of(&row.best.id)) " " (layout::named(row.best.solution(), 30)) }
                @for column in &first[..first.len() - 1] {
                    td {
                        @if first[..place].iter().any(|before| before.best.id == column.best.id) {
                            @let name = format!("{} and {}", site.ids.of(&row.best.id), site.ids.of(&column.best.id));
                            @if let Some(link) = comparison::link(site, &row.best.id, &column.best.id, &name) { (link) }
                        }
                    }
                }
            }
        }
    };
    html! {
        h2 { "Side by side" }
        (layout::table("The first of the board, each two compared", head, body))
        p.dim {
            "Attempts are compared with their parents on pages of their own, linked from "
            a href={ "../" (contest.list(1)) } { "all attempts" } "; any two with "
            code { "nibble diff A B" } "."
        }
    }
}

/// What went wrong on this board, the most frequent first, each with its latest example.
fn mistakes(site: &Site<'_>, contest: &Contest<'_>) -> Markup {
    let mut seen: BTreeMap<(Verdict, &str), (usize, &Entry<'_>)> = BTreeMap::new();
    for entry in &contest.history.entries {
        let attempt = entry.attempt;
        if attempt.verdict == Verdict::Accepted {
            continue;
        }
        let reasons = attempt.reasons.iter().map(String::as_str);
        let unnamed = attempt.reasons.is_empty().then_some("");
        for reason in reasons.chain(unnamed) {
            let (count, latest) = seen.entry((attempt.verdict, reason)).or_insert((0, entry));
            *count += 1;
            *latest = entry;
        }
    }
    if seen.is_empty() {
        return html! {};
    }
    let mut seen: Vec<_> = seen.into_iter().collect();
    seen.sort_by_key(|(_, (count, _))| std::cmp::Reverse(*count));
    let body = html! {
        @for ((verdict, reason), (count, latest)) in seen.iter().take(MISTAKES) {
            tr {
                td { (layout::verdict(*verdict)) }
                td.text { (layout::named(&reason.replace('_', " "), 80)) }
                td.number { (count) }
                td { (layout::attempt_link(site, &latest.attempt.id, "../")) }
                td { (layout::moment(latest.attempt.created)) }
            }
        }
    };
    let head = layout::heading(&["verdict", "reason", ">attempts", "latest", "when"]);
    html! {
        h2 { "What went wrong" }
        (layout::table("Why attempts failed", head, body))
    }
}
