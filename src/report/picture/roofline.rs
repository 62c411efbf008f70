//! The roofline: how fast a kernel computes, over how much it computes for each byte it moves
//! (Williams, Waterman and Patterson, Communications of the ACM 52(4), 2009).
//!
//! ```text
//! FLOP/s │            ╱ full bandwidth
//!        │         ╱     ╎
//!        │      ╱    ●   ╎ the least traffic
//!        │   ╱   · ●     ╎
//!        └───────────────────── FLOP per byte of DRAM
//! ```
//!
//! A point under the slope wastes time; a point left of the dashed line moves bytes that it need
//! not. One point for each attempt, the geometric mean over its sizes: under the slope the means
//! keep the inequality that each size obeys. Bytes are those that the emulator counted; a measured
//! attempt has none, so all of those stand on the dashed line. The quantizers are so far left of the
//! corner that a picture with both in it would show neither: the flat roof is drawn where it is
//! near, and named where it is not.

use leaderboard::{Attempt, attempt::Verdict, board::BoardKey, history::Entry};
use maud::{Markup, html};
use problems::{CaseSpec, Problem};
use timing::gpus::{self, Gpu};

use super::{Dot, Pixels, Share, demote, left, level, picture, scale::Log, upright};
use crate::{
    render::words,
    report::site::{self, Site},
};

const HEIGHT: f64 = 300.0;
const AXIS: f64 = 40.0;

/// An attempt as a point.
pub struct Point<'a> {
    pub attempt: &'a Attempt,
    /// It was the fastest when it was made.
    pub is_best: bool,
    /// FLOP for each byte of DRAM.
    pub intensity: f64,
    /// FLOP per second.
    pub rate: f64,
}

pub struct Roofline<'a> {
    pub points: Vec<Point<'a>>,
    gpu: &'static Gpu,
    /// FLOP per byte if every byte is moved once.
    ideal: f64,
    /// Whether bytes were counted.
    counted: bool,
}

impl<'a> Roofline<'a> {
    /// Absent where a point's place is not known: for another revision of a problem than today's,
    /// for a GPU of which nothing is known, and where nothing was accepted.
    pub fn new(site: &'a Site<'a>, key: &BoardKey, entries: &'a [Entry<'a>]) -> Option<Self> {
        let gpu = gpus::for_arch(&key.device.arch)?;
        let problem = problems::find(&key.problem).ok()?;
        if problem.manifest().revision != key.revision {
            return None;
        }
        let cases = problem.bench_cases();
        let mut ideal = None;
        let mut points = Vec::new();
        for entry in entries {
            let Some(attempt) = site.attempts.get(&entry.attempt.id) else { continue };
            let Some((intensity, rate, least)) = place(problem, &cases, attempt) else { continue };
            ideal = Some(least);
            points.push(Point { attempt, is_best: entry.is_best, intensity, rate });
        }
        Some(Self { points, gpu, ideal: ideal?, counted: key.modelled })
    }

    /// The share of the roof above it that a point reaches, of one.
    pub fn reached(&self, point: &Point<'_>) -> f64 {
        point.rate / self.roof(point.intensity)
    }

    /// How much more than needed a point moves: 1 is ideal.
    pub fn traffic(&self, point: &Point<'_>) -> Option<f64> {
        self.counted.then(|| self.ideal / point.intensity)
    }

    fn best(&self) -> Option<&Point<'a>> {
        self.points.iter().max_by(|a, b| a.rate.total_cmp(&b.rate))
    }

    fn roof(&self, intensity: f64) -> f64 {
        (intensity * self.gpu.dram).min(self.gpu.flops)
    }

    fn corner(&self) -> f64 {
        self.gpu.flops / self.gpu.dram
    }

    /// `links` are as in [`super::progress::Progress`].
    pub fn draw(&self, site: &Site<'_>, links: usize, up: &str) -> Option<Markup> {
        let intensities = self.points.iter().map(|point| point.intensity).chain([self.ideal]);
        let mut x = Log::around(intensities.clone().flat_map(|one| [one / 1.5, one * 1.5]))?;
        let near = self.corner() < x.high() * 10.0;
        if near {
            x = Log::around(
                intensities.flat_map(|one| [one / 1.5, one * 1.5, self.corner() * 1.5]),
            )?;
        }
        let roofs = [self.roof(x.low()), self.roof(x.high())];
        let y = Log::around(
            self.points.iter().map(|point| point.rate).chain([roofs[1], self.roof(self.ideal)]),
        )?;
        let bottom = HEIGHT - AXIS;
        let down = |rate: f64| bottom - y.share(rate) * (bottom - 8.0);
        // Where the slope enters the picture: at its left edge, or at its bottom.
        let start = x.low().max(y.low() / self.gpu.dram);
        let end = x.high().min(self.corner());
        let dot = |point: &Point<'_>| self.dot(point, site, up, &x, &down);
        let (records, mut tries): (Vec<_>, Vec<_>) =
            self.points.iter().partition(|point| point.is_best);
        let records: Vec<Dot> = demote(records, &mut tries).into_iter().map(dot).collect();
        let tries: Vec<Dot> = tries.into_iter().map(dot).collect();
        let content = html! {
            @for tick in y.ticks() {
                (level("grid", down(tick)))
                (left(down(tick), scaled(tick)))
            }
            @for tick in x.ticks() {
                (upright("grid", x.share(tick), 8.0, bottom))
                text.tick x=(Share(x.share(tick))) y=(Pixels(bottom + 15.0)) text-anchor="middle" {
                    (words::magnitude(tick))
                }
            }
            (left(HEIGHT - 8.0, "FLOP/s"))
            text.tick x="100%" y=(Pixels(HEIGHT - 4.0)) text-anchor="end" {
                "FLOP for each byte of DRAM"
            }
            line.best x1=(Share(x.share(start))) x2=(Share(x.share(end)))
                y1=(Pixels(down(self.roof(start)))) y2=(Pixels(down(self.roof(end)))) {}
            @if near {
                line.best x1=(Share(x.share(end))) x2="100%"
                    y1=(Pixels(down(self.gpu.flops))) y2=(Pixels(down(self.gpu.flops))) {}
            }
            (upright("floor", x.share(self.ideal), down(self.roof(self.ideal)), bottom))
            g class=(super::crowd(self.points.len())) {
                (super::tries(&tries, links, HEIGHT))
                (super::records(&records, links > 0))
            }
            @if let Some(best) = self.best() { (self.label(best, site, &x, &down)) }
            text."floor halo" x=(Share(x.share(self.ideal))) dx="-6" y=(Pixels(bottom - 8.0))
                text-anchor="end" { "the least traffic" }
            text."best halo" x=(Share(x.share(start))) dx="4" y="22" {
                (scaled(self.gpu.dram)) "B/s, " (self.gpu.name)
            }
        };
        Some(picture("roofline", HEIGHT, "Roofline", &self.description(near), content))
    }

    fn label(
        &self,
        best: &Point<'_>,
        site: &Site<'_>,
        x: &Log,
        down: &dyn Fn(f64) -> f64,
    ) -> Markup {
        let x = x.share(best.intensity);
        let (dx, anchor) = if x < 0.7 { ("10", "start") } else { ("-10", "end") };
        html! {
            text."best halo" x=(Share(x)) y=(Pixels(down(best.rate) + 4.0)) dx=(dx)
                text-anchor=(anchor) {
                (site.ids.of(&best.attempt.id)) " " (words::percent(100.0 * self.reached(best)))
            }
        }
    }

    fn dot(
        &self,
        point: &Point<'_>,
        site: &Site<'_>,
        up: &str,
        x: &Log,
        down: &dyn Fn(f64) -> f64,
    ) -> Dot {
        let id = &point.attempt.id;
        let share = words::percent(100.0 * self.reached(point));
        Dot {
            x: x.share(point.intensity),
            y: down(point.rate),
            href: format!("{up}{}", site::attempt(id)),
            label: format!("{}: {share} of the roof above it", site.ids.of(id)),
        }
    }

    /// What the fastest point says.
    pub fn verdict(&self, site: &Site<'_>) -> String {
        let Some(best) = self.best() else { return String::new() };
        let id = site.ids.of(&best.attempt.id);
        let share = words::percent(100.0 * self.reached(best));
        match self.traffic(best) {
            Some(over) if over >= 1.05 => format!(
                "{id} reaches {share} of what its traffic allows, and moves {over:.2} times the least."
            ),
            Some(_) => format!(
                "{id} reaches {share} of what its traffic allows, and moves no more than it must."
            ),
            None => format!(
                "{id} reaches {share} of the roof, if it moves no more than it must: \
                 bytes are not counted on a GPU."
            ),
        }
    }

    /// What the picture shows, and the roof that it may not show.
    fn description(&self, near: bool) -> String {
        let mut said = format!(
            "One point for each of {}: FLOP per second over FLOP for each byte of DRAM, both \
             logarithmic, under the bandwidth of a {}. Moving every byte once would allow {} FLOP \
             for each byte.",
            words::count(self.points.len() as u64, "accepted attempt"),
            self.gpu.name,
            words::magnitude(self.ideal),
        );
        if !near {
            said.push_str(&format!(
                " The flat roof of {} begins far right of this, at {:.0} FLOP for each byte.",
                self.gpu.path,
                self.corner()
            ));
        }
        said
    }
}

/// Intensity, rate, and the intensity of the least traffic: geometric means over the sizes.
fn place(problem: &Problem, cases: &[CaseSpec], attempt: &Attempt) -> Option<(f64, f64, f64)> {
    let mut logs = [0.0; 3];
    let sizes = &attempt.outcome.sizes;
    if sizes.is_empty() || attempt.outcome.verdict != Verdict::Accepted {
        return None;
    }
    for size in sizes {
        let case = cases.iter().find(|case| case.sizes.to_string() == size.name)?;
        let flops = problem.flops(&case.sizes).ok()?;
        let least = problem.bytes(&case.sizes).ok()?;
        let moved = size.counters.map_or(least, |counters| counters.dram_bytes as f64);
        let seconds = size.median.us / 1e6;
        for (log, value) in logs.iter_mut().zip([flops / moved, flops / seconds, flops / least]) {
            *log += value.ln() / sizes.len() as f64;
        }
    }
    let [intensity, rate, ideal] = logs.map(f64::exp);
    logs.iter().all(|log| log.is_finite()).then_some((intensity, rate, ideal))
}

/// "7.67 T"
fn scaled(value: f64) -> String {
    let (value, unit) = match value {
        v if v >= 1e15 => (v / 1e15, "P"),
        v if v >= 1e12 => (v / 1e12, "T"),
        v if v >= 1e9 => (v / 1e9, "G"),
        v if v >= 1e6 => (v / 1e6, "M"),
        v => (v, ""),
    };
    let digits = format!("{value:.2}");
    format!("{} {unit}", digits.trim_end_matches('0').trim_end_matches('.'))
}
