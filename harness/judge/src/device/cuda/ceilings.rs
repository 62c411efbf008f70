//! How fast this GPU's memory is: nibble's own kernels on far more than L2 holds.

use cudarc::driver::DriverError;

use super::driver::{Context, Memory, free_bytes};
use super::kernels::{Kernels, TILE};
use super::stopwatch::Stopwatch;
use crate::card::Ceilings;
use crate::device::{Span, Temperature};

/// Bytes of each of the two arrays, where there is so much.
const MOST: usize = 2 << 30;
const RUNS: usize = 12;

/// # Errors
///
/// What the driver says, for people.
pub fn measure(context: &Context) -> Result<Ceilings, String> {
    measured(context).map_err(super::driver::words)
}

fn measured(context: &Context) -> Result<Ceilings, DriverError> {
    let mut stopwatch = Stopwatch::new(context)?;
    let bytes = MOST.min(free_bytes()? / 4) / TILE * TILE;
    let (from, to) = (Memory::new(bytes)?, Memory::new(bytes)?);
    let tiles = (bytes / TILE) as u32;
    // Zeros move faster than data on some GPUs.
    stopwatch.kernels.poison(from.address, bytes, 1)?;
    let mut best = |run: &dyn Fn(&Kernels) -> Result<(), DriverError>| {
        let kernels = Kernels::load(context)?;
        let mut least = f64::INFINITY;
        for _ in 0..RUNS {
            let mut ran = Ok(());
            let sample =
                stopwatch.time(Temperature::Hot, Span::Call, || ran = run(&kernels), |_| Ok(()))?;
            ran?;
            least = least.min(sample.device_ns);
        }
        Ok::<f64, DriverError>(bytes as f64 * 1e9 / least)
    };
    let own = best(&|kernels| kernels.copy_tiles(to.address, from.address, tiles))?;
    let drivers = best(&|_| to.copy(&from))?;
    Ok(Ceilings {
        copy: 2.0 * own.max(drivers),
        read: best(&|kernels| kernels.read_tiles(from.address, tiles, to.address))?,
        write: best(&|kernels| kernels.write_tiles(to.address, tiles))?,
    })
}
