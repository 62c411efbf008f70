//! The time of what a call does besides its kernels: copies, fills, kernels' accesses to host memory,
//! and functions of the program's that the device waits for.
//!
//! It is added to the kernels' time, although a GPU could do some of it at the same time: a call that
//! computes on its inputs waits for them. So it is too long for a call that overlaps copies with kernels,
//! and never too short.

use serde::{Deserialize, Serialize};

use crate::gpus::Gpu;

/// What PCIe 5.0 x16 reaches with pinned memory: 64 GB/s less its packets' headers. A GPU of an older
/// generation has half of it or less.
const BUS: f64 = 55e9;
/// What a copy reaches of the data sheet's memory bandwidth, as kernels do.
const DEVICE_REACHED: f64 = 0.90;
/// From one operation of a stream to the next. A guess, as that for a further launch.
const OPERATION: f64 = 1.0e-6;

/// What one call did besides its kernels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Transfers {
    /// Copies and fills.
    pub operations: u64,
    /// Bytes between the host's memory and the device's.
    pub bus_bytes: u64,
    /// Bytes read or written within the device's memory.
    pub device_bytes: u64,
    /// In functions of the program's.
    pub host_seconds: f64,
}

impl Transfers {
    pub fn seconds(&self, gpu: &Gpu) -> f64 {
        self.operations as f64 * OPERATION
            + self.bus_bytes as f64 / BUS
            + self.device_bytes as f64 / (gpu.dram * DEVICE_REACHED)
            + self.host_seconds
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpus::for_arch;

    #[test]
    fn the_bus_is_slower_than_any_memory() {
        let gpu = for_arch("sm_80").unwrap();
        let over = |bus_bytes, device_bytes| {
            Transfers { bus_bytes, device_bytes, ..Transfers::default() }.seconds(gpu)
        };
        assert_eq!(over(55_000_000_000, 0), 1.0);
        assert!((over(0, 2_039_000_000_000) - 1.0 / 0.9).abs() < 1e-12);
        assert!(over(1 << 20, 0) > 10.0 * over(0, 2 << 20));
        assert_eq!(Transfers::default().seconds(gpu), 0.0);
    }
}
