//! Attempts side by side: times for each size, then what explains them.

use anstyle::Style;
use leaderboard::{
    Attempt,
    facts::{Difference, Fact, Subject, Unit, Value, side_by_side},
};

use super::{
    style,
    table::{Align, Table},
    words,
};

/// An attempt and what its column is called.
pub struct Column<'a> {
    pub name: String,
    pub attempt: &'a Attempt,
}

/// The first column is `this`; each other attempt stands beside what `this` changed of it. Times
/// are always there; the numbers that explain them only where one changed, unless `all` are
/// wanted; words only where they changed.
pub fn table(this: &Column<'_>, others: &[Column<'_>], all: bool) -> Table {
    let mut heading = vec![(String::new(), Align::Left), (this.name.clone(), Align::Right)];
    for other in others {
        heading.push((other.name.clone(), Align::Right));
        heading.push((String::new(), Align::Right));
    }
    let mut table = Table::new(heading);
    let columns: Vec<Vec<Difference>> =
        others.iter().map(|other| side_by_side(other.attempt, this.attempt)).collect();
    for (subject, fact) in rows(&columns) {
        let differences: Vec<Option<&Difference>> = columns
            .iter()
            .map(|rows| rows.iter().find(|row| row.subject == subject && row.fact == fact))
            .collect();
        let changed = differences.iter().flatten().any(|difference| difference.changed());
        let number = fact.unit() != Unit::Text && fact != Fact::Revision;
        if !(changed || fact == Fact::Time || all && number) {
            continue;
        }
        let own = differences.iter().flatten().find_map(|difference| difference.b.as_ref());
        let mut cells =
            vec![(style::PLAIN, label(&subject, fact)), (style::BOLD, value(fact, own))];
        for difference in differences {
            let theirs = difference.and_then(|difference| difference.a.as_ref());
            cells.push((style::PLAIN, value(fact, theirs)));
            cells.push(difference.map(change).unwrap_or_default());
        }
        table.row(cells);
    }
    table
}

/// The times of the sizes first, then what is said of the whole. A kernel's own facts and the
/// other facts of each size are left to `--json`: they would fill the screen.
pub fn rows(columns: &[Vec<Difference>]) -> Vec<(Subject, Fact)> {
    let mut rows: Vec<(Subject, Fact)> = Vec::new();
    let mut take = |wanted: &dyn Fn(&Difference) -> bool| {
        for difference in columns.iter().flatten().filter(|difference| wanted(difference)) {
            let row = (difference.subject.clone(), difference.fact);
            if !rows.contains(&row) {
                rows.push(row);
            }
        }
    };
    take(&|row| matches!(row.subject, Subject::Size(_)) && row.fact == Fact::Time);
    take(&|row| row.subject == Subject::Attempt && row.fact.unit() != Unit::Text);
    take(&|row| row.subject == Subject::Attempt);
    rows
}

pub fn label(subject: &Subject, fact: Fact) -> String {
    match (subject, fact) {
        (Subject::Size(size), Fact::Time) => size.clone(),
        (_, Fact::Time) => "geomean".to_owned(),
        _ => fact.label().to_owned(),
    }
}

/// A fact's value, a dash where there is none.
pub fn value(fact: Fact, value: Option<&Value>) -> String {
    match value {
        None => "–".to_owned(),
        Some(Value::Text(text)) => words::cut(text, 24),
        Some(Value::Number(number)) => self::number(fact, *number),
    }
}

/// A fact's number with its unit.
pub fn number(fact: Fact, number: f64) -> String {
    match fact.unit() {
        Unit::Microseconds => words::micros(number),
        Unit::Bytes => words::bytes(number as u64),
        Unit::Percent => words::percent(number),
        Unit::Share => words::percent(number * 100.0),
        Unit::Count if number.fract() == 0.0 => words::short_count(number),
        Unit::Count => format!("{number:.1}"),
        Unit::Text => String::new(),
    }
}

/// By how much it changed, in the colour of better or worse.
pub fn change(difference: &Difference) -> (Style, String) {
    let style = match difference.improved() {
        Some(true) => style::GOOD,
        Some(false) => style::WARNING,
        None => style::DIM,
    };
    match difference.relative() {
        Some(relative) => (style, words::change(1.0, 1.0 + relative)),
        None if difference.a.is_some() && difference.b.is_some() && difference.changed() => {
            (style, "changed".to_owned())
        }
        None if difference.changed() => (style::DIM, String::new()),
        None => (style::DIM, "=".to_owned()),
    }
}
