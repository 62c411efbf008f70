//! `nibble bench FILE…`: check, then time; no record.

use harness::Stage;

use super::solve::{self, Shown};
use crate::{
    args::Solve,
    config::Config,
    exit::{Exit, Result},
};

pub fn run(solve: &Solve, config: &Config) -> Result<Exit> {
    solve::each(solve, Stage::Bench, config, |report| Ok(Shown::of(report)))
}
