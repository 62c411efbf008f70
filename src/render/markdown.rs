//! A problem's page in a terminal: the few forms of Markdown that the pages use.
//!
//! Paragraphs, list items and the last column of tables are filled to the screen; code stands as it
//! is written.

use super::{style, words};

/// Cells before each column of a table.
const GAP: usize = 2;

/// What the lines since the last break are.
enum Block {
    Paragraph(String),
    /// Indent of its second line, and its text so far.
    Item(usize, String),
}

pub fn screen(text: &str) -> String {
    let mut out = String::new();
    let mut block: Option<Block> = None;
    let mut rows: Vec<Vec<String>> = Vec::new();
    let mut code = false;
    for line in text.lines() {
        let trimmed = line.trim_start();
        if !rows.is_empty() && !trimmed.starts_with('|') {
            out.push_str(&table(&std::mem::take(&mut rows)));
        }
        if trimmed.starts_with("```") {
            flush(&mut block, &mut out);
            code = !code;
        } else if code {
            out.push_str(format!("  {line}").trim_end());
            out.push('\n');
        } else if trimmed.is_empty() {
            flush(&mut block, &mut out);
            if !out.is_empty() && !out.ends_with("\n\n") {
                out.push('\n');
            }
        } else if let Some(heading) = line.strip_prefix('#') {
            flush(&mut block, &mut out);
            let heading = heading.trim_start_matches('#').trim();
            out.push_str(&format!("{}\n", style::paint(style::BOLD, heading)));
        } else if trimmed.starts_with('|') {
            flush(&mut block, &mut out);
            rows.push(cells(trimmed));
        } else if let Some(marker) = marker(trimmed) {
            flush(&mut block, &mut out);
            let indent = line.len() - trimmed.len() + marker;
            block = Some(Block::Item(indent, line.to_owned()));
        } else {
            match &mut block {
                Some(Block::Paragraph(text) | Block::Item(_, text)) => {
                    text.push(' ');
                    text.push_str(trimmed);
                }
                None => block = Some(Block::Paragraph(trimmed.to_owned())),
            }
        }
    }
    flush(&mut block, &mut out);
    out.push_str(&table(&rows));
    out
}

/// "| a | b |" as ["a", "b"]; a bar in a cell is written `\|`.
fn cells(line: &str) -> Vec<String> {
    let line = line.replace("\\|", "\u{0}");
    let inner = line.trim().trim_start_matches('|').trim_end_matches('|');
    inner.split('|').map(|cell| inline(cell.trim()).replace('\u{0}', "|")).collect()
}

/// Columns that line up. Where they do not fit, the widest gives way and its cells take several
/// lines. The first row is the heading, the second the line of dashes that Markdown asks for.
fn table(rows: &[Vec<String>]) -> String {
    let rows = || rows.iter().take(1).chain(rows.iter().skip(2));
    let columns = rows().map(Vec::len).max().unwrap_or(0);
    let widest = |column| {
        let cells = rows().filter_map(|row: &Vec<String>| row.as_slice().get(column));
        cells.map(|cell: &String| words::width(cell)).max().unwrap_or(0)
    };
    let mut widths: Vec<usize> = (0..columns).map(widest).collect();
    while widths.iter().map(|width| width + GAP).sum::<usize>() > words::COLUMNS {
        match widths.iter_mut().max() {
            Some(width) if *width > 1 => *width -= 1,
            _ => break,
        }
    }
    let mut out = String::new();
    for (index, row) in rows().enumerate() {
        let style = if index == 0 { style::DIM } else { style::PLAIN };
        let cells: Vec<String> =
            row.iter().zip(&widths).map(|(cell, &width)| words::filled(cell, width, 0)).collect();
        let height = cells.iter().map(|cell| cell.lines().count()).max().unwrap_or(0);
        for line in 0..height {
            let mut text = String::new();
            for (cell, width) in cells.iter().zip(&widths) {
                let part = cell.lines().nth(line).unwrap_or_default();
                let padding = width - words::width(part).min(*width);
                text.push_str(&format!("{:GAP$}{}", "", style::paint(style, part)));
                text.push_str(&" ".repeat(padding));
            }
            let end = text.trim_end().len();
            out.push_str(&text[..end]);
            out.push('\n');
        }
    }
    out
}

fn flush(block: &mut Option<Block>, out: &mut String) {
    let (indent, text) = match block.take() {
        Some(Block::Paragraph(text)) => (0, text),
        Some(Block::Item(indent, text)) => (indent, text),
        None => return,
    };
    out.push_str(&words::hanging(&inline(&text), indent));
    out.push('\n');
}

/// Cells of a list's marker: "- ", "1. ".
fn marker(line: &str) -> Option<usize> {
    if line.starts_with("- ") || line.starts_with("* ") {
        return Some(2);
    }
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    (digits > 0 && line[digits..].starts_with(". ")).then_some(digits + 2)
}

/// `code` in colour and **strong** in bold. The marks of code stay: without colour they are all
/// that tells it from the text.
fn inline(text: &str) -> String {
    let mut out = String::new();
    for (index, part) in text.split('`').enumerate() {
        if index % 2 == 1 {
            // Word by word: a line that breaks inside must not carry the colour into its neighbour.
            let code = format!("`{part}`");
            let words: Vec<String> =
                code.split(' ').map(|word| style::paint(style::ACCENT, word)).collect();
            out.push_str(&words.join(" "));
            continue;
        }
        for (index, part) in part.split("**").enumerate() {
            match index % 2 {
                0 => out.push_str(part),
                _ => out.push_str(&style::paint(style::BOLD, part)),
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_forms_that_pages_use() {
        let page = "# Title\nA paragraph that was broken\nsomewhere, with `code` and **weight**.\n\n\
                    - an item, long enough that it does not fit into one line of eighty columns\n  \
                    and goes on\n- another\n\n1. first\n\n```\nx = 1;\n\ny = 2;\n```\n| name | what |\n| --- | --- |\n| `a\\|b` | \
                    something that needs quite a few more than the eighty columns of a terminal |\n\
                    | c | |\n\nafter";
        let text = anstream::adapter::strip_str(&screen(page)).to_string();
        insta::assert_snapshot!(text, @r"
        Title
        A paragraph that was broken somewhere, with `code` and weight.

        - an item, long enough that it does not fit into one line of eighty columns and
          goes on
        - another

        1. first

          x = 1;

          y = 2;
          name   what
          `a|b`  something that needs quite a few more than the eighty columns of a
                 terminal
          c

        after
        ");
    }
}
