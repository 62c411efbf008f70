//! What users wrote, made fit for a page. Markup is escaped by maud, everywhere and by itself. What
//! is left is what HTML cannot hold (control characters) and what deceives readers (characters that
//! turn the direction of writing, behind which source has been hidden): every page as a whole goes
//! through [`visible`]. And what is too long, which each place cuts to its room.

use std::borrow::Cow;

use crate::render::words;

/// The text with every control and every direction mark spelled out: `⟨U+202E⟩`. Line ends and
/// tabs stay; the carriage return before a line end goes.
pub fn visible(text: &str) -> Cow<'_, str> {
    if !text.contains(is_hidden) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '\r' if rest.peek() == Some(&'\n') => {}
            c if is_hidden(c) => shown.push_str(&format!("⟨U+{:04X}⟩", u32::from(c))),
            c => shown.push(c),
        }
    }
    Cow::Owned(shown)
}

fn is_hidden(c: char) -> bool {
    match c {
        '\n' | '\t' => false,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' => true,
        '\u{2066}'..='\u{2069}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}' => true,
        c => c.is_control(),
    }
}

/// One line of at most so many cells.
pub fn label(text: &str, cells: usize) -> String {
    // Cut first, so that a message of megabytes costs nothing; again, since marks were spelled out.
    let end = text.char_indices().nth(4 * cells).map_or(text.len(), |(at, _)| at);
    words::cut(&visible(&text[..end].replace(['\n', '\r', '\t'], " ")), cells)
}

/// As many whole lines from the beginning as take at most `bytes` on a page, and how many lines
/// are left over. A single line that is too long is cut.
pub fn beginning(text: &str, bytes: usize) -> (&str, usize) {
    let mut cost = 0;
    let mut end = 0;
    for line in text.split_inclusive('\n') {
        let mut taken = 0;
        for c in line.chars() {
            let next = cost + escaped(c);
            if next > bytes {
                let cut = if end == 0 { &text[..taken] } else { &text[..end] };
                return (cut, text[cut.len()..].lines().count());
            }
            cost = next;
            taken += c.len_utf8();
        }
        end += line.len();
    }
    (text, 0)
}

/// Bytes that a character takes on a page.
pub fn escaped(c: char) -> usize {
    match c {
        '<' | '>' => 4,
        '&' => 5,
        '"' => 6,
        c if is_hidden(c) => 14,
        c => c.len_utf8(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_hidden_from_the_reader() {
        assert_eq!(visible("a\tb\r\nc"), "a\tb\nc");
        assert_eq!(visible("if (a) \u{202e}// \u{2066}"), "if (a) ⟨U+202E⟩// ⟨U+2066⟩");
        assert_eq!(visible("\u{0}\u{1b}[1m"), "⟨U+0000⟩⟨U+001B⟩[1m");
    }

    #[test]
    fn labels_are_one_short_line() {
        assert_eq!(label("two\nlines", 20), "two lines");
        assert_eq!(label(&"x".repeat(1 << 20), 5), "xxxx…");
        assert!(label(&"\u{202e}".repeat(100), 12).chars().count() <= 12);
    }

    #[test]
    fn a_beginning_fits_its_room_when_escaped() {
        assert_eq!(beginning("a\nb\n", 100), ("a\nb\n", 0));
        assert_eq!(beginning("a\nb\nc\n", 5), ("a\nb\n", 1));
        assert_eq!(beginning("<<<<\n", 9), ("<<", 1));
        assert_eq!(beginning("\u{0}\u{0}", 14), ("\0", 1));
    }
}
