//! Byte offsets to lines and columns, computed once per text and only when something is reported.

use super::ast::Span;

/// Line starts of one text.
#[derive(Clone, Debug)]
pub struct SourceMap<'a> {
    text: &'a str,
    starts: Vec<u32>,
}

/// Line and column, both counted from 1; the column counts characters, not bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    pub line: u32,
    pub column: u32,
}

impl<'a> SourceMap<'a> {
    pub fn new(text: &'a str) -> Self {
        let breaks = text.bytes().enumerate().filter(|&(_, byte)| byte == b'\n');
        let starts = std::iter::once(0).chain(breaks.map(|(at, _)| at as u32 + 1)).collect();
        Self { text, starts }
    }

    /// Position of a byte offset; one beyond the text is taken as its end.
    pub fn position(&self, offset: u32) -> Position {
        let offset = (offset as usize).min(self.text.len());
        let line = self.starts.partition_point(|&start| start as usize <= offset);
        let before = &self.text.as_bytes()[self.starts[line - 1] as usize..offset];
        // Every character has exactly one byte that is not a continuation byte.
        let characters = before.iter().filter(|&&byte| byte & 0xc0 != 0x80).count();
        Position { line: line as u32, column: characters as u32 + 1 }
    }

    /// Position of the first character of a span.
    pub fn start(&self, span: &Span) -> Position {
        self.position(span.start)
    }

    /// Text of a line counted from 1, without its end; `None` beyond the last.
    pub fn line(&self, line: u32) -> Option<&'a str> {
        let index = (line as usize).checked_sub(1)?;
        let start = *self.starts.get(index)? as usize;
        let end = self.starts.get(index + 1).map_or(self.text.len(), |&next| next as usize - 1);
        Some(self.text[start..end].trim_end_matches('\r'))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_count_lines_and_characters_from_one() {
        let map = SourceMap::new("ab\nµx\r\n\nlast");
        assert_eq!(map.position(0), Position { line: 1, column: 1 });
        assert_eq!(map.position(2), Position { line: 1, column: 3 });
        // `µ` is two bytes and one column.
        assert_eq!(map.position(5), Position { line: 2, column: 2 });
        assert_eq!(map.position(9), Position { line: 4, column: 1 });
        assert_eq!(map.position(999), Position { line: 4, column: 5 });
        assert_eq!(map.line(2), Some("µx"));
        assert_eq!(map.line(3), Some(""));
        assert_eq!(map.line(4), Some("last"));
        assert_eq!(map.line(5), None);
        assert_eq!(map.line(0), None);
    }
}
