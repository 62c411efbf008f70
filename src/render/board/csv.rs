//! All boards in one table for spreadsheets, as RFC 4180 has it. Every number in full.

use leaderboard::board::{Board, Row};

const COLUMNS: &str = "problem,revision,device,arch,modelled,rank,attempt,solution,author,\
                       geomean_us,low_us,high_us,sol_percent,behind,indistinct,attempts,created,\
                       message\r\n";

pub fn table(boards: &[Board<'_>]) -> String {
    let mut text = COLUMNS.to_owned();
    for board in boards {
        for row in &board.rows {
            text.push_str(&line(board, row));
        }
    }
    text
}

fn line(board: &Board<'_>, row: &Row<'_>) -> String {
    let best = row.best;
    let number = |value: Option<f64>| value.map(|value| value.to_string()).unwrap_or_default();
    let cells = [
        field(&board.key.problem),
        board.key.revision.to_string(),
        field(&board.key.device.name),
        field(&board.key.device.arch),
        board.key.modelled.to_string(),
        row.rank.to_string(),
        best.id.to_string(),
        field(best.solution()),
        field(&best.author),
        number(best.geomean.map(|time| time.us)),
        number(best.geomean.map(|time| time.interval_us.0)),
        number(best.geomean.map(|time| time.interval_us.1)),
        number(best.sol_percent),
        number(row.behind),
        row.indistinct.to_string(),
        row.attempts.to_string(),
        best.created.to_string(),
        field(best.message.as_deref().unwrap_or_default()),
    ];
    cells.join(",") + "\r\n"
}

/// In quotes where it must be. A text that a spreadsheet would take for a formula begins with an
/// apostrophe, which is how spreadsheets write "this is text".
fn field(text: &str) -> String {
    let formula = text.starts_with(['=', '+', '-', '@', '\t', '\r']);
    let text = format!("{}{text}", if formula { "'" } else { "" });
    match text.contains([',', '"', '\r', '\n']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_quoted_where_they_must_be() {
        assert_eq!(field("plain words"), "plain words");
        assert_eq!(field("a,b"), "\"a,b\"");
        assert_eq!(field("say \"x\"\nthen y"), "\"say \"\"x\"\"\nthen y\"");
        assert_eq!(field("=1+1"), "'=1+1");
    }
}
