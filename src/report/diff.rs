//! What changed between two sources: lines, and within them words. Each changed line begins with its
//! sign and is an `ins` or a `del`, so that neither colour nor eyes are needed to tell them apart.

use maud::{Markup, html};
use similar::{ChangeTag, InlineChange, TextDiff};

use super::text;

/// Unchanged lines around a change.
const CONTEXT: usize = 3;
/// Bytes of a source that are compared: a hostile pair would take the square of its length.
const LONGEST: usize = 256 << 10;
/// Bytes of markup around a line, and around an emphasised word.
const LINE: usize = 16;
const WORD: usize = 8;

/// In at most about `room` bytes of page. `whole` is the command that shows all of it.
pub fn sources(before: &str, after: &str, room: usize, whole: &str) -> Markup {
    if before == after {
        return html! { p { "The sources are the same." } };
    }
    if before.len().max(after.len()) > LONGEST {
        return html! {
            p { "The sources are too long for this page: " code { (whole) } " compares them." }
        };
    }
    let diff = TextDiff::from_lines(before, after);
    let mut used = 0;
    let mut shown = Vec::new();
    let mut cut = false;
    'groups: for group in diff.grouped_ops(CONTEXT) {
        let (Some(first), Some(last)) = (group.first(), group.last()) else { continue };
        let old = first.old_range().start..last.old_range().end;
        let new = first.new_range().start..last.new_range().end;
        shown.push(html! {
            span.hunk {
                "@@ -" (old.start + 1) "," (old.len()) " +" (new.start + 1) "," (new.len()) " @@"
            }
        });
        for change in group.iter().flat_map(|op| diff.iter_inline_changes(op)) {
            used += LINE + cost(&change);
            if used > room {
                cut = true;
                break 'groups;
            }
            shown.push(line(&change));
        }
    }
    html! {
        pre.diff tabindex="0" role="region" aria-label="Changed lines" {
            code { @for line in &shown { (line) } }
        }
        @if cut {
            p.dim { "There is more than this page holds: " code { (whole) } " shows all of it." }
        }
    }
}

fn cost(change: &InlineChange<'_, str>) -> usize {
    let part = |part: &str| WORD + part.chars().map(text::escaped).sum::<usize>();
    change.iter_strings_lossy().map(|(_, text)| part(&text)).sum()
}

fn line(change: &InlineChange<'_, str>) -> Markup {
    let words = html! {
        @for (emphasised, part) in change.iter_strings_lossy() {
            @let part = part.trim_end_matches(['\n', '\r']);
            @if emphasised && !part.is_empty() { b { (part) } }
            @else { (part) }
        }
    };
    match change.tag() {
        ChangeTag::Equal => html! { span { "  " (words) } },
        ChangeTag::Delete => html! { del { "- " (words) } },
        ChangeTag::Insert => html! { ins { "+ " (words) } },
    }
}
