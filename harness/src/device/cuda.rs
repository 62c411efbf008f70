//! A GPU, through NVIDIA's driver.
//!
//! The memory shared with the judge is mirrored, red zones included, by one allocation; after the
//! call all of it goes back. So the judge finds there what it finds on any device.

pub(crate) mod driver;
mod kernels;
mod stopwatch;

use std::path::Path;

use cudarc::driver::DriverError;

pub use self::driver::Context;
use self::driver::Memory;
use self::stopwatch::Stopwatch;
use super::entry::offsets;
use super::{Argument, Buffer, Call, Device, Entry, Mishap, Temperature};
use crate::shared::Map;

#[derive(Debug)]
pub struct Cuda {
    entry: Entry,
    stopwatch: Stopwatch,
    mirror: Option<Memory>,
}

impl Cuda {
    /// Opens the library: its constructors register its kernels with its own CUDA runtime.
    pub fn open(library: &Path, context: &Context) -> Result<Box<dyn Device>, String> {
        let stopwatch = Stopwatch::new(context).map_err(driver::words)?;
        Ok(Box::new(Self { entry: Entry::open(library)?, stopwatch, mirror: None }))
    }

    fn mirror(&mut self, len: usize) -> Result<u64, DriverError> {
        if self.mirror.as_ref().is_none_or(|mirror| mirror.len != len) {
            // The old one first: the two need not fit at once.
            self.mirror = None;
            self.mirror = Some(Memory::new(len)?);
        }
        Ok(self.mirror.as_ref().map_or(0, |mirror| mirror.address))
    }

    fn run(
        &mut self,
        memory: &Map,
        buffers: &[Buffer],
        arguments: &[Argument],
    ) -> Result<Call, Mishap> {
        let addresses = offsets(self.mirror(memory.len())?, buffers);
        let Self { entry, stopwatch, mirror: Some(mirror) } = self else {
            return Err(Mishap::other("no memory"));
        };
        // SAFETY: the whole mapping.
        unsafe { mirror.upload(0, memory.base(), memory.len()) }?;
        let call = || entry.call(&addresses, arguments);
        let sample = stopwatch.time(Temperature::Cold, false, call, |_| Ok(()))?;
        // SAFETY: as above.
        unsafe { mirror.download(0, memory.base(), memory.len()) }?;
        Ok(Call::Returned {
            sample: Some(sample),
            launches: Vec::new(),
            unsupported: Vec::new(),
            errors: entry.cuda_error().into_iter().collect(),
        })
    }
}

impl Device for Cuda {
    fn call(&mut self, memory: &Map, buffers: &[Buffer], arguments: &[Argument]) -> Call {
        self.run(memory, buffers, arguments).unwrap_or_else(Call::Failed)
    }
}
