//! Opening a problem's folder, wherever it lies.
//!
//! What is read stays until the process ends, as what is compiled in does: a problem is opened once.

use std::fs;
use std::path::{Path, PathBuf};

use thiserror::Error;

use super::kernel::ReferenceKernel;
use super::{Declared, ErrorUnit, FAMILIES, Reference};
use crate::problem::{Problem, TruthSource};
use crate::{Direction, Manifest};

/// Why a folder is no problem.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{}: {why}", folder.display())]
pub struct FolderError {
    pub folder: PathBuf,
    pub why: String,
}

/// The texts of a folder.
pub(crate) struct Texts {
    pub name: &'static str,
    pub manifest: &'static str,
    pub spec: &'static str,
    pub starter: &'static str,
}

/// The references that there may be.
const REFERENCES: [&str; 3] = ["reference.cu", "reference.py", "recorded"];

/// The problem of a folder that has no Rust in it.
///
/// # Errors
/// A file that is missing or damaged, a manifest that does not fit, more than one reference or none.
pub fn open(folder: &Path) -> Result<Problem, FolderError> {
    let failed = |why: String| FolderError { folder: folder.to_owned(), why };
    let name = folder.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    if !is_name(name) {
        return Err(failed("a problem is called with small letters, digits and _".to_owned()));
    }
    let read = |file: &str| -> Result<&'static str, FolderError> {
        let text = fs::read_to_string(folder.join(file));
        Ok(text.map_err(|error| failed(format!("{file}: {error}")))?.leak())
    };
    let texts = Texts {
        name: name.to_owned().leak(),
        manifest: read("problem.toml")?,
        spec: read("spec.md")?,
        starter: read("starter.cu")?,
    };
    let there: Vec<&str> =
        REFERENCES.into_iter().filter(|file| folder.join(file).exists()).collect();
    let reference = match there[..] {
        ["reference.cu"] => {
            let file = folder.join("reference.cu").display().to_string();
            Found::Kernel { file: file.leak(), text: read("reference.cu")? }
        }
        ["reference.py"] => Found::Python(folder.join("reference.py")),
        ["recorded"] => Found::Recorded(folder.join("recorded")),
        [] => return Err(failed(format!("it has none of {}", REFERENCES.join(", ")))),
        _ => return Err(failed(format!("it has more than one of {}", there.join(", ")))),
    };
    let problem = declare(&texts, reference).map_err(failed)?;
    Ok(Problem { folder: Some(folder.to_owned()), ..problem })
}

/// A reference as it lies in a folder.
pub(crate) enum Found {
    Kernel { file: &'static str, text: &'static str },
    Python(PathBuf),
    Recorded(PathBuf),
}

/// A problem of these texts.
pub(crate) fn declare(texts: &Texts, found: Found) -> Result<Problem, String> {
    let Texts { name, manifest, spec, starter } = *texts;
    let manifest = Manifest::parse(manifest).map_err(|error| format!("problem.toml: {error}"))?;
    let tolerance = &manifest.tolerance;
    let unit = ErrorUnit::find(&tolerance.unit).ok_or_else(|| {
        let known = ErrorUnit::phrases();
        format!("problem.toml: the tolerance's unit `{}` is none of {known}", tolerance.unit)
    })?;
    let recorded = matches!(found, Found::Recorded(_));
    let groups = manifest.check.iter().chain([&manifest.bench]).map(|group| &group.families);
    let families = groups.chain(manifest.fresh.as_ref().map(|fresh| &fresh.families)).flatten();
    for family in families {
        if !recorded && !FAMILIES.contains(family) {
            let known = FAMILIES.map(|family| family.name()).join(", ");
            return Err(format!("problem.toml: `{family}` is not drawn without Rust; {known} are"));
        }
    }
    if manifest.signature.iter().any(|parameter| parameter.each.is_some()) {
        return Err("problem.toml: groups, `each`, are for problems in Rust".to_owned());
    }
    if !manifest.signature.iter().any(|parameter| parameter.direction == Direction::Out) {
        return Err("problem.toml: the signature has no output".to_owned());
    }
    let manifest: &'static Manifest = Box::leak(Box::new(manifest));
    let reference = match found {
        Found::Kernel { file, text } => {
            let with_errors = unit == ErrorUnit::Reference;
            Reference::Kernel(ReferenceKernel::new(name, manifest, with_errors, (file, text)))
        }
        Found::Python(file) => Reference::Python(file),
        Found::Recorded(folder) => Reference::Recorded(folder),
    };
    let truth = TruthSource::Declared(Declared { name, manifest, unit, reference });
    Ok(Problem { name, manifest, spec, starter, truth, folder: None })
}

/// Whether a problem, and so a folder, may be called that.
pub fn is_name(name: &str) -> bool {
    let letters = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    name.starts_with(|c: char| c.is_ascii_lowercase()) && name.chars().all(letters)
}
