//! The problems there are: the folders beside the kit, which `build.rs` finds.

use std::sync::LazyLock;

use thiserror::Error;

use crate::folders::{FOLDERS, Folder};
use crate::{Manifest, Problem};

static CATALOG: LazyLock<Vec<Problem>> = LazyLock::new(|| FOLDERS.iter().map(problem).collect());

fn problem(folder: &'static Folder) -> Problem {
    let Folder { name, manifest, spec, starter, truth } = *folder;
    // The manifest is part of the binary, and a test parses it.
    let manifest = Manifest::parse(manifest)
        .unwrap_or_else(|error| panic!("problems/{name}/problem.toml: {error}"));
    Problem { name, manifest, spec, starter, truth }
}

/// Every problem, in the order of their names.
pub fn catalog() -> &'static [Problem] {
    &CATALOG
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
    if let Some(problem) = CATALOG.iter().find(|problem| problem.name == name) {
        return Ok(problem);
    }
    // A name counts as near if a third of its letters, or fewer, are wrong, or if it contains the
    // one asked for ("gemv").
    let mut near: Vec<(usize, &'static str)> = CATALOG
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
