//! A GPU, through NVIDIA's driver.
//!
//! The memory shared with the judge is mirrored, red zones included, by one allocation; after a
//! call all of it goes back. So the judge finds there what it finds on any device.
//!
//! A series costs no such copies. Two contents stay on the GPU; each timed call gets a mixture of
//! them in a mirror of its own, and a fingerprint of what it wrote.

pub(crate) mod ceilings;
pub(crate) mod driver;
mod kernels;
mod stopwatch;

use std::path::Path;
use std::time::Duration;

use cudarc::driver::DriverError;

pub use self::driver::Context;
use self::driver::{Memory, free_bytes, synchronize};
use self::stopwatch::Stopwatch;
use super::entry::offsets;
use super::{
    Argument, Buffer, Call, Device, DeviceError, Entry, Lent, Order, Reading, Span, Temperature,
};
use crate::shared::Map;

#[derive(Debug)]
pub struct Cuda {
    entry: Entry,
    stopwatch: Stopwatch,
    mirror: Option<Memory>,
    /// Of the last call.
    buffers: Vec<Buffer>,
    arguments: Vec<Argument>,
    kept: [Option<Memory>; 2],
    /// Mirrors of the calls of a series.
    slots: Vec<Memory>,
}

impl Cuda {
    /// Opens the library: its constructors register its kernels with its own CUDA runtime.
    pub fn open(library: &Path, context: &Context) -> Result<Box<dyn Device>, String> {
        let stopwatch = Stopwatch::new(context).map_err(driver::words)?;
        Ok(Box::new(Self {
            entry: Entry::open(library)?,
            stopwatch,
            mirror: None,
            buffers: Vec::new(),
            arguments: Vec::new(),
            kept: [None, None],
            slots: Vec::new(),
        }))
    }

    /// Room for `len` bytes. Another length is another case: nothing of the old one is needed.
    fn make_room(&mut self, len: usize) -> Result<(), DriverError> {
        if self.mirror.as_ref().is_none_or(|mirror| mirror.len != len) {
            // The old memory first: the two need not fit at once.
            self.mirror = None;
            self.kept = [None, None];
            self.slots.clear();
            self.mirror = Some(Memory::new(len)?);
        }
        Ok(())
    }

    fn run(&mut self, memory: &Map) -> Result<Call, DeviceError> {
        self.make_room(memory.len())?;
        let Self { entry, stopwatch, mirror: Some(mirror), .. } = self else {
            return Err(DeviceError::other("no memory"));
        };
        let addresses = offsets(mirror.address, &self.buffers);
        // SAFETY: the whole mapping.
        unsafe { mirror.upload(0, memory.base(), memory.len()) }?;
        let call = || entry.call(&addresses, &self.arguments);
        let sample = stopwatch.time(Temperature::Cold, Span::Call, call, |_| Ok(()))?;
        // SAFETY: as above.
        unsafe { mirror.download(0, memory.base(), memory.len()) }?;
        Ok(Call::Returned {
            sample: Some(sample),
            launches: Vec::new(),
            transfers: timing::Transfers::default(),
            profiles: Vec::new(),
            unsupported: Vec::new(),
            errors: entry.cuda_error().into_iter().collect(),
        })
    }

    /// As many slots as the calls of an order, where two thirds of the free memory hold them: the
    /// solution may want some too.
    fn make_slots(&mut self, mirror: &Memory, calls: usize) -> Result<(), DeviceError> {
        while self.slots.len() < calls {
            if !self.slots.is_empty() && free_bytes()? / 3 < mirror.len {
                break;
            }
            let slot = Memory::new(mirror.len)?;
            slot.copy(mirror)?;
            self.slots.push(slot);
        }
        Ok(())
    }
}

impl Device for Cuda {
    fn call(
        &mut self,
        memory: Lent<'_>,
        buffers: &[Buffer],
        arguments: &[Argument],
        _: Duration,
    ) -> Call {
        self.buffers = buffers.to_vec();
        self.arguments = arguments.to_vec();
        let Lent::Shared(memory) = memory else {
            return Call::Failed(DeviceError::other("its buffers are on another device"));
        };
        self.run(memory).unwrap_or_else(Call::Failed)
    }

    fn keep(&mut self, content: usize) -> Result<(), DeviceError> {
        let (Some(mirror), Some(kept)) = (&self.mirror, self.kept.get_mut(content)) else {
            return Err(DeviceError::other("nothing was called"));
        };
        let copy = Memory::new(mirror.len)?;
        copy.copy(mirror)?;
        synchronize()?;
        *kept = Some(copy);
        Ok(())
    }

    fn series(&mut self, order: &Order) -> Result<Vec<Reading>, DeviceError> {
        let Some(mirror) = self.mirror.take() else {
            return Err(DeviceError::other("nothing was called"));
        };
        let room = self.make_slots(&mirror, order.keys.len());
        self.mirror = Some(mirror);
        room?;
        let Self { entry, stopwatch, kept: [Some(a), Some(b)], slots, .. } = self else {
            return Err(DeviceError::other("nothing was kept"));
        };
        let outputs = order.outputs.len();
        let sums = Memory::new(8 * outputs * slots.len())?;
        sums.clear()?;
        let buffer = |index: usize| {
            self.buffers.get(index).ok_or_else(|| DeviceError::other("there is no such buffer"))
        };
        let mut readings = Vec::new();
        for (index, (slot, &key)) in slots.iter().zip(&order.keys).enumerate() {
            for &(input, unit) in &order.inputs {
                let Buffer { offset, len, .. } = buffer(input)?;
                let [to, a, b] = [slot, &*a, &*b].map(|memory| memory.address + *offset as u64);
                stopwatch.kernels.mix(to, [a, b], *len, unit, key)?;
            }
            for &output in &order.outputs {
                let Buffer { offset, len, .. } = buffer(output)?;
                stopwatch.kernels.poison(slot.address + *offset as u64, *len, key)?;
            }
            let addresses = offsets(slot.address, &self.buffers);
            let call = || entry.call(&addresses, &self.arguments);
            let sample = stopwatch.time(order.temperature, order.span, call, |kernels| {
                for (place, &output) in order.outputs.iter().enumerate() {
                    let len = self.buffers[output].len;
                    let sum = sums.address + 8 * (index * outputs + place) as u64;
                    kernels.fingerprint(addresses[output], len, order.fingerprint, sum)?;
                }
                Ok(())
            })?;
            readings.push(Reading { sample, fingerprints: Vec::new() });
        }
        let mut words = vec![0_u64; sums.len / 8];
        // SAFETY: as many bytes as the words have.
        unsafe { sums.download(0, words.as_mut_ptr().cast(), sums.len) }?;
        for (reading, words) in readings.iter_mut().zip(words.chunks(outputs)) {
            reading.fingerprints = words.to_vec();
        }
        match entry.cuda_error() {
            Some(error) => Err(DeviceError::other(error)),
            None => Ok(readings),
        }
    }

    fn fetch(&mut self, index: usize, memory: &Map) -> Result<(), DeviceError> {
        let slot = self.slots.get(index).filter(|slot| slot.len == memory.len());
        let slot = slot.ok_or_else(|| DeviceError::other("there was no such call"))?;
        // SAFETY: the whole mapping, which is as long.
        Ok(unsafe { slot.download(0, memory.base(), memory.len()) }?)
    }
}
