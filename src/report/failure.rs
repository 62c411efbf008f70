//! Why an attempt failed: the explanation and the fault, as they were recorded, and which cases.

use leaderboard::{
    Attempt,
    attempt::{Case, Verdict, solution_name},
};
use maud::{Markup, html};

use super::{layout, text};
use crate::render::words;

/// Bytes of page for the fault and for each explanation; cases that are listed, and that explain.
const FAULT: usize = 20 << 10;
const EXPLANATION: usize = 10 << 10;
const CASES: usize = 60;
const EXPLAINED: usize = 3;

/// Nothing for an accepted attempt. `lines` of its source have addresses on the page.
pub fn section(attempt: &Attempt, lines: usize) -> Markup {
    let outcome = &attempt.outcome;
    if outcome.verdict == Verdict::Accepted {
        return html! {};
    }
    let failed: Vec<&Case> =
        outcome.cases.iter().filter(|case| case.verdict != Verdict::Accepted).collect();
    let explained: Vec<(&Case, &str)> = failed
        .iter()
        .filter_map(|case| Some((*case, case.explanation.as_deref()?)))
        .take(EXPLAINED)
        .collect();
    html! {
        h2 { "Why it failed" }
        @for (case, explanation) in explained {
            p { "At " (layout::named(&case.name, 60)) ":" }
            pre.wrapped { (text::beginning(explanation, EXPLANATION).0) }
        }
        @if let Some(fault) = &outcome.fault { (self::fault(fault, &attempt.file, lines)) }
        @if !failed.is_empty() {
            p {
                (failed.len()) " of " (words::count(outcome.cases.len() as u64, "case")) " failed"
                @if failed.len() > CASES { ", the first " (CASES) " of them" }
                "."
            }
            (cases(&failed))
        }
    }
}

fn fault(fault: &str, file: &str, lines: usize) -> Markup {
    let (shown, left) = text::beginning(fault.trim_end(), FAULT);
    html! {
        pre tabindex="0" role="region" aria-label="Fault" {
            @for part in places(shown, solution_name(file), lines) {
                @match part {
                    Part::Text(text) => (text),
                    Part::Place { text, line } => a href={ "#L" (line) } { (text) },
                }
            }
        }
        @if left > 0 { p.dim { (words::count(left as u64, "more line")) " were recorded." } }
    }
}

#[derive(Debug, PartialEq)]
enum Part<'a> {
    Text(&'a str),
    /// "k.cu:3"
    Place {
        text: &'a str,
        line: usize,
    },
}

/// The text in parts, so that each `k.cu:3` can lead to line 3.
fn places<'a>(text: &'a str, name: &str, lines: usize) -> Vec<Part<'a>> {
    let mut parts = Vec::new();
    let mut rest = text;
    let mut searched = 0;
    while let Some(found) = rest[searched..].find(name).filter(|_| !name.is_empty()) {
        let start = searched + found;
        let end = start + name.len();
        let digits: &str = rest[end..].strip_prefix(':').map_or("", |after| {
            &after[..after.find(|c: char| !c.is_ascii_digit()).unwrap_or(after.len())]
        });
        let Some(line) = digits.parse().ok().filter(|line| (1..=lines).contains(line)) else {
            searched = end;
            continue;
        };
        let stop = end + 1 + digits.len();
        parts.push(Part::Text(&rest[..start]));
        parts.push(Part::Place { text: &rest[start..stop], line });
        rest = &rest[stop..];
        searched = 0;
    }
    parts.push(Part::Text(rest));
    parts
}

fn cases(failed: &[&Case]) -> Markup {
    let head = layout::heading(&["case", "verdict", ">mismatches", "reasons"]);
    let body = html! {
        @for case in failed.iter().take(CASES) {
            tr {
                th scope="row" { (layout::named(&case.name, 60)) }
                td { (layout::verdict(case.verdict)) }
                td.number { (words::grouped(case.mismatches)) }
                td.text { (layout::named(&case.reasons.join(", "), 160)) }
            }
        }
    };
    layout::table("Cases that failed", head, body)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_leads_to_its_line_if_the_page_has_it() {
        let text = "a/k.cu:3:6: error: x\nk.cu: y\nk.cu:99: z";
        assert_eq!(
            places(text, "k.cu", 10),
            [
                Part::Text("a/"),
                Part::Place { text: "k.cu:3", line: 3 },
                Part::Text(":6: error: x\nk.cu: y\nk.cu:99: z"),
            ]
        );
        assert_eq!(places("x", "", 10), [Part::Text("x")]);
    }
}
