//! What each colour means. No screen depends on it: a symbol or a word always says the same.

use std::fmt::Display;

use anstyle::{AnsiColor, Style};
use judge::report::Verdict;

pub const PLAIN: Style = Style::new();
pub const BOLD: Style = Style::new().bold();
pub const DIM: Style = Style::new().dimmed();
pub const GOOD: Style = AnsiColor::Green.on_default();
pub const BAD: Style = AnsiColor::Red.on_default().bold();
pub const WARNING: Style = AnsiColor::Yellow.on_default();
pub const ACCENT: Style = AnsiColor::Cyan.on_default();

/// The text in that style, as an escape sequence that `terminal` strips where it must.
pub fn paint(style: Style, text: impl Display) -> String {
    format!("{style}{text}{style:#}")
}

/// One cell wide each, so that columns of them line up.
pub fn symbol(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Accepted => "✓",
        Verdict::WrongAnswer | Verdict::CompileError => "✗",
        Verdict::RuntimeError => "!",
        Verdict::TimeLimitExceeded => "∞",
        Verdict::Interrupted => "–",
    }
}

pub fn words(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Accepted => "accepted",
        Verdict::WrongAnswer => "wrong answer",
        Verdict::CompileError => "compile error",
        Verdict::RuntimeError => "runtime error",
        Verdict::TimeLimitExceeded => "time limit exceeded",
        Verdict::Interrupted => "interrupted",
    }
}

pub fn of(verdict: Verdict) -> Style {
    match verdict {
        Verdict::Accepted => GOOD,
        Verdict::Interrupted => WARNING,
        _ => BAD,
    }
}
