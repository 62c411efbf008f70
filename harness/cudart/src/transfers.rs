//! What a program makes the device and the bus do besides kernels, for the time model.
//!
//! Not in it: the host's own work in the program's code, which is not the device's. It needs the data,
//! though, and the way there and back is counted.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// Copies, fills, kernels' accesses to host memory, and the program's functions in streams and graphs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Transfers {
    /// Copies and fills, each of any size.
    pub operations: u64,
    /// Bytes between the host's memory and the device's.
    pub bus_bytes: u64,
    /// Bytes read or written within the device's memory.
    pub device_bytes: u64,
    /// The host's time in functions that the program put between the device's work.
    pub host: Duration,
}
