//! `nibble check FILE…`: compile and prove; no timing, no record.

use judge::{Selection, Stage};

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
    let selection =
        Selection { cases: check.cases.clone(), quick: check.quick, data_seed: check.data_seed };
    let how = solve::How { scrutiny, selection, ..solve::How::to(Stage::Check) };
    solve::each(&check.solve, &how, config, |_, report| Ok(Shown::of(report)))
}
