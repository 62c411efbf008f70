//! What a program makes the device and the bus do besides kernels, for the time model.
//!
//! Not in it: the host's own work in the program's code, which is not the device's. It needs the data,
//! though, and the way there and back is counted.

use std::time::Duration;

use emulator::DeviceWindow;

use crate::abi::Address;
use crate::session::Session;

/// Copies, fills, kernels' accesses to host memory, and the program's functions in streams and graphs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
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

impl Session {
    /// A copy. What is in the host's memory, pinned and managed included, goes over the bus.
    pub fn count_copy(&mut self, destination: Address, source: Address, bytes: u64) {
        let transfers = &mut self.report.transfers;
        transfers.operations += 1;
        if DeviceWindow::holds(destination) && DeviceWindow::holds(source) {
            transfers.device_bytes += 2 * bytes;
        } else {
            transfers.bus_bytes += bytes;
        }
    }

    pub fn count_fill(&mut self, destination: Address, bytes: u64) {
        let transfers = &mut self.report.transfers;
        transfers.operations += 1;
        match DeviceWindow::holds(destination) {
            true => transfers.device_bytes += bytes,
            false => transfers.bus_bytes += bytes,
        }
    }

    /// What the launch that has just ended read and wrote of the host's memory.
    pub fn count_host_memory(&mut self) {
        self.report.transfers.bus_bytes += self.machine.memory().touched_host_bytes();
    }
}
