//! The narrow waist: where a loaded solution runs.
//!
//! A device lives in the worker process, beside the untrusted solution; what it returns are
//! claims. Policy (what to run, how often, when to stop) lives above, in `bench`, so that every
//! device exercises it. The scripted one (`mock`) claims without running anything, and so stands
//! at the judge's side of the pipe.

mod emulator;
mod entry;
mod host;
pub mod mock;

use std::path::Path;

use serde::{Deserialize, Serialize};

pub use self::entry::Entry;
use crate::report::KernelFacts;
use crate::shared::Map;

/// A buffer of the solution's signature: a window of the memory shared with the judge.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Buffer {
    /// The parameter's name, for faults ("a", "q", "scale").
    pub name: String,
    /// Bytes from the start of the shared memory to the first byte the solution may touch.
    pub offset: usize,
    /// Bytes that the solution may touch.
    pub len: usize,
    /// Bytes of red zone on each side, part of what is uploaded and downloaded.
    pub red_zone: usize,
}

/// One argument of `solution`, in the signature's order.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Argument {
    /// Index into the buffers.
    Buffer(usize),
    Size(u64),
    Float(f32),
}

/// What one kernel launch did, as the emulator counted it. Absent on a GPU.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Launch {
    pub kernel: String,
    pub grid: [u32; 3],
    pub block: [u32; 3],
    pub dynamic_shared: u32,
    pub counters: ::emulator::Counters,
}

/// What came of one call of `solution`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Call {
    /// It returned, and the device is idle again.
    Returned {
        /// Host time inside the call, nanoseconds.
        host_ns: u64,
        /// Device time, nanoseconds, where the device has a clock.
        device_ns: Option<f64>,
        launches: Vec<Launch>,
        /// Runtime functions the solution called that nibble does not provide.
        unsupported: Vec<String>,
        /// CUDA errors that calls returned and the solution may have ignored, oldest first.
        errors: Vec<String>,
    },
    /// A kernel did something that has no meaning.
    Faulted(Box<::emulator::Fault>),
    /// The device or its runtime refused; the text says what.
    Failed(String),
}

/// Which device the worker opens.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Target {
    /// nibble's own, as a GPU of this architecture ("sm_100a"), which knows what `ptxas` said of
    /// the kernels.
    Emulator { arch: String, kernels: Vec<KernelFacts> },
    /// None: `solution` is host code on host memory. For the tests of judge and worker, which
    /// then need no CUDA compiler.
    Host,
}

/// Where a loaded solution runs.
pub trait Device {
    /// Calls `solution` once on these buffers of `memory` and waits until all its work is done.
    fn call(&mut self, memory: &Map, buffers: &[Buffer], arguments: &[Argument]) -> Call;
}

/// Opens the artifact on the device.
///
/// # Errors
///
/// What the dynamic linker or the device says, for people.
pub(crate) fn open(library: &Path, target: &Target) -> Result<Box<dyn Device>, String> {
    match target {
        Target::Emulator { arch, kernels } => emulator::Emulator::open(library, arch, kernels),
        Target::Host => host::Host::open(library),
    }
}
