//! No device at all: `solution` as host code, on the shared memory itself.

use std::path::Path;
use std::time::Duration;

use super::entry::offsets;
use super::{Argument, Buffer, Call, Device, DeviceError, Entry, Lent};
use timing::Transfers;

pub struct Host(Entry);

impl Host {
    pub fn open(library: &Path) -> Result<Box<dyn Device>, String> {
        Ok(Box::new(Self(Entry::open(library)?)))
    }
}

impl Device for Host {
    fn call(
        &mut self,
        memory: Lent<'_>,
        buffers: &[Buffer],
        arguments: &[Argument],
        _: Duration,
    ) -> Call {
        let Lent::Shared(memory) = memory else {
            return Call::Failed(DeviceError::other("its buffers are on a device"));
        };
        self.0.call(&offsets(memory.base().addr() as u64, buffers), arguments);
        Call::Returned {
            sample: None,
            launches: Vec::new(),
            transfers: Transfers::default(),
            profiles: Vec::new(),
            unsupported: Vec::new(),
            errors: Vec::new(),
        }
    }
}
