//! What check and bench work on: a solution that can be asked to run cases.

use std::time::Duration;

use problems::CaseSpec;

use crate::Error;
use crate::judge::{Judge, Trial};

/// A solution on some device. [`Judge`] asks a worker; [`crate::device::mock::Mock`] a script.
pub trait Subject {
    /// Runs one case with inputs nobody has seen, and judges it.
    ///
    /// # Errors
    ///
    /// [`Error::Machine`] where this machine cannot.
    fn hear(&mut self, case: &CaseSpec, limit: Duration) -> Result<Trial, Error>;

    /// Ends the process that runs the solution; the next case gets a fresh one. Says what the old
    /// one left behind.
    fn dismiss(&mut self) -> Option<String>;

    /// What the solution printed so far.
    fn log(&self) -> String;
}

impl Subject for Judge {
    fn hear(&mut self, case: &CaseSpec, limit: Duration) -> Result<Trial, Error> {
        self.case(case, limit)
    }

    fn dismiss(&mut self) -> Option<String> {
        Judge::dismiss(self)
    }

    fn log(&self) -> String {
        Judge::log(self)
    }
}
