//! What the check found: a grid of sizes by families, then why each kind of failure failed.

use std::cmp::Reverse;

use judge::report::{CaseReport, Verdict};

use super::{
    style,
    table::{Align, Table},
    words,
};

/// Failures of different kinds that are explained; the grid shows the others.
const EXPLAINED: usize = 3;
/// Lines of the explanations after the first, which is shown whole.
const LINES: usize = 4;

/// One row for each size, one column for each input family; a cell is the worst verdict of its
/// cases, its symbol explained by [`failures`].
pub fn grid(cases: &[CaseReport]) -> String {
    let mut sizes: Vec<String> = Vec::new();
    let mut families: Vec<&str> = Vec::new();
    for case in cases {
        let size = size(case);
        if !sizes.contains(&size) {
            sizes.push(size);
        }
        if !families.contains(&case.family.as_str()) {
            families.push(&case.family);
        }
    }
    let columns = std::iter::once(("", Align::Left))
        .chain(families.iter().map(|&family| (family, Align::Centre)));
    let mut table = Table::new(columns);
    for row in &sizes {
        let mut cells = vec![(style::PLAIN, row.clone())];
        for family in &families {
            let verdict = cases
                .iter()
                .filter(|case| case.family == **family && size(case) == *row)
                .map(|case| case.verdict)
                .max_by_key(|&verdict| severity(verdict));
            cells.push(verdict.map_or((style::DIM, "·".into()), |verdict| {
                (style::of(verdict), style::symbol(verdict).into())
            }));
        }
        table.row(cells);
    }
    table.to_string()
}

/// Why cases failed: the first of each kind, and how many more there are of it. Errors are in
/// `unit`s, "the block's scale".
pub fn failures(cases: &[CaseReport], unit: &str) -> String {
    let failed: Vec<&CaseReport> =
        cases.iter().filter(|case| case.verdict != Verdict::Accepted).collect();
    // First what explains most of the failures; of those, a case that leaves few mistakes to choose
    // from says more than one that leaves many. What explains one of several is likely chance.
    let wrong = failed.iter().filter(|case| case.verdict == Verdict::WrongAnswer).count();
    let share = |case: &CaseReport| {
        let explained = |reason| failed.iter().filter(|one| one.reasons.contains(reason)).count();
        case.reasons.iter().map(explained).max().unwrap_or(0)
    };
    let keys: Vec<_> = failed
        .iter()
        .map(|case| {
            let share = share(case);
            let chance = case.verdict == Verdict::WrongAnswer && wrong > 1 && share == 1;
            (case.reasons.is_empty(), chance, Reverse(share), case.reasons.len())
        })
        .collect();
    let mut order: Vec<usize> = (0..failed.len()).collect();
    order.sort_by_key(|&index| keys[index]);
    let failed: Vec<&CaseReport> = order.into_iter().map(|index| failed[index]).collect();
    let common = common_reasons(cases);
    let kind = |case: &CaseReport| match case.verdict {
        Verdict::WrongAnswer if !common.is_empty() => (case.verdict, common.clone()),
        verdict => (verdict, case.reasons.clone()),
    };
    let mut kinds: Vec<(&CaseReport, u64)> = Vec::new();
    for case in failed {
        match kinds.iter_mut().find(|(first, _)| kind(first) == kind(case)) {
            Some((_, others)) => *others += 1,
            None => kinds.push((case, 0)),
        }
    }
    let mut text = String::new();
    for (index, (case, others)) in kinds.iter().take(EXPLAINED).enumerate() {
        let lines = if index == 0 { usize::MAX } else { LINES };
        text.push_str(&format!("\n{}", failure(case, unit, lines)));
        if *others > 0 {
            let more = format!("and {} like it", words::count(*others, "case"));
            text.push_str(&format!("    {}\n", style::paint(style::DIM, more)));
        }
    }
    if kinds.len() > EXPLAINED {
        let rest = (kinds.len() - EXPLAINED) as u64;
        text.push_str(&format!("\n  and {} of failure\n", words::count(rest, "other kind")));
    }
    text
}

/// The mistakes that each wrong case could come from, as identifiers; empty where no single
/// mistake explains all of them.
pub fn common_reasons(cases: &[CaseReport]) -> Vec<String> {
    let mut wrong = cases.iter().filter(|case| case.verdict == Verdict::WrongAnswer);
    let mut common = wrong.next().map(|case| case.reasons.clone()).unwrap_or_default();
    for case in wrong {
        common.retain(|reason| case.reasons.contains(reason));
    }
    common
}

fn failure(case: &CaseReport, unit: &str, lines: usize) -> String {
    let verdict = style::paint(
        style::of(case.verdict),
        format!("{} {}", style::symbol(case.verdict), style::words(case.verdict)),
    );
    let mut head = format!("  {verdict}  {}", style::paint(style::BOLD, &case.name));
    if case.mismatches > 0 {
        head.push_str(&format!("  {}", words::count(case.mismatches, "mismatch")));
    }
    if let Some(error) = case.max_error.filter(|&error| error > 0.0) {
        head.push_str(&format!(", up to {} × {unit}", words::magnitude(error)));
    }
    let mut text = format!("{}\n", words::hanging(&head, 4));
    let explanation: Vec<&str> = case.explanation.iter().flat_map(|said| said.lines()).collect();
    for line in explanation.iter().take(lines) {
        text.push_str(&format!("{}\n", words::hanging(&format!("    {line}"), 6)));
    }
    if explanation.len() > lines {
        text.push_str(&format!("    {}\n", style::paint(style::DIM, "…  --json has all of it")));
    }
    text
}

/// "128x256": the case's name without its family; "fresh" where nobody knows the sizes beforehand.
fn size(case: &CaseReport) -> String {
    match case.fresh {
        true => "fresh".to_owned(),
        false => problems::Sizes::new(case.sizes.iter().cloned()).to_string(),
    }
}

fn severity(verdict: Verdict) -> u8 {
    match verdict {
        Verdict::Accepted => 0,
        Verdict::Interrupted => 1,
        Verdict::WrongAnswer => 2,
        Verdict::TimeLimitExceeded => 3,
        Verdict::RuntimeError => 4,
        Verdict::CompileError => 5,
    }
}
