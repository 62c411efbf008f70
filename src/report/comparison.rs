//! Two attempts beside each other: times against the speed of light, the facts that explain them,
//! and what changed in the source.

use leaderboard::{Attempt, AttemptId, attempt::Verdict, facts::caveats};
use maud::{Markup, html};

use super::{
    diff,
    facts::{self, Other},
    layout::{self, Page},
    picture::bars::{self, Series},
    site::{self, Site},
};
use crate::render::words;

/// Bytes of page for the diff.
const DIFF: usize = 160 << 10;

/// What `new` changed of `old`. `sources` are theirs, in this order; absent where one is lost.
pub fn page(site: &Site<'_>, old: &Attempt, new: &Attempt, sources: [Option<&str>; 2]) -> Page {
    let [a, b] = [old, new].map(|attempt| site.ids.of(&attempt.id));
    let command = format!("nibble diff {a} {b}");
    let series = [new, old]
        .map(|attempt| Series { name: site.ids.of(&attempt.id), sizes: &attempt.outcome.sizes });
    let others = [Other { role: "from", attempt: old }];
    let content = html! {
        h1 { "From " code { (a) } " to " code { (b) } }
        p.answer { (answer(a, b, old, new)) }
        @for caveat in caveats(old, new) {
            p.worse { strong { "Beware: " } (caveat) "." }
        }
        div.two {
            (side(site, "From", old))
            (side(site, "To", new))
        }
        @if let Some(picture) = bars::draw("sizes", &series) {
            h2 { "Against the speed of light" }
            figure {
                (picture)
                figcaption {
                    "The speed of light is the least time that a size can take on this device."
                }
            }
        }
        h2 { "Facts" }
        (facts::table(site, new, &others))
        h2 { "Source" }
        @match sources {
            [Some(before), Some(after)] => (diff::sources(before, after, DIFF, &command)),
            _ => p { "The source of one of them cannot be read, so there is nothing to compare." },
        }
        p.dim { "In a terminal: " code { (command) } }
    };
    Page {
        path: site::comparison(&old.id, &new.id),
        title: format!("{a} to {b}"),
        above: above(site, new),
        content,
    }
}

/// Where a page about an attempt hangs: the boards, and its own.
pub fn above(site: &Site<'_>, attempt: &Attempt) -> Vec<(String, String)> {
    let mut above = vec![("index.html".to_owned(), "Boards".to_owned())];
    if let Some((contest, _)) = site.place(&attempt.id) {
        above.push((contest.page(), contest.title()));
    }
    above
}

fn answer(a: &str, b: &str, old: &Attempt, new: &Attempt) -> Markup {
    let time = |attempt: &Attempt| {
        attempt.outcome.geomean.filter(|_| attempt.outcome.verdict == Verdict::Accepted)
    };
    let parent = if new.parent.as_ref() == Some(&old.id) { ", its parent" } else { "" };
    html! {
        code { (b) }
        @match (time(old), time(new)) {
            (Some(before), Some(after)) => {
                @if before.us != after.us && before.overlaps(&after) {
                    " cannot be told from " code { (a) } (parent) ": their intervals overlap at "
                    (words::micros(after.us)) " and " (words::micros(before.us)) "."
                } @else if before.us == after.us {
                    " takes as long as " code { (a) } (parent) ": " (words::micros(after.us)) "."
                } @else {
                    @let class = if after.us < before.us { "better" } else { "worse" };
                    " takes " strong class=(class) { (difference(before.us, after.us)) }
                    " " code { (a) } (parent) ": " (words::micros(after.us)) " instead of "
                    (words::micros(before.us)) ", geometric mean over the sizes."
                }
            },
            (None, Some(after)) => {
                " was accepted with " (words::micros(after.us)) "; "
                code { (a) } (parent) ", failed."
            },
            (Some(_), None) => { " failed; " code { (a) } (parent) ", was accepted." },
            (None, None) => { " and " code { (a) } (parent) ", both failed." },
        }
    }
}

/// "11.0 % less time than", "2.3 times as long as": of what the tables beside it say.
fn difference(before: f64, after: f64) -> String {
    match after / before {
        ratio if ratio >= 9.95 => format!("{ratio:.0} times as long as"),
        ratio if ratio >= 1.995 => format!("{ratio:.1} times as long as"),
        ratio if ratio >= 1.0 => format!("{:.1} % more time than", (ratio - 1.0) * 100.0),
        ratio => format!("{:.1} % less time than", (1.0 - ratio) * 100.0),
    }
}

fn side(site: &Site<'_>, role: &str, attempt: &Attempt) -> Markup {
    html! {
        section {
            h3 { (role) " " (layout::attempt_link(site, &attempt.id, "../")) }
            p {
                (layout::verdict(attempt.outcome.verdict)) ", "
                (layout::named(&attempt.file, 80)) " by " (layout::named(&attempt.author, 40)) ", "
                (layout::moment(attempt.created))
            }
            @if let Some(message) = &attempt.message {
                p.message { (layout::named(message, 400)) }
            }
        }
    }
}

/// A link to the page of these two, if there is one.
pub fn link(site: &Site<'_>, a: &AttemptId, b: &AttemptId, text: &str) -> Option<Markup> {
    let page = site.comparison(a, b)?;
    Some(html! { a href={ "../" (page) } { (text) } })
}
