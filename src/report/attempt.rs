//! One attempt, whole: what came of it and why, how fast it is and what explains that, what it
//! changed, and its source.

mod built;
mod headline;

use leaderboard::{
    Attempt, AttemptId,
    attempt::{Size, solution_name},
    facts::{Fact, caveats},
};
use maud::{Markup, html};

use super::{
    comparison, diff,
    facts::{self, Other},
    failure, highlight,
    layout::{self, Page},
    picture::{
        bars::{self, Series},
        progress::Progress,
    },
    site::{self, Contest, Site},
    text,
};
use crate::render::{facts::number, words};

/// Bytes of page for the source, and for what changed in it.
const SOURCE: usize = 130 << 10;
const DIFF: usize = 60 << 10;
/// Kernels and sizes that are listed; a record can claim any number.
const LISTED: usize = 30;

/// `source` is the attempt's, `before` its parent's; absent where they cannot be read.
pub fn page(
    site: &Site<'_>,
    attempt: &Attempt,
    source: Result<&str, &str>,
    before: Option<&str>,
) -> Page {
    let short = site.ids.of(&attempt.id);
    let place = site.place(&attempt.id);
    let contest = place.map(|(contest, _)| contest);
    let outcome = &attempt.outcome;
    let first = contest
        .and_then(|contest| site.attempts.get(&contest.board.rows.first()?.best.id))
        .filter(|first| first.id != attempt.id);
    // A parent that failed has nothing to be compared with.
    let earlier = site.accepted_before(attempt);
    let mut others = Vec::new();
    if let Some(before) = earlier {
        let is_parent = attempt.parent.as_ref() == Some(&before.id);
        let role = if is_parent { "parent" } else { "last accepted" };
        others.push(Other { role, attempt: before });
    }
    let other = first.filter(|first| earlier.is_none_or(|before| before.id != first.id));
    others.extend(other.map(|attempt| Other { role: "first", attempt }));
    let (code, left) = highlight::source(source.unwrap_or_default(), SOURCE);
    let lines = source.unwrap_or_default().lines().count() - left;
    let content = html! {
        h1 { (layout::named(solution_name(&attempt.file), 60)) " " code { (short) } }
        p {
            (layout::verdict(outcome.verdict)) ", by " (layout::named(&attempt.author, 60)) ", "
            (layout::moment(attempt.created))
        }
        @if let Some(message) = &attempt.message {
            p.message { bdi { (text::beginning(message, 6000).0) } }
        }
        (headline::facts(site, attempt, contest, &others))
        (failure::section(attempt, lines))
        (times(site, attempt, &others))
        (beside(site, attempt, &others))
        @if let Some(parent) = &attempt.parent {
            h2 { "What changed" }
            (changed(site, attempt, parent, before, source.ok()))
        }
        h2 id="source" { "Source" }
        @match source {
            Ok(_) => {
                p {
                    a href={ (attempt.id) ".cu" } { "The file itself" } ", submitted as "
                    code { (layout::named(&attempt.file, 200)) }
                }
                pre.source tabindex="0" role="region" aria-label="Source" { code { (code) } }
                @if left > 0 {
                    p.dim { (words::count(left as u64, "more line")) " are in the file." }
                }
            },
            Err(why) => p.worse { "solution.cu cannot be read: " (layout::named(why, 300)) },
        }
        (self::place(site, attempt, place))
        (built::section(attempt))
    };
    Page {
        path: site::attempt(&attempt.id),
        title: format!("Attempt {short}"),
        above: comparison::above(site, attempt),
        content,
    }
}

/// `others` are those that have times, and what they are to this one.
fn times(site: &Site<'_>, attempt: &Attempt, others: &[Other<'_>]) -> Markup {
    let timed = || others.iter().filter(|other| !other.attempt.outcome.sizes.is_empty());
    let series: Vec<Series<'_>> = [attempt]
        .into_iter()
        .chain(timed().map(|other| other.attempt))
        .map(|one| Series { name: site.ids.of(&one.id), sizes: &one.outcome.sizes })
        .collect();
    let Some(picture) = bars::draw("sizes", &series) else { return html! {} };
    let caption = html! {
        "What share of the speed of light each size reaches: this attempt"
        @for other in timed() { ", the " (other.role) " " code { (site.ids.of(&other.attempt.id)) } }
        "."
    };
    html! {
        h2 { "Against the speed of light" }
        (layout::figure(picture, caption, sizes(&attempt.outcome.sizes)))
    }
}

/// Every number of every size.
pub fn sizes(sizes: &[Size]) -> Markup {
    let head = layout::heading(&[
        "size",
        ">time",
        ">SOL",
        ">% SOL",
        ">DRAM traffic",
        ">warp instructions",
        ">sectors per request",
        ">active lanes",
        ">occupancy",
    ]);
    let of = |fact: Fact, value: Option<f64>| {
        html! { td.number { (value.map(|value| number(fact, value)).unwrap_or_default()) } }
    };
    let body = html! {
        @for size in sizes.iter().take(LISTED) {
            @let counters = size.counters;
            tr {
                th scope="row" { (layout::named(&size.name, 40)) }
                (of(Fact::Time, Some(size.median.us)))
                (of(Fact::Time, Some(size.sol_us)))
                (of(Fact::SpeedOfLight, Some(size.sol_percent)))
                (of(Fact::DramBytes, counters.map(|one| one.dram_bytes as f64)))
                (of(Fact::WarpInstructions, counters.map(|one| one.warp_instructions as f64)))
                (of(Fact::SectorsPerRequest, counters.and_then(|one| one.sectors_per_request)))
                (of(Fact::ActiveLanes, counters.and_then(|one| one.active_lanes)))
                (of(Fact::Occupancy, counters.and_then(|one| one.occupancy)))
            }
        }
    };
    layout::table("Each size", head, body)
}

fn beside(site: &Site<'_>, attempt: &Attempt, others: &[Other<'_>]) -> Markup {
    html! {
        @if !others.is_empty() {
            h2 { "Beside others" }
            (facts::table(site, attempt, others))
            @for other in others {
                @for caveat in caveats(other.attempt, attempt) {
                    p.worse {
                        strong { "Beware" } " when comparing with "
                        (layout::attempt_link(site, &other.attempt.id, "../")) ": " (caveat) "."
                    }
                }
            }
        }
    }
}

fn changed(
    site: &Site<'_>,
    attempt: &Attempt,
    parent: &AttemptId,
    before: Option<&str>,
    after: Option<&str>,
) -> Markup {
    let command = format!("nibble diff {}", site.ids.of(&attempt.id));
    html! {
        @match (before, after) {
            (Some(before), Some(after)) => {
                p {
                    "Against its parent " (layout::attempt_link(site, parent, "../"))
                    @if let Some(link) = comparison::link(site, parent, &attempt.id, "side by side") {
                        "; " (link)
                    }
                    "."
                }
                (diff::sources(before, after, DIFF, &command))
            },
            _ => p {
                "Its parent " code { (site.ids.of(parent)) }
                " cannot be read, or is not in this leaderboard."
            },
        }
    }
}

/// Where it stands among the others.
fn place(site: &Site<'_>, attempt: &Attempt, place: Option<(&Contest<'_>, usize)>) -> Markup {
    let Some((contest, at)) = place else { return html! {} };
    let entries = &contest.history.entries;
    // Its neighbourhood: the whole of a thousand attempts on each of a thousand pages would make
    // the report grow with their square.
    const AROUND: usize = 30;
    let around = &entries[at.saturating_sub(AROUND)..entries.len().min(at + AROUND + 1)];
    let picture = Progress {
        site,
        entries: around,
        floor_us: contest.floor_us(site),
        here: Some(&attempt.id),
        links: around.len(),
        height: 200.0,
        up: "../",
        name: "progress",
    };
    let children = site.children.get(&attempt.id).map(Vec::as_slice).unwrap_or_default();
    html! {
        h2 { "Its place in time" }
        @if let Some(picture) = picture.draw() {
            figure {
                (picture)
                figcaption { "This attempt is ringed, among those before and after it." }
            }
        }
        p {
            @if let Some(before) = at.checked_sub(1) {
                "Before it: " (layout::attempt_link(site, &entries[before].attempt.id, "../")) ". "
            }
            @if let Some(after) = entries.get(at + 1) {
                "After it: " (layout::attempt_link(site, &after.attempt.id, "../")) ". "
            }
            @if !children.is_empty() {
                "Continued by "
                @for (index, child) in children.iter().take(LISTED).enumerate() {
                    @if index > 0 { ", " }
                    (layout::attempt_link(site, child, "../"))
                }
                ". "
            }
            a href={ "../" (contest.page()) } { "The board" }
        }
    }
}
