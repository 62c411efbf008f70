//! A board as a table for a README or an issue.

use jiff::Timestamp;
use leaderboard::{ShortIds, board::Board};

use super::{other_revision, place};
use crate::render::words;

pub fn table(board: &Board<'_>, ids: &ShortIds, now: Timestamp) -> String {
    let mut text = format!("### {}\n\n{}", board.key.problem, place(&board.key));
    if let Some(note) = other_revision(&board.key) {
        text.push_str(&format!("; {note}"));
    }
    text.push_str("\n\n");
    text.push_str("| # | attempt | solution | by | geomean | behind | % SOL | age | message |\n");
    text.push_str("| ---: | --- | --- | --- | ---: | ---: | ---: | ---: | --- |\n");
    for row in &board.rows {
        let best = row.best;
        let time = best.geomean.map(|time| match board.key.modelled {
            true => words::micros(time.us),
            false => {
                let (low, high) = time.interval_us;
                format!("{} ±{:.1} %", words::micros(time.us), (high - low) / 2.0 / time.us * 100.0)
            }
        });
        let behind = row.behind.map(|behind| words::change(1.0, 1.0 + behind));
        let cells = [
            row.rank.to_string(),
            format!("`{}`", ids.of(&best.id)),
            cell(best.solution()),
            cell(&best.author),
            time.unwrap_or_default(),
            format!("{}{}", if row.indistinct { "~" } else { "" }, behind.unwrap_or_default()),
            best.sol_percent.map(words::percent).unwrap_or_default(),
            words::age(best.created, now),
            cell(best.message.as_deref().unwrap_or_default()),
        ];
        text.push_str(&format!("| {} |\n", cells.join(" | ")));
    }
    text
}

/// One line in which nothing is markup.
fn cell(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            c if c.is_control() => out.push(' '),
            '\\' | '|' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '#' => out.extend(['\\', c]),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_people_write_stays_in_its_cell() {
        assert_eq!(cell("a|b\n`c` <img>"), "a\\|b \\`c\\` \\<img\\>");
    }
}
