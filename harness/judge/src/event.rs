//! What happens while a solution is judged, for whoever shows it.

use crate::report::CaseReport;

#[derive(Clone, Debug)]
pub enum Event {
    Toolchain(toolchain::Event),
    /// A case is about to run: which of how many.
    CaseStarted {
        name: String,
        index: usize,
        count: usize,
    },
    CaseFinished(Box<CaseReport>),
    /// Somebody else times on this GPU; it is done beside nobody.
    WaitingForGpu,
    /// A size is about to be timed.
    BenchStarted {
        name: String,
        index: usize,
        count: usize,
    },
    /// Something the user should know that changes no verdict.
    Warning(String),
}
