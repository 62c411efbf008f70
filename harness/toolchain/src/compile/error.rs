//! Why there is no library.

use std::{io, path::Path};

use super::{SignatureError, process::Ended};
use crate::{
    ToolchainError,
    diagnose::{Diagnostic, Severity},
    directive::FlagError,
};

/// Diagnostics shown of one compilation; the rest is counted.
const SHOWN: usize = 10;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CompileError {
    #[error("{0}\n    expected: {expected}", expected = .0.expected)]
    Signature(#[from] SignatureError),
    #[error(transparent)]
    Flag(#[from] FlagError),
    /// The compiler said no.
    #[error("{}", list(diagnostics, raw))]
    Rejected {
        diagnostics: Vec<Diagnostic>,
        /// All that was printed, capped.
        raw: String,
    },
    #[error("nvcc {version} does not know {arch}")]
    Arch { arch: String, version: String },
    #[error(
        "there is no `main` in it: `nibble run` takes a whole program, `nibble check` a solution"
    )]
    NoMain,
    #[error("compiling took longer than {seconds} s")]
    TimedOut { seconds: u64 },
    #[error("compiling needs more than {} GiB of memory", bytes >> 30)]
    OutOfMemory { bytes: u64 },
    #[error("interrupted while compiling")]
    Interrupted,
    /// The file's text is not the one that was read at the start.
    #[error("the file changed while it was compiled: run again")]
    Changed,
    /// This machine's fault, not the solution's.
    #[error(transparent)]
    Machine(#[from] ToolchainError),
}

impl CompileError {
    pub(crate) fn cache(folder: &Path, error: &io::Error) -> Self {
        Self::Machine(ToolchainError::cache(folder, error))
    }

    pub(crate) fn killed(ended: Ended, seconds: u64) -> Option<Self> {
        match ended {
            Ended::Exited(_) => None,
            Ended::TimedOut => Some(Self::TimedOut { seconds }),
            Ended::Interrupted => Some(Self::Interrupted),
        }
    }
}

/// Errors before warnings, the first few; where none was understood, what was printed.
fn list(diagnostics: &[Diagnostic], raw: &str) -> String {
    let errors: Vec<&Diagnostic> =
        diagnostics.iter().filter(|d| d.severity == Severity::Error).collect();
    if errors.is_empty() {
        let lines: Vec<&str> = raw.lines().filter(|line| !line.trim().is_empty()).collect();
        let tail = &lines[lines.len().saturating_sub(SHOWN)..];
        return format!("the compiler failed and said:\n{}", tail.join("\n"));
    }
    let mut lines: Vec<String> = errors.iter().take(SHOWN).map(ToString::to_string).collect();
    if errors.len() > SHOWN {
        lines.push(format!("and {} more errors", errors.len() - SHOWN));
    }
    lines.join("\n")
}
