//! What check and bench work on: a solution that can be asked to run cases.

use std::time::Duration;

use problems::CaseSpec;

use crate::Error;
use crate::device::{Sample, Span, Temperature};
use crate::judge::{Judge, Trial};
use crate::report::CaseReport;

/// A solution on some device. [`Judge`] asks a worker; [`crate::device::mock::Mock`] a script.
pub trait Subject {
    /// Runs one case with inputs nobody has seen, and judges it.
    ///
    /// # Errors
    ///
    /// [`Error::Machine`] where this machine cannot.
    fn run_case(&mut self, case: &CaseSpec, limit: Duration) -> Result<Trial, Error>;

    /// Times calls, each with inputs nobody has seen, and judges every one.
    ///
    /// # Errors
    ///
    /// [`Error::Machine`] where this machine cannot, or the device has no clock.
    fn time(&mut self, case: &CaseSpec, manner: Manner, limit: Duration) -> Result<Timed, Error>;

    /// Ends the process that runs the solution; the next case gets a fresh one. Says what the old
    /// one left behind.
    fn dismiss(&mut self) -> Option<String>;

    /// What the solution printed so far.
    fn log(&self) -> String;
}

/// How calls are timed.
#[derive(Clone, Copy, Debug)]
pub struct Manner {
    pub count: usize,
    pub temperature: Temperature,
    pub span: Span,
}

impl Manner {
    /// That many calls as they are ranked: cold, between two events.
    pub fn cold(count: usize) -> Self {
        Self { count, temperature: Temperature::Cold, span: Span::Call }
    }

    /// The same, but for `done` calls.
    pub(crate) fn but(self, done: usize) -> Self {
        Self { count: self.count - done, ..self }
    }
}

/// The samples, or the report of the call that was not accepted.
pub type Timed = Result<Vec<Sample>, Box<CaseReport>>;

impl Subject for Judge {
    fn time(&mut self, case: &CaseSpec, manner: Manner, limit: Duration) -> Result<Timed, Error> {
        Judge::time(self, case, manner, limit)
    }

    fn run_case(&mut self, case: &CaseSpec, limit: Duration) -> Result<Trial, Error> {
        self.case(case, limit)
    }

    fn dismiss(&mut self) -> Option<String> {
        Judge::dismiss(self)
    }

    fn log(&self) -> String {
        Judge::log(self)
    }
}
