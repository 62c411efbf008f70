//! nibble's own GPU: the solution's CUDA runtime calls reach the emulator in this process.

use std::path::Path;

use super::{Argument, Buffer, Call, Device, Entry};
use crate::report::KernelFacts;
use crate::shared::Map;

pub struct Emulator {
    entry: Entry,
}

impl Emulator {
    pub fn open(
        library: &Path,
        _arch: &str,
        _kernels: &[KernelFacts],
    ) -> Result<Box<dyn Device>, String> {
        Ok(Box::new(Self { entry: Entry::open(library)? }))
    }
}

impl Device for Emulator {
    fn call(&mut self, _memory: &Map, _buffers: &[Buffer], _arguments: &[Argument]) -> Call {
        let _ = &self.entry;
        Call::Failed("this build has no emulator".to_owned())
    }
}
