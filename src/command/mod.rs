//! One file for each verb.

mod attempt;
mod attempts;
mod audit;
mod bench;
mod check;
mod completions;
mod diff;
mod doctor;
mod history;
mod leaderboard;
mod list;
mod new;
mod reference;
mod report;
mod show;
mod solve;
mod submit;
mod toolchain;

use crate::{
    args::Command,
    config::Config,
    exit::{Exit, Result},
};

pub fn run(command: Command, config: &Config) -> Result<Exit> {
    match command {
        Command::List => list::run(config),
        Command::Show { problem } => show::run(&problem, config),
        Command::New(new) => new::run(&new, config),
        Command::Check(solve) => check::run(&solve, config),
        Command::Bench(solve) => bench::run(&solve, config),
        Command::Submit(submit) => submit::run(&submit, config),
        Command::Leaderboard { problem, action: None } => {
            leaderboard::run(problem.as_deref(), config)
        }
        Command::Leaderboard { action: Some(action), .. } => audit::run(action, config),
        Command::History { of, limit } => history::run(of.as_deref(), limit, config),
        Command::Attempt { id, source } => attempt::run(&id, source, config),
        Command::Diff { a, b } => diff::run(&a, b.as_deref(), config),
        Command::Report { output } => report::run(&output, config),
        Command::Reference(reference) => reference::run(&reference, config),
        Command::Doctor => doctor::run(config),
        Command::Toolchain { action } => toolchain::run(action.as_ref(), config),
        Command::Completions { shell } => completions::run(shell, config),
        Command::Worker { .. } => unreachable!("`main` starts the worker by itself"),
    }
}
