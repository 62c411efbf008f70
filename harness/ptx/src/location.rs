//! `.loc` (PTX ISA 11.5.4): which line of CUDA source the instructions that follow come from.
//!
//! ```text
//! .loc 1 7 3, function_name $L__info_string0, inlined_at 1 16 3      amax(), called at 16:3
//! .loc 2 449 9, function_name $L__info_string1, inlined_at 1 7 3     shfl(), called at 7:3
//! ```
//!
//! The second says only where its own call stands. That this call stands in code inlined at 16:3
//! is known from the first, so positions are remembered until the function ends, the latest
//! winning. Function names are offsets into a `.section .debug_str` that stands at the end of the
//! text; it is looked for when the first name is asked for.

use std::collections::HashMap;
use std::sync::Arc;

use super::ast::SourceLocation;
use super::constant::Precedence;
use super::lexer::{Kind, Lexer};
use super::parser::{Parser, Result};

/// Calls followed outwards; what is inlined deeper loses its outermost callers.
const DEEPEST_INLINING: usize = 64;

pub(super) struct Locations<'a> {
    text: &'a str,
    strings: Option<DebugStrings<'a>>,
    inlined: HashMap<(u32, u32, u32), Arc<SourceLocation>>,
}

#[derive(Default)]
struct DebugStrings<'a> {
    labels: HashMap<&'a str, usize>,
    bytes: Vec<u8>,
    names: HashMap<usize, Arc<str>>,
}

impl<'a> Locations<'a> {
    pub fn new(text: &'a str) -> Self {
        Self { text, strings: None, inlined: HashMap::new() }
    }

    /// Forgets the positions of the function before.
    pub fn start_function(&mut self) {
        self.inlined.clear();
    }

    fn name(&mut self, label: &'a str, offset: i64) -> Option<Arc<str>> {
        let strings = self.strings.get_or_insert_with(|| DebugStrings::find(self.text));
        let base = if label == ".debug_str" { 0 } else { *strings.labels.get(label)? };
        let start = base.checked_add_signed(isize::try_from(offset).ok()?)?;
        if let Some(name) = strings.names.get(&start) {
            return Some(Arc::clone(name));
        }
        let tail = strings.bytes.get(start..)?;
        let length = tail.iter().position(|&byte| byte == 0).unwrap_or(tail.len());
        let name: Arc<str> = String::from_utf8_lossy(&tail[..length]).into();
        strings.names.insert(start, Arc::clone(&name));
        Some(name)
    }

    fn caller(&self, file: u32, line: u32, column: u32) -> Arc<SourceLocation> {
        let plain = SourceLocation { file, line, column, inlined_at: None, function: None };
        let Some(known) = self.inlined.get(&(file, line, column)) else { return Arc::new(plain) };
        let callers = std::iter::successors(Some(known), |location| location.inlined_at.as_ref());
        if callers.take(DEEPEST_INLINING).count() == DEEPEST_INLINING {
            return Arc::new(plain);
        }
        Arc::clone(known)
    }

    fn remember(&mut self, location: &SourceLocation) {
        let key = (location.file, location.line, location.column);
        if location.inlined_at.is_some() {
            self.inlined.insert(key, Arc::new(location.clone()));
        } else if !self.inlined.is_empty() {
            self.inlined.remove(&key);
        }
    }
}

impl<'a> DebugStrings<'a> {
    /// Reads `.section .debug_str { label: .b8 95 .b8 90 … }`; whatever else is met ends it.
    fn find(text: &'a str) -> Self {
        let mut found = Self::default();
        let section = text
            .rmatch_indices(".debug_str")
            .find(|&(at, _)| text[..at].trim_ascii_end().ends_with(".section"));
        let Some((at, name)) = section else { return found };
        let body = &text[at + name.len()..];
        let mut lexer = Lexer::new(body);
        if lexer.next().kind != Kind::Punctuation(b'{') {
            return found;
        }
        loop {
            let token = lexer.next();
            let word = &body[token.start as usize..token.end as usize];
            match token.kind {
                Kind::Word => {
                    found.labels.insert(word, found.bytes.len());
                }
                Kind::Number => match word.parse() {
                    Ok(byte) => found.bytes.push(byte),
                    Err(_) => return found,
                },
                Kind::Dotted if word == ".b8" => {}
                Kind::Punctuation(b':' | b',') => {}
                _ => return found,
            }
        }
    }
}

impl<'a> Parser<'a> {
    /// What follows `.loc`.
    pub fn location(&mut self) -> Result<SourceLocation> {
        let (file, line, column) = self.place()?;
        let mut location = SourceLocation { file, line, column, inlined_at: None, function: None };
        while self.eat(b',') {
            match self.word("`function_name` or `inlined_at`")? {
                "function_name" => {
                    if !matches!(self.token.kind, Kind::Word | Kind::Dotted) {
                        return Err(self.unexpected("a label in .debug_str"));
                    }
                    let label = self.advance();
                    let offset = self.offset()?;
                    location.function = self.locations.name(self.slice(label), offset);
                }
                "inlined_at" => {
                    let (file, line, column) = self.place()?;
                    location.inlined_at = Some(self.locations.caller(file, line, column));
                }
                other => {
                    let message = format!("`.loc` has no attribute `{other}`");
                    return Err(self.error_ahead(message));
                }
            }
        }
        self.locations.remember(&location);
        Ok(location)
    }

    fn place(&mut self) -> Result<(u32, u32, u32)> {
        let mut number = |what| self.small_integer(Precedence::PRODUCT, what);
        Ok((number("a file index")?, number("a line")?, number("a column")?))
    }
}
