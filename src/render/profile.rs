//! The screen of `profile`: what bounds a call, the bytes that must move beside those that did, each
//! kernel's counts, and the lines that cost most.

mod beside;
mod kernel;
mod lines;
mod reason;

use judge::{
    profile::{KernelReport, Profile},
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
/// Kernels that are shown, and the least share of the time that one must take; `--json` has all.
const KERNELS: usize = 3;
const LEAST: f64 = 0.05;

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
        text.push_str(&format!("\n{}", bytes(&profile.kernels, Some(profile.floor.bytes))));
        text.push_str(&sections(&profile.kernels, file, most));
    }
    if let Some(measured) = &profile.measured {
        text.push_str(&format!("\n{}", beside::section(measured, &profile.kernels)));
    }
    if profile.verdict != Verdict::Accepted {
        text.push_str(&format!("\n{}", verdict(profile)));
    }
    text
}

/// Of a program that is no solution, so that nobody knows what it must move.
pub fn of_program(kernels: &[KernelReport], file: &str, arch: &str, most: usize) -> String {
    let mut text = format!("{}\n  as modelled for {arch}\n", style::paint(style::BOLD, file));
    if kernels.is_empty() {
        return text + "\n  it launched no kernel\n";
    }
    text.push_str(&format!("\n{}", bytes(kernels, None)));
    text + &sections(kernels, file, most)
}

fn sections(kernels: &[KernelReport], file: &str, most: usize) -> String {
    let mut text = String::new();
    let all: f64 = kernels.iter().map(|kernel| kernel.modelled_us).sum();
    let matters = |kernel: &&KernelReport| kernel.modelled_us >= LEAST * all;
    let shown = kernels.iter().take(KERNELS).take_while(matters).count();
    let (shown, hidden) = kernels.split_at(shown);
    for kernel in shown {
        text.push_str(&format!("\n{}", kernel::section(kernel, kernels.len() > 1)));
        text.push_str(&lines::table(kernel, file, most));
    }
    if !hidden.is_empty() {
        let us: f64 = hidden.iter().map(|kernel| kernel.modelled_us).sum();
        let names: Vec<&str> = hidden.iter().map(|kernel| kernel.name.as_str()).collect();
        let count = words::count(names.len() as u64, "more kernel");
        let note =
            format!("  {count}, {} in all: {}", words::micros(us), words::list(&names, "and"));
        let note = words::hanging(&note, 4);
        text.push_str(&format!("\n{}\n", style::paint(style::DIM, note)));
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

/// The first lesson: bytes that must move, where that is known, and those that did.
fn bytes(kernels: &[KernelReport], must: Option<f64>) -> String {
    let sum = |of: fn(&KernelReport) -> u64| kernels.iter().map(of).sum::<u64>();
    let rows: [(&str, u64, u64); 3] = [
        (
            "asked for",
            sum(|kernel| kernel.counters.global_load_bytes),
            sum(|kernel| kernel.counters.global_store_bytes),
        ),
        (
            "through L2",
            sum(|kernel| kernel.counters.global_load_sectors * SECTOR),
            sum(|kernel| kernel.counters.global_store_sectors * SECTOR),
        ),
        (
            "through DRAM",
            sum(|kernel| kernel.counters.dram_read_sectors * SECTOR),
            sum(|kernel| kernel.counters.dram_write_sectors * SECTOR),
        ),
    ];
    let mut table = Table::new([
        ("bytes", Align::Left),
        ("read", Align::Right),
        ("written", Align::Right),
        ("all", Align::Right),
        (if must.is_some() { "of must" } else { "" }, Align::Right),
        ("", Align::Left),
    ]);
    let most = rows.iter().map(|(_, read, written)| (read + written) as f64).fold(1.0, f64::max);
    let longest = most.max(must.unwrap_or(0.0));
    let bar = |bytes: f64| (style::ACCENT, words::bar(100.0 * bytes / longest, BAR));
    let empty = || (style::PLAIN, String::new());
    if let Some(must) = must {
        let bytes = (style::BOLD, words::bytes(must as u64));
        table.row(vec![
            (style::BOLD, "must move".into()),
            empty(),
            empty(),
            bytes,
            empty(),
            bar(must),
        ]);
    }
    for (name, read, written) in rows {
        let all = read + written;
        let multiple = must.map(|must| words::multiple(all as f64 / must.max(1.0)));
        table.row(vec![
            (style::PLAIN, name.into()),
            (style::PLAIN, words::bytes(read)),
            (style::PLAIN, words::bytes(written)),
            (style::PLAIN, words::bytes(all)),
            (style::PLAIN, multiple.unwrap_or_default()),
            bar(all as f64),
        ]);
    }
    table.to_string()
}

fn verdict(profile: &Profile) -> String {
    let symbol = style::symbol(profile.verdict);
    let verdict = format!("{symbol} {} at this size", style::words(profile.verdict));
    let mut text = format!("{}\n", style::paint(style::of(profile.verdict).bold(), verdict));
    if let Some(message) = &profile.message {
        text = format!("{}\n{text}", words::quoted(message));
    }
    text.push_str(&format!("next: nibble check {}\n", words::shell(&profile.file)));
    text
}

#[cfg(test)]
mod tests;
