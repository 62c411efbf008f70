//! CUDA C++ in colours, by its lexical shape alone: comments, strings, preprocessor lines, numbers,
//! keywords, types, and what CUDA adds. A kernel is read for its structure; a parser would show
//! little more and fail on half-written files, which are recorded too.
//!
//! ```text
//! const float x = 2.0f; // twice
//! ───── ───── ·   ────  ────────
//! word  type      number comment
//! ```
//!
//! Tokens may be longer than a line (a block comment), but each line becomes an element of its own,
//! so that it has a number, and an address that a compiler's message can link to.

use maud::{Markup, html};

use super::text;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Plain,
    Comment,
    Text,
    Preprocessor,
    Number,
    Keyword,
    Type,
    Cuda,
}

impl Kind {
    /// The class in the style sheet.
    fn class(self) -> Option<&'static str> {
        match self {
            Self::Plain => None,
            Self::Comment => Some("sc"),
            Self::Text => Some("ss"),
            Self::Preprocessor => Some("sp"),
            Self::Number => Some("sn"),
            Self::Keyword => Some("sk"),
            Self::Type => Some("st"),
            Self::Cuda => Some("su"),
        }
    }
}

/// Bytes of markup around a token, and around a line.
const TOKEN: usize = 25;
const LINE: usize = 30;

/// The source as numbered lines `L1`, `L2`, …, in at most about `room` bytes of page, and how many
/// lines are left over.
pub fn source(source: &str, room: usize) -> (Markup, usize) {
    let mut used = 0;
    let mut lines: Vec<Vec<(Kind, &str)>> = Vec::new();
    let mut line: Vec<(Kind, &str)> = Vec::new();
    let mut read = 0;
    'tokens: for (kind, token) in Tokens(source) {
        for part in token.split_inclusive('\n') {
            used += TOKEN + part.chars().map(text::escaped).sum::<usize>();
            if used > room {
                break 'tokens;
            }
            line.push((kind, part));
            if part.ends_with('\n') {
                used += LINE;
                read += line.iter().map(|(_, part)| part.len()).sum::<usize>();
                lines.push(std::mem::take(&mut line));
            }
        }
    }
    if used <= room && !line.is_empty() {
        read = source.len();
        lines.push(line);
    }
    let markup = html! {
        @for (index, line) in lines.iter().enumerate() {
            span.line id={ "L" (index + 1) } {
                @for (kind, token) in line {
                    @match kind.class() {
                        Some(class) => span class=(class) { (token) },
                        None => (token),
                    }
                }
            }
        }
    };
    (markup, source[read..].lines().count())
}

/// Every byte of the source is in exactly one token, in order.
struct Tokens<'a>(&'a str);

impl<'a> Iterator for Tokens<'a> {
    type Item = (Kind, &'a str);

    fn next(&mut self) -> Option<Self::Item> {
        let rest = self.0;
        let first = rest.chars().next()?;
        let (kind, length) = match first {
            '/' if rest.starts_with("//") => (Kind::Comment, line_length(rest)),
            '/' if rest.starts_with("/*") => {
                (Kind::Comment, rest[2..].find("*/").map_or(rest.len(), |end| end + 4))
            }
            '"' | '\'' => (Kind::Text, quoted_length(rest, first)),
            '#' => (Kind::Preprocessor, directive_length(rest)),
            '0'..='9' => (Kind::Number, number_length(rest)),
            c if is_word(c) => {
                let length = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
                (word_kind(&rest[..length]), length)
            }
            _ => {
                let ends = |c: char| is_word(c) || matches!(c, '/' | '"' | '\'' | '#');
                let after = first.len_utf8();
                (Kind::Plain, rest[after..].find(ends).map_or(rest.len(), |at| after + at))
            }
        };
        let (token, after) = rest.split_at(length);
        self.0 = after;
        Some((kind, token))
    }
}

fn is_word(c: char) -> bool {
    c == '_' || c.is_alphanumeric()
}

fn line_length(text: &str) -> usize {
    text.find('\n').unwrap_or(text.len())
}

/// To the closing quote, or to the end of the line: an apostrophe in a message spoils one line.
fn quoted_length(text: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            '\n' if !escaped => return at,
            c if c == quote && !escaped => return at + 1,
            c => escaped = c == '\\' && !escaped,
        }
    }
    text.len()
}

/// The directive's word only (`#include`): what follows is ordinary source.
fn directive_length(text: &str) -> usize {
    let spaces = text[1..].find(|c| c != ' ').map_or(text.len(), |at| 1 + at);
    text[spaces..].find(|c| !is_word(c)).map_or(text.len(), |at| spaces + at)
}

/// With its suffix, digit separators and the sign of an exponent: `1'000`, `0x1p-3f`, `1e+5`.
fn number_length(text: &str) -> usize {
    let mut before = ' ';
    for (at, c) in text.char_indices() {
        let sign = matches!(c, '+' | '-') && matches!(before, 'e' | 'E' | 'p' | 'P');
        let hexadecimal = text.starts_with("0x") && matches!(before, 'e' | 'E');
        if !(is_word(c) || c == '.' || c == '\'' || sign && !hexadecimal) {
            return at;
        }
        before = c;
    }
    text.len()
}

fn word_kind(word: &str) -> Kind {
    const KEYWORDS: &[&str] = &[
        "alignas",
        "asm",
        "auto",
        "break",
        "case",
        "class",
        "const",
        "constexpr",
        "continue",
        "default",
        "do",
        "else",
        "enum",
        "extern",
        "false",
        "for",
        "goto",
        "if",
        "inline",
        "namespace",
        "nullptr",
        "operator",
        "private",
        "public",
        "register",
        "reinterpret_cast",
        "return",
        "sizeof",
        "static",
        "static_assert",
        "static_cast",
        "struct",
        "switch",
        "template",
        "this",
        "true",
        "typedef",
        "typename",
        "union",
        "using",
        "volatile",
        "while",
    ];
    const TYPES: &[&str] = &[
        "bool", "char", "double", "float", "half", "int", "long", "short", "signed", "unsigned",
        "void",
    ];
    const CUDA: &[&str] = &["threadIdx", "blockIdx", "blockDim", "gridDim", "warpSize"];
    match word {
        word if KEYWORDS.contains(&word) => Kind::Keyword,
        word if TYPES.contains(&word) || word.ends_with("_t") => Kind::Type,
        word if CUDA.contains(&word) => Kind::Cuda,
        word if word.starts_with("__") || word.starts_with("cuda") => Kind::Cuda,
        word if word.ends_with(['2', '4', '8']) && is_vector(word) => Kind::Type,
        _ => Kind::Plain,
    }
}

/// `float4`, `uint2`.
fn is_vector(word: &str) -> bool {
    let element = &word[..word.len() - 1];
    matches!(element, "float" | "int" | "uint" | "short" | "ushort" | "char" | "uchar" | "double")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(source: &str) -> Vec<(Kind, &str)> {
        Tokens(source).filter(|(kind, _)| *kind != Kind::Plain).collect()
    }

    #[test]
    fn a_line_of_each_kind() {
        assert_eq!(
            kinds("#include \"a.h\" // it's"),
            [(Kind::Preprocessor, "#include"), (Kind::Text, "\"a.h\""), (Kind::Comment, "// it's")]
        );
        assert_eq!(
            kinds("const float4 x = 1e-5f + threadIdx.x / 0x1F;"),
            [
                (Kind::Keyword, "const"),
                (Kind::Type, "float4"),
                (Kind::Number, "1e-5f"),
                (Kind::Cuda, "threadIdx"),
                (Kind::Number, "0x1F")
            ]
        );
        assert_eq!(kinds("'\\'' \"\\\"\"").len(), 2);
        assert_eq!(kinds("/* a\n b */ int").len(), 2);
    }

    /// Whatever is thrown at it: files that stop anywhere, and no CUDA at all.
    #[test]
    fn nothing_is_lost() {
        let kernel = include_str!("../../solutions/mxfp4_quantize/01_thread_per_block.cu");
        let odd = "# \"'\\\u{0}é量\r\n/*\"unclosed 'x\\\n 0x 1' # include /";
        for text in [kernel, odd] {
            for end in (0..=text.len()).filter(|end| text.is_char_boundary(*end)) {
                let joined: String = Tokens(&text[..end]).map(|(_, token)| token).collect();
                assert_eq!(joined, text[..end]);
            }
        }
    }

    #[test]
    fn lines_are_numbered_and_cut_where_the_page_would_burst() {
        let (page, left) = source("a\n/* b\nc */\n", 10_000);
        let page = page.into_string();
        assert!(
            page.contains("<span class=\"line\" id=\"L3\"><span class=\"sc\">c */</span>"),
            "{page}"
        );
        assert_eq!(left, 0);
        let (page, left) = source(&"<b>&\n".repeat(1000), 8000);
        assert!(page.into_string().len() < 8000);
        assert!((800..1000).contains(&left), "{left}");
    }
}
