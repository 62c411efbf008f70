//! nibble: a workbench for FP4 kernel competitions, with or without a GPU.
//!
//! ```text
//! args (what was typed) ─► config (what it means) ─► command/<verb> ─► render ─► terminal
//! ```
//!
//! Everything that prints is in this package; everything that knows kernels is in the libraries.

mod args;
mod command;
mod config;
mod exit;
mod interrupt;
mod platform;
mod record;
mod render;
mod report;
mod rungs;
mod terminal;

use std::process::ExitCode;

use clap::Parser as _;

use crate::{
    args::{Args, Command},
    config::Config,
    terminal::Terminal,
};

fn main() -> ExitCode {
    let args = Args::parse();
    match args.command {
        Command::Worker { .. } => return judge::worker_main(),
        Command::Device => return judge::device_main(),
        _ => {}
    }
    let json = args.common.json;
    let terminal = Terminal::new(args.common.color, args.common.quiet);
    let result = Config::new(args.common, terminal).and_then(|config| {
        for damaged in problems::install(&config.problems) {
            terminal.warning(&damaged.to_string());
        }
        command::run(args.command, &config)
    });
    result.unwrap_or_else(|failure| failure.report(json, &terminal)).into()
}
