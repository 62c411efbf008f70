//! The first page: each board in a sentence and a picture, what happened last, and what could not
//! be read.

use std::collections::HashMap;

use leaderboard::{AttemptId, history::Entry};
use maud::{Markup, html};

use super::{
    board,
    layout::{self, Page},
    list,
    site::Site,
};
use crate::render::words;

/// Rows of each board, attempts that were the last, and damaged ones that are named.
const ROWS: usize = 3;
const LAST: usize = 10;
const DAMAGED: usize = 200;
/// Boards with a picture; a leaderboard with more is a strange one.
const PICTURES: usize = 12;

pub fn page(site: &Site<'_>) -> Page {
    let content = html! {
        h1 { "Kernels, and how fast they are" }
        p {
            (words::count(site.summaries.len() as u64, "attempt")) " on "
            (words::count(site.contests.len() as u64, "board")) "."
        }
        @if !site.damaged.is_empty() {
            p.worse {
                a href="#damaged" { (words::count(site.damaged.len() as u64, "attempt")) }
                " could not be read."
            }
        }
        @if site.contests.is_empty() {
            p.answer { "No attempts yet: " code { "nibble submit FILE" } " makes the first." }
        }
        @for (place, contest) in site.contests.iter().enumerate() {
            h2 { a href=(contest.page()) { (contest.title()) } }
            p { (board::answer(site, contest, "")) }
            @if place < PICTURES {
                @if let Some(picture) = board::journey::picture(site, contest, "", 170.0, 0) {
                    figure { (picture) }
                }
            }
            @if !contest.board.rows.is_empty() { (board::rows(site, contest, ROWS, "")) }
            p { a href=(contest.page()) { "Progress, bars, roofline and comparisons" } }
        }
        (last(site))
        (damaged(site))
    };
    Page { path: "index.html".into(), title: "Boards".into(), above: Vec::new(), content }
}

fn last(site: &Site<'_>) -> Markup {
    let entries: HashMap<&AttemptId, &Entry<'_>> = site
        .contests
        .iter()
        .flat_map(|contest| &contest.history.entries)
        .map(|entry| (&entry.attempt.id, entry))
        .collect();
    let last: Vec<&Entry<'_>> = site
        .summaries
        .iter()
        .rev()
        .take(LAST)
        .filter_map(|summary| entries.get(&summary.id).copied())
        .collect();
    html! {
        @if !last.is_empty() {
            h2 { "The last attempts" }
            (list::table(site, &last, ""))
        }
    }
}

fn damaged(site: &Site<'_>) -> Markup {
    html! {
        @if !site.damaged.is_empty() {
            h2 id="damaged" { "What could not be read" }
            p {
                "These are skipped and left as they are; " code { "nibble leaderboard verify" }
                " looks at every file."
            }
            ul {
                @for one in site.damaged.iter().take(DAMAGED) {
                    li {
                        code { (layout::named(&one.name, 60)) } ": "
                        (layout::named(&one.defect, 200))
                    }
                }
                @if site.damaged.len() > DAMAGED {
                    li { "and " (site.damaged.len() - DAMAGED) " more" }
                }
            }
        }
    }
}
