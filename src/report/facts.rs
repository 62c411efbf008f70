//! Attempts side by side, and what one of them changed: the table that `nibble diff` prints.

use leaderboard::{
    Attempt,
    facts::{Difference, Fact, Subject, Unit, Value, side_by_side},
};
use maud::{Markup, html};

use super::{layout, site::Site, text};
use crate::render::{facts, words};

/// An attempt that `this` is compared with, and what it is to it: "parent".
pub struct Other<'a> {
    pub role: &'a str,
    pub attempt: &'a Attempt,
}

/// The first column is `this`; after each other attempt stands what `this` changed of it.
pub fn table(site: &Site<'_>, this: &Attempt, others: &[Other<'_>]) -> Markup {
    let columns: Vec<Vec<Difference>> =
        others.iter().map(|other| side_by_side(other.attempt, this)).collect();
    let head = html! {
        tr {
            td {}
            th.number scope="col" { (layout::attempt_link(site, &this.id, "../")) }
            @for other in others {
                th.number scope="col" {
                    (other.role) " " (layout::attempt_link(site, &other.attempt.id, "../"))
                }
                th.number scope="col" { "change" }
            }
        }
    };
    let body = html! {
        @for (subject, fact) in facts::rows(&columns) {
            @let row = row(&columns, &subject, fact);
            @if shown(fact, &row) {
                @let own = row.iter().flatten().find_map(|one| one.b.as_ref());
                tr {
                    th scope="row" { (label(&subject, fact)) }
                    td.number { (value(fact, own)) }
                    @for difference in &row {
                        @let theirs = difference.and_then(|one| one.a.as_ref());
                        td.number { (value(fact, theirs)) }
                        td.number { @if let Some(difference) = difference { (change(difference)) } }
                    }
                }
            }
        }
    };
    layout::table("Side by side", head, body)
}

fn row<'a>(
    columns: &'a [Vec<Difference>],
    subject: &Subject,
    fact: Fact,
) -> Vec<Option<&'a Difference>> {
    let find = |rows: &'a Vec<Difference>| {
        rows.iter().find(|row| row.subject == *subject && row.fact == fact)
    };
    columns.iter().map(find).collect()
}

/// Numbers that `this` has, words where they differ: a failed attempt has no times, and a column of
/// dashes beside another's explains nothing.
fn shown(fact: Fact, row: &[Option<&Difference>]) -> bool {
    let number = fact.unit() != Unit::Text && fact != Fact::Revision;
    match number {
        true => row.iter().flatten().any(|difference| difference.b.is_some()),
        false => row.iter().flatten().any(|difference| difference.changed()),
    }
}

fn value(fact: Fact, value: Option<&Value>) -> String {
    let text = facts::value(fact, value);
    // Verdicts have underscores where programs read them.
    text::label(&if fact == Fact::Verdict { text.replace('_', " ") } else { text }, 40)
}

fn label(subject: &Subject, fact: Fact) -> String {
    text::label(&facts::label(subject, fact), 40)
}

/// "-58.5 %", and whether that is better, for those who do not see the colour too.
pub fn change(difference: &Difference) -> Markup {
    let said = match difference.relative() {
        Some(relative) => words::change(1.0, 1.0 + relative),
        None if difference.a.is_some() && difference.b.is_some() && difference.changed() => {
            "changed".to_owned()
        }
        None if difference.changed() => String::new(),
        None => "=".to_owned(),
    };
    html! {
        @match difference.improved().filter(|_| said != "=") {
            Some(true) => span.better { (said) " " small { "better" } },
            Some(false) => span.worse { (said) " " small { "worse" } },
            None => span.dim { (said) },
        }
    }
}
