//! C++ seen from far away: tokens without comments, strings and preprocessor lines.
//!
//! Enough to find a function's declaration and read its parameters, which is all that the
//! signature check needs. It never decides that code is right, only that a declaration that it
//! understands fully is wrong; the rest is left to the compiler.

/// A name, a number or one character of punctuation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token<'a> {
    pub text: &'a str,
    /// Byte offset in the source.
    pub at: usize,
}

impl Token<'_> {
    pub fn is_name(&self) -> bool {
        self.text.starts_with(|c: char| c == '_' || c.is_ascii_alphabetic())
    }
}

/// The 1-based line of a byte offset.
pub fn line_at(source: &str, at: usize) -> usize {
    source[..at].matches('\n').count() + 1
}

/// All tokens of `source`. Of string literals only `"C"` stays, for `extern "C"`.
pub fn tokens(source: &str) -> Vec<Token<'_>> {
    let bytes = source.as_bytes();
    let mut tokens = Vec::new();
    let mut at = 0;
    let mut line_is_empty = true;
    while at < bytes.len() {
        let rest = &source[at..];
        let byte = bytes[at];
        let length = if byte == b'\n' {
            line_is_empty = true;
            1
        } else if byte.is_ascii_whitespace() {
            1
        } else if rest.starts_with("//") {
            logical_line(rest)
        } else if let Some(comment) = rest.strip_prefix("/*") {
            comment.find("*/").map_or(rest.len(), |end| end + 4)
        } else if byte == b'#' && line_is_empty {
            logical_line(rest)
        } else if let Some(length) = raw_string(rest) {
            length
        } else if byte == b'"' || byte == b'\'' {
            let length = quoted(rest, byte);
            if &rest[..length] == "\"C\"" {
                tokens.push(Token { text: &rest[..length], at });
            }
            length
        } else {
            let length = if byte == b'_' || byte.is_ascii_alphanumeric() {
                word(rest)
            } else {
                rest.chars().next().map_or(1, char::len_utf8)
            };
            tokens.push(Token { text: &rest[..length], at });
            length
        };
        line_is_empty &= byte.is_ascii_whitespace();
        at += length;
    }
    tokens
}

/// Names and numbers; `'` separates digits (`1'000`) and starts no character there.
fn word(rest: &str) -> usize {
    let number = rest.starts_with(|c: char| c.is_ascii_digit());
    let part = |c: char| c == '_' || c.is_ascii_alphanumeric() || (number && c == '\'');
    rest.find(|c| !part(c)).unwrap_or(rest.len())
}

/// To the end of the line, through lines that end in a backslash; without the line break.
fn logical_line(rest: &str) -> usize {
    let mut from = 0;
    while let Some(end) = rest[from..].find('\n') {
        let end = from + end;
        if !rest[..end].trim_end_matches('\r').ends_with('\\') {
            return end;
        }
        from = end + 1;
    }
    rest.len()
}

/// A literal with its quotes; an unterminated one ends with its line.
fn quoted(rest: &str, quote: u8) -> usize {
    let bytes = rest.as_bytes();
    let mut at = 1;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 1,
            b'\n' => return at,
            byte if byte == quote => return at + 1,
            _ => {}
        }
        at += 1;
    }
    bytes.len()
}

/// `R"tag(…)tag"`.
fn raw_string(rest: &str) -> Option<usize> {
    let body = rest.strip_prefix("R\"")?;
    let open = body.find('(').filter(|&open| open <= 16)?;
    let end = format!("){}\"", &body[..open]);
    Some(body.find(&end).map_or(rest.len(), |close| 2 + close + end.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(source: &str) -> Vec<&str> {
        tokens(source).into_iter().map(|token| token.text).collect()
    }

    #[test]
    fn comments_strings_and_directives_vanish() {
        assert_eq!(texts("a // b\nc /* d\n e */ f"), ["a", "c", "f"]);
        assert_eq!(texts("a // b \\\n still b\nc"), ["a", "c"]);
        assert_eq!(texts("#define solution \\\n  x\ny # z"), ["y", "#", "z"]);
        assert_eq!(texts(r#"f("so\"lution(", '"', 'x')"#), ["f", "(", ",", ",", ")"]);
        assert_eq!(texts("R\"x(solution \" )\" )x\" z"), ["z"]);
        assert_eq!(texts("1'000 + 'a'"), ["1'000", "+"]);
        assert_eq!(texts("extern \"C\" void"), ["extern", "\"C\"", "void"]);
        assert_eq!(texts("\"unterminated\nx \"C"), ["x"]);
        assert_eq!(texts("/* never closed"), [""; 0]);
        assert_eq!(texts("größe"), ["gr", "ö", "ß", "e"]);
    }
}
