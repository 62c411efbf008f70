//! One kernel's counts, as rows of a name and a sentence.

use judge::profile::KernelReport;

use super::super::{
    style,
    table::{Align, Table},
    words,
};
use super::{BAR, SECTOR, reason};
use timing::model::Limiter;

/// Classes of instructions that are named; the others are "other".
const CLASSES: usize = 6;
/// Under the name of a row.
const INDENT: usize = 16;

/// `among`: there are several, so each says its time.
pub fn section(kernel: &KernelReport, among: bool) -> String {
    let mut text = title(kernel, among);
    text.push_str(&format!("{}\n", terms(kernel)));
    for (name, sentence) in rows(kernel) {
        let line = format!("  {:<width$}{sentence}", name, width = INDENT - 2);
        let line = whole_numbers(&line);
        let (name, rest) = line.split_at(INDENT);
        text.push_str(&format!("{}{rest}\n", style::paint(style::DIM, name)));
    }
    text
}

/// Filled to the screen, no number parted from its unit.
fn whole_numbers(line: &str) -> String {
    const HELD: char = '\u{a0}';
    let mut text = line.to_owned();
    for unit in ["%", "B", "KiB", "MiB", "GiB", "k", "M", "G"] {
        text = text.replace(&format!(" {unit}"), &format!("{HELD}{unit}"));
    }
    words::hanging(&text, INDENT).replace(HELD, " ")
}

fn title(kernel: &KernelReport, among: bool) -> String {
    let extent = |[x, y, z]: [u32; 3]| match (y, z) {
        (1, 1) => x.to_string(),
        (_, 1) => format!("{x}×{y}"),
        _ => format!("{x}×{y}×{z}"),
    };
    let mut facts =
        vec![format!("{} blocks of {} threads", extent(kernel.grid), extent(kernel.block))];
    if let Some(of) = &kernel.facts {
        facts.push(words::count(of.registers.into(), "register"));
    }
    let shared = kernel.counters.static_shared + kernel.dynamic_shared;
    if shared > 0 {
        facts.push(format!("{} shared", words::bytes(shared.into())));
    }
    if kernel.launches > 1 {
        facts.push(words::count(kernel.launches, "launch"));
    }
    if among {
        facts.push(words::micros(kernel.modelled_us));
    }
    let name = style::paint(style::BOLD, format!("kernel {}", words::cut(&kernel.name, 32)));
    format!("{}\n", words::hanging(&format!("  {name}: {}", facts.join(", ")), 4))
}

/// What each resource alone would take.
fn terms(kernel: &KernelReport) -> Table {
    let terms = kernel.terms_us;
    let longest = terms.of(terms.limiter());
    // The four that every kernel has, and others where they matter.
    let always = [Limiter::Dram, Limiter::Lsu, Limiter::Issue, Limiter::Latency];
    let rows = terms
        .named()
        .into_iter()
        .filter(|(of, us)| always.contains(of) || *us > SHOWN * longest)
        .map(|(of, us)| (of, us, what(of)));
    let mut table = Table::new([
        ("alone", Align::Left),
        ("time", Align::Right),
        ("", Align::Left),
        ("", Align::Left),
    ]);
    for (of, us, what) in rows {
        let bold = if of == kernel.limiter { style::BOLD } else { style::PLAIN };
        table.row(vec![
            (bold, of.name().into()),
            (bold, words::micros(us)),
            (style::DIM, what.into()),
            (style::ACCENT, words::bar(100.0 * us / longest.max(1e-9), BAR)),
        ]);
    }
    table
}

/// Of the slowest, what a term must take to be shown.
const SHOWN: f64 = 0.2;

fn what(of: Limiter) -> &'static str {
    match of {
        Limiter::Dram => "bytes to and from memory",
        Limiter::L2 => "sectors to and from L2",
        Limiter::Lsu => "lines and passes over banks",
        Limiter::Issue => "instructions",
        Limiter::Units => "the narrowest unit",
        Limiter::Tensor => "products of matrices",
        Limiter::Constants => "words of constant memory",
        Limiter::Latency => "waiting",
        Limiter::Dispatch => "handing out blocks",
        Limiter::Atomics => "updates of the same place",
        Limiter::Launch => "starting",
    }
}

fn rows(kernel: &KernelReport) -> Vec<(&'static str, String)> {
    let counters = &kernel.counters;
    let mut rows = vec![("occupancy", occupancy(kernel)), ("in flight", in_flight(kernel))];
    let requests: Vec<String> = [
        (
            "load",
            counters.global_load_requests,
            counters.global_load_sectors,
            counters.global_load_bytes,
        ),
        (
            "store",
            counters.global_store_requests,
            counters.global_store_sectors,
            counters.global_store_bytes,
        ),
    ]
    .into_iter()
    .filter(|(_, requests, ..)| *requests > 0)
    .map(|(name, requests, sectors, bytes)| {
        let used = 100.0 * bytes as f64 / (sectors.max(1) * SECTOR) as f64;
        let each = sectors as f64 / requests as f64;
        format!("{each:.1} a {name}, {} of them used", words::percent(used.min(100.0)))
    })
    .collect();
    rows.push(("sectors", requests.join("; ")));
    if counters.global_load_sectors > 0 {
        rows.push(("caches", caches(kernel)));
    }
    if counters.shared_requests > 0 {
        rows.push(("shared memory", banks(kernel)));
    }
    rows.push(("divergence", divergence(kernel)));
    rows.push(("instructions", instructions(kernel)));
    rows
}

fn occupancy(kernel: &KernelReport) -> String {
    let residency = kernel.residency;
    let share = 100.0 * f64::from(residency.warps) / f64::from(residency.most_warps.max(1));
    let mut text = format!(
        "{}: {} of {} warps fit an SM, the limiter is {}",
        words::percent(share),
        residency.warps,
        residency.most_warps,
        residency.limit
    );
    if residency.present < 0.95 * f64::from(residency.warps) {
        text.push_str(&format!("; the grid brings {:.1}", residency.present));
    }
    text
}

fn in_flight(kernel: &KernelReport) -> String {
    let flight = kernel.in_flight;
    let bytes = |bytes: f64| words::bytes(bytes as u64);
    format!(
        "{} an SM, from {:.1} loads a warp at a time; {} would keep DRAM busy",
        bytes(flight.bytes),
        flight.loads,
        bytes(flight.needed_bytes)
    )
}

fn caches(kernel: &KernelReport) -> String {
    let caches = kernel.caches;
    if caches.hits < 0.0005 {
        return "no sector is read twice: nothing to hit in L1 or L2".to_owned();
    }
    let hits = words::percent(100.0 * caches.hits);
    let footprint = words::bytes(caches.footprint_bytes as u64);
    let l2 = words::bytes(caches.l2_bytes);
    if caches.footprint_bytes > caches.l2_bytes as f64 {
        format!(
            "{hits} of the sectors read hit L1 or L2 at best: {footprint} are read, L2 has {l2}"
        )
    } else {
        format!("{hits} of the sectors read hit L1 or L2: {footprint} are read, L2 has {l2}")
    }
}

fn banks(kernel: &KernelReport) -> String {
    let counters = &kernel.counters;
    let each = counters.shared_wavefronts as f64 / counters.shared_requests.max(1) as f64;
    let conflicts = reason::conflicts(kernel) as f64 / counters.shared_wavefronts.max(1) as f64;
    format!(
        "{each:.1} passes a request, {} of them for bank conflicts",
        if conflicts > 0.0 { words::percent(100.0 * conflicts) } else { "none".into() }
    )
}

fn divergence(kernel: &KernelReport) -> String {
    let counters = &kernel.counters;
    let lanes = counters.thread_instructions as f64 / counters.warp_instructions.max(1) as f64;
    let split = counters.divergent_branches as f64 / counters.branches.max(1) as f64;
    let split = if split > 0.0 { words::percent(100.0 * split) } else { "none".into() };
    format!("{lanes:.1} of 32 lanes active; {split} of the branches split a warp")
}

fn instructions(kernel: &KernelReport) -> String {
    let counters = &kernel.counters;
    let all = counters.warp_instructions;
    let mut classes: Vec<(&str, u64)> =
        counters.by_class.iter().map(|(name, n)| (name.as_str(), *n)).collect();
    classes.sort_by_key(|(_, n)| std::cmp::Reverse(*n));
    let share = |n: u64| words::percent(100.0 * n as f64 / all.max(1) as f64);
    let mut named: Vec<String> = classes
        .iter()
        .take(CLASSES)
        .map(|(name, n)| format!("{} {}", name.replace('_', " "), share(*n)))
        .collect();
    let rest: u64 = classes.iter().skip(CLASSES).map(|(_, n)| n).sum();
    if rest > 0 {
        named.push(format!("other {}", share(rest)));
    }
    format!("{} by warps: {}", words::short_count(all as f64), named.join(", "))
}
