//! `nibble completions SHELL`: what `nibble.bash`, `_nibble` and so on hold.

use clap::CommandFactory as _;
use clap_complete::Shell;

use crate::{
    args::Args,
    config::Config,
    exit::{Exit, Result},
};

pub fn run(shell: Shell, config: &Config) -> Result<Exit> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Args::command(), "nibble", &mut script);
    config.terminal.print(&String::from_utf8_lossy(&script))?;
    Ok(Exit::Accepted)
}
