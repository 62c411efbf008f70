//! Tensara: its editor takes the `.cu` file as it is. It has flags of its own and one GPU for each
//! problem, and refuses some of the standard library.

use problems::Problem;

use super::{Exported, Outgoing};
use crate::exit::{Failure, Result};

/// Tensara compiles FP4 problems for a B200, with these flags and no others.
const FLAGS: &str = "-std=c++20 -O2";
const ARCH: &str = "sm_100a";
/// What Tensara's scan of the source refuses.
const FORBIDDEN: [&str; 5] =
    ["#include <thrust/", "thrust::", "std::sort", "std::stable_sort", "qsort("];

/// What Tensara calls the problem: "mxfp4-quantize".
pub fn slug(problem: &Problem) -> Option<&str> {
    problem.manifest().origin.strip_prefix("Tensara, ")?.split(';').next()
}

pub fn export(solution: &Outgoing<'_>) -> Result<Exported> {
    let problem = solution.problem;
    if slug(problem).is_none() {
        return Err(Failure::usage(format!("Tensara has no problem like {}", problem.name()))
            .next("`nibble list` names the problems, `nibble show` where each is from"));
    }
    let directives = solution.directives()?;
    let mut lost = solution.local_includes();
    if !directives.nvcc.is_empty() {
        let flags = directives.nvcc.join(" ");
        lost.push(format!("Tensara compiles with {FLAGS} and takes no flags: {flags} is lost"));
    }
    if let Some(arch) = directives.arch.filter(|arch| arch != ARCH) {
        lost.push(format!("it is written for {arch}, Tensara compiles for {ARCH}"));
    }
    for word in FORBIDDEN.iter().filter(|word| solution.source.contains(**word)) {
        lost.push(format!("Tensara refuses a source with `{word}`"));
    }
    Ok(Exported { text: solution.source.to_owned(), lost })
}
