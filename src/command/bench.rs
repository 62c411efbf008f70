//! `nibble bench FILE…`: check, then time; no record.

use judge::Stage;
use problems::Sizes;

use super::solve::{self, Shown};
use crate::{
    args::Bench,
    config::Config,
    exit::{Exit, Failure, Result},
};

pub fn run(bench: &Bench, config: &Config) -> Result<Exit> {
    let sizes: Result<Vec<_>> = bench.sizes.iter().map(|typed| size(typed)).collect();
    let how = solve::How { sizes: &sizes?, ..solve::How::to(Stage::Bench) };
    solve::each(&bench.solve, &how, config, |_, report| Ok(Shown::of(report)))
}

/// `m=8192,k=8192`, or `m=96+128,g=2` where there is one for each group; whether the problem has
/// such sizes is its own to say.
pub fn size(typed: &str) -> Result<Vec<(String, u64)>> {
    let part = |part: &str| {
        let (name, size) = part.split_once('=')?;
        Sizes::typed(name.trim(), size)
    };
    let parts: Option<Vec<_>> = typed.split(',').map(part).collect();
    parts.map(|parts| parts.concat()).ok_or_else(|| {
        Failure::usage(format!("`{typed}` is not a size")).next("write it like m=8192,k=8192")
    })
}
