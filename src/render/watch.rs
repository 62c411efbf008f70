//! What a save changed: the screen of `check`, less what it said before.

use jiff::Zoned;
use judge::report::{CaseReport, Report, Verdict};
use ptx::KernelFacts;

use super::{cases, report, style, words};

/// Names of cases that are listed.
const NAMED: usize = 3;

/// All of the first report; of a later one what is new, and the verdict.
pub fn screen(before: Option<&Report>, now: &Report) -> String {
    let Some(before) = before else { return report::screen(now) };
    let clock = Zoned::now().strftime("%H:%M:%S").to_string();
    let mut text = format!("\n{} {}\n", style::paint(style::DIM, clock), now.file);
    let new = |differs: bool, line: String| if differs { line } else { String::new() };
    text.push_str(&kernels(&before.kernels, &now.kernels));
    text.push_str(&mended(before, now));
    let failing: Vec<CaseReport> =
        now.cases.iter().filter(|case| !failed_so(before, case)).cloned().collect();
    let unit = problems::find(&now.problem).map(|p| p.manifest().tolerance.unit.as_str());
    text.push_str(&cases::failures(&failing, unit.unwrap_or("the bound")));
    if let Some(message) = &now.message {
        text.push_str(&new(now.message != before.message, words::quoted(message)));
    }
    text.push_str(&new(now.log != before.log, report::log(&now.log)));
    for warning in now.warnings.iter().filter(|warning| !before.warnings.contains(warning)) {
        let warning = format!("  {} {warning}", style::paint(style::WARNING, "warning:"));
        text.push_str(&format!("{}\n", words::hanging(&warning, 11)));
    }
    text + &report::verdict(now)
}

/// "  kernel quantize: registers 28 → 32"
fn kernels(before: &[KernelFacts], now: &[KernelFacts]) -> String {
    let mut text = String::new();
    for kernel in now {
        let Some(old) = before.iter().find(|old| old.mangled == kernel.mangled) else {
            if !before.is_empty() {
                text.push_str(&format!("  kernel {} is new\n", words::cut(&kernel.name, 60)));
            }
            continue;
        };
        let spills = |facts: &KernelFacts| facts.spill_store_bytes + facts.spill_load_bytes;
        let bytes = |bytes: u32| words::bytes(bytes.into());
        let mut facts = Vec::new();
        if old.registers != kernel.registers {
            facts.push(format!("registers {} → {}", old.registers, kernel.registers));
        }
        if spills(old) != spills(kernel) {
            facts.push(format!("spills {} → {}", bytes(spills(old)), bytes(spills(kernel))));
        }
        if old.shared_bytes != kernel.shared_bytes {
            let (old, new) = (bytes(old.shared_bytes), bytes(kernel.shared_bytes));
            facts.push(format!("shared memory {old} → {new}"));
        }
        if !facts.is_empty() {
            let name = kernel.name.split('(').next().unwrap_or(&kernel.name);
            let line = format!("  kernel {}: {}", words::cut(name, 32), facts.join(", "));
            text.push_str(&format!("{}\n", words::hanging(&line, 4)));
        }
    }
    text
}

/// Cases that failed before and do not any more.
fn mended(before: &Report, now: &Report) -> String {
    let passes = |name: &str| {
        now.cases.iter().any(|case| case.name == name && case.verdict == Verdict::Accepted)
    };
    let mended: Vec<&str> = before
        .cases
        .iter()
        .filter(|case| case.verdict != Verdict::Accepted && passes(&case.name))
        .map(|case| case.name.as_str())
        .collect();
    if mended.is_empty() {
        return String::new();
    }
    let mut names = mended[..mended.len().min(NAMED)].join(", ");
    if mended.len() > NAMED {
        names.push_str(", …");
    }
    let count = words::count(mended.len() as u64, "case");
    let text = format!("  {} {count} right now: {names}", style::paint(style::GOOD, "✓"));
    format!("{}\n", words::hanging(&text, 4))
}

/// Whether that was said already. How many elements are wrong varies with the inputs.
fn failed_so(before: &Report, case: &CaseReport) -> bool {
    case.verdict == Verdict::Accepted
        || before.cases.iter().any(|old| {
            // Fresh sizes are others each time.
            let same = old.name == case.name
                || (old.fresh, &old.family) == (case.fresh, &case.family) && case.fresh;
            same && old.verdict == case.verdict && old.reasons == case.reasons
        })
}
