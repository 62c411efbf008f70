//! The problems there are: the folders beside the kit, which `build.rs` finds.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use thiserror::Error;

use crate::declared::{FolderError, Found, Texts, declare, open};
use crate::folders::{FOLDERS, Folder, FolderReference};
use crate::problem::TruthSource;
use crate::{Manifest, Problem};

static CATALOG: OnceLock<Vec<Problem>> = OnceLock::new();

/// The problems that are part of the program.
fn built_in() -> Vec<Problem> {
    FOLDERS.iter().map(problem).collect()
}

fn problem(folder: &'static Folder) -> Problem {
    let Folder { name, manifest, spec, starter, ref reference } = *folder;
    // The manifest is part of the binary, and a test parses it.
    let valid = |error: String| -> Problem { panic!("problems/{name}: {error}") };
    match reference {
        FolderReference::Code(truth) => match Manifest::parse(manifest) {
            Ok(manifest) => Problem {
                name,
                manifest: Box::leak(Box::new(manifest)),
                spec,
                starter,
                truth: TruthSource::Code(*truth),
                folder: None,
            },
            Err(error) => valid(error.to_string()),
        },
        FolderReference::Kernel(text) => {
            let texts = Texts { name, manifest, spec, starter };
            let file = format!("problems/{name}/reference.cu").leak();
            declare(&texts, Found::Kernel { file, text }).unwrap_or_else(valid)
        }
    }
}

/// Every problem, in the order of their names: the program's, and those of [`install`].
pub fn catalog() -> &'static [Problem] {
    CATALOG.get_or_init(built_in)
}

/// Adds the problems of `folders`, each of which holds folders of problems. To be called before
/// the problems are first asked for; later it does nothing. Returns what could not be opened: a
/// damaged folder keeps nobody from the others. Passed over are folders that are called like one
/// of the program's own, and those whose truth is Rust.
pub fn install(folders: &[PathBuf]) -> Vec<FolderError> {
    let mut problems = built_in();
    let mut errors = Vec::new();
    for folder in folders.iter().flat_map(|folder| problem_folders(folder)) {
        let name = folder.file_name().unwrap_or_default();
        let needs_a_build = folder.join("reference.rs").is_file();
        if needs_a_build || problems.iter().any(|known| name == known.name) {
            continue;
        }
        match open(&folder) {
            Ok(problem) => problems.push(problem),
            Err(error) => errors.push(error),
        }
    }
    problems.sort_by_key(Problem::name);
    // A second call finds the first one's problems.
    let _ = CATALOG.set(problems);
    errors
}

/// The folders in `folder` that hold a manifest, or `folder` itself where it does.
fn problem_folders(folder: &Path) -> Vec<PathBuf> {
    let holds = |folder: &PathBuf| folder.join("problem.toml").is_file();
    if holds(&folder.to_owned()) {
        return vec![folder.to_owned()];
    }
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut found: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(holds).collect();
    found.sort();
    found
}

#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("no problem is called `{name}`{}", suggestion(near))]
pub struct UnknownProblem {
    pub name: String,
    /// Names that differ little, best first.
    pub near: Vec<&'static str>,
}

fn suggestion(near: &[&str]) -> String {
    match near {
        [] => "; `nibble list` shows them all".to_owned(),
        names => format!("; did you mean `{}`?", names.join("` or `")),
    }
}

/// # Errors
/// No such problem; the error carries the names that come near.
pub fn find(name: &str) -> Result<&'static Problem, UnknownProblem> {
    if let Some(problem) = catalog().iter().find(|problem| problem.name == name) {
        return Ok(problem);
    }
    // A name counts as near if a third of its letters, or fewer, are wrong, or if it contains the
    // one asked for ("gemv").
    let mut near: Vec<(usize, &'static str)> = catalog()
        .iter()
        .map(|problem| (edits(name, problem.name), problem.name))
        .filter(|(edits, known)| {
            edits * 3 <= known.len() || (name.len() > 2 && known.contains(name))
        })
        .collect();
    near.sort();
    let near = near.into_iter().map(|(_, known)| known).take(3).collect();
    Err(UnknownProblem { name: name.to_owned(), near })
}

/// Levenshtein's distance, row by row.
fn edits(a: &str, b: &str) -> usize {
    let mut row: Vec<usize> = (0..=b.chars().count()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.chars().enumerate() {
            let replaced = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(row[j + 1] + 1);
        }
    }
    row[b.chars().count()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_manifest_is_valid() {
        for problem in catalog() {
            assert!(problem.manifest().revision > 0, "{}", problem.name());
            assert!(!problem.check_cases().is_empty() && !problem.bench_cases().is_empty());
        }
    }

    #[test]
    fn a_wrong_name_is_answered_with_the_near_ones() {
        let error = find("mxfp4_quantise").unwrap_err();
        assert_eq!(error.near[0], "mxfp4_quantize");
        let message = "no problem is called `mxfp4_quantise`; did you mean `mxfp4_quantize`";
        assert!(error.to_string().starts_with(message), "{error}");
        let error = find("zzz").unwrap_err();
        assert_eq!(error.to_string(), "no problem is called `zzz`; `nibble list` shows them all");
    }
}
