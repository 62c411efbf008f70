//! `nibble check FILE…`: compile and prove; no timing, no record.

use judge::Stage;

use super::{
    scrutiny,
    solve::{self, Shown},
};
use crate::{
    args::Check,
    config::Config,
    exit::{Exit, Result},
};

pub fn run(check: &Check, config: &Config) -> Result<Exit> {
    let scrutiny = scrutiny::of(check.scrutiny, config)?;
    let how = solve::How { stage: Stage::Check, sizes: &[], scrutiny };
    solve::each(&check.solve, how, config, |report| Ok(Shown::of(report)))
}
