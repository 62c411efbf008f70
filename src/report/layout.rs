//! What every page has around its own content, and the small pieces that several pages share.

use jiff::Timestamp;
use leaderboard::{AttemptId, attempt::Verdict};
use maud::{DOCTYPE, Markup, html};

use super::{
    site::{self, Site},
    text,
};
use crate::{record, render::style};

pub const STYLE: &str = include_str!("style.css");

/// No page runs a script, whatever might have slipped into it.
const POLICY: &str = "script-src 'none'; object-src 'none'; base-uri 'none'; form-action 'none'";

/// One page: where it is, and what it shows.
pub struct Page {
    /// Relative to the report's folder: "boards/x.html".
    pub path: String,
    pub title: String,
    /// The way up: addresses relative to the report's folder, and names. Empty on the first page.
    pub above: Vec<(String, String)>,
    pub content: Markup,
}

impl Page {
    pub fn render(&self, site: &Site<'_>) -> String {
        let up = up(&self.path);
        let page = html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    meta name="color-scheme" content="light dark";
                    meta http-equiv="Content-Security-Policy" content=(POLICY);
                    title { (self.title) " · nibble" }
                    link rel="icon" href="data:,";
                    link rel="stylesheet" href={ (up) "style.css" };
                }
                body {
                    a.skip href="#content" { "Skip to the content" }
                    header {
                        nav aria-label="Where you are" {
                            ol {
                                @for (path, name) in &self.above {
                                    li { a href={ (up) (path) } { bdi { (name) } } }
                                }
                                li aria-current="page" { bdi { (self.title) } }
                            }
                        }
                    }
                    main id="content" { (self.content) }
                    footer {
                        p {
                            "Written by nibble " (env!("CARGO_PKG_VERSION")) " on " (moment(site.made))
                            ". A modelled time is computed from what the emulator counts, "
                            "a measured one read from a GPU's clock; the two are never on one board."
                        }
                    }
                }
            }
        };
        // Once for all: whatever a template forgot.
        text::visible(&page.into_string()).into_owned()
    }
}

/// What leads from a page to the report's folder.
fn up(path: &str) -> &'static str {
    if path.contains('/') { "../" } else { "" }
}

/// "2026-08-12 14:30 UTC"
pub fn moment(moment: Timestamp) -> Markup {
    html! {
        time datetime=(moment.strftime("%FT%TZ")) { (moment.strftime("%F %R")) " UTC" }
    }
}

/// A table that may be wider than a phone: it scrolls by itself, by keyboard too, and the page
/// does not.
pub fn table(caption: &str, head: Markup, body: Markup) -> Markup {
    html! {
        div.scroll role="region" aria-label=(caption) tabindex="0" {
            table {
                caption { (caption) }
                thead { (head) }
                tbody { (body) }
            }
        }
    }
}

/// A heading row. A name that begins with `>` heads a column of numbers.
pub fn heading(names: &[&str]) -> Markup {
    html! {
        tr {
            @for name in names {
                @match name.strip_prefix('>') {
                    Some(name) => th.number scope="col" { (name) },
                    None => th scope="col" { (name) },
                }
            }
        }
    }
}

/// An attempt's short id, leading to its page.
pub fn attempt_link(site: &Site<'_>, id: &AttemptId, up: &str) -> Markup {
    html! {
        @if site.attempts.contains_key(id) {
            a.id href={ (up) (site::attempt(id)) } { (site.ids.of(id)) }
        } @else {
            span.id { (site.ids.of(id)) }
        }
    }
}

/// The verdict as a sign and a word: no reader needs its colour.
pub fn verdict(verdict: Verdict) -> Markup {
    let reported = record::reported(verdict);
    html! {
        span class={ "verdict " (verdict.word()) } {
            span aria-hidden="true" { (style::symbol(reported)) } " " (style::words(reported))
        }
    }
}

/// What users call something, in one line of at most so many letters.
pub fn named(text: &str, letters: usize) -> Markup {
    html! { bdi { (text::label(text, letters)) } }
}

/// A picture's frame: the picture says itself what it shows, and `numbers` says it again for those
/// who do not see it.
pub fn figure(picture: Markup, caption: Markup, numbers: Markup) -> Markup {
    html! {
        figure {
            (picture)
            figcaption { (caption) }
        }
        details {
            summary { "The numbers of this picture" }
            (numbers)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The colours of one scheme, as the style sheet names them.
    fn colours(block: &str) -> impl Fn(&str) -> [f64; 3] {
        move |name| {
            let (_, after) = block.split_once(&format!("--{name}: #")).expect(name);
            [0, 2, 4].map(|at| {
                let channel = u8::from_str_radix(&after[at..at + 2], 16).expect("two digits");
                f64::from(channel) / 255.0
            })
        }
    }

    /// WCAG 2.2, "relative luminance" and "contrast ratio".
    fn contrast(a: [f64; 3], b: [f64; 3]) -> f64 {
        let linear = |c: f64| {
            if c <= 0.04045 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) }
        };
        let luminance =
            |[r, g, b]: [f64; 3]| 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
        let (a, b) = (luminance(a), luminance(b));
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }

    #[test]
    fn every_text_stands_out_from_its_ground() {
        let (light, rest) = STYLE.split_once("@media (prefers-color-scheme: dark)").expect("dark");
        let (dark, _) = rest.split_once("* {").expect("the colours' end");
        for (scheme, block) in [("light", light), ("dark", dark)] {
            let colour = colours(block);
            let mut pairs: Vec<(&str, &str)> = Vec::new();
            for text in ["text", "dim", "link", "good", "bad", "light", "second", "third"] {
                pairs.extend([(text, "ground"), (text, "raised")]);
            }
            for text in ["keyword", "type", "number", "string"] {
                pairs.push((text, "raised"));
            }
            for ground in ["added", "removed", "added-word", "removed-word"] {
                pairs.push(("text", ground));
            }
            for (text, ground) in pairs {
                let ratio = contrast(colour(text), colour(ground));
                assert!(ratio >= 4.5, "{scheme}: {text} on {ground} has {ratio:.2}");
            }
        }
        assert!((contrast([0.0; 3], [1.0; 3]) - 21.0).abs() < 1e-9, "black on white is 21 to 1");
    }
}
