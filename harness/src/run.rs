//! One solution from its source to its report: compile, check, bench.

use crate::{Config, Error, Event, Report};

/// Compiles, checks and, where the stage asks for it, times one solution.
///
/// # Errors
///
/// [`Error`] where no verdict could be reached: an unknown problem, no compiler. A solution that
/// does not compile, crashes or is wrong is a [`Report`] with its verdict.
pub fn run(config: &Config, emit: &mut dyn FnMut(Event)) -> Result<Report, Error> {
    let _ = emit;
    std::fs::metadata(&config.file)
        .map_err(|error| Error::Usage(format!("{}: {error}", config.file.display())))?;
    Err(Error::machine("no device can run a solution", "build a newer nibble"))
}
