//! Pictures as SVG in the page, made by hand.
//!
//! A picture that scales with its view box has letters of 5 pixels on a phone. So here only the
//! width gives: **x is in per cent, y in pixels**, and letters stay as large as the page's.
//! Labels left of a picture stand at negative x, in the padding that the style sheet leaves. Lines
//! with corners cannot be given in per cent; they lie in an inner picture of 100 units, stretched,
//! whose strokes are not ("non-scaling-stroke").
//!
//! Colours are classes of the style sheet, so that one picture serves light and dark; nothing is
//! said by colour alone. A charting library would have brought its own colours, letters and bytes
//! (a plot of 300 points is 35 KB here), and no links, titles or words for those who listen.

pub mod bars;
pub mod progress;
pub mod roofline;
mod scale;

use std::fmt;

use maud::{Markup, html};

/// A coordinate with the digits that can be seen.
#[derive(Clone, Copy)]
struct Pixels(f64);

impl fmt::Display for Pixels {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", (self.0 * 10.0).round() / 10.0)
    }
}

/// A share of the width, of one.
#[derive(Clone, Copy)]
struct Share(f64);

impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}%", (self.0 * 1e4).round() / 1e2)
    }
}

/// A picture that says what it shows: `name` is unique on its page.
fn picture(name: &str, height: f64, title: &str, description: &str, content: Markup) -> Markup {
    html! {
        svg.scaled height=(Pixels(height)) role="group"
            aria-labelledby={ (name) "-title" } aria-describedby={ (name) "-desc" } {
            title id={ (name) "-title" } { (title) }
            desc id={ (name) "-desc" } { (description) }
            (content)
        }
    }
}

/// A path in units of `1` across and pixels down, stretched to the picture's width.
fn stretched(class: &str, height: f64, path: &str) -> Markup {
    html! {
        svg width="100%" height=(Pixels(height)) viewBox={ "0 0 1000 " (Pixels(height)) }
            preserveAspectRatio="none" aria-hidden="true" {
            path class={ "stretched " (class) } d=(path) {}
        }
    }
}

/// Of a path in [`stretched`]: moves or draws (`command`) to a place.
fn step(path: &mut String, command: char, x: f64, y: f64) {
    path.push_str(&format!("{command}{} {}", Pixels(x * 1000.0), Pixels(y)));
}

/// A dot for each attempt: its place, its page if it has one, and what to say of it.
struct Dot {
    x: f64,
    y: f64,
    href: Option<String>,
    label: String,
}

/// Only the newest are links: a thousand of them would make a page of their own.
const LINKED: usize = 300;

/// Dots for attempts that are not remarkable: reached with a mouse, skipped by the keyboard, which
/// has the table.
fn dots(dots: &[Dot], height: f64) -> Markup {
    let (old, new) = dots.split_at(dots.len().saturating_sub(LINKED));
    let mut path = String::new();
    for dot in old {
        step(&mut path, 'M', dot.x, dot.y);
        path.push_str("h0");
    }
    html! {
        @if !old.is_empty() { (stretched("try", height, &path)) }
        @for dot in new {
            (linked(dot, false, html! { circle.try cx=(Share(dot.x)) cy=(Pixels(dot.y)) r="3.5" {} }))
        }
    }
}

/// A dot that keyboards stop at.
fn record(dot: &Dot) -> Markup {
    linked(dot, true, html! { circle.record cx=(Share(dot.x)) cy=(Pixels(dot.y)) r="5.5" {} })
}

fn linked(dot: &Dot, stop: bool, mark: Markup) -> Markup {
    let titled = html! { g { title { (dot.label) } (mark) } };
    match (&dot.href, stop) {
        (None, _) => titled,
        (Some(href), true) => html! { a href=(href) aria-label=(dot.label) { (titled) } },
        (Some(href), false) => {
            html! { a href=(href) tabindex="-1" aria-hidden="true" { (titled) } }
        }
    }
}
