//! As much of Python as it takes to read the strings of a file and to write some.
//!
//! The Python Language Reference, section 2.5: prefixes, one or three quotes, escapes.

use std::ops::Range;

/// A string of a Python file.
#[derive(Debug, PartialEq)]
pub struct Literal {
    /// Of its first byte, prefix included, and behind its last quote.
    pub range: Range<usize>,
    /// What it means to Python; the braces of an f-string stand as they are.
    pub value: String,
}

/// All strings of a file, in order. Text that is not Python gives nonsense, but no failure.
pub fn strings(text: &str) -> Vec<Literal> {
    scan(text).0
}

/// The strings of a file, and where its comments are.
fn scan(text: &str) -> (Vec<Literal>, Vec<Range<usize>>) {
    let (mut found, mut comments) = (Vec::new(), Vec::new());
    let mut at = 0;
    while let Some(c) = text[at..].chars().next() {
        match c {
            '#' => {
                let end = at + text[at..].find('\n').unwrap_or(text.len() - at);
                comments.push(at..end);
                at = end;
            }
            '\'' | '"' => {
                let prefix = prefix(&text[..at]);
                let literal = read(text, at, prefix);
                at = literal.range.end;
                found.push(literal);
            }
            _ => at += c.len_utf8(),
        }
    }
    (found, comments)
}

/// The strings of `name = [ … ]`, or of the argument of that name; none where it is no such list.
pub fn list(text: &str, name: &str) -> Vec<String> {
    let (strings, comments) = scan(text);
    let quoted = strings.iter().map(|string| &string.range);
    let inert: Vec<_> = quoted.chain(&comments).collect();
    let outside = |at: usize| !inert.iter().any(|range| range.contains(&at));
    let opening = text.match_indices(name).filter(|(at, _)| outside(*at)).find_map(|(at, _)| {
        let rest = &text[at + name.len()..];
        let value = rest.trim_start().strip_prefix('=')?.trim_start();
        value.starts_with('[').then(|| text.len() - value.len())
    });
    let Some(opening) = opening else { return Vec::new() };
    let mut closing = text[opening..].match_indices(']').map(|(at, _)| opening + at);
    let closing = closing.find(|at| outside(*at)).unwrap_or(text.len());
    let inside = strings.iter().filter(|string| (opening..closing).contains(&string.range.start));
    inside.map(|string| string.value.clone()).collect()
}

/// The text as a Python string: raw and with three quotes where that can hold it.
pub fn literal(text: &str) -> String {
    let quotes = if text.contains('\n') { "'''" } else { "'" };
    // A raw string cannot end in a backslash, and Python reads every line end as \n.
    let raw = !text.contains(quotes) && !text.ends_with(['\'', '\\']) && !text.contains('\r');
    if raw && !text.contains('\0') {
        let prefix = if text.contains('\\') || quotes.len() == 3 { "r" } else { "" };
        return format!("{prefix}{quotes}{text}{quotes}");
    }
    let mut out = String::from(quotes);
    for c in text.chars() {
        match c {
            '\\' | '\'' => out.extend(['\\', c]),
            '\r' => out.push_str("\\r"),
            '\0' => out.push_str("\\x00"),
            c => out.push(c),
        }
    }
    out + quotes
}

/// The letters before a quote that belong to the string: "r", "Rb", "f".
fn prefix(before: &str) -> &str {
    let start = before.len() - before.bytes().rev().take_while(u8::is_ascii_alphabetic).count();
    let letters = &before[start..];
    let known = letters.len() <= 2 && letters.chars().all(|c| "rRbBuUfF".contains(c));
    let alone = !before[..start].ends_with(|c: char| c.is_alphanumeric() || c == '_');
    if known && alone { letters } else { "" }
}

/// Reads the string whose opening quote is at `at`; an unfinished one ends with the text.
fn read(text: &str, at: usize, prefix: &str) -> Literal {
    let quote = &text[at..at + 1];
    let triple = quote.repeat(3);
    let quotes = if text[at..].starts_with(&triple) { triple.as_str() } else { quote };
    let raw = prefix.contains(['r', 'R']);
    let mut value = String::new();
    let mut here = at + quotes.len();
    while here < text.len() && !text[here..].starts_with(quotes) {
        let mut rest = text[here..].chars();
        match (rest.next(), rest.clone().next()) {
            (Some('\\'), Some(next)) if raw => {
                value.extend(['\\', next]);
                rest.next();
            }
            (Some('\\'), Some(_)) => rest = escape(rest, &mut value),
            // A line end ends a string that has one quote.
            (Some('\n'), _) if quotes.len() == 1 => break,
            (Some(c), _) => value.push(c),
            (None, _) => break,
        }
        here = text.len() - rest.as_str().len();
    }
    let end = (here + quotes.len()).min(text.len());
    let end = if text[here..].starts_with(quotes) { end } else { here };
    Literal { range: at - prefix.len()..end, value }
}

/// What stands behind a backslash; an escape that Python does not know stays as it is.
fn escape<'a>(mut rest: std::str::Chars<'a>, value: &mut String) -> std::str::Chars<'a> {
    let Some(c) = rest.next() else { return rest };
    let digits = match c {
        'x' => 2,
        'u' => 4,
        'U' => 8,
        _ => 0,
    };
    if digits > 0 {
        let code = rest.as_str().get(..digits).and_then(|hex| u32::from_str_radix(hex, 16).ok());
        if let Some(meant) = code.and_then(char::from_u32) {
            value.push(meant);
            return rest.as_str()[digits..].chars();
        }
    }
    match c {
        '\n' => {}
        '\\' | '\'' | '"' => value.push(c),
        'n' => value.push('\n'),
        't' => value.push('\t'),
        'r' => value.push('\r'),
        '0' => value.push('\0'),
        c => value.extend(['\\', c]),
    }
    rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_are_read_as_python_reads_them() {
        let text =
            "# 'no'\na = 'x' + \"it's\\n\"; b = r'''raw\\n\n'quoted' '''\nc = f\"{a}\" '\\x41\\q'";
        let values: Vec<String> = strings(text).into_iter().map(|one| one.value).collect();
        assert_eq!(values, ["x", "it's\n", "raw\\n\n'quoted' ", "{a}", "A\\q"]);
    }

    #[test]
    fn nonsense_is_read_to_its_end() {
        for text in ["'", "'''", "\"\\", "r'\\", "'µ\\xµµ'", "'a\nb'", "x[", "'''a''"] {
            let _ = (strings(text), list(text, "x"));
        }
    }

    #[test]
    fn lists_of_strings() {
        let text = "'flags=[1]'\nf(flags = ['-a', # ']'\n  \"-b]\"], other=['c'])";
        assert_eq!(list(text, "flags"), ["-a", "-b]"]);
        assert!(list("flags = FLAGS", "flags").is_empty());
    }

    #[test]
    fn what_is_written_is_read_again() {
        for text in ["", "a", "a\\n", "two\nlines\n", "'''\n\\", "\r\n'", "ends in '", "q'q", "\\"]
        {
            let written = literal(text);
            let read = strings(&written);
            assert_eq!(read.len(), 1, "{written}");
            assert_eq!((read[0].value.as_str(), read[0].range.end), (text, written.len()));
        }
    }
}
