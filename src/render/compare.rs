//! Which of two is faster, size by size, and what explains it.

use anstyle::Style;
use judge::report::{Report, Verdict};
use leaderboard::{
    Attempt, AttemptId, ShortIds,
    compare::{Call, Comparison, Effect},
    facts::{Difference, Fact, Subject, Unit},
};
use serde::Serialize;
use timing::model::APART;

use super::{
    facts, json, report, style,
    table::{Align, Table},
    words,
};

/// One of the two.
pub struct Side<'a> {
    /// What names it on the command line.
    pub typed: &'a str,
    pub attempt: Option<&'a Attempt>,
    pub report: &'a Report,
}

/// All that is known when it is over.
pub struct Compared<'a> {
    pub a: Side<'a>,
    pub b: Side<'a>,
    /// Absent where one of them was not accepted.
    pub comparison: Option<&'a Comparison>,
    pub pairs: u16,
    pub seed: u64,
    pub facts: Vec<Difference>,
}

#[derive(Serialize)]
struct Object<'a> {
    schema: u32,
    a: OfSide<'a>,
    b: OfSide<'a>,
    modelled: bool,
    seed: u64,
    sizes: Vec<OfSize<'a>>,
    geomean: Option<Effect>,
    facts: &'a [Difference],
}

#[derive(Serialize)]
struct OfSide<'a> {
    attempt: Option<&'a AttemptId>,
    report: json::Solved<'a>,
}

impl<'a> OfSide<'a> {
    fn of(side: &Side<'a>) -> Self {
        Self {
            attempt: side.attempt.map(|attempt| &attempt.id),
            report: json::solved(side.report, json::Recorded::default()),
        }
    }
}

#[derive(Serialize)]
struct OfSize<'a> {
    name: &'a str,
    a_us: f64,
    b_us: f64,
    /// Of blocks; none where times are modelled.
    pairs: usize,
    effect: Effect,
}

impl Compared<'_> {
    pub fn object(&self) -> String {
        let modelled = self.a.report.modelled;
        let sizes = self.sizes().map(|(name, a_us, b_us, effect, pairs)| OfSize {
            name,
            a_us,
            b_us,
            pairs: if modelled { 0 } else { pairs },
            effect,
        });
        json::line(&Object {
            schema: json::SCHEMA,
            a: OfSide::of(&self.a),
            b: OfSide::of(&self.b),
            modelled,
            seed: self.seed,
            sizes: sizes.collect(),
            geomean: self.comparison.map(|comparison| comparison.geomean),
            facts: &self.facts,
        })
    }

    pub fn screen(&self, ids: &ShortIds) -> String {
        let Some(comparison) = self.comparison else { return self.refusal() };
        let mut text = format!("{}{}", named("A", &self.a, ids), named("B", &self.b, ids));
        let Report { problem, device, .. } = self.a.report;
        text.push_str(&format!("  {problem} on {}, {}\n\n", device.name, device.arch));
        text.push_str(&self.times(comparison).to_string());
        let why = self.why();
        if !why.is_empty() {
            text.push_str(&format!("\n{why}"));
        }
        text.push_str(&format!("\n{}", self.verdict(comparison)));
        text
    }

    /// Name, time of A, time of B, effect and pairs of each size.
    fn sizes(&self) -> impl Iterator<Item = (&str, f64, f64, Effect, usize)> {
        let times = self.a.report.bench.iter().zip(&self.b.report.bench);
        let effects = self.comparison.iter().flat_map(|comparison| &comparison.sizes);
        times
            .zip(effects)
            .map(|((a, b), of)| (a.name.as_str(), a.median_us, b.median_us, of.effect, of.pairs))
    }

    fn times(&self, comparison: &Comparison) -> Table {
        let modelled = self.a.report.modelled;
        let mut table = Table::new([
            ("size", Align::Left),
            ("A", Align::Right),
            ("B", Align::Right),
            ("B against A", Align::Right),
            (if modelled { "" } else { "95 % interval" }, Align::Right),
            ("", Align::Left),
        ]);
        let mut row = |style, name: &str, a: f64, b: f64, effect: Effect| {
            let interval = if modelled { String::new() } else { interval(effect) };
            table.row(vec![
                (style, name.to_owned()),
                (style, words::micros(a)),
                (style, words::micros(b)),
                (style, relative(effect)),
                (style::DIM, interval),
                (of(effect.call), word(effect.call).to_owned()),
            ]);
        };
        for (name, a, b, effect, _) in self.sizes() {
            row(style::PLAIN, name, a, b, effect);
        }
        let geomeans = self.a.report.geomean_us.zip(self.b.report.geomean_us);
        if let Some((a, b)) = geomeans {
            row(style::BOLD, "geomean", a, b, comparison.geomean);
        }
        table
    }

    /// What explains it, over all sizes: the numbers, also where they are the same, and the words
    /// that changed.
    fn why(&self) -> Table {
        let mut table = Table::new([
            ("", Align::Left),
            ("A", Align::Right),
            ("B", Align::Right),
            ("", Align::Right),
        ]);
        let explains = |row: &&Difference| {
            row.subject == Subject::Attempt
                && (row.changed() || row.fact.unit() != Unit::Text)
                && !matches!(row.fact, Fact::Time | Fact::SpeedOfLight | Fact::Revision)
        };
        for row in self.facts.iter().filter(explains) {
            let change = facts::change(row);
            let change = if row.fact.unit() == Unit::Text { Default::default() } else { change };
            table.row(vec![
                (style::PLAIN, row.fact.label().to_owned()),
                (style::PLAIN, facts::value(row.fact, row.a.as_ref())),
                (style::PLAIN, facts::value(row.fact, row.b.as_ref())),
                change,
            ]);
        }
        table
    }

    fn verdict(&self, comparison: &Comparison) -> String {
        let effect = comparison.geomean;
        let how = match self.a.report.modelled {
            true => {
                format!("by the model, which tells apart what differs by {:.0} %", 100.0 * APART)
            }
            false => format!("(95 % interval {})", interval(effect)),
        };
        let by = format!("{:+.1} %", effect.relative * 100.0);
        let call = style::paint(of(effect.call).bold(), word(effect.call));
        let said = match effect.call {
            Call::Faster | Call::Slower => format!("B is {call}: {by} {how}"),
            Call::Same => format!("A and B take the {call} time: {by} {how}"),
            Call::Unclear => format!("{call} which is faster: {by} {how}"),
        };
        let mut text = format!("{}\n", words::hanging(&said, 2));
        if let Some((command, why)) = self.next(effect.call) {
            let next = style::paint(style::DIM, "next:");
            let next = format!("{next} {}", style::paint(style::ACCENT, command));
            // A command stays in one piece; what it is for is said where there is room.
            let said = format!("{next}  {}", style::paint(style::DIM, why));
            let fits = words::width(&said) <= words::COLUMNS;
            text.push_str(&format!("{}\n", if fits { said } else { next }));
        }
        text
    }

    fn next(&self, call: Call) -> Option<(String, &'static str)> {
        let (a, b) = (self.a.typed, self.b.typed);
        match call {
            Call::Unclear if self.a.report.modelled => {
                Some((format!("nibble compare {a} {b} --device cuda"), "a GPU tells them apart"))
            }
            Call::Unclear => {
                let pairs = u32::from(self.pairs) * 3;
                Some((format!("nibble compare {a} {b} --pairs {pairs}"), "three times as long"))
            }
            Call::Faster if self.b.attempt.is_none() => {
                Some((format!("nibble submit {b}"), "put it on the board"))
            }
            _ if self.a.attempt.is_some() && self.b.attempt.is_some() => {
                Some((format!("nibble diff {a} {b}"), "what is different in their sources"))
            }
            _ => None,
        }
    }

    /// Who was not accepted, in full.
    fn refusal(&self) -> String {
        let mut text = String::new();
        for (letter, side) in [("A", &self.a), ("B", &self.b)] {
            if side.report.verdict != Verdict::Accepted {
                let screen = report::screen(side.report);
                text.push_str(&format!("{} {screen}\n", style::paint(style::BOLD, letter)));
            }
        }
        text.push_str("nothing was timed: only accepted solutions can be compared\n");
        text
    }
}

/// "A  solutions/…/k.cu  attempt v511", and what its author said of it.
fn named(letter: &str, side: &Side<'_>, ids: &ShortIds) -> String {
    let file = &side.report.file;
    let mut line = format!("{}  {file}", style::paint(style::BOLD, letter));
    if let Some(attempt) = side.attempt {
        let id = style::paint(style::ACCENT, ids.of(&attempt.id));
        line.push_str(&format!("  attempt {id}"));
        if let Some(message) = &attempt.message {
            let message = words::cut(message, 60);
            line.push_str(&format!("\n{}", style::paint(style::DIM, message)));
        }
    }
    format!("{}\n", words::hanging(&line, 3))
}

fn relative(effect: Effect) -> String {
    words::change(1.0, 1.0 + effect.relative)
}

/// "-1.4 … -0.9 %"
fn interval(effect: Effect) -> String {
    let (low, high) = effect.interval;
    format!("{:+.1} … {:+.1} %", low * 100.0, high * 100.0)
}

fn word(call: Call) -> &'static str {
    match call {
        Call::Faster => "FASTER",
        Call::Slower => "SLOWER",
        Call::Same => "SAME",
        Call::Unclear => "UNCLEAR",
    }
}

fn of(call: Call) -> Style {
    match call {
        Call::Faster => style::GOOD,
        Call::Slower => style::BAD,
        Call::Same => style::PLAIN,
        Call::Unclear => style::WARNING,
    }
}
