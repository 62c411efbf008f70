//! Who starts the parts of a batch, and where.
//!
//! An engine starts commands and says what has become of them; three verbs, and it knows nothing of
//! kernels. What a command has *done* is never asked of it: attempts are, since a process that died
//! after its last attempt has done its work, and one that Slurm calls completed may have lost its
//! disk.

mod local;
mod slurm;

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

pub use self::local::Local;
pub use self::slurm::Slurm;
use crate::Error;

/// A command that does some of a batch's runs.
#[derive(Clone, Debug)]
pub struct Order {
    /// The program and its arguments.
    pub command: Vec<OsString>,
    pub directory: PathBuf,
    /// Where it writes what it prints.
    pub log: PathBuf,
    /// It times on a GPU.
    pub gpu: bool,
    /// Nodes that lack something.
    pub excluded: Vec<String>,
}

/// What has become of an order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum State {
    /// Queued or running.
    Alive,
    Ended {
        how: End,
        node: Option<String>,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// By itself, with this code.
    Exited(i32),
    /// By a signal, or with the node that it was on.
    Killed,
}

pub trait Engine {
    fn name(&self) -> &'static str;

    /// How many orders it takes at once.
    fn capacity(&self) -> usize;

    /// How often it may be asked.
    fn pause(&self) -> Duration;

    /// Starts an order; the name by which it is asked about.
    ///
    /// # Errors
    ///
    /// [`Error`] where the engine is not there, or refuses it.
    fn start(&mut self, order: &Order) -> Result<String, Error>;

    /// What has become of it.
    ///
    /// # Errors
    ///
    /// [`Error::Machine`] where the engine does not answer.
    fn look(&mut self, job: &str) -> Result<State, Error>;

    /// Ends it. What cannot be ended ends by itself, and records nothing twice.
    fn stop(&mut self, job: &str);
}
