//! `nibble toolchain [install]`: the compiler that will be used.

use serde::Serialize;
use toolchain::{Search, Toolchain};

use crate::{
    args::ToolchainAction,
    config::Config,
    exit::{Exit, Failure, Result},
    interrupt,
    render::{json, style, words},
};

#[derive(Serialize)]
struct Found {
    nvcc: String,
    version: String,
    origin: String,
    host_compiler: String,
}

pub fn run(action: Option<&ToolchainAction>, config: &Config) -> Result<Exit> {
    let search = Search::from_environment(config.nvcc.clone())?;
    let progress = config.terminal.progress();
    let mut warnings = Vec::new();
    let mut emit = |event| match event {
        toolchain::Event::Warning(warning) => warnings.push(warning),
        event => progress.event(&judge::Event::Toolchain(event)),
    };
    let toolchain = match action {
        None => search.find(&mut emit)?,
        Some(ToolchainAction::Install) => {
            let interrupt = interrupt::install();
            let installed = search.install(&interrupt, &mut emit);
            if interrupt.raised() {
                return Err(Failure::interrupted());
            }
            Some(installed?)
        }
    };
    drop(progress);
    for warning in &warnings {
        config.terminal.warning(warning);
    }
    let toolchain = toolchain.ok_or_else(|| {
        Failure::machine("there is no nvcc here yet")
            .next("nibble toolchain install; check, bench and submit do it by themselves")
    })?;
    config.terminal.print(&match config.json {
        true => json::line(&Found {
            nvcc: toolchain.nvcc.display().to_string(),
            version: toolchain.version.to_string(),
            origin: toolchain.origin.to_string(),
            host_compiler: toolchain.host_compiler.display().to_string(),
        }),
        false => screen(&toolchain),
    })?;
    Ok(Exit::Accepted)
}

fn screen(toolchain: &Toolchain) -> String {
    let rows = [
        ("nvcc", format!("{}, from {}", toolchain.version, toolchain.origin)),
        ("", toolchain.nvcc.display().to_string()),
        ("g++", toolchain.host_compiler.display().to_string()),
        ("cache", toolchain.cache.display().to_string()),
    ];
    rows.iter()
        .map(|(name, value)| {
            let name = style::paint(style::DIM, format!("{name:<7}"));
            format!("{}\n", words::hanging(&format!("{name}{value}"), 7))
        })
        .collect()
}
