//! What the owner of a device and the device say to each other, in frames as a judge's and a worker's.

use std::time::Duration;

use cudart::server::DeviceReport;
use ptx::KernelFacts;
use serde::{Deserialize, Serialize};

use crate::device::{Buffer, Scrutiny};

/// From the owner, a judge or a program of the user's own.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Order {
    /// The first, with the descriptor of the segment that the client has, too: be a GPU of this
    /// architecture, which knows what `ptxas` said of the kernels. Answered by `Done`.
    Start { arch: String, kernels: Vec<KernelFacts>, scrutiny: Scrutiny },
    /// Comes with a descriptor of so many bytes: let kernels reach these buffers in it, and forget what
    /// happened so far. Launches that are not over in time are given up. Answered by `Begun`.
    Begin { len: usize, buffers: Vec<Buffer>, limit: Duration },
    /// Once no kernel runs, take the buffers back. Answered by `Happened`.
    End,
    /// Answered by `Happened`.
    Report,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Answer {
    Done,
    /// Where kernels find the first byte.
    Begun {
        base: u64,
    },
    Happened(Box<DeviceReport>),
    Refused(String),
}
