//! The narrow waist: where a loaded solution runs.
//!
//! A device is called in the worker process, beside the untrusted solution; what it returns are
//! claims. The emulated one is itself another process (`crate::emulated`), which the judge asks what
//! happened. Policy (what to run, how often, when to stop) lives above, in `bench`, so that every
//! device exercises it. The scripted one (`mock`) claims without running anything, and so stands
//! at the judge's side of the pipe.

pub mod cuda;
mod device_error;
pub(crate) mod emulator;
mod entry;
pub mod fingerprint;
mod host;
pub(crate) mod host_touch;
pub mod mock;

use std::os::fd::OwnedFd;
use std::path::Path;
use std::time::Duration;

use serde::{Deserialize, Serialize};

pub use self::device_error::{DeviceError, DeviceErrorKind};
pub use self::entry::Entry;
pub(crate) use self::entry::offsets;
use crate::shared::Map;
use ptx::KernelFacts;
use timing::{Launch, Transfers};

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
    /// What it holds is the judge's poison: an output.
    pub blank: bool,
}

/// One argument of `solution`, in the signature's order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Argument {
    /// Index into the buffers.
    Buffer(usize),
    Size(u64),
    Float(f32),
    /// The address of an array, on the host, of the addresses of these buffers.
    Buffers(Vec<usize>),
    /// The address of an array, on the host, of these sizes.
    Sizes(Vec<u64>),
}

/// What came of one call of `solution`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Call {
    /// It returned, and the device is idle again.
    Returned {
        /// Where the device has a clock.
        sample: Option<Sample>,
        launches: Vec<Launch>,
        /// What was done besides them, where the device counts.
        transfers: Transfers,
        /// What each kernel's places in the source cost; empty unless the target asked for it.
        profiles: Vec<::emulator::KernelProfile>,
        /// Runtime functions the solution called that nibble does not provide.
        unsupported: Vec<String>,
        /// CUDA errors that calls returned and the solution may have ignored, oldest first.
        errors: Vec<String>,
    },
    /// A kernel did something that has no meaning.
    Faulted(Box<::emulator::Fault>),
    /// The device or its runtime refused, or is lost: nothing more can be had of this process.
    Failed(DeviceError),
}

/// One timed call.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sample {
    /// Device time, nanoseconds.
    pub device_ns: f64,
    /// How long other work of the context went on behind the call, nanoseconds; only of a
    /// [`Span::Everything`].
    #[serde(default)]
    pub behind_ns: f64,
    /// Host time inside the call, nanoseconds.
    pub host_ns: u64,
    /// Host time of all that is done for this one call, itself included, nanoseconds.
    pub around_ns: u64,
    /// The SMs' clock just before it, MHz, where the device tells.
    pub clock_mhz: Option<f64>,
}

/// What the caches hold when a timed call begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Temperature {
    /// Nothing of the call's.
    Cold,
    /// Whatever the call before it left.
    Hot,
}

/// What is between the two events of a timed call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Span {
    /// The call, as far as the default stream knows.
    Call,
    /// The call and all work of the context, on whatever stream.
    Everything,
    /// A kernel that does nothing, instead of the call.
    Nothing,
}

/// A series of timed calls, each with a content that is new to the solution: a mixture, unit by
/// unit, of two that were [kept](Device::keep).
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Order {
    /// One for each call: which units are of which content, and what the outputs hold before.
    pub keys: Vec<u64>,
    pub temperature: Temperature,
    pub span: Span,
    /// Inputs, with the bytes of one unit.
    pub inputs: Vec<(usize, usize)>,
    pub outputs: Vec<usize>,
    /// The key of the fingerprints.
    pub fingerprint: u64,
}

/// What came of one call of a series.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Reading {
    pub sample: Sample,
    /// Of each output, taken in the stream right behind the call.
    pub fingerprints: Vec<u64>,
}

/// How closely the emulator looks at kernels, besides what it checks always.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Scrutiny {
    /// Look for races, and for values made from what nobody wrote.
    pub sanitize: bool,
    /// Leave the order of lanes, warps and blocks to chance, the same for the same number.
    pub seed: Option<u64>,
    /// Calls say what each place in the source cost.
    pub profile: bool,
}

impl Scrutiny {
    /// Whether it asks for what only the emulator can do.
    pub fn is_emulators(self) -> bool {
        self.sanitize || self.seed.is_some()
    }
}

/// Which device the worker opens.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Target {
    /// nibble's own, as a GPU of this architecture ("sm_100a"), which knows what `ptxas` said of
    /// the kernels.
    Emulator { arch: String, kernels: Vec<KernelFacts>, scrutiny: Scrutiny },
    /// A GPU of this machine, by the driver's number.
    Cuda { ordinal: usize },
    /// None: `solution` is host code on host memory. For the tests of judge and worker, which
    /// then need no CUDA compiler.
    Host,
}

/// Where the buffers of a call are.
#[derive(Clone, Copy, Debug)]
pub enum Lent<'a> {
    /// In memory shared with the judge.
    Shared(&'a Map),
    /// On a device in another process, the first byte at this address.
    Device(u64),
}

/// Where a loaded solution runs.
pub trait Device {
    /// Calls `solution` once on these buffers of `memory` and waits until all its work is done.
    fn call(
        &mut self,
        memory: Lent<'_>,
        buffers: &[Buffer],
        arguments: &[Argument],
        limit: Duration,
    ) -> Call;

    /// Keeps what the last call was given, as content 0 or 1 of the series to come, which call with
    /// its arguments.
    ///
    /// # Errors
    ///
    /// Where the device has no clock, or no memory.
    fn keep(&mut self, _content: usize) -> Result<(), DeviceError> {
        Err(DeviceError::other("this device has no clock"))
    }

    /// Times as many of the calls as there is memory for, at least one.
    ///
    /// # Errors
    ///
    /// Where nothing was kept, or a call went wrong.
    fn series(&mut self, _order: &Order) -> Result<Vec<Reading>, DeviceError> {
        Err(DeviceError::other("this device has no clock"))
    }

    /// Copies what call `index` of the last series left to `memory`, which is laid out as for a
    /// call.
    ///
    /// # Errors
    ///
    /// Where there was no such call.
    fn fetch(&mut self, _index: usize, _memory: &Map) -> Result<(), DeviceError> {
        Err(DeviceError::other("this device has no clock"))
    }
}

impl Target {
    /// The GPU to get hold of while this process may still open files.
    pub fn gpu(&self) -> Option<usize> {
        match self {
            Self::Cuda { ordinal } => Some(*ordinal),
            Self::Emulator { .. } | Self::Host => None,
        }
    }
}

/// Opens the artifact on the device. `gpu` is the context of [`Target::gpu`], `segment` what the process of an
/// emulated device shares.
///
/// # Errors
///
/// What the dynamic linker or the device says, for people.
pub(crate) fn open(
    library: &Path,
    target: &Target,
    gpu: Option<&cuda::Context>,
    segment: Option<OwnedFd>,
) -> Result<Box<dyn Device>, String> {
    match target {
        Target::Emulator { .. } => match segment {
            Some(segment) => emulator::Emulator::open(library, segment),
            None => Err("there is no emulated device".to_owned()),
        },
        Target::Cuda { .. } => match gpu {
            Some(context) => cuda::Cuda::open(library, context),
            None => Err("no GPU is open".to_owned()),
        },
        Target::Host => host::Host::open(library),
    }
}
