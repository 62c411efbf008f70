//! `nibble check FILE…`: compile and prove; no timing, no record.

use harness::Stage;

use super::solve::{self, Shown};
use crate::{
    args::Solve,
    config::Config,
    exit::{Exit, Result},
};

pub fn run(solve: &Solve, config: &Config) -> Result<Exit> {
    solve::each(solve, &[], Stage::Check, config, |report| Ok(Shown::of(report)))
}
