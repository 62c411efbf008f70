//! The parser's hands: one token of lookahead and the errors made from it.
//!
//! The grammar itself is spread over the sibling files, one `impl Parser` each.

use super::ast::Span;
use super::error::ParseError;
use super::lexer::{Kind, Lexer, Token};
use super::location::Locations;

pub(super) type Result<T> = std::result::Result<T, ParseError>;

/// Nesting of scopes, initializers and expressions at which the text is refused: nvcc stays below
/// ten, and the stack of a thread holds several times this.
const DEEPEST: u32 = 128;

pub(super) struct Parser<'a> {
    pub text: &'a str,
    pub locations: Locations<'a>,
    lexer: Lexer<'a>,
    /// The token not yet consumed.
    pub token: Token,
    /// End of the token consumed last.
    pub consumed: u32,
    depth: u32,
}

impl<'a> Parser<'a> {
    /// Fails for a text beyond 4 GiB, whose offsets do not fit a [`Span`].
    pub fn new(text: &'a str) -> Result<Self> {
        if u32::try_from(text.len()).is_err() {
            return Err(ParseError::new("the text is larger than 4 GiB", 0..0));
        }
        let mut lexer = Lexer::new(text);
        let token = lexer.next();
        let locations = Locations::new(text);
        Ok(Self { text, locations, lexer, token, consumed: 0, depth: 0 })
    }

    pub fn advance(&mut self) -> Token {
        let token = std::mem::replace(&mut self.token, self.lexer.next());
        self.consumed = token.end;
        token
    }

    pub fn slice(&self, token: Token) -> &'a str {
        &self.text[token.start as usize..token.end as usize]
    }

    /// Text of the token not yet consumed.
    pub fn ahead(&self) -> &'a str {
        self.slice(self.token)
    }

    pub fn is(&self, punctuation: u8) -> bool {
        self.token.kind == Kind::Punctuation(punctuation)
    }

    pub fn eat(&mut self, punctuation: u8) -> bool {
        let found = self.is(punctuation);
        if found {
            self.advance();
        }
        found
    }

    pub fn expect(&mut self, punctuation: u8, after: &str) -> Result<()> {
        if self.eat(punctuation) {
            return Ok(());
        }
        Err(self.unexpected(&format!("`{}` {after}", punctuation as char)))
    }

    pub fn word(&mut self, expected: &str) -> Result<&'a str> {
        if self.token.kind != Kind::Word {
            return Err(self.unexpected(expected));
        }
        let token = self.advance();
        Ok(self.slice(token))
    }

    /// The dotted word ahead, without its dot.
    pub fn dotted(&self) -> Option<&'a str> {
        (self.token.kind == Kind::Dotted).then(|| &self.ahead()[1..])
    }

    pub fn eat_dotted(&mut self) -> Option<&'a str> {
        let name = self.dotted()?;
        self.advance();
        Some(name)
    }

    /// A string, without its quotes.
    pub fn string(&mut self, expected: &str) -> Result<&'a str> {
        if self.token.kind != Kind::Text {
            return Err(self.unexpected(expected));
        }
        let quoted = self.advance();
        Ok(&self.text[quoted.start as usize + 1..quoted.end as usize - 1])
    }

    /// The lexer as it stands behind the token ahead, to look one token further.
    pub fn fork(&self) -> Lexer<'a> {
        self.lexer.clone()
    }

    /// Turns the dotted word ahead, the `.5` of a literal, into a number.
    pub fn relex_number(&mut self) {
        self.token = self.lexer.number_at(self.token.start);
    }

    pub fn span_from(&self, start: u32) -> Span {
        start..self.consumed.max(start)
    }

    /// Runs `parse` one level deeper, or refuses the text where it nests without end.
    pub fn nested<T>(&mut self, parse: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        if self.depth == DEEPEST {
            let message = format!("nested more than {DEEPEST} levels deep");
            return Err(self.error_ahead(message));
        }
        self.depth += 1;
        let result = parse(self);
        self.depth -= 1;
        result
    }

    pub fn error_ahead(&self, message: impl Into<String>) -> ParseError {
        ParseError::new(message, self.token.start..self.token.end)
    }

    pub fn unexpected(&self, expected: &str) -> ParseError {
        const LONGEST: usize = 40;
        let text = self.ahead();
        let found = match self.token.kind {
            Kind::End => "the end of the text".into(),
            Kind::Unknown if text.starts_with("/*") => "a comment that never ends".into(),
            Kind::Unknown if text.starts_with('"') => "a string that never ends".into(),
            _ if text.chars().count() > LONGEST => {
                format!("`{}…`", text.chars().take(LONGEST).collect::<String>())
            }
            _ => format!("`{text}`"),
        };
        self.error_ahead(format!("expected {expected}, found {found}"))
    }
}
