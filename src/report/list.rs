//! All attempts of a board, newest first, a hundred to a page.

use leaderboard::{
    attempt::Verdict,
    facts::{Difference, Fact},
    history::Entry,
};
use maud::{Markup, html};

use super::{
    facts,
    layout::{self, Page},
    site::{Contest, Site},
};
use crate::render::words;

const ON_A_PAGE: usize = 100;

pub fn pages(site: &Site<'_>, contest: &Contest<'_>) -> Vec<Page> {
    let newest_first: Vec<&Entry<'_>> = contest.history.entries.iter().rev().collect();
    let count = newest_first.len().div_ceil(ON_A_PAGE);
    newest_first
        .chunks(ON_A_PAGE)
        .zip(1..)
        .map(|(entries, number)| page(site, contest, entries, number, count))
        .collect()
}

fn page(
    site: &Site<'_>,
    contest: &Contest<'_>,
    entries: &[&Entry<'_>],
    number: usize,
    count: usize,
) -> Page {
    let turn = turn(contest, number, count);
    let content = html! {
        h1 { "All attempts" }
        p { a href={ "../" (contest.page()) } { (contest.title()) } }
        (turn)
        (table(site, entries, "../"))
        p.dim { "★ the fastest until then. The change is against the attempt's parent." }
        (turn)
    };
    let title = match count {
        1 => "All attempts".to_owned(),
        _ => format!("All attempts, page {number} of {count}"),
    };
    Page {
        path: contest.list(number),
        title,
        above: vec![("index.html".into(), "Boards".into()), (contest.page(), contest.title())],
        content,
    }
}

/// The way to the other pages.
fn turn(contest: &Contest<'_>, number: usize, count: usize) -> Markup {
    html! {
        @if count > 1 {
            nav aria-label="Pages" {
                p {
                    @if number > 1 {
                        a rel="prev" href={ "../" (contest.list(number - 1)) } { "Newer" } " "
                    }
                    "Page " (number) " of " (count) " "
                    @if number > 2 { a href={ "../" (contest.list(1)) } { "Newest" } " " }
                    @if number < count {
                        a rel="next" href={ "../" (contest.list(number + 1)) } { "Older" } " "
                    }
                    @if number + 1 < count { a href={ "../" (contest.list(count)) } { "Oldest" } }
                }
            }
        }
    }
}

/// Attempts in the order they are given.
pub fn table(site: &Site<'_>, entries: &[&Entry<'_>], up: &str) -> Markup {
    let head =
        layout::heading(&["attempt", "result", ">change", "what", "solution", "author", "when"]);
    let body = html! {
        @for entry in entries {
            @let attempt = entry.attempt;
            tr {
                td { (layout::attempt_link(site, &attempt.id, up)) }
                td { (result(entry)) }
                td.number { (change(site, entry, up)) }
                td.text { (what(site, entry, up)) }
                td { (layout::named(attempt.solution(), 40)) }
                td { (layout::named(&attempt.author, 24)) }
                td { (layout::moment(attempt.created)) }
            }
        }
    };
    layout::table("Attempts, newest first", head, body)
}

/// Its time, or what went wrong.
fn result(entry: &Entry<'_>) -> Markup {
    let attempt = entry.attempt;
    html! {
        @match attempt.geomean {
            Some(time) => span.nowrap { (words::micros(time.us)) @if entry.is_best { " ★" } },
            None => (layout::verdict(attempt.verdict)),
        }
    }
}

fn change(site: &Site<'_>, entry: &Entry<'_>, up: &str) -> Markup {
    let time = entry.changes.iter().find(|change| change.fact == Fact::Time);
    let page =
        entry.attempt.parent.as_ref().and_then(|parent| site.comparison(parent, &entry.attempt.id));
    let known = time.filter(|time| Difference::relative(time).is_some());
    html! {
        @match (page, known) {
            (Some(page), Some(time)) => a href={ (up) (page) } { (facts::change(time)) },
            (Some(page), None) => a href={ (up) (page) } { "compare" },
            (None, Some(time)) => (facts::change(time)),
            (None, None) => {},
        }
    }
}

/// The author's words, why it failed, and whose source it is.
fn what(site: &Site<'_>, entry: &Entry<'_>, up: &str) -> Markup {
    let attempt = entry.attempt;
    let failed = attempt.verdict != Verdict::Accepted && !attempt.reasons.is_empty();
    html! {
        @if let Some(message) = &attempt.message { (layout::named(message, 120)) " " }
        @if failed {
            small.dim { (layout::named(&attempt.reasons.join(", ").replace('_', " "), 120)) }
        }
        @if let Some(earlier) = entry.same_source {
            small.dim { "the same source as " (layout::attempt_link(site, earlier, up)) }
        }
    }
}
