//! One file for each verb.

mod bench;
mod check;
mod completions;
mod solve;

use crate::{
    args::Command,
    config::Config,
    exit::{Exit, Result},
};

pub fn run(command: Command, config: &Config) -> Result<Exit> {
    match command {
        Command::Check(solve) => check::run(&solve, config),
        Command::Bench(solve) => bench::run(&solve, config),
        Command::Completions { shell } => completions::run(shell, config),
        Command::Worker { .. } => unreachable!("main starts the worker before anything is set up"),
    }
}
