//! The screen of `profile`: what bounds a call, the bytes that must move beside those that did, each
//! kernel's counts, and the lines that cost most.

mod kernel;
mod lines;
mod reason;

use harness::{
    profile::{KernelReport, Measured, Profile},
    report::Verdict,
};
use serde::Serialize;

use self::reason::Bound;
use super::{
    json, style,
    table::{Align, Table},
    words,
};

/// Bytes of a sector, what memory moves at the least.
const SECTOR: u64 = 32;
/// Cells of a bar.
const BAR: usize = 16;
/// Kernels that are shown; `--json` has all.
const KERNELS: usize = 3;

#[derive(Serialize)]
struct Object<'a> {
    schema: u32,
    /// "memory", "compute", "latency" or "launch".
    bound: Option<&'static str>,
    /// One sentence or two.
    because: Option<String>,
    #[serde(flatten)]
    profile: &'a Profile,
}

/// For programs.
pub fn object(profile: &Profile) -> String {
    let bound = Bound::of(profile);
    json::line(&Object {
        schema: json::SCHEMA,
        bound: bound.map(Bound::name),
        because: bound.map(|bound| reason::sentence(bound, profile)),
        profile,
    })
}

/// `most` lines of source for each kernel.
pub fn screen(profile: &Profile, most: usize) -> String {
    let Profile { file, problem, size, device, .. } = profile;
    let mut text = format!(
        "{}\n  {problem} {size} on {}, {}\n",
        style::paint(style::BOLD, file),
        device.name,
        device.arch
    );
    if let Some(bound) = Bound::of(profile) {
        text.push_str(&headline(bound, profile));
        text.push_str(&format!("\n{}", bytes(profile)));
        for kernel in profile.kernels.iter().take(KERNELS) {
            text.push_str(&format!("\n{}", kernel::section(kernel, profile.kernels.len() > 1)));
            text.push_str(&lines::table(kernel, file, most));
        }
        let hidden = profile.kernels.len().saturating_sub(KERNELS);
        if hidden > 0 {
            let more = words::count(hidden as u64, "more kernel");
            let note = format!("\n  {more}, each faster than these: --json has all");
            text.push_str(&format!("{}\n", style::paint(style::DIM, note)));
        }
    }
    if let Some(measured) = &profile.measured {
        text.push_str(&format!("\n{}", beside(measured, &profile.kernels)));
    }
    if profile.verdict != Verdict::Accepted {
        text.push_str(&format!("\n{}", verdict(profile)));
    }
    text
}

fn headline(bound: Bound, profile: &Profile) -> String {
    let times = format!(
        "{} modelled, {} at the speed of light",
        words::micros(profile.modelled_us),
        words::micros(profile.floor.us)
    );
    let name = style::paint(style::WARNING.bold(), format!("{}-bound", bound.name()));
    let because = words::hanging(&format!("  {}", reason::sentence(bound, profile)), 2);
    format!("\n{name}  {times}\n{because}\n")
}

/// The first lesson: bytes that must move, and those that did.
fn bytes(profile: &Profile) -> String {
    let sum = |of: &dyn Fn(&KernelReport) -> u64| profile.kernels.iter().map(of).sum::<u64>();
    let must = profile.floor.bytes;
    let rows: [(&str, u64, u64); 3] = [
        (
            "lanes asked for",
            sum(&|kernel| kernel.counters.global_load_bytes),
            sum(&|kernel| kernel.counters.global_store_bytes),
        ),
        (
            "moved to and from L2",
            sum(&|kernel| kernel.counters.global_load_sectors * SECTOR),
            sum(&|kernel| kernel.counters.global_store_sectors * SECTOR),
        ),
        (
            "moved by DRAM",
            sum(&|kernel| kernel.counters.dram_read_sectors * SECTOR),
            sum(&|kernel| kernel.counters.dram_write_sectors * SECTOR),
        ),
    ];
    let mut table = Table::new([
        ("bytes", Align::Left),
        ("read", Align::Right),
        ("written", Align::Right),
        ("all", Align::Right),
        ("of what must", Align::Right),
        ("", Align::Left),
    ]);
    let most = rows.iter().map(|(_, read, written)| read + written).max().unwrap_or(1) as f64;
    let longest = most.max(must);
    let bar = |bytes: f64| (style::ACCENT, words::bar(100.0 * bytes / longest, BAR));
    let empty = || (style::PLAIN, String::new());
    table.row(vec![
        (style::BOLD, "must move".into()),
        empty(),
        empty(),
        (style::BOLD, words::bytes(must as u64)),
        empty(),
        bar(must),
    ]);
    for (name, read, written) in rows {
        let all = read + written;
        table.row(vec![
            (style::PLAIN, name.into()),
            (style::PLAIN, words::bytes(read)),
            (style::PLAIN, words::bytes(written)),
            (style::PLAIN, words::bytes(all)),
            (style::PLAIN, words::multiple(all as f64 / must.max(1.0))),
            bar(all as f64),
        ]);
    }
    table.to_string()
}

/// What a GPU of this machine did, beside what was counted.
fn beside(measured: &Measured, counted: &[KernelReport]) -> String {
    let title = format!("on {}, {}", measured.device.name, measured.device.arch);
    let mut text = format!("  {}\n", style::paint(style::BOLD, title));
    if let Some(us) = measured.call_us {
        text.push_str(&format!("  one cold call took {}\n", words::micros(us)));
    }
    if let Some(why) = &measured.why_not {
        let note = words::hanging(&format!("  not counted there: {why}"), 2);
        text.push_str(&format!("{}\n", style::paint(style::DIM, note)));
    }
    for hardware in &measured.kernels {
        // By the name in front of the parameters, which ncu writes out.
        let name = |full: &str| full.split(['(', '<']).next().unwrap_or(full).to_owned();
        let same = counted.iter().find(|one| name(&hardware.kernel).ends_with(&name(&one.name)));
        text.push_str(&kernel::side_by_side(same, hardware));
    }
    text
}

fn verdict(profile: &Profile) -> String {
    let symbol = style::symbol(profile.verdict);
    let verdict = format!("{symbol} {} at this size", style::words(profile.verdict));
    let mut text = format!("{}\n", style::paint(style::of(profile.verdict).bold(), verdict));
    if let Some(message) = &profile.message {
        text = format!("{}\n{text}", words::quoted(message));
    }
    text.push_str(&format!("next: nibble check {}\n", profile.file));
    text
}
