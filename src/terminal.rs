//! The only way out: results to stdout, everything else to stderr, and all of it clean.

use std::io::{self, IsTerminal as _, Write as _};

use anstream::ColorChoice;

use crate::{
    args::Color,
    render::{clean::clean, progress::Progress, style, words},
};

/// Where text goes and how it may look. Copied freely: it is three facts about the process.
#[derive(Clone, Copy, Debug)]
pub struct Terminal {
    progress: bool,
}

impl Terminal {
    pub fn new(color: Color, quiet: bool) -> Self {
        match color {
            // anstream looks at NO_COLOR, CLICOLOR_FORCE, TERM and whether it is a terminal.
            Color::Auto => {}
            Color::Always => ColorChoice::Always.write_global(),
            Color::Never => ColorChoice::Never.write_global(),
        }
        let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        Self { progress: !quiet && !dumb && io::stderr().is_terminal() }
    }

    /// Prints a result. Colours are stripped where stdout cannot show them.
    pub fn print(&self, text: &str) -> io::Result<()> {
        let mut stdout = anstream::stdout().lock();
        stdout.write_all(clean(text).as_bytes())?;
        stdout.flush()
    }

    /// Says something beside the result. A stderr that cannot be written to is no reason to stop.
    pub fn note(&self, text: &str) {
        let _ = writeln!(anstream::stderr().lock(), "{}", clean(text));
    }

    pub fn warning(&self, text: &str) {
        let warning = style::paint(style::WARNING, "warning:");
        self.note(&words::hanging(&format!("{warning} {text}"), 9));
    }

    pub fn error(&self, message: &str, next: Option<&str>) {
        let labelled = |style, label: &str, text: &str| {
            self.note(&words::hanging(&format!("{} {text}", style::paint(style, label)), 7));
        };
        labelled(style::BAD, "error:", message);
        if let Some(next) = next {
            labelled(style::DIM, " next:", next);
        }
    }

    /// The status line: alive only on a terminal, and only when it was not silenced.
    pub fn progress(&self) -> Progress {
        if self.progress { Progress::start() } else { Progress::silent() }
    }
}
