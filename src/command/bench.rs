//! `nibble bench FILE…`: check, then time; no record.

use judge::Stage;

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

/// `m=8192,k=8192`; whether the problem has such sizes is its own to say.
pub fn size(typed: &str) -> Result<Vec<(String, u64)>> {
    let part = |part: &str| {
        let (name, size) = part.split_once('=')?;
        Some((name.trim().to_owned(), size.trim().parse().ok().filter(|size| *size > 0)?))
    };
    typed.split(',').map(part).collect::<Option<_>>().ok_or_else(|| {
        Failure::usage(format!("`{typed}` is not a size")).next("write it like m=8192,k=8192")
    })
}
