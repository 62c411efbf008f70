//! Takes out of a screen what differs from run to run, at the width it had where a column hangs on
//! it.

use std::path::Path;

/// Folders, ids, ages and times of waiting become fixed words. `ids` are the attempts' short ones,
/// in the order they were made: they become `id01`, `id02`, as wide as they were.
pub fn redacted(text: &str, folder: &Path, short: &[String]) -> String {
    let mut text = text.replace(&folder.display().to_string(), "FOLDER");
    for (index, id) in short.iter().enumerate() {
        text = text.replace(id.as_str(), &format!("id{:02}", index + 1));
    }
    let mut out = String::new();
    for line in text.lines() {
        out.push_str(&seeds(&waiting(&dates(&ids(line)))));
        out.push('\n');
    }
    out
}

/// `20260812-143015-k7f2qa` becomes `YYYYMMDD-HHMMSS-xxxxxx`.
fn ids(line: &str) -> String {
    replaced(line, "YYYYMMDD-HHMMSS-xxxxxx")
}

/// `2026-08-12 14:30` becomes `YYYY-MM-DD HH:MM`.
fn dates(line: &str) -> String {
    replaced(line, "YYYY-MM-DD HH:MM")
}

/// `--data-seed 8217` becomes `--data-seed SEED`.
fn seeds(line: &str) -> String {
    const FLAG: &str = "--data-seed ";
    match line.split_once(FLAG) {
        Some((before, after)) => {
            format!("{before}{FLAG}SEED{}", after.trim_start_matches(is_digit))
        }
        None => line.to_owned(),
    }
}

/// Puts the shape itself wherever something has it: capitals stand for digits, small letters for
/// letters or digits, and the rest for itself.
fn replaced(line: &str, shape: &str) -> String {
    let fits = |text: &str| {
        text.len() >= shape.len()
            && text.chars().zip(shape.chars()).all(|(c, wanted)| match wanted {
                'A'..='Z' => c.is_ascii_digit(),
                'a'..='z' => c.is_ascii_alphanumeric(),
                _ => c == wanted,
            })
    };
    let mut out = String::new();
    let mut rest = line;
    while let Some(at) = rest.find(is_digit) {
        let (before, found) = rest.split_at(at);
        out.push_str(before);
        let taken = if fits(found) { shape.len() } else { 1 };
        out.push_str(if taken > 1 { shape } else { &found[..1] });
        rest = &found[taken..];
    }
    out + rest
}

/// `in 2.1 s` and `in 40 ms` become `in TIME`.
fn waiting(line: &str) -> String {
    let mut out = String::new();
    let mut rest = line;
    while let Some(at) = rest.find("in ") {
        let (before, after) = rest.split_at(at + 3);
        let digits = after.len() - after.trim_start_matches(|c| is_digit(c) || c == '.').len();
        let unit = [" ms", " s"].into_iter().find(|unit| after[digits..].starts_with(unit));
        out.push_str(before);
        rest = match unit {
            Some(unit) if digits > 0 => {
                out.push_str("TIME");
                &after[digits + unit.len()..]
            }
            _ => after,
        };
    }
    out + rest
}

fn is_digit(c: char) -> bool {
    c.is_ascii_digit()
}

#[test]
fn what_differs_is_taken_out() {
    let text = "/tmp/x/k.cu 20260812-143015-k7f2qa of 2026-08-12 14:30, 12 cases in 2.1 s, \
                in 40 ms, in 3 days\n";
    assert_eq!(
        redacted(text, Path::new("/tmp/x"), &[]),
        "FOLDER/k.cu YYYYMMDD-HHMMSS-xxxxxx of YYYY-MM-DD HH:MM, 12 cases in TIME, in TIME, \
         in 3 days\n"
    );
}
