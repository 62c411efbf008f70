//! One attempt, whole.

use jiff::Timestamp;
use leaderboard::{
    Attempt, ShortIds, Summary,
    attempt::{Kernel, Size, Verdict},
    board::BoardKey,
};

use super::{
    board, style,
    table::{Align, Table},
    words,
};
use crate::record;

pub fn screen(attempt: &Attempt, ids: &ShortIds, now: Timestamp) -> String {
    let outcome = &attempt.outcome;
    let summary = Summary::from(attempt);
    let mut text = format!(
        "attempt {}  {}\n",
        style::paint(style::BOLD, &attempt.id),
        style::paint(style::of(record::reported(outcome.verdict)), words_of(outcome.verdict))
    );
    let mut fact = |name: &str, value: String| {
        if !value.is_empty() {
            let name = style::paint(style::DIM, format!("{name:<9}"));
            text.push_str(&format!("{}\n", words::hanging(&format!("  {name}{value}"), 11)));
        }
    };
    fact("problem", attempt.problem.clone());
    fact("solution", format!("{} by {}", attempt.file, attempt.author));
    fact("message", attempt.message.clone().unwrap_or_default());
    let age = match words::age(attempt.created, now) {
        now if now == "now" => now,
        age => format!("{age} ago"),
    };
    fact("when", format!("{} UTC, {age}", attempt.created.strftime("%F %R")));
    fact("times", board::place(&BoardKey::of(&summary)));
    let toolchain = &outcome.toolchain;
    let nvcc = toolchain.nvcc.as_ref().map(|nvcc| format!(", nvcc {nvcc}")).unwrap_or_default();
    fact("built by", format!("nibble {}{nvcc}", toolchain.nibble));
    fact("flags", toolchain.flags.join(" "));
    let parent = attempt.parent.as_ref().map(|id| ids.of(id).to_owned());
    fact("parent", parent.unwrap_or_default());

    text.push_str(&kernels(&outcome.kernels));
    text.push_str(&sizes(&outcome.sizes));
    if let (Some(geomean), Some(percent)) = (outcome.geomean, summary.sol_percent) {
        text.push_str(&format!(
            "  geomean {}, {} of the speed of light\n",
            style::paint(style::BOLD, words::micros(geomean.us)),
            words::percent(percent)
        ));
    }
    text.push_str(&cases(attempt));
    if let Some(fault) = &outcome.fault {
        text.push_str(&format!("\n{}", words::quoted(fault)));
    }
    let id = ids.of(&attempt.id);
    text.push_str(&format!(
        "\n{} {}",
        style::paint(style::DIM, "source:"),
        style::paint(style::ACCENT, format!("nibble attempt {id} --source"))
    ));
    if attempt.parent.is_some() {
        text.push_str(&format!(
            "  {} {}",
            style::paint(style::DIM, "changes:"),
            style::paint(style::ACCENT, format!("nibble diff {id}"))
        ));
    }
    text.push('\n');
    text
}

fn kernels(kernels: &[Kernel]) -> String {
    let mut table = Table::new([
        ("kernel", Align::Left),
        ("registers", Align::Right),
        ("spills", Align::Right),
        ("shared", Align::Right),
    ]);
    for kernel in kernels {
        let name = kernel.name.split('(').next().unwrap_or(&kernel.name);
        table.row(vec![
            (style::PLAIN, words::cut(name, 40)),
            (style::PLAIN, kernel.registers.to_string()),
            (style::PLAIN, words::bytes(kernel.spill_bytes.into())),
            (style::PLAIN, words::bytes(kernel.shared_bytes.into())),
        ]);
    }
    if table.is_empty() { String::new() } else { format!("\n{table}") }
}

fn sizes(sizes: &[Size]) -> String {
    let mut table = Table::new([
        ("size", Align::Left),
        ("time", Align::Right),
        ("SOL", Align::Right),
        ("% SOL", Align::Right),
        ("DRAM", Align::Right),
        ("instr.", Align::Right),
        ("sect./req.", Align::Right),
        ("lanes", Align::Right),
    ]);
    let ratio = |value: Option<f64>| value.map(|value| format!("{value:.1}")).unwrap_or_default();
    for size in sizes {
        let mut cells = vec![
            (style::PLAIN, size.name.clone()),
            (style::BOLD, words::micros(size.median.us)),
            (style::DIM, words::micros(size.sol_us)),
            (style::PLAIN, words::percent(size.sol_percent)),
        ];
        if let Some(counters) = size.counters {
            cells.extend([
                (style::PLAIN, words::bytes(counters.dram_bytes)),
                (style::PLAIN, words::short_count(counters.warp_instructions as f64)),
                (style::PLAIN, ratio(counters.sectors_per_request)),
                (style::PLAIN, ratio(counters.active_lanes)),
            ]);
        }
        table.row(cells);
    }
    if table.is_empty() { String::new() } else { format!("\n{table}") }
}

fn cases(attempt: &Attempt) -> String {
    let cases = &attempt.outcome.cases;
    let failed: Vec<_> = cases.iter().filter(|case| case.verdict != Verdict::Accepted).collect();
    if cases.is_empty() {
        return String::new();
    }
    let count = words::count(cases.len() as u64, "case");
    if failed.is_empty() {
        return format!("  {count}, all accepted\n");
    }
    let mut text = format!("\n  {} of {count} failed\n", failed.len());
    for case in failed {
        let verdict = words_of(case.verdict);
        let mut line = format!("  {}  {verdict}", case.name);
        if case.mismatches > 0 {
            line.push_str(&format!(", {}", words::count(case.mismatches, "mismatch")));
        }
        if !case.reasons.is_empty() {
            line.push_str(&format!(": {}", case.reasons.join(", ")));
        }
        text.push_str(&format!("{}\n", words::hanging(&line, 4)));
        for sentence in case.explanation.iter().flat_map(|text| text.lines()) {
            text.push_str(&format!("{}\n", words::hanging(&format!("    {sentence}"), 6)));
        }
    }
    text
}

fn words_of(verdict: Verdict) -> String {
    let verdict = record::reported(verdict);
    format!("{} {}", style::symbol(verdict), style::words(verdict))
}
