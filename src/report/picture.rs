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

use std::{collections::HashSet, fmt};

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

/// A line from edge to edge.
fn level(class: &str, y: f64) -> Markup {
    html! { line class=(class) x2="100%" y1=(Pixels(y)) y2=(Pixels(y)) {} }
}

fn upright(class: &str, x: f64, from: f64, to: f64) -> Markup {
    let x = Share(x);
    html! { line class=(class) x1=(x) x2=(x) y1=(Pixels(from)) y2=(Pixels(to)) {} }
}

/// A label left of the picture, at that height.
fn left(y: f64, text: impl fmt::Display) -> Markup {
    html! { text.tick x="-8" y=(Pixels(y + 4.0)) text-anchor="end" { (text.to_string()) } }
}

/// An attempt's place in a picture, its page, and what to say of it.
struct Dot {
    x: f64,
    y: f64,
    href: String,
    label: String,
}

/// A picture's dots, oldest first: marks that are all alike are one path, which takes 8 bytes for
/// each instead of 180. The newest `links` of them are links, for the mouse; keyboards have the
/// table and skip them.
struct Dots<'a> {
    dots: &'a [Dot],
    links: usize,
    /// Of the picture.
    height: f64,
    class: &'a str,
    /// The mark in a path, from its place on: "h0" is a point.
    stroke: &'a str,
}

impl Dots<'_> {
    fn draw(&self, mark: impl Fn(&Dot) -> Markup) -> Markup {
        let (plain, links) = self.dots.split_at(self.dots.len().saturating_sub(self.links));
        let mut path = String::new();
        let mut drawn = HashSet::new();
        for dot in plain {
            // Two in one cell cover each other: ten thousand attempts are a few thousand marks.
            if drawn.insert(((dot.x * 450.0) as i64, (dot.y / 2.0) as i64)) {
                step(&mut path, 'M', dot.x, dot.y);
                path.push_str(self.stroke);
            }
        }
        html! {
            @if !path.is_empty() { (stretched(self.class, self.height, &path)) }
            @for dot in links {
                a href=(dot.href) tabindex="-1" aria-hidden="true" {
                    title { (dot.label) }
                    (mark(dot))
                }
            }
        }
    }
}

/// The class of so many marks: smaller ones where they would cover the picture.
fn crowd(marks: usize) -> &'static str {
    if marks > 150 { "many" } else { "few" }
}

fn tries(dots: &[Dot], links: usize, height: f64) -> Markup {
    Dots { dots, links, height, class: "try", stroke: "h0" }.draw(|dot| {
        html! { circle.try cx=(Share(dot.x)) cy=(Pixels(dot.y)) r="3.5" {} }
    })
}

/// Dots that keyboards stop at, if they lead anywhere.
fn records(dots: &[Dot], links: bool) -> Markup {
    html! {
        @for dot in dots {
            @let mark = html! { circle.record cx=(Share(dot.x)) cy=(Pixels(dot.y)) r="5.5" {} };
            @if links {
                a href=(dot.href) aria-label=(dot.label) { title { (dot.label) } (mark) }
            } @else {
                (mark)
            }
        }
    }
}

/// The last so many records are marked as such; before them, the line alone tells.
const RECORDS: usize = 40;

/// The older of the records are no more than tries.
fn demote<T>(mut records: Vec<T>, tries: &mut Vec<T>) -> Vec<T> {
    let surplus = records.len().saturating_sub(RECORDS);
    tries.splice(0..0, records.drain(..surplus));
    records
}
