//! For each size, what share of the speed of light was reached, by up to three attempts.
//!
//! ```text
//! 1024x1024 · light 619 ns          ╎ speed of light
//! ██████▌ d3b3  5.75 µs, 11 %       ╎
//! ██▌ v511  13.9 µs, 4.5 %          ╎
//! ```

use leaderboard::attempt::Size;
use maud::{Markup, html};

use super::{Pixels, Share, picture};
use crate::{render::words, report::text};

/// One attempt's bars.
pub struct Series<'a> {
    /// Its short id.
    pub name: &'a str,
    pub sizes: &'a [Size],
}

const HEADING: f64 = 22.0;
const BAR: f64 = 18.0;
const GAP: f64 = 10.0;
/// Sizes that are drawn; problems have four to nine, a record can claim any number.
const SIZES: usize = 24;

/// Absent where no size was timed. The first series says which sizes there are.
pub fn draw(name: &str, series: &[Series<'_>]) -> Option<Markup> {
    let sizes: Vec<&Size> = series.first()?.sizes.iter().take(SIZES).collect();
    if sizes.is_empty() {
        return None;
    }
    let of = |one: &Series<'_>, size: &Size| -> Option<Size> {
        one.sizes.iter().find(|other| other.name == size.name).cloned()
    };
    let block = HEADING + BAR * series.len() as f64 + GAP;
    let height = 16.0 + block * sizes.len() as f64;
    // The model's floor is a bound, but a GPU's cache can beat what its memory would allow.
    let reached = series.iter().flat_map(|one| one.sizes).map(|size| size.sol_percent);
    let full = reached.filter(|percent| percent.is_finite()).fold(100.0, f64::max);
    let light = 100.0 / full;
    let content = html! {
        text.floor x=(Share(light)) y="10" text-anchor="end" { "speed of light" }
        line.floor x1=(Share(light)) x2=(Share(light)) y1="15" y2=(Pixels(height)) {}
        @for (row, size) in sizes.iter().enumerate() {
            @let top = 16.0 + block * row as f64;
            text y=(Pixels(top + 15.0)) { (text::label(&size.name, 40)) }
            @for (place, one) in series.iter().enumerate() {
                @let y = top + HEADING + BAR * place as f64;
                @if let Some(size) = of(one, size) {
                    (bar(one.name, &size, place, y, (size.sol_percent / full).clamp(0.0, 1.0)))
                } @else {
                    text.tick y=(Pixels(y + 13.0)) { (one.name) " did not run it" }
                }
            }
        }
    };
    let title = "Share of the speed of light at each size";
    let said: Vec<String> = sizes.iter().map(|size| describe(size, series, &of)).collect();
    Some(html! { div.bars { (picture(name, height, title, &said.join(" "), content)) } })
}

fn bar(name: &str, size: &Size, place: usize, y: f64, share: f64) -> Markup {
    let label = format!("{} · {}", words::micros(size.median.us), words::percent(size.sol_percent));
    html! {
        rect class={ "bar b" (place) } y=(Pixels(y + 1.0)) height=(Pixels(BAR - 3.0))
            width=(Share(share)) {}
        @if share < 0.5 {
            text x=(Share(share)) dx="6" y=(Pixels(y + 13.0)) { (name) "  " (label) }
        } @else {
            text.inside dx="6" y=(Pixels(y + 13.0)) { (name) "  " (label) }
        }
    }
}

fn describe(
    size: &Size,
    series: &[Series<'_>],
    of: &dyn Fn(&Series<'_>, &Size) -> Option<Size>,
) -> String {
    let times = series.iter().filter_map(|one| {
        let size = of(one, size)?;
        let (time, share) = (words::micros(size.median.us), words::percent(size.sol_percent));
        Some(format!("{} takes {time}, {share} of it", one.name))
    });
    let times: Vec<String> = times.collect();
    format!(
        "{}: the speed of light is {}; {}.",
        text::label(&size.name, 40),
        words::micros(size.sol_us),
        times.join(", ")
    )
}
