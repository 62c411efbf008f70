//! How fast each attempt was, in the order of time, and the best so far.
//!
//! ```text
//! failed │    ı  ıı            ı
//!  50 µs │ ●─┐      ·
//!  20 µs │   └──●───────┐  ·
//!  10 µs │              └●────────  9.8 µs
//!        │ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─  speed of light
//! ```
//!
//! Attempts stand at equal distances: a day's work is bursts and nights, and in true time all of it
//! would lie in a few columns. Failed ones have no time, so they have a lane of their own.

use leaderboard::{AttemptId, attempt::Verdict, history::Entry};
use maud::{Markup, html};

use super::{
    Dot, Dots, Pixels, Share, demote, left, level, picture, scale::Log, step, stretched, upright,
};
use crate::{
    record as translation,
    render::{style, words},
    report::site::{self, Site},
};

pub struct Progress<'a> {
    pub site: &'a Site<'a>,
    /// Oldest first.
    pub entries: &'a [Entry<'a>],
    /// The least time that the sizes can take, their geometric mean, microseconds.
    pub floor_us: Option<f64>,
    /// The attempt whose page this is on.
    pub here: Option<&'a AttemptId>,
    /// Points that are links, of each kind; none makes it a thumbnail.
    pub links: usize,
    pub height: f64,
    /// What leads from the page to the report's folder.
    pub up: &'a str,
    /// Unique on the page.
    pub name: &'a str,
}

/// Height of the lane of failed attempts, and of the dates below.
const LANE: f64 = 20.0;
const DATES: f64 = 22.0;

impl Progress<'_> {
    /// Absent where nothing was accepted: there is no time to draw.
    pub fn draw(&self) -> Option<Markup> {
        let times = self.entries.iter().filter_map(accepted);
        let scale = Log::around(times.chain(self.floor_us))?;
        let best = self.entries.last()?.best_us?;
        let bottom = self.height - DATES;
        let y = |us: f64| bottom - scale.share(us) * (bottom - LANE - 6.0);
        let label_y = match self.floor_us.map(|floor| y(floor) - y(best)) {
            Some(room) if room < 34.0 => y(best) - 8.0,
            _ => y(best) + 16.0,
        };
        let (tries, records) = self.dots(&y);
        let (first, last) = self.dates();
        let content = html! {
            rect.lane width="100%" height=(LANE) {}
            (left(LANE / 2.0, "failed"))
            @for tick in scale.ticks() {
                (level("grid", y(tick)))
                (left(y(tick), round(tick)))
            }
            @if let Some(floor) = self.floor_us { (level("floor", y(floor))) }
            (stretched("best", self.height, &self.best_line(&y)))
            g class=(super::crowd(self.entries.len())) {
                (self.failed())
                (super::tries(&tries, self.links, self.height))
                (super::records(&records, self.links > 0))
            }
            @if let Some((x, y)) = self.here(&y) {
                circle.here cx=(Share(x)) cy=(Pixels(y)) r="9" {}
            }
            @if let Some(floor) = self.floor_us {
                text."floor halo" y=(Pixels(y(floor) - 5.0)) {
                    "speed of light " (words::micros(floor))
                }
            }
            text."best halo" x="100%" y=(Pixels(label_y)) text-anchor="end" {
                (words::micros(best))
            }
            @for (place, x, anchor) in [(first, "0", "start"), (last, "100%", "end")] {
                text.tick x=(x) y=(Pixels(self.height - 4.0)) text-anchor=(anchor) { (place) }
            }
        };
        let title = "Time of each attempt, and the best so far";
        Some(picture(self.name, self.height, title, &self.description(best), content))
    }

    fn description(&self, best: f64) -> String {
        let failed = self.entries.iter().filter(|entry| accepted(entry).is_none()).count();
        let records = self.entries.iter().filter(|entry| entry.is_best).count();
        let first = self.entries.iter().find_map(accepted).unwrap_or(best);
        let mut said = format!(
            "{}, oldest left, {failed} of them failed. Lower is faster. The best so far fell from \
             {} to {} in {}.",
            words::count(self.entries.len() as u64, "attempt"),
            words::micros(first),
            words::micros(best),
            words::count(records as u64, "record"),
        );
        if let Some(floor) = self.floor_us {
            said.push_str(&format!(" The speed of light is {}.", words::micros(floor)));
        }
        said
    }

    /// When the first was made, and the last; with the time where it was the same day.
    fn dates(&self) -> (String, String) {
        let [Some(first), Some(last)] = [self.entries.first(), self.entries.last()] else {
            return Default::default();
        };
        let said = |entry: &Entry<'_>, format| entry.attempt.created.strftime(format).to_string();
        match (said(first, "%F"), said(last, "%F")) {
            _ if self.entries.len() == 1 => (said(first, "%F %R"), String::new()),
            (one, other) if one == other => (said(first, "%F %R"), said(last, "%R")),
            dates => dates,
        }
    }

    fn x(&self, index: usize) -> f64 {
        (index as f64 + 0.5) / self.entries.len() as f64
    }

    /// From the first accepted attempt to the right edge.
    fn best_line(&self, y: &dyn Fn(f64) -> f64) -> String {
        let mut path = String::new();
        let mut before = None;
        for (index, entry) in self.entries.iter().enumerate() {
            let Some(best) = entry.best_us.filter(|_| entry.is_best) else { continue };
            match before {
                None => step(&mut path, 'M', self.x(index), y(best)),
                Some(before) => {
                    step(&mut path, 'L', self.x(index), y(before));
                    step(&mut path, 'L', self.x(index), y(best));
                }
            }
            before = Some(best);
        }
        if let Some(best) = before {
            step(&mut path, 'L', 1.0, y(best));
        }
        path
    }

    /// Those that were accepted, and those of them that were the fastest until then.
    fn dots(&self, y: &dyn Fn(f64) -> f64) -> (Vec<Dot>, Vec<Dot>) {
        let (mut tries, mut records) = (Vec::new(), Vec::new());
        for (index, entry) in self.entries.iter().enumerate() {
            if let Some(us) = accepted(entry) {
                let dots = if entry.is_best { &mut records } else { &mut tries };
                dots.push(self.dot(index, y(us), &words::micros(us)));
            }
        }
        let records = demote(records, &mut tries);
        (tries, records)
    }

    fn dot(&self, index: usize, y: f64, result: &str) -> Dot {
        let attempt = self.entries[index].attempt;
        Dot {
            x: self.x(index),
            y,
            href: format!("{}{}", self.up, site::attempt(&attempt.id)),
            label: format!("{} {result}", self.site.ids.of(&attempt.id)),
        }
    }

    fn failed(&self) -> Markup {
        let failed: Vec<Dot> = (0..self.entries.len())
            .filter(|index| accepted(&self.entries[*index]).is_none())
            .map(|index| {
                let verdict = translation::reported(self.entries[index].attempt.verdict);
                self.dot(index, 4.0, style::words(verdict))
            })
            .collect();
        let (links, height) = (self.links, self.height);
        Dots { dots: &failed, links, height, class: "failed", stroke: "v12" }
            .draw(|dot| upright("failed", dot.x, dot.y, dot.y + 12.0))
    }

    fn here(&self, y: &dyn Fn(f64) -> f64) -> Option<(f64, f64)> {
        let here = self.here?;
        let index = self.entries.iter().position(|entry| entry.attempt.id == *here)?;
        Some((self.x(index), accepted(&self.entries[index]).map_or(LANE / 2.0, y)))
    }
}

fn accepted(entry: &Entry<'_>) -> Option<f64> {
    let attempt = entry.attempt;
    attempt.geomean.filter(|_| attempt.verdict == Verdict::Accepted).map(|time| time.us)
}

/// A tick's time: round already, so without the digits that say so.
fn round(us: f64) -> String {
    let text = words::micros(us);
    match text.split_once(' ') {
        Some((number, unit)) if number.contains('.') => {
            format!("{} {unit}", number.trim_end_matches('0').trim_end_matches('.'))
        }
        _ => text,
    }
}
