//! The lines of a solution, and what each of them costs.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::{Path, PathBuf};

use emulator::{KernelProfile, LineCounters, SourcePoint};
use serde::Serialize;

use timing::model::{Limiter, Terms};
use toolchain::compile::Source;

/// One line, as often as it was run.
#[derive(Clone, Debug, Serialize)]
pub struct LineReport {
    /// Empty where the compiler gave no line.
    pub file: String,
    pub line: u32,
    /// Without the blanks around it.
    pub text: String,
    /// Its share of what limits its kernel, 0 to 1.
    pub cost: f64,
    /// Its shares of each resource.
    pub shares: Terms,
    pub counts: LineCounters,
}

/// Texts of source files, and which of them are the user's own.
pub struct Sources {
    folder: PathBuf,
    texts: HashMap<PathBuf, Option<String>>,
}

impl Sources {
    /// `path` is the solution's, as the compiler was told it.
    pub fn new(path: &Path, text: String) -> Self {
        let folder = path.parent().unwrap_or(Path::new("")).to_owned();
        Self { folder, texts: [(path.to_owned(), Some(text))].into() }
    }

    /// Of a file that is read now; `None` where it cannot be.
    pub fn read(path: &Path) -> Option<Self> {
        let source = Source::read(path).ok()?;
        Some(Self::new(&source.path, source.text))
    }

    /// Which line somebody who reads the solution would name: the innermost one of the user's folder, so
    /// that what was inlined from a header counts where it is called. Else the outermost.
    fn place<'a>(&self, chain: &'a [SourcePoint]) -> Option<&'a SourcePoint> {
        let own = |point: &&SourcePoint| Path::new(&point.file).parent() == Some(&self.folder);
        chain.iter().find(own).or(chain.last())
    }

    /// A line of the user's own: of a file in the solution's folder.
    pub fn own_line(&mut self, file: &str, line: u32) -> Option<String> {
        if Path::new(file).parent() != Some(&self.folder) {
            return None;
        }
        self.whole(file)?.lines().nth((line as usize).checked_sub(1)?).map(str::to_owned)
    }

    fn text(&mut self, file: &str, line: u32) -> String {
        let before: Vec<&str> = match self.whole(file) {
            Some(text) => text.lines().take(line as usize).map(str::trim).collect(),
            None => return String::new(),
        };
        match before.last() {
            Some(last) if before.len() == line as usize => statement(&before)
                .map_or_else(|| (*last).to_owned(), |first| before[first..].join(" ")),
            _ => String::new(),
        }
    }

    fn whole(&mut self, file: &str) -> Option<&str> {
        let path = Path::new(file);
        let text =
            self.texts.entry(path.to_owned()).or_insert_with(|| fs::read_to_string(path).ok());
        text.as_deref()
    }
}

/// Lines of an `asm` statement, at most.
const LONGEST: usize = 16;

/// Where the `asm` statement begins whose operands the last of these lines ends: the compiler gives an
/// instruction of inline PTX the line of the closing parenthesis, which says nothing by itself.
fn statement(lines: &[&str]) -> Option<usize> {
    let inside = lines.last()?.starts_with([':', '"', ')']);
    let earliest = lines.len().saturating_sub(LONGEST);
    let begins = |at: &usize| lines[*at].contains("asm volatile") || lines[*at].contains("asm(");
    (earliest..lines.len()).rev().find(begins).filter(|_| inside)
}

/// The lines of a kernel, the most expensive first. `weights` says what a line adds to each term.
pub fn lines(
    profile: &KernelProfile,
    sources: &mut Sources,
    limiter: Limiter,
    weights: impl Fn(&LineCounters) -> Terms,
) -> Vec<LineReport> {
    let mut lines = BTreeMap::<(&str, u32), LineCounters>::new();
    for place in &profile.places {
        let at = sources.place(&place.source).map_or(("", 0), |at| (at.file.as_str(), at.line));
        lines.entry(at).or_default().add(&place.counts);
    }
    let all =
        lines.values().map(&weights).fold(Terms::default(), |sum, one| sum.zip(&one, |a, b| a + b));
    let share = |part: f64, whole: f64| if whole > 0.0 { part / whole } else { 0.0 };
    let mut reports: Vec<LineReport> = lines
        .into_iter()
        .map(|((file, line), counts)| {
            let shares = weights(&counts).zip(&all, share);
            LineReport {
                text: sources.text(file, line),
                file: file.to_owned(),
                line,
                cost: shares.of(limiter),
                shares,
                counts,
            }
        })
        .collect();
    // Of equal ones, as where nothing moves at all, the one that issues more.
    let rank = |line: &LineReport| (line.cost, line.shares.issue);
    reports.sort_by(|a, b| {
        let ((a, x), (b, y)) = (rank(a), rank(b));
        b.total_cmp(&a).then(y.total_cmp(&x))
    });
    reports
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "int x;\n  asm volatile(\"mov.u32 %0, 1;\"\n      : \"=r\"(x)\n      : \"l\"(p));\n  x += 1;\n";

    #[test]
    fn inline_ptx_shows_its_statement() {
        let mut sources = Sources::new(Path::new("/home/me/k.cu"), TEXT.to_owned());
        let mut text = |line| sources.text("/home/me/k.cu", line);
        assert_eq!(text(1), "int x;");
        assert_eq!(text(4), "asm volatile(\"mov.u32 %0, 1;\" : \"=r\"(x) : \"l\"(p));");
        assert_eq!(text(5), "x += 1;");
        assert_eq!((text(0), text(6)), (String::new(), String::new()));
        assert_eq!(sources.text("/nowhere/at/all.h", 3), "");
    }

    #[test]
    fn an_inlined_instruction_counts_at_the_line_that_calls_it() {
        let sources = Sources::new(Path::new("/home/me/k.cu"), String::new());
        let at = |file: &str, line| SourcePoint {
            file: file.to_owned(),
            line,
            column: 1,
            function: None,
        };
        let header = at("/usr/include/cuda_fp16.hpp", 800);
        let (own, helper) = (at("/home/me/k.cu", 9), at("/home/me/tile.cuh", 4));
        let place = |chain: &[SourcePoint]| sources.place(chain).map(|at| at.line);
        assert_eq!(place(&[header.clone(), own.clone()]), Some(9));
        assert_eq!(place(&[header.clone(), helper, own]), Some(4));
        assert_eq!(place(&[header]), Some(800));
        assert_eq!(place(&[]), None);
    }
}
