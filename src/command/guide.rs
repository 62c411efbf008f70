//! `nibble guide`: the page by which a program works on a problem.

use crate::{
    config::Config,
    exit::{Exit, Result},
};

pub fn run(config: &Config) -> Result<Exit> {
    config.terminal.print(include_str!("../../docs/agents.md"))?;
    Ok(Exit::Accepted)
}
