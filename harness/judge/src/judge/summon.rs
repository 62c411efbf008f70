//! Starting a worker, up to the point where it is confined.

use std::path::Path;
use std::time::Duration;

use tempfile::TempDir;

use super::link::{Failure, Link};
use super::log::Log;
use crate::card::Ceilings;
use crate::worker::SCRATCH;
use crate::worker::protocol::{Outcome, Request};
use crate::worker::sandbox::Isolation;
use crate::{Error, Interrupt};

/// What this machine's kernel keeps from a solution.
///
/// # Errors
///
/// [`Error::Machine`] where no worker can be started.
pub fn isolation(executable: &Path) -> Result<Isolation, Error> {
    let scratch = scratch()?;
    let mut link = spawn(executable, scratch.path(), Log::default(), Interrupt::default())?;
    confine(&mut link, scratch.path(), None, None, Duration::from_secs(10)).map_err(|_| {
        Error::machine(
            format!("{} does not work as a worker", executable.display()),
            "install nibble anew",
        )
    })
}

/// How fast the memory of GPU `ordinal` is, measured now, in a worker that opens no solution.
///
/// # Errors
///
/// [`Error::Machine`] where it cannot be measured.
pub fn ceilings(executable: &Path, ordinal: usize) -> Result<Ceilings, Error> {
    let failed =
        || Error::machine("this GPU's memory could not be measured", "nibble doctor says more");
    let limit = Duration::from_secs(30);
    let scratch = scratch()?;
    let mut link = spawn(executable, scratch.path(), Log::default(), Interrupt::default())?;
    confine(&mut link, scratch.path(), None, Some(ordinal), limit).map_err(|_| failed())?;
    match link.ask(&Request::Ceilings, None, limit) {
        Ok(Outcome::Measured(ceilings)) => Ok(ceilings),
        _ => Err(failed()),
    }
}

/// The only folder that a solution may write in.
pub fn scratch() -> Result<TempDir, Error> {
    tempfile::Builder::new().prefix(SCRATCH).tempdir().map_err(|error| {
        Error::machine(
            format!("no temporary folder: {error}"),
            "free space in the temporary folder, or set TMPDIR to another",
        )
    })
}

pub fn spawn(executable: &Path, scratch: &Path, log: Log, stop: Interrupt) -> Result<Link, Error> {
    Link::spawn(executable, scratch, log, stop).map_err(|error| {
        Error::machine(
            format!("{} cannot be started: {error}", executable.display()),
            "close other programs, or raise the limit of processes (ulimit -u)",
        )
    })
}

pub fn confine(
    link: &mut Link,
    scratch: &Path,
    library: Option<&Path>,
    gpu: Option<usize>,
    limit: Duration,
) -> Result<Isolation, Silence> {
    let library = library.map(Path::to_owned);
    let request = Request::Confine { scratch: scratch.to_owned(), library, gpu };
    match link.ask(&request, None, limit) {
        Ok(Outcome::Confined(isolation)) => Ok(isolation),
        Ok(Outcome::Refused(why)) => Err(Silence::NoGpu(why)),
        Ok(other) => Err(Silence::Gone(out_of_turn(&other))),
        Err(failure) => Err(Silence::Gone(failure)),
    }
}

/// Why there is no worker to call.
pub enum Silence {
    Gone(Failure),
    /// The GPU cannot be used, whoever's solution it is.
    NoGpu(String),
    Refused(String),
}

/// The worker's answer is none to what was asked.
pub fn out_of_turn(outcome: &Outcome) -> Failure {
    let what = match outcome {
        Outcome::Confined(_) => "confined",
        Outcome::Opened => "opened",
        Outcome::Mapped => "mapped",
        Outcome::Called(_) => "called",
        Outcome::Measured(_) => "measured",
        Outcome::Done => "done",
        Outcome::Timed(_) => "timed",
        Outcome::Refused(why) => return Failure::Nonsense(why.clone()),
        Outcome::Failed(error) => return Failure::Nonsense(error.text.clone()),
    };
    Failure::Nonsense(format!("`{what}` was answered out of turn"))
}
