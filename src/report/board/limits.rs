//! How far from the speed of light a board's first are, and what keeps them from it.

use leaderboard::Attempt;
use maud::{Markup, html};

use crate::{
    render::words,
    report::{
        layout,
        picture::{
            bars::{self, Series},
            roofline::Roofline,
        },
        site::{Contest, Site},
    },
};

/// Attempts whose bars are drawn.
const BARS: usize = 3;
/// Records whose place on the roofline is listed.
const RECORDS: usize = 40;

/// Bars: the first few at each size.
pub fn bars(site: &Site<'_>, contest: &Contest<'_>) -> Markup {
    let first: Vec<&Attempt> = contest
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
    let head = layout::heading(&["size", ">SOL", "attempt", ">time", ">% SOL"]);
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
        h2 { "How far from the speed of light" }
        (layout::figure(
            picture,
            html! {
                "What share of the speed of light the first " (first.len()) " reach at each size. "
                "The speed of light is the least time that a size can take on this device, "
                "whatever the kernel."
            },
            layout::table("Each size against the speed of light", head, numbers),
        ))
    }
}

/// The roofline with every attempt on it.
pub fn roofline(site: &Site<'_>, contest: &Contest<'_>) -> Markup {
    let Some(roofline) = Roofline::new(site, &contest.board.key, &contest.history.entries) else {
        return html! {};
    };
    let Some(picture) = roofline.draw(site, super::LINKS, "../") else { return html! {} };
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
                td.number {
                    @if let Some(over) = roofline.traffic(point) { (format!("{over:.2} ×")) }
                }
            }
        }
    };
    html! {
        h2 { "What limits it" }
        (layout::figure(
            picture,
            html! {
                (roofline.verdict(site)) " A point below the slope waits for something other than "
                "memory; a point left of the dashed line moves bytes that it need not."
            },
            layout::table("Records on the roofline, newest first", head, numbers),
        ))
    }
}
