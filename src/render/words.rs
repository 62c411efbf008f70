//! Numbers, plurals and lists as people write them. No message pluralises by hand.

use std::borrow::Cow;

use jiff::Timestamp;
use unicode_width::UnicodeWidthChar as _;

/// Every screen fits this many columns.
pub const COLUMNS: usize = 80;

/// "1 case", "42 cases", "8,192 values".
pub fn count(n: u64, noun: &str) -> String {
    let plural = match noun {
        _ if n == 1 => noun.to_owned(),
        _ if noun.ends_with("ch") => format!("{noun}es"),
        _ if noun.ends_with('y') => format!("{}ies", &noun[..noun.len() - 1]),
        _ => format!("{noun}s"),
    };
    format!("{} {plural}", grouped(n))
}

/// "1,234,567".
pub fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// "812", "24.5 k", "1.32 M", "7.05 G": counters that nobody reads to the last digit.
pub fn short_count(n: f64) -> String {
    match n {
        n if n < 9_999.5 => format!("{n:.0}"),
        n if n < 999.5e3 => format!("{} k", three_digits(n / 1e3)),
        n if n < 999.5e6 => format!("{} M", three_digits(n / 1e6)),
        n => format!("{} G", three_digits(n / 1e9)),
    }
}

/// "`a`, `b` or `c`" with the given last word; empty for nothing.
pub fn list<T: AsRef<str>>(items: &[T], last: &str) -> String {
    match items {
        [] => String::new(),
        [one] => one.as_ref().to_owned(),
        [rest @ .., end] => {
            let rest: Vec<&str> = rest.iter().map(AsRef::as_ref).collect();
            format!("{} {last} {}", rest.join(", "), end.as_ref())
        }
    }
}

/// Three digits and the unit that fits: "812 ns", "4.12 µs", "1.23 ms".
pub fn micros(us: f64) -> String {
    match us {
        us if us < 0.9995 => format!("{} ns", three_digits(us * 1e3)),
        us if us < 999.5 => format!("{} µs", three_digits(us)),
        us if us < 999.5e3 => format!("{} ms", three_digits(us / 1e3)),
        us => format!("{} s", three_digits(us / 1e6)),
    }
}

/// Time that somebody waited: "40 ms", "2.1 s", "3 min 12 s".
pub fn waited(seconds: f64) -> String {
    match seconds {
        s if s < 0.9995 => format!("{:.0} ms", s * 1e3),
        s if s < 59.95 => format!("{s:.1} s"),
        s if s < 3599.5 => format!("{} min {} s", s.round() as u64 / 60, s.round() as u64 % 60),
        s => format!("{} h {} min", s as u64 / 3600, s as u64 % 3600 / 60),
    }
}

/// How old: "now", "5 min", "3 h", "12 d".
pub fn age(of: Timestamp, now: Timestamp) -> String {
    match now.duration_since(of).as_secs() {
        i64::MIN..60 => "now".to_owned(),
        seconds @ 60..3_600 => format!("{} min", seconds / 60),
        seconds @ 3_600..86_400 => format!("{} h", seconds / 3_600),
        seconds => format!("{} d", seconds / 86_400),
    }
}

/// "0 B", "1.5 KiB", "86 MiB".
pub fn bytes(n: u64) -> String {
    let mut value = n as f64;
    let mut unit = "B";
    for larger in ["KiB", "MiB", "GiB", "TiB"] {
        if value < 1024.0 {
            break;
        }
        value /= 1024.0;
        unit = larger;
    }
    let text = if value >= 9.95 || value.fract() < 0.05 {
        format!("{value:.0}")
    } else {
        format!("{value:.1}")
    };
    format!("{text} {unit}")
}

/// "3.4 %", "16 %", "100 %".
pub fn percent(p: f64) -> String {
    if p < 9.95 { format!("{p:.1} %") } else { format!("{p:.0} %") }
}

/// A change as people read it: "-12.3 %", "+3.1 %", "3.2 ×" from a doubling on, "=" for none.
pub fn change(from: f64, to: f64) -> String {
    match to / from {
        ratio if (ratio - 1.0).abs() < 0.0005 => "=".to_owned(),
        ratio if ratio >= 9.95 => format!("{ratio:.0} ×"),
        ratio if ratio >= 2.0 => format!("{ratio:.1} ×"),
        ratio => format!("{:+.1} %", (ratio - 1.0) * 100.0),
    }
}

/// How many times as much: "0.97 ×", "1.08 ×", "12 ×".
pub fn multiple(ratio: f64) -> String {
    if ratio < 9.95 { format!("{ratio:.2} ×") } else { format!("{ratio:.0} ×") }
}

/// An error in units of something: "2", "0.031", "1.0e39".
pub fn magnitude(value: f64) -> String {
    match value.abs() {
        v if v >= 1e6 || (v > 0.0 && v < 1e-3) => format!("{value:.1e}"),
        _ => {
            let text = format!("{value:.3}");
            text.trim_end_matches('0').trim_end_matches('.').to_owned()
        }
    }
}

fn three_digits(value: f64) -> String {
    match value {
        v if v < 9.995 => format!("{v:.2}"),
        v if v < 99.95 => format!("{v:.1}"),
        v => format!("{v:.0}"),
    }
}

/// A bar of `cells` cells, filled to that percentage in eighths of a cell.
pub fn bar(percent: f64, cells: usize) -> String {
    const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    let eighths = (percent.clamp(0.0, 100.0) / 100.0 * cells as f64 * 8.0).round() as usize;
    format!("{}{}", "█".repeat(eighths / 8), EIGHTHS[eighths % 8])
}

/// Cells that the text takes on the screen: escape sequences take none, wide characters two.
pub fn width(text: &str) -> usize {
    anstream::adapter::strip_str(text).to_string().chars().map(|c| c.width().unwrap_or(0)).sum()
}

/// Plain text cut to that many cells, with an ellipsis where something is missing.
pub fn cut(text: &str, cells: usize) -> String {
    let clean: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    if width(&clean) <= cells {
        return clean;
    }
    let mut taken = 0;
    let mut kept: String = clean
        .chars()
        .take_while(|c| {
            taken += c.width().unwrap_or(0);
            taken < cells
        })
        .collect();
    kept.truncate(kept.trim_end().len());
    kept.push('…');
    kept
}

/// The text filled to the screen, the second and later lines indented by `indent`.
pub fn hanging(text: &str, indent: usize) -> String {
    filled(text, COLUMNS, indent)
}

/// The text in lines of at most `columns` cells, the second and later ones indented by `indent`.
/// Breaks at spaces only, so that paths and commands stay whole; keeps the text's own lines.
pub fn filled(text: &str, columns: usize, indent: usize) -> String {
    let mut out = String::new();
    for (index, line) in text.lines().enumerate() {
        if index > 0 {
            out.push('\n');
            out.push_str(&" ".repeat(indent));
        }
        let mut used = if index > 0 { indent } else { 0 };
        for (position, word) in line.split(' ').enumerate() {
            let cells = width(word);
            if position > 0 && used + 1 + cells > columns {
                out.push('\n');
                out.push_str(&" ".repeat(indent));
                used = indent;
            } else if position > 0 {
                out.push(' ');
                used += 1;
            }
            out.push_str(word);
            used += cells;
        }
    }
    out
}

/// A tool's own lines, two cells to the right; long ones go on further to the right.
pub fn quoted(text: &str) -> String {
    let mut out = String::new();
    for line in text.trim_end().lines() {
        let indent = line.len() - line.trim_start().len();
        out.push_str(hanging(&format!("  {line}"), indent + 4).trim_end());
        out.push('\n');
    }
    out
}

/// As a shell takes it back: quoted where it must be.
pub fn shell(word: &str) -> String {
    shlex::try_quote(word).map_or_else(|_| word.to_owned(), Cow::into_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_agree_with_their_noun() {
        assert_eq!(count(1, "case"), "1 case");
        assert_eq!(count(0, "case"), "0 cases");
        assert_eq!(count(8192, "value"), "8,192 values");
        assert_eq!(count(2, "near-tie"), "2 near-ties");
        assert_eq!(count(3, "family"), "3 families");
        assert_eq!(count(2, "mismatch"), "2 mismatches");
        assert_eq!(grouped(1_234_567), "1,234,567");
        assert_eq!(grouped(999), "999");
        assert_eq!(short_count(9_999.0), "9999");
        assert_eq!(short_count(24_510.0), "24.5 k");
        assert_eq!(short_count(999_700.0), "1.00 M");
        assert_eq!(short_count(7.05e9), "7.05 G");
    }

    #[test]
    fn lists_end_with_their_word() {
        assert_eq!(list::<&str>(&[], "or"), "");
        assert_eq!(list(&["a"], "or"), "a");
        assert_eq!(list(&["a", "b"], "and"), "a and b");
        assert_eq!(list(&["a", "b", "c"], "or"), "a, b or c");
    }

    #[test]
    fn times_take_the_unit_that_fits_and_never_round_into_the_next() {
        assert_eq!(micros(0.812), "812 ns");
        assert_eq!(micros(0.9996), "1.00 µs");
        assert_eq!(micros(4.1234), "4.12 µs");
        assert_eq!(micros(9.996), "10.0 µs");
        assert_eq!(micros(99.96), "100 µs");
        assert_eq!(micros(999.7), "1.00 ms");
        assert_eq!(micros(1_234.5), "1.23 ms");
        assert_eq!(micros(2.5e6), "2.50 s");
        assert_eq!(waited(0.0404), "40 ms");
        assert_eq!(waited(2.14), "2.1 s");
        assert_eq!(waited(59.96), "1 min 0 s");
        assert_eq!(waited(192.0), "3 min 12 s");
        assert_eq!(waited(3_700.0), "1 h 1 min");
    }

    #[test]
    fn ages_bytes_and_percentages() {
        let old = |seconds| age(Timestamp::UNIX_EPOCH, Timestamp::from_second(seconds).unwrap());
        assert_eq!(old(-5), "now");
        assert_eq!(old(59), "now");
        assert_eq!(old(61), "1 min");
        assert_eq!(old(7_200), "2 h");
        assert_eq!(old(864_000), "10 d");
        assert_eq!(bytes(0), "0 B");
        assert_eq!(bytes(1536), "1.5 KiB");
        assert_eq!(bytes(2048), "2 KiB");
        assert_eq!(bytes(90_177_536), "86 MiB");
        assert_eq!(percent(3.44), "3.4 %");
        assert_eq!(percent(9.96), "10 %");
        assert_eq!(change(10.0, 8.77), "-12.3 %");
        assert_eq!(change(10.0, 10.31), "+3.1 %");
        assert_eq!(change(10.0, 10.000_1), "=");
        assert_eq!(change(10.0, 32.0), "3.2 ×");
        assert_eq!(change(10.0, 500.0), "50 ×");
        assert_eq!(magnitude(2.0), "2");
        assert_eq!(magnitude(0.5), "0.5");
        assert_eq!(magnitude(0.03125), "0.031");
        assert_eq!(magnitude(1.02e39), "1.0e39");
        assert_eq!(magnitude(0.0), "0");
    }

    #[test]
    fn bars_fill_in_eighths() {
        assert_eq!(bar(0.0, 10), "");
        assert_eq!(bar(50.0, 10), "█████");
        assert_eq!(bar(52.5, 10), "█████▎");
        assert_eq!(bar(250.0, 4), "████");
    }

    #[test]
    fn text_is_cut_by_cells_not_by_bytes() {
        assert_eq!(width("\u{1b}[1mµ\u{1b}[0m量"), 3);
        assert_eq!(cut("four", 4), "four");
        assert_eq!(cut("fifth", 4), "fif…");
        assert_eq!(cut("two\nlines", 20), "two lines");
        assert_eq!(cut("量子量子", 5), "量子…");
    }

    #[test]
    fn paragraphs_hang() {
        let text = hanging(&"word ".repeat(20), 4);
        assert!(text.lines().all(|line| width(line) <= COLUMNS));
        assert!(text.lines().nth(1).expect("wrapped").starts_with("    word"));
    }
}
