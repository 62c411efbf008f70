//! The few numbers of an attempt that people come for.

use leaderboard::{Attempt, Summary, attempt::solution_name, board::Row};
use maud::{Markup, html};

use crate::{
    render::words,
    report::{
        facts::Other,
        layout,
        site::{Contest, Site},
    },
};

/// Nothing where no time was taken.
pub fn facts(
    site: &Site<'_>,
    attempt: &Attempt,
    contest: Option<&Contest<'_>>,
    others: &[Other<'_>],
) -> Markup {
    let Some(time) = attempt.outcome.geomean else { return html! {} };
    let summary = Summary::from(attempt);
    let row = contest.and_then(|contest| {
        let same = |row: &&Row<'_>| {
            row.best.author == attempt.author && row.best.solution() == solution_name(&attempt.file)
        };
        contest.board.rows.iter().find(same)
    });
    let half_width = (time.interval_us.1 - time.interval_us.0) / 2.0 / time.us * 100.0;
    let against = |other: &Attempt| {
        let theirs = other.outcome.geomean?;
        Some(words::change(theirs.us, time.us))
    };
    html! {
        dl.facts {
            div {
                dt { (if attempt.outcome.modelled { "modelled time" } else { "measured time" }) }
                dd {
                    (words::micros(time.us))
                    @if half_width > 0.0 { small { " ± " (format!("{half_width:.1}")) " %" } }
                }
            }
            @if let Some(percent) = summary.sol_percent {
                div { dt { "of the speed of light" } dd { (words::percent(percent)) } }
            }
            @for other in others {
                @if let Some(change) = against(other.attempt) {
                    div {
                        dt {
                            "time against the " (other.role) " "
                            (layout::attempt_link(site, &other.attempt.id, "../"))
                        }
                        dd { (change) }
                    }
                }
            }
            @if let Some(row) = row {
                div {
                    dt { "rank of this solution" }
                    dd {
                        (row.rank) small { " of " (contest.map_or(0, |one| one.board.rows.len())) }
                        @if row.best.id != attempt.id {
                            small { ", by " (layout::attempt_link(site, &row.best.id, "../")) }
                        }
                    }
                }
            }
        }
    }
}
