//! One file for each verb.

mod attempt;
mod attempts;
mod audit;
mod batch;
mod bench;
mod check;
mod chunk;
mod compare;
mod completions;
mod confirm;
mod conform;
mod count;
mod diff;
mod doctor;
mod elsewhere;
mod export;
mod guide;
mod history;
mod import;
mod leaderboard;
mod list;
mod man;
mod merge;
mod ncu;
mod new;
mod plan;
mod problem;
mod profile;
mod queue;
mod reference;
mod remeasure;
mod report;
mod run;
mod scrutiny;
mod show;
mod solution;
mod solve;
mod submit;
mod sweep;
mod toolchain;
mod values;
mod watch;

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
        Command::Check(check) => check::run(&check, config),
        Command::Bench(bench) => bench::run(&bench, config),
        Command::Profile(profile) => profile::run(&profile, config),
        Command::Submit(submit) => submit::run(&submit, config),
        Command::Sweep(sweep) => sweep::run(&sweep, config),
        Command::Leaderboard(board) => match board.action {
            None => leaderboard::run(&board, config),
            Some(action) => audit::run(&action, config),
        },
        Command::History { of, limit, source } => {
            history::run(of.as_deref(), limit, source, config)
        }
        Command::Queue => queue::run(config),
        Command::Attempt { id, source } => attempt::run(&id, source, config),
        Command::Diff { a, b } => diff::run(a.as_deref(), b.as_deref(), config),
        Command::Compare(arguments) => compare::run(&arguments, config),
        Command::Watch(watch) => watch::run(&watch, config),
        Command::Export(export) => export::run(&export, config),
        Command::Import(import) => import::run(&import, config),
        Command::Report { output } => report::run(&output, config),
        Command::Run { file, profile, verbose, scrutiny, compiler, arguments } => {
            let scrutiny = scrutiny::of(scrutiny, config)?;
            let scrutiny = judge::device::Scrutiny { profile, ..scrutiny };
            run::run(&file, scrutiny, verbose, &compiler, &arguments, config)
        }
        Command::Enter { program, name, arguments } => {
            run::enter(&program, &name, &arguments, config)
        }
        Command::Reference(reference) => reference::run(&reference, config),
        Command::Guide => guide::run(config),
        Command::Problem { action } => problem::run(&action, config),
        Command::Doctor => doctor::run(config),
        Command::Toolchain { action } => toolchain::run(action.as_ref(), config),
        Command::Conform { files } => conform::run(&files, config),
        Command::Count { file, arguments } => count::run(&file, &arguments, config),
        Command::Ncu { files } => ncu::run(&files, config),
        Command::Once { order } => ncu::once(&order),
        Command::Man { folder } => man::run(&folder, config),
        Command::Completions { shell } => completions::run(shell, config),
        Command::Chunk { run, places } => chunk::run(&run, &places, config),
        Command::Device | Command::Worker { .. } => unreachable!("`main` starts them by itself"),
    }
}
