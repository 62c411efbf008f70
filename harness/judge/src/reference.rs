//! Who runs a problem's reference.

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;

use problems::{NoKernels, Problem, ReferenceKernel, ReferenceKernels};
use tempfile::NamedTempFile;
use toolchain::cache;
use toolchain::compile::Source;
use toolchain::directive::Directives;

use crate::device::Scrutiny;
use crate::judge::EmulatedReference;
use crate::place::Place;
use crate::run::{blank, compile};
use crate::{Config, DeviceChoice, Error, Event, Limits};

/// Who runs the reference of `problem`. One that is a kernel is compiled now, for the emulator,
/// whatever the device of the configuration is.
///
/// # Errors
///
/// [`Error`] where there is no compiler, or the reference does not compile.
pub fn reference(
    config: &Config,
    problem: &Problem,
    emit: &mut dyn FnMut(Event),
) -> Result<Arc<dyn ReferenceKernels>, Error> {
    let Some(kernel) = problem.reference_kernel() else { return Ok(Arc::new(NoKernels)) };
    let config = Config {
        device: DeviceChoice::Emulator,
        arch: None,
        scrutiny: Scrutiny::default(),
        values: Default::default(),
        ..config.clone()
    };
    let source = source(problem, kernel)?;
    let directives = Directives::parse(&source.text)
        .map_err(|error| Error::Usage(format!("{}: {error}", kernel.file)))?;
    let place = Place::find(&config, &directives, &problem.manifest().arch, &mut |_| ())?;
    let mut report = blank(&config, kernel.problem, &source, place.info());
    let judge = compile(&config, kernel.problem, &source, &directives, &place, &mut report, emit)?;
    let why = || report.message.clone().unwrap_or_default();
    let judge = judge.ok_or_else(|| {
        Error::Usage(format!("{} does not compile as a reference: {}", kernel.file, why()))
    })?;
    Ok(Arc::new(EmulatedReference::new(judge, config.limits.check.unwrap_or(Limits::MOST))))
}

/// The reference as a file, which is what compilers take. One that is part of the program is written
/// into the cache, under its hash, so that it is compiled once.
fn source(problem: &Problem, kernel: &ReferenceKernel) -> Result<Source, Error> {
    let typed = Path::new(kernel.file);
    if problem.folder().is_some() {
        return Source::read(typed).map_err(|error| Error::Usage(error.to_string()));
    }
    let source = Source::of(typed, kernel.text);
    let failed = |error: &dyn std::fmt::Display| {
        Error::machine(
            format!("{} cannot be put into the cache: {error}", kernel.file),
            "set NIBBLE_CACHE to a folder that can be written",
        )
    };
    let cache = cache::folder().ok_or_else(|| failed(&"there is none"))?;
    let folder = cache.join("references").join(&source.hash[..16]);
    let path = folder.join("reference.cu");
    if !path.is_file() {
        // Whole or not at all: another process may be about to read it.
        fs::create_dir_all(&folder).map_err(|error| failed(&error))?;
        let mut new = NamedTempFile::new_in(&folder).map_err(|error| failed(&error))?;
        new.write_all(kernel.text.as_bytes()).map_err(|error| failed(&error))?;
        new.persist(&path).map_err(|error| failed(&error.error))?;
    }
    Ok(Source { path, ..source })
}
