//! A problem's page in a terminal: the few forms of Markdown that the pages use.
//!
//! Paragraphs and list items are filled to the screen; tables and code stand as they are written.

use super::{style, words};

/// What the lines since the last break are.
enum Block {
    Paragraph(String),
    /// Indent of its second line, and its text so far.
    Item(usize, String),
}

pub fn screen(text: &str) -> String {
    let mut out = String::new();
    let mut block: Option<Block> = None;
    let mut code = false;
    for line in text.lines() {
        let trimmed = line.trim_start();
        if trimmed.starts_with("```") {
            flush(&mut block, &mut out);
            code = !code;
        } else if code {
            out.push_str(format!("    {line}").trim_end());
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
            out.push_str(&format!("  {}\n", inline(line)));
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
            out.push_str(&style::paint(style::ACCENT, format!("`{part}`")));
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
                    and goes on\n- another\n\n1. first\n\n```\nx = 1;\n\ny = 2;\n```\n| a | b |\n";
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
          | a | b |
        ");
    }
}
