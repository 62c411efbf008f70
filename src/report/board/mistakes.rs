//! What went wrong on a board.

use std::collections::BTreeMap;

use leaderboard::{attempt::Verdict, history::Entry};
use maud::{Markup, html};

use crate::report::{
    layout,
    site::{Contest, Site},
};

/// Kinds that are listed.
const MISTAKES: usize = 20;

/// Verdicts and reasons, the most frequent first, each with its latest example.
pub fn section(site: &Site<'_>, contest: &Contest<'_>) -> Markup {
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
