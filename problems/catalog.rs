//! The problems there are: one line each.

use std::sync::LazyLock;

use thiserror::Error;

use crate::{Manifest, Problem};

/// A problem from its folder's name and the type that holds its code.
macro_rules! problem {
    ($folder:literal, $truth:expr) => {
        Problem {
            name: $folder,
            // The manifest is part of the binary, and a test parses it.
            manifest: LazyLock::new(|| {
                Manifest::parse(include_str!(concat!($folder, "/problem.toml")))
                    .expect(concat!($folder, "/problem.toml is valid"))
            }),
            spec: include_str!(concat!($folder, "/spec.md")),
            starter: include_str!(concat!($folder, "/starter.cu")),
            truth: &$truth,
        }
    };
}

static CATALOG: LazyLock<Vec<Problem>> = LazyLock::new(|| {
    vec![
        problem!("mxfp4_quantize", crate::mxfp4_quantize::Mxfp4Quantize),
        problem!("mxfp4_dequantize", crate::mxfp4_dequantize::Mxfp4Dequantize),
        problem!("nvfp4_quantize", crate::nvfp4_quantize::Nvfp4Quantize),
        problem!("nvfp4_quantize_amax", crate::nvfp4_quantize_amax::Nvfp4QuantizeAmax),
        problem!("nvfp4_dequantize", crate::nvfp4_dequantize::Nvfp4Dequantize),
        problem!("nvfp4_gemv", crate::nvfp4_gemv::Nvfp4Gemv),
        problem!("fp4_attention", crate::fp4_attention::Fp4Attention),
    ]
});

/// Every problem, in the order lists show them.
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
    use std::collections::BTreeSet;
    use std::path::Path;

    use super::*;

    #[test]
    fn every_folder_is_in_the_catalogue_and_the_other_way_round() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let folders: BTreeSet<String> = std::fs::read_dir(root)
            .expect("the crate's folder")
            .map(|entry| entry.expect("an entry").path())
            .filter(|path| path.join("problem.toml").is_file())
            .map(|path| path.file_name().expect("a name").to_string_lossy().into_owned())
            .collect();
        let known: BTreeSet<String> = catalog().iter().map(|p| p.name().to_owned()).collect();
        assert_eq!(folders, known);
    }

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
