//! Times against the speed of light.

use judge::report::{BenchReport, Report};

use super::{
    style,
    table::{Align, Table},
    words,
};

/// Cells of the bar that shows the percentage.
const BAR: usize = 16;

/// One row for each size, the geometric mean below.
pub fn table(report: &Report) -> String {
    let measured = report.bench.iter().any(|bench| !bench.modelled);
    let mut table = Table::new([
        ("size", Align::Left),
        (if measured { "time" } else { "modelled" }, Align::Right),
        (if measured { "95 % interval" } else { "" }, Align::Right),
        ("SOL", Align::Right),
        ("% SOL", Align::Right),
        ("", Align::Left),
        (
            if report.bench.iter().any(|bench| bench.limiter.is_some()) { "limiter" } else { "" },
            Align::Left,
        ),
    ]);
    for bench in &report.bench {
        table.row(vec![
            (style::PLAIN, bench.name.clone()),
            (style::BOLD, words::micros(bench.median_us)),
            (style::DIM, if measured { interval(bench) } else { String::new() }),
            (style::DIM, words::micros(bench.sol_us)),
            (style::PLAIN, words::percent(bench.sol_percent)),
            (style::ACCENT, words::bar(bench.sol_percent, BAR)),
            (style::DIM, bench.limiter.clone().unwrap_or_default()),
        ]);
    }
    if let Some(geomean) = report.geomean_us {
        table.row(vec![
            (style::BOLD, "geomean".into()),
            (style::BOLD, words::micros(geomean)),
            (style::PLAIN, String::new()),
            (style::PLAIN, String::new()),
            (style::PLAIN, words::percent(reached(&report.bench))),
        ]);
    }
    let mut text = table.to_string();
    if report.modelled {
        let gpu = report.device.name.trim_end_matches(" (modelled)");
        let note = format!("Times are modelled for a {gpu}, not measured: docs/measuring.md.");
        text.push_str(&format!("  {}\n", style::paint(style::DIM, note)));
    }
    text + &beside(report)
}

/// What was seen beside the times that rank: how near a copy on this very card they come, and the
/// times with warm caches.
fn beside(report: &Report) -> String {
    let each = |of: &dyn Fn(&BenchReport) -> Option<String>| {
        let known: Option<Vec<String>> = report.bench.iter().map(of).collect();
        known.filter(|known| !known.is_empty()).map(|known| known.join(", "))
    };
    let share =
        |bench: &BenchReport| Some(words::percent(100.0 * bench.copy_us? / bench.median_us));
    let ceilings = report.card.as_ref().and_then(|card| card.ceilings);
    let copy = each(&share).zip(ceilings).map(|(shares, ceilings)| {
        let terabytes = ceilings.copy * 1e-12;
        format!("Of a copy on this card ({terabytes:.2} TB/s): {shares}.")
    });
    let hot = each(&|bench| bench.hot_us.map(words::micros));
    let hot = hot.map(|times| format!("With warm caches, not ranked: {times}."));
    let line = |note: String| {
        let text = words::hanging(&format!("  {note}"), 2);
        format!("{}\n", style::paint(style::DIM, text))
    };
    copy.into_iter().chain(hot).map(line).collect()
}

/// Geometric mean of the percentages.
pub fn reached(bench: &[BenchReport]) -> f64 {
    let logs: f64 = bench.iter().map(|bench| bench.sol_percent.max(1e-9).ln()).sum();
    (logs / bench.len().max(1) as f64).exp()
}

/// "33.3 – 33.5 µs"; both ends in full where their units differ.
fn interval(bench: &BenchReport) -> String {
    let (low, high) = (words::micros(bench.ci_us.0), words::micros(bench.ci_us.1));
    match (low.split_once(' '), high.split_once(' ')) {
        (Some((number, unit)), Some((_, same))) if unit == same => format!("{number} – {high}"),
        _ => format!("{low} – {high}"),
    }
}
