//! The narrow waist: where a loaded solution runs.
//!
//! Three implementations: `emulator`, `cuda`, `mock`. A device lives in the worker process, beside
//! the untrusted solution; what it returns are claims. Policy (what to run, how often, when to
//! stop) lives above, in `bench`, so that all three exercise it.

use serde::{Deserialize, Serialize};

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
    pub counters: emulator::Counters,
}

/// What came of one call of `solution`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Call {
    /// It returned, and the device is idle again.
    Returned {
        /// Host time inside the call, nanoseconds.
        host_ns: u64,
        launches: Vec<Launch>,
        /// Runtime functions the solution called that nibble does not provide.
        unsupported: Vec<String>,
        /// CUDA errors that calls returned and the solution may have ignored, oldest first.
        errors: Vec<String>,
    },
    /// A kernel did something that has no meaning.
    Faulted(Box<emulator::Fault>),
    /// The device or its runtime refused; the text says what.
    Failed(String),
}
