//! Two sources, line by line with the changed words marked, then the facts side by side.

use leaderboard::{Attempt, ShortIds, facts::caveats};
use similar::{ChangeTag, TextDiff};

use super::{
    facts::{self, Column},
    style, words,
};

/// Unchanged lines around a change.
const CONTEXT: usize = 3;

pub fn screen(old: &Attempt, new: &Attempt, before: &str, after: &str, ids: &ShortIds) -> String {
    let mut text = sources(old, &name(new, ids), [before, after], ids);
    let this = Column { name: ids.of(&new.id).to_owned(), attempt: new };
    let other = Column { name: ids.of(&old.id).to_owned(), attempt: old };
    text.push_str(&format!("\n{}", facts::table(&this, &[other], true)));
    for caveat in caveats(old, new) {
        let line = format!("  {} {caveat}", style::paint(style::WARNING, "beware:"));
        text.push_str(&format!("{}\n", words::hanging(&line, 10)));
    }
    text
}

/// The sources alone: an attempt's, and what is called `new`.
pub fn sources(old: &Attempt, new: &str, [before, after]: [&str; 2], ids: &ShortIds) -> String {
    let mut text = format!(
        "{}\n{}\n",
        style::paint(style::BAD, format!("--- {}", name(old, ids))),
        style::paint(style::GOOD, format!("+++ {new}"))
    );
    match before == after {
        true => text.push_str("the sources are the same\n"),
        false => text.push_str(&source(before, after)),
    }
    text
}

fn name(attempt: &Attempt, ids: &ShortIds) -> String {
    format!("{} {}", ids.of(&attempt.id), attempt.file)
}

/// As `diff -u` writes it, without a heading.
pub fn unified(before: &str, after: &str) -> String {
    TextDiff::from_lines(before, after).unified_diff().context_radius(CONTEXT).to_string()
}

fn source(before: &str, after: &str) -> String {
    let diff = TextDiff::from_lines(before, after);
    let mut text = String::new();
    for group in diff.grouped_ops(CONTEXT) {
        let (Some(first), Some(last)) = (group.first(), group.last()) else { continue };
        let header = format!(
            "@@ -{},{} +{},{} @@",
            first.old_range().start + 1,
            last.old_range().end - first.old_range().start,
            first.new_range().start + 1,
            last.new_range().end - first.new_range().start
        );
        text.push_str(&format!("{}\n", style::paint(style::ACCENT, header)));
        for change in group.iter().flat_map(|op| diff.iter_inline_changes(op)) {
            let (sign, colour) = match change.tag() {
                ChangeTag::Equal => (' ', style::PLAIN),
                ChangeTag::Delete => ('-', style::BAD),
                ChangeTag::Insert => ('+', style::GOOD),
            };
            // The colour ends before the line does: a pager starts each line without one.
            let mut line = style::paint(colour, sign);
            for (emphasised, part) in change.iter_strings_lossy() {
                let colour = if emphasised { colour.underline() } else { colour };
                let part = part.trim_end_matches(['\n', '\r']);
                if !part.is_empty() {
                    line.push_str(&style::paint(colour, part));
                }
            }
            text.push_str(&line);
            text.push('\n');
        }
    }
    text
}
