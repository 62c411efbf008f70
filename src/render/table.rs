//! Columns that line up, whatever is coloured in them.

use anstyle::Style;

use super::{style, words};

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Align {
    Left,
    Centre,
    Right,
}

/// A table without lines: two spaces between columns, a dim heading, two spaces on the left.
/// The last column gives way when the screen is too narrow.
pub struct Table {
    columns: Vec<(String, Align)>,
    rows: Vec<Row>,
}

enum Row {
    Cells(Vec<(Style, String)>),
    /// Text under the row before it, from that column on.
    Remark(usize, String),
}

const GAP: usize = 2;

impl Table {
    pub fn new<S: Into<String>>(columns: impl IntoIterator<Item = (S, Align)>) -> Self {
        Self {
            columns: columns.into_iter().map(|(name, align)| (name.into(), align)).collect(),
            rows: Vec::new(),
        }
    }

    /// Adds a row; cells that are missing on the right stay empty.
    pub fn row(&mut self, cells: Vec<(Style, String)>) {
        self.rows.push(Row::Cells(cells));
    }

    /// Says something more of the last row, in a line of its own that begins under that column.
    pub fn remark(&mut self, column: usize, text: &str) {
        self.rows.push(Row::Remark(column, text.to_owned()));
    }

    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }
}

impl std::fmt::Display for Table {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut widths: Vec<usize> =
            self.columns.iter().map(|(name, _)| words::width(name)).collect();
        for row in &self.rows {
            let Row::Cells(cells) = row else { continue };
            for (width, (_, cell)) in widths.iter_mut().zip(cells) {
                *width = (*width).max(words::width(cell));
            }
        }
        if let Some((last, others)) = widths.split_last_mut() {
            let taken: usize =
                others.iter().filter(|width| **width > 0).map(|width| width + GAP).sum();
            *last = (*last).min(words::COLUMNS.saturating_sub(taken + GAP));
        }
        if self.columns.iter().any(|(name, _)| !name.is_empty()) {
            let heading = self.columns.iter().map(|(name, _)| (style::DIM, name.clone()));
            self.line(f, &widths, heading.collect())?;
        }
        for row in &self.rows {
            match row {
                Row::Cells(cells) => self.line(f, &widths, cells.clone())?,
                Row::Remark(column, text) => {
                    let start: usize = widths[..*column]
                        .iter()
                        .filter(|width| **width > 0)
                        .map(|width| width + GAP)
                        .sum();
                    let text = words::cut(text, words::COLUMNS - start - GAP);
                    writeln!(f, "{:start$}  {}", "", style::paint(style::DIM, text))?;
                }
            }
        }
        Ok(())
    }
}

impl Table {
    fn line(
        &self,
        f: &mut std::fmt::Formatter<'_>,
        widths: &[usize],
        cells: Vec<(Style, String)>,
    ) -> std::fmt::Result {
        let mut line = String::new();
        let mut pending = 0;
        for (index, (style, cell)) in cells.into_iter().enumerate() {
            // A column without a name and without a cell takes no room at all.
            if widths[index] == 0 {
                continue;
            }
            let cell = words::cut(&cell, widths[index]);
            let padding = widths[index] - words::width(&cell);
            let (before, after) = match self.columns[index].1 {
                Align::Left => (0, padding),
                Align::Centre => (padding / 2, padding - padding / 2),
                Align::Right => (padding, 0),
            };
            pending += GAP + before;
            // Nothing is written before an empty cell, so that no line ends in spaces.
            if !cell.is_empty() {
                line.push_str(&" ".repeat(pending));
                line.push_str(&style::paint(style, cell));
                pending = 0;
            }
            pending += after;
        }
        writeln!(f, "{line}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up_and_the_last_one_gives_way() {
        let mut table =
            Table::new([("name", Align::Left), ("time", Align::Right), ("message", Align::Left)]);
        table.row(vec![
            (style::BOLD, "a".into()),
            (style::GOOD, "4.12 µs".into()),
            (style::PLAIN, "word ".repeat(30)),
        ]);
        table.row(vec![(style::PLAIN, "longer".into()), (style::PLAIN, String::new())]);
        let text = anstream::adapter::strip_str(&table.to_string()).to_string();
        assert!(text.lines().all(|line| words::width(line) <= words::COLUMNS), "{text}");
        insta::assert_snapshot!(text, @r"
        name       time  message
        a       4.12 µs  word word word word word word word word word word word word…
        longer
        ");
    }
}
