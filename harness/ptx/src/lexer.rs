//! Characters to tokens (PTX ISA 4.1 to 4.5), on demand and without allocation.
//!
//! What starts with a dot is one token together with its `::` qualifiers, because that is how
//! instructions are read: `cp.async.bulk.mbarrier::complete_tx::bytes` is the word `cp` and the
//! dotted words `async`, `bulk`, `mbarrier::complete_tx::bytes`. The price is that a literal such
//! as `.5` arrives as a dotted word and is read again by [`Lexer::number_at`].
//!
//! Lexing cannot fail: what is no token becomes [`Kind::Unknown`] and the parser, which knows what
//! it was about to read, complains.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// `mov`, `%r1`, `$L__BB0_1`, `_`.
    Word,
    /// `.u32`, `.L1::no_allocate`, `.1d`; the text of the token includes the dot.
    Dotted,
    /// `42`, `0xFFU`, `0f3F800000`, `1.5e-3`.
    Number,
    /// `"…"`; the text includes the quotes.
    Text,
    /// A single character of punctuation.
    Punctuation(u8),
    ShiftLeft,
    ShiftRight,
    LessEqual,
    GreaterEqual,
    Equal,
    NotEqual,
    And,
    Or,
    /// A character PTX has no use for, a lone dot, or a string or comment that never ends.
    Unknown,
    End,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Token {
    pub kind: Kind,
    pub start: u32,
    pub end: u32,
}

#[derive(Clone)]
pub(super) struct Lexer<'a> {
    bytes: &'a [u8],
    at: usize,
}

const WORD: u8 = 1;
const DIGIT: u8 = 2;
const SPACE: u8 = 4;

/// Class bits of each byte: `followsym` of PTX ISA 4.4, decimal digits, white space.
const CLASS: [u8; 256] = {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let character = byte as u8;
        if character.is_ascii_alphanumeric() || character == b'_' || character == b'$' {
            table[byte] |= WORD;
        }
        if character.is_ascii_digit() {
            table[byte] |= DIGIT;
        }
        if character.is_ascii_whitespace() || character == 0x0b {
            table[byte] |= SPACE;
        }
        byte += 1;
    }
    table
};

impl<'a> Lexer<'a> {
    pub fn new(text: &'a str) -> Self {
        Self { bytes: text.as_bytes(), at: 0 }
    }

    fn peek(&self, ahead: usize) -> u8 {
        self.bytes.get(self.at + ahead).copied().unwrap_or(0)
    }

    fn is(&self, ahead: usize, class: u8) -> bool {
        CLASS[self.peek(ahead) as usize] & class != 0
    }

    fn skip(&mut self, class: u8) {
        while self.is(0, class) {
            self.at += 1;
        }
    }

    fn skip_line(&mut self) {
        while self.at < self.bytes.len() && self.bytes[self.at] != b'\n' {
            self.at += 1;
        }
    }

    /// Skips white space, comments and preprocessor lines. An unterminated comment stays.
    fn skip_blank(&mut self) {
        loop {
            self.skip(SPACE);
            match (self.peek(0), self.peek(1)) {
                (b'/', b'/') | (b'#', _) => self.skip_line(),
                (b'/', b'*') => {
                    let body = &self.bytes[self.at + 2..];
                    match body.windows(2).position(|pair| pair == b"*/") {
                        Some(length) => self.at += length + 4,
                        None => return,
                    }
                }
                _ => return,
            }
        }
    }

    pub fn next(&mut self) -> Token {
        self.skip_blank();
        let start = self.at;
        let kind = if start >= self.bytes.len() { Kind::End } else { self.scan() };
        Token { kind, start: start as u32, end: self.at as u32 }
    }

    /// Reads the token that starts here and leaves the position behind it.
    fn scan(&mut self) -> Kind {
        let first = self.peek(0);
        if self.is(0, DIGIT) {
            return self.number();
        }
        if self.is(0, WORD) || (first == b'%' && self.is(1, WORD)) {
            self.at += 1;
            self.skip(WORD);
            return Kind::Word;
        }
        let pair = match (first, self.peek(1)) {
            (b'<', b'<') => Some(Kind::ShiftLeft),
            (b'>', b'>') => Some(Kind::ShiftRight),
            (b'<', b'=') => Some(Kind::LessEqual),
            (b'>', b'=') => Some(Kind::GreaterEqual),
            (b'=', b'=') => Some(Kind::Equal),
            (b'!', b'=') => Some(Kind::NotEqual),
            (b'&', b'&') => Some(Kind::And),
            (b'|', b'|') => Some(Kind::Or),
            _ => None,
        };
        if let Some(kind) = pair {
            self.at += 2;
            return kind;
        }
        match first {
            b'.' => self.dotted(),
            b'"' => self.string(),
            b'/' if self.peek(1) == b'*' => {
                self.at = self.bytes.len();
                Kind::Unknown
            }
            b',' | b';' | b':' | b'{' | b'}' | b'[' | b']' | b'(' | b')' | b'<' | b'>' | b'+'
            | b'-' | b'*' | b'/' | b'%' | b'&' | b'|' | b'^' | b'!' | b'~' | b'?' | b'=' | b'@' => {
                self.at += 1;
                Kind::Punctuation(first)
            }
            _ => {
                // Take the rest of a multi-byte character too, so that spans can be sliced.
                self.at += 1;
                while self.peek(0) & 0xc0 == 0x80 {
                    self.at += 1;
                }
                Kind::Unknown
            }
        }
    }

    fn dotted(&mut self) -> Kind {
        self.at += 1;
        if !self.is(0, WORD) {
            return Kind::Unknown;
        }
        self.skip(WORD);
        while self.peek(0) == b':' && self.peek(1) == b':' && self.is(2, WORD) {
            self.at += 2;
            self.skip(WORD);
        }
        Kind::Dotted
    }

    fn string(&mut self) -> Kind {
        self.at += 1;
        while self.at < self.bytes.len() {
            match self.bytes[self.at] {
                b'"' => {
                    self.at += 1;
                    return Kind::Text;
                }
                b'\\' => self.at = (self.at + 2).min(self.bytes.len()),
                _ => self.at += 1,
            }
        }
        Kind::Unknown
    }

    /// Digits and letters, a fraction, and an exponent's sign. Whether they mean anything is found
    /// out where the value is read.
    fn number(&mut self) -> Kind {
        let hexadecimal = self.peek(0) == b'0' && matches!(self.peek(1) | 0x20, b'x' | b'f' | b'd');
        let digits = self.at;
        self.skip(WORD);
        if !hexadecimal {
            if self.peek(0) == b'.' {
                self.at += 1;
                self.skip(WORD);
            }
            let exponent = self.at > digits && self.bytes[self.at - 1] | 0x20 == b'e';
            if exponent && matches!(self.peek(0), b'+' | b'-') && self.is(1, DIGIT) {
                self.at += 1;
                self.skip(DIGIT);
            }
        }
        Kind::Number
    }

    /// Reads the number that starts at `start`, a literal without digits before its point.
    pub fn number_at(&mut self, start: u32) -> Token {
        self.at = start as usize;
        self.number();
        Token { kind: Kind::Number, start, end: self.at as u32 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(text: &str) -> Vec<(Kind, &str)> {
        let mut lexer = Lexer::new(text);
        let mut found = Vec::new();
        loop {
            let token = lexer.next();
            if token.kind == Kind::End {
                return found;
            }
            found.push((token.kind, &text[token.start as usize..token.end as usize]));
        }
    }

    #[test]
    fn qualifiers_stay_with_their_modifier() {
        assert_eq!(
            tokens("@!%p1 ld.global.L1::no_allocate.v2.u32 {_,%r<7>}, [a+-4]; // end\n/* x */ $L:"),
            [
                (Kind::Punctuation(b'@'), "@"),
                (Kind::Punctuation(b'!'), "!"),
                (Kind::Word, "%p1"),
                (Kind::Word, "ld"),
                (Kind::Dotted, ".global"),
                (Kind::Dotted, ".L1::no_allocate"),
                (Kind::Dotted, ".v2"),
                (Kind::Dotted, ".u32"),
                (Kind::Punctuation(b'{'), "{"),
                (Kind::Word, "_"),
                (Kind::Punctuation(b','), ","),
                (Kind::Word, "%r"),
                (Kind::Punctuation(b'<'), "<"),
                (Kind::Number, "7"),
                (Kind::Punctuation(b'>'), ">"),
                (Kind::Punctuation(b'}'), "}"),
                (Kind::Punctuation(b','), ","),
                (Kind::Punctuation(b'['), "["),
                (Kind::Word, "a"),
                (Kind::Punctuation(b'+'), "+"),
                (Kind::Punctuation(b'-'), "-"),
                (Kind::Number, "4"),
                (Kind::Punctuation(b']'), "]"),
                (Kind::Punctuation(b';'), ";"),
                (Kind::Word, "$L"),
                (Kind::Punctuation(b':'), ":"),
            ]
        );
    }

    #[test]
    fn numbers_end_where_c_ends_them() {
        assert_eq!(
            tokens("0xeU 1.5e-3 0f3F800000 1e5 0x1e-2 9.0"),
            [
                (Kind::Number, "0xeU"),
                (Kind::Number, "1.5e-3"),
                (Kind::Number, "0f3F800000"),
                (Kind::Number, "1e5"),
                (Kind::Number, "0x1e"),
                (Kind::Punctuation(b'-'), "-"),
                (Kind::Number, "2"),
                (Kind::Number, "9.0"),
            ]
        );
    }

    #[test]
    fn what_never_ends_is_one_unknown_token() {
        assert_eq!(tokens("a /* b"), [(Kind::Word, "a"), (Kind::Unknown, "/* b")]);
        assert_eq!(tokens("\"b\\\""), [(Kind::Unknown, "\"b\\\"")]);
        assert_eq!(tokens("µ ."), [(Kind::Unknown, "µ"), (Kind::Unknown, ".")]);
    }
}
