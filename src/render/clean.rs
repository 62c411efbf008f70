//! Text of strangers, made fit for a terminal.
//!
//! Compilers, kernels, file names and boards hand on what others wrote. A terminal obeys some of it: it can
//! be made to retitle its window, to move back and write over a verdict, to show letters in another order.
//! So whatever is printed passes here, last: control characters, and those that turn the direction of
//! writing, are shown as what they are. What stays is ends of lines, tabs, and sequences that only choose
//! colour and weight, which nibble uses itself.

use std::borrow::Cow;

/// The same text, or one that does nothing to a terminal.
pub fn clean(text: &str) -> Cow<'_, str> {
    if text.chars().all(harmless) {
        return Cow::Borrowed(text);
    }
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let taken = match c {
            '\x1b' => style(rest),
            // As CSV ends its lines.
            '\r' if rest[1..].starts_with('\n') => Some(1),
            _ => None,
        };
        match taken {
            Some(length) => kept.push_str(&rest[..length]),
            None if harmless(c) => kept.push(c),
            None => kept.push(picture(c)),
        }
        rest = &rest[taken.unwrap_or(c.len_utf8())..];
    }
    Cow::Owned(kept)
}

/// JSON that is the same to whoever parses it, and nothing but text to a terminal.
pub fn escaped(json: String) -> String {
    if json.chars().all(harmless) {
        return json;
    }
    // Outside of strings JSON has none of these characters, and none of them is beyond 16 bits.
    let escape = |c: char| match harmless(c) {
        true => c.to_string(),
        false => format!("\\u{:04x}", u32::from(c)),
    };
    json.chars().map(escape).collect()
}

fn harmless(c: char) -> bool {
    match c {
        '\n' | '\t' => true,
        // Marks, embeddings, overrides and isolates of bidirectional text (Unicode, UAX 9, 2).
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
            false
        }
        c => !c.is_control(),
    }
}

/// Bytes of the sequence at the beginning, if it only chooses a colour or a weight (ECMA-48, 8.3.117).
fn style(text: &str) -> Option<usize> {
    let parameters = text.strip_prefix("\x1b[")?;
    let end = parameters.find(|c: char| !c.is_ascii_digit() && c != ';')?;
    // No other may hide what follows it: concealed, blinking, black on black.
    let shows = |one: &str| match one.parse() {
        Ok(0u32..=2 | 4 | 22 | 24 | 31..=36 | 39) => true,
        Ok(_) => false,
        Err(_) => one.is_empty(),
    };
    (parameters[end..].starts_with('m') && parameters[..end].split(';').all(shows))
        .then_some(2 + end + 1)
}

/// What stands for a character that is not printed: U+2400 on has a picture for each of ASCII's.
fn picture(c: char) -> char {
    match u32::from(c) {
        code @ 0..0x20 => char::from_u32(0x2400 + code).unwrap_or(char::REPLACEMENT_CHARACTER),
        0x7f => '␡',
        _ => char::REPLACEMENT_CHARACTER,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_would_obey_is_shown() {
        assert_eq!(
            clean("title \x1b]0;mine\x07 and \x1b[2Jgone\r"),
            "title ␛]0;mine␇ and ␛[2Jgone␍"
        );
        assert_eq!(clean("a\u{202e}b\u{9b}c\u{7f}"), "a\u{fffd}b\u{fffd}c␡");
        assert_eq!(clean("hidden \x1b[8mtext\x1b[1;8m"), "hidden ␛[8mtext␛[1;8m");
        for hidden in
            ["\x1b[08m", "\x1b[1;007m", "\x1b[30;40m", "\x1b[38;5;0m", "\x1b[99999999999m"]
        {
            assert!(clean(hidden).starts_with('␛'), "{hidden:?}");
        }
        assert_eq!(clean("cut off \x1b["), "cut off ␛[");
    }

    #[test]
    fn json_stays_the_same_to_a_parser() {
        let text = "a\u{202e}b\u{9b}c\u{7f}\x1b";
        let json = escaped(serde_json::to_string(text).unwrap());
        assert_eq!(json, r#""a\u202eb\u009bc\u007f\u001b""#);
        assert_eq!(serde_json::from_str::<String>(&json).unwrap(), text);
    }

    #[test]
    fn what_it_may_obey_stays() {
        let styled = "\x1b[1m\x1b[31mé\x1b[0m\n\tλ 😀 \x1b[1;36mx\x1b[m";
        assert_eq!(clean(styled), styled);
        assert!(matches!(clean("plain\n"), Cow::Borrowed(_)));
        assert_eq!(clean("two\r\nlines"), "two\r\nlines");
    }
}
