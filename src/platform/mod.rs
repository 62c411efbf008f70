//! The competitions' own formats: what to hand in there, and what comes from there.

pub mod gpu_mode;
mod python;
pub mod tensara;

use problems::Problem;
use toolchain::directive::Directives;

use crate::exit::{Failure, Result};

/// A solution on its way to another platform.
pub struct Outgoing<'a> {
    pub problem: &'a Problem,
    /// What a comment may call it: "attempt k7f2qa by ana".
    pub name: String,
    pub source: &'a str,
}

/// What to hand in, and what does not come along.
pub struct Exported {
    pub text: String,
    /// Sentences.
    pub lost: Vec<String>,
}

/// A solution that came from elsewhere.
#[derive(Debug, PartialEq)]
pub struct Imported {
    /// The `.cu` file.
    pub source: String,
    /// The problem that it says it is for, in the platform's words.
    pub leaderboard: Option<String>,
    /// Sentences.
    pub lost: Vec<String>,
}

impl Outgoing<'_> {
    fn directives(&self) -> Result<Directives> {
        Directives::parse(self.source).map_err(Failure::usage)
    }

    /// Files beside the solution: they stay behind.
    fn local_includes(&self) -> Vec<String> {
        let lines = self.source.lines().filter_map(|line| {
            let rest = line.trim_start().strip_prefix('#')?.trim_start().strip_prefix("include")?;
            rest.trim_start().strip_prefix('"')?.split('"').next()
        });
        let lost = lines
            .map(|file| format!("{file} does not come along: put its text where it is included"));
        lost.collect()
    }
}
