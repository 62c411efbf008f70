//! No device at all: `solution` as host code, on the shared memory itself.

use std::path::Path;
use std::time::Instant;

use super::entry::addresses;
use super::{Argument, Buffer, Call, Device, Entry};
use crate::shared::Map;

pub struct Host(Entry);

impl Host {
    pub fn open(library: &Path) -> Result<Box<dyn Device>, String> {
        Ok(Box::new(Self(Entry::open(library)?)))
    }
}

impl Device for Host {
    fn call(&mut self, memory: &Map, buffers: &[Buffer], arguments: &[Argument]) -> Call {
        let started = Instant::now();
        self.0.call(&addresses(memory.base(), buffers), arguments);
        Call::Returned {
            host_ns: started.elapsed().as_nanos() as u64,
            device_ns: None,
            launches: Vec::new(),
            unsupported: Vec::new(),
            errors: Vec::new(),
        }
    }
}
