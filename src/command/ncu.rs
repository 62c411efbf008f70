//! `nibble __ncu FILE…`: what NVIDIA's profiler counts, for programs. For `scripts/gpu`.

use std::path::{Path, PathBuf};

use judge::ncu::{self, KernelProfile};
use judge::{DeviceChoice, Stage};
use serde::Serialize;

use crate::{
    config::Config,
    exit::{Exit, Failure, Result},
    render::json,
};

#[derive(Serialize)]
struct Profiled<'a> {
    file: &'a Path,
    size: String,
    kernels: Vec<KernelProfile>,
}

/// One object for each file.
pub fn run(files: &[PathBuf], config: &Config) -> Result<Exit> {
    for file in files {
        let mut run = judge::Config::new(file, Stage::Check);
        run.device = match config.device {
            DeviceChoice::Cuda(ordinal) => DeviceChoice::Cuda(ordinal),
            _ => DeviceChoice::Cuda(0),
        };
        run.nvcc.clone_from(&config.nvcc);
        let (size, kernels) = ncu::solution(&run, &mut |_| ())?;
        config.terminal.print(&json::line(&Profiled { file, size, kernels }))?;
    }
    Ok(Exit::Accepted)
}

/// The program that ncu looks into.
pub fn once(order: &Path) -> Result<Exit> {
    ncu::once(order).map_err(Failure::machine)?;
    Ok(Exit::Accepted)
}
