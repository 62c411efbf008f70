//! `nibble man FOLDER`: nibble's help as pages for `man`.

use std::path::Path;

use clap::CommandFactory as _;

use crate::{
    args::Args,
    config::Config,
    exit::{Exit, Failure, Result},
    render::words,
};

pub fn run(folder: &Path, config: &Config) -> Result<Exit> {
    let failed = |error| {
        Failure::machine(format!("cannot write man pages to {}: {error}", folder.display()))
            .next("name a folder that exists, as ~/.local/share/man/man1")
    };
    clap_mangen::generate_to(Args::command(), folder).map_err(failed)?;
    let folder = words::shell(&folder.join("nibble.1").display().to_string());
    config.terminal.print(&format!("read them with  man -l {folder}\n"))?;
    Ok(Exit::Accepted)
}
