//! What happens while the harness works, for whoever shows it.

use crate::report::CaseReport;

#[derive(Clone, Debug)]
pub enum Event {
    /// The compiler is being fetched: bytes so far and, where known, in all.
    Installing {
        what: String,
        done: u64,
        total: Option<u64>,
    },
    Compiling {
        file: String,
        arch: String,
    },
    Compiled {
        cached: bool,
        seconds: f64,
    },
    /// A case is about to run: which of how many.
    CaseStarted {
        name: String,
        index: usize,
        count: usize,
    },
    CaseFinished(Box<CaseReport>),
    /// A size is about to be timed.
    BenchStarted {
        name: String,
        index: usize,
        count: usize,
    },
    /// Something the user should know that changes no verdict.
    Warning(String),
}
