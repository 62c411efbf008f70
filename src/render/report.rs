//! The screen of `check` and `bench`: what ran, what it is made of, what was found.

use judge::judge::log::is_whole;
use judge::report::{Report, Verdict};
use ptx::KernelFacts;

use super::{bench, cases, style, words};

/// Lines of the solution's own output that are shown; `--json` has all that was kept.
const LOG_LINES: usize = 10;

/// The whole screen, verdict last, so that it stands above the prompt.
pub fn screen(report: &Report) -> String {
    let mut text = heading(report);
    text.push_str(&kernels(&report.kernels));
    if !report.cases.is_empty() {
        // A grid of one cell says less than the sentence below it, and one of ticks alone no more
        // than the verdict: who asks for times has seen it at the last check.
        let failed = report.cases.iter().any(|case| case.verdict != Verdict::Accepted);
        if report.cases.len() > 1 && (failed || report.bench.is_empty()) {
            text.push_str(&format!("\n{}", cases::grid(&report.cases)));
        }
        let unit = problems::find(&report.problem).map(|p| p.manifest().tolerance.unit.as_str());
        text.push_str(&cases::failures(&report.cases, unit.unwrap_or("the bound")));
        text.push_str(&repeat(report));
    }
    if !report.bench.is_empty() {
        text.push('\n');
        text.push_str(&bench::table(report));
    }
    if let Some(message) = &report.message {
        text.push_str(&format!("\n{}", words::quoted(message)));
    }
    text.push_str(&log(&report.log));
    if report.waited_seconds >= 1.0 {
        let waited = words::waited(report.waited_seconds);
        let waited = format!("  waited {waited} for its turn on the GPU, which counts nowhere");
        text.push_str(&format!("\n{}\n", style::paint(style::DIM, waited)));
    }
    for warning in &report.warnings {
        let warning = format!("  {} {warning}", style::paint(style::WARNING, "warning:"));
        text.push_str(&format!("\n{}\n", words::hanging(&warning, 11)));
    }
    text.push('\n');
    text.push_str(&verdict(report));
    text
}

/// The command that runs the first case that was wrong once more, with the same inputs.
fn repeat(report: &Report) -> String {
    let wrong = report.cases.iter().filter(|case| case.verdict == Verdict::WrongAnswer);
    let Some((case, seed)) = wrong.filter_map(|case| Some((case, case.data_seed?))).next() else {
        return String::new();
    };
    let file = words::shell(&report.file);
    let case = case.name.replace(' ', "/");
    // In two lines, which a shell takes for one: a path may fill a line by itself.
    let (first, second) =
        (format!("nibble check {file} \\"), format!("--case {case} --data-seed {seed}"));
    format!(
        "\n  {} {}\n          {}\n",
        style::paint(style::DIM, "repeat:"),
        style::paint(style::ACCENT, first),
        style::paint(style::ACCENT, second)
    )
}

fn heading(report: &Report) -> String {
    format!(
        "{}\n  {} on {}, {}\n",
        style::paint(style::BOLD, &report.file),
        report.problem,
        report.device.name,
        report.device.arch
    )
}

/// "kernel quantize: 32 registers, 2 KiB shared memory, no spills".
fn kernels(kernels: &[KernelFacts]) -> String {
    let mut text = String::new();
    for kernel in kernels {
        let mut facts = vec![words::count(kernel.registers.into(), "register")];
        if kernel.shared_bytes > 0 {
            facts.push(format!("{} shared memory", words::bytes(kernel.shared_bytes.into())));
        }
        let spilled = kernel.spill_store_bytes + kernel.spill_load_bytes;
        facts.push(if spilled > 0 {
            style::paint(style::WARNING, format!("spills {}", words::bytes(spilled.into())))
        } else {
            "no spills".into()
        });
        let name = kernel.name.split('(').next().unwrap_or(&kernel.name);
        let line = format!("  kernel {}: {}", words::cut(name, 32), facts.join(", "));
        text.push_str(&format!("{}\n", words::hanging(&line, 4)));
    }
    text
}

pub fn log(log: &str) -> String {
    let lines: Vec<&str> = log.trim_end().lines().collect();
    if lines.is_empty() {
        return String::new();
    }
    let shown = &lines[lines.len().saturating_sub(LOG_LINES)..];
    let mut text = match lines.len() - shown.len() {
        0 => "\n  it printed\n".to_owned(),
        _ => format!(
            "\n  it printed {}{}, the last {LOG_LINES} are\n",
            if is_whole(log) { "" } else { "more than " },
            words::count(lines.len() as u64, "line")
        ),
    };
    for line in shown {
        let line = words::cut(line, words::COLUMNS - 4);
        text.push_str(&format!("  {} {line}\n", style::paint(style::DIM, "│")));
    }
    text
}

pub fn verdict(report: &Report) -> String {
    let verdict = style::paint(
        style::of(report.verdict).bold(),
        format!("{} {}", style::symbol(report.verdict), style::words(report.verdict)),
    );
    let count = report.cases.len() as u64;
    let failed = report.cases.iter().filter(|case| case.verdict != Verdict::Accepted).count();
    let seconds: f64 = report.cases.iter().map(|case| case.seconds).sum();
    let near_ties: u64 = report.cases.iter().map(|case| case.near_ties).sum();
    let mut facts = Vec::new();
    match (count, failed) {
        (0, _) => {}
        (_, 0) => {
            facts.push(format!("{} in {}", words::count(count, "case"), words::waited(seconds)))
        }
        _ => {
            facts.push(format!("{failed} of {} failed", words::count(count, "case")));
            let common = cases::common_reasons(&report.cases);
            if failed > 1 && !common.is_empty() {
                facts.push(format!("all of them fit {}", words::list(&common, "or")));
            }
        }
    }
    if near_ties > 0 {
        let sentence = format!("{} rounded either way", words::count(near_ties, "near-tie"));
        facts.push(sentence);
    }
    let line = format!("{verdict}  {}", facts.join(", "));
    words::hanging(line.trim_end(), 2) + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::sample;

    #[track_caller]
    fn plain(report: &Report) -> String {
        let text = anstream::adapter::strip_str(&screen(report)).to_string();
        for line in text.lines() {
            assert!(words::width(line) <= words::COLUMNS, "too wide: {line}");
            assert_eq!(line, line.trim_end(), "ends in spaces");
        }
        text
    }

    #[test]
    fn accepted() {
        insta::assert_snapshot!(plain(&sample::accepted()));
    }

    #[test]
    fn measured() {
        insta::assert_snapshot!(plain(&sample::measured()));
    }

    #[test]
    fn wrong() {
        insta::assert_snapshot!(plain(&sample::wrong()));
    }

    #[test]
    fn uncompiled() {
        insta::assert_snapshot!(plain(&sample::uncompiled()));
    }

    #[test]
    fn colours_are_the_verdicts() {
        insta::assert_snapshot!(verdict(&sample::accepted()).escape_debug().to_string());
    }
}
