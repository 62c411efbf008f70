//! Where device addresses lie, and where the bytes are that they name.
//!
//! On a GPU the host cannot reach device memory: to follow a device pointer is a segmentation fault.
//! Where memory is [apart](crate::Config::apart), it is so here. Device addresses are handed out from
//! a window of the address space in which nothing is ever mapped, and the bytes lie elsewhere, at the
//! same distance for all of them:
//!
//! ```text
//! device address   0x2000_0000_5000      what kernels compute with, what faults name
//! host address     0x2000_0000_5000 + delta      what the emulator reads and writes
//! ```
//!
//! An address outside of the window is one of the host's, at which kernels see the same bytes: pinned,
//! managed and registered memory, and a launch's parameters. So a kernel's access costs one comparison
//! and one addition for each address.
//!
//! The delta is chosen at random. That hides the bytes from accidents and guesses, not from a program
//! that searches its own address space: whoever needs that needs two processes.

/// Linux maps programs and libraries near the ends of the lower half of the address space (x86-64:
/// 0x5555_… and 0x7fff_…, 47 bits), and memory below the libraries; never in its middle unless asked.
const BITS: u32 = 38;
pub const WINDOW: u64 = 0x2000_0000_0000;
/// Bytes of the window.
pub const WINDOW_BYTES: u64 = 1 << BITS;

#[derive(Clone, Copy, Debug, Default)]
pub struct DeviceWindow {
    delta: u64,
}

impl DeviceWindow {
    /// With the byte of the window's first address at `storage`.
    pub fn at(storage: u64) -> Self {
        Self { delta: storage.wrapping_sub(WINDOW) }
    }

    /// Whether it is a device address, to which the host has no access.
    pub fn holds(address: u64) -> bool {
        address >> BITS == WINDOW >> BITS
    }

    /// The host address of a byte.
    #[inline(always)]
    pub fn host(self, address: u64) -> u64 {
        let inside = u64::from(address >> BITS == WINDOW >> BITS).wrapping_neg();
        address.wrapping_add(self.delta & inside)
    }

    /// The host addresses of 32.
    #[inline(always)]
    pub fn hosts(self, addresses: &[u64; 32], hosts: &mut [u64; 32]) {
        for (host, address) in hosts.iter_mut().zip(addresses) {
            *host = self.host(*address);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_the_window_are_moved_and_others_are_not() {
        let window = DeviceWindow::at(0x7000_0000_0000);
        assert_eq!(window.host(WINDOW), 0x7000_0000_0000);
        assert_eq!(window.host(WINDOW + WINDOW_BYTES - 1), 0x7000_0000_0000 + WINDOW_BYTES - 1);
        for address in [0, WINDOW - 1, WINDOW + WINDOW_BYTES, 0x7fff_ffff_f000, u64::MAX] {
            assert_eq!(window.host(address), address);
            assert!(!DeviceWindow::holds(address));
        }
        assert_eq!(DeviceWindow::default().host(WINDOW + 5), WINDOW + 5);
    }
}
