//! One attempt, whole: what came of it and why, how fast it is and what explains that, what it
//! changed, and its source.

use leaderboard::{
    Attempt, AttemptId,
    attempt::{Kernel, Size, solution_name},
    facts::caveats,
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
use leaderboard::facts::Fact;

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
    let parent = attempt.parent.as_ref().and_then(|id| site.attempts.get(id));
    let first = contest
        .and_then(|contest| site.attempts.get(&contest.board.rows.first()?.best.id))
        .filter(|first| first.id != attempt.id);
    let mut others = Vec::new();
    others.extend(parent.map(|attempt| Other { role: "parent", attempt }));
    let not_parent = first.filter(|first| parent.is_none_or(|parent| parent.id != first.id));
    others.extend(not_parent.map(|attempt| Other { role: "first", attempt }));
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
        (headline(site, attempt, contest, parent, first))
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
        h2 { "Built by" }
        (built(attempt))
    };
    Page {
        path: site::attempt(&attempt.id),
        title: format!("Attempt {short}"),
        above: comparison::above(site, attempt),
        content,
    }
}

/// The few numbers that people come for.
fn headline(
    site: &Site<'_>,
    attempt: &Attempt,
    contest: Option<&Contest<'_>>,
    parent: Option<&Attempt>,
    first: Option<&Attempt>,
) -> Markup {
    let Some(time) = attempt.outcome.geomean else { return html! {} };
    let summary = leaderboard::Summary::from(attempt);
    let row = contest.and_then(|contest| {
        let same = |row: &&leaderboard::board::Row<'_>| {
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
            @if let Some((parent, change)) = parent.and_then(|one| Some((one, against(one)?))) {
                div {
                    dt { "time against its parent " (layout::attempt_link(site, &parent.id, "../")) }
                    dd { (change) }
                }
            }
            @if let Some((first, change)) = first.and_then(|one| Some((one, against(one)?))) {
                div {
                    dt { "time against the first " (layout::attempt_link(site, &first.id, "../")) }
                    dd { (change) }
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
        ">light",
        ">reached",
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

fn built(attempt: &Attempt) -> Markup {
    let outcome = &attempt.outcome;
    html! {
        @if !outcome.kernels.is_empty() { (kernels(&outcome.kernels)) }
        p {
            "nibble " (layout::named(&outcome.toolchain.nibble, 40))
            @if let Some(nvcc) = &outcome.toolchain.nvcc { ", nvcc " (layout::named(nvcc, 40)) }
            @if !outcome.toolchain.flags.is_empty() {
                ", " code { (layout::named(&outcome.toolchain.flags.join(" "), 400)) }
            }
            ", for " (layout::named(&outcome.device.name, 60)) ", "
            (layout::named(&outcome.device.arch, 20)) ". Source BLAKE3 "
            code { (layout::named(&attempt.source_hash, 16)) } "."
        }
        p.dim {
            "In a terminal: " code { "nibble attempt " (attempt.id.tail()) }
            "; with " code { "--source" } " it prints the source."
        }
    }
}

fn kernels(kernels: &[Kernel]) -> Markup {
    let head = layout::heading(&["kernel", ">registers", ">spills", ">shared memory"]);
    let body = html! {
        @for kernel in kernels.iter().take(LISTED) {
            tr {
                @let name = kernel.name.split('(').next().unwrap_or(&kernel.name);
                th.text scope="row" { code { (layout::named(name, 80)) } }
                td.number { (kernel.registers) }
                td.number { (words::bytes(kernel.spill_bytes.into())) }
                td.number { (words::bytes(kernel.shared_bytes.into())) }
            }
        }
    };
    layout::table("What ptxas says of each kernel", head, body)
}
