//! Memory that the host has, too: pages of one file, at one address in both processes.
//!
//! What the program has made itself and then registers is elsewhere: there, pages of the window take the
//! place of the program's own, and kernels reach as much of them as is registered.

use std::collections::BTreeMap;

use crate::error::{Code, Failure, Outcome};
use crate::protocol::Address;
use crate::protocol::segment::{HOST_BYTES, HOST_WINDOW, PAGE, Segment};

/// Stretches of program memory that are mirrored at most: each costs the kernel a mapping.
const MIRRORS: usize = 4096;
/// Below it are the first pages of the address space, which no program has.
const LOWEST: Address = 1 << 16;
/// Behind the last address of a program: 47 bits.
const HIGHEST: Address = 1 << 47;

/// Which pages of the window are used for what.
#[derive(Default)]
pub struct HostWindow {
    /// Bytes from the start that have been given away once.
    walked: u64,
    /// Stretches that were given back: offsets with bytes.
    freed: Vec<(u64, u64)>,
    mirrors: BTreeMap<Address, u64>,
}

impl HostWindow {
    /// Zeroed pages, and one behind them that nobody gets. Addresses are used again only when all have been
    /// used, so that stale ones point at nothing for long.
    pub fn allocate(&mut self, bytes: u64) -> Result<Address, Failure> {
        let full = || Code::MEMORY_ALLOCATION.because(format!("no {bytes} bytes of host memory"));
        let needed = bytes
            .max(1)
            .checked_next_multiple_of(PAGE)
            .and_then(|bytes| bytes.checked_add(PAGE))
            .ok_or_else(full)?;
        if needed <= HOST_BYTES - self.walked {
            self.walked += needed;
            return Ok(HOST_WINDOW + self.walked - needed);
        }
        let found = self.freed.iter().position(|&(_, room)| room >= needed).ok_or_else(full)?;
        let (offset, room) = self.freed.swap_remove(found);
        if room > needed {
            self.freed.push((offset + needed, room - needed));
        }
        Ok(HOST_WINDOW + offset)
    }

    /// Takes back what `allocate` gave for so many bytes.
    pub fn free(&mut self, address: Address, bytes: u64, segment: &Segment) {
        let pages = bytes.max(1).next_multiple_of(PAGE);
        // Where the system cannot give pages back they are not used again.
        if segment.empty(address, pages).is_ok() {
            self.freed.push((address - HOST_WINDOW, pages + PAGE));
        }
    }

    /// Has `bytes` of the window's pages at `address` as well, where this process has nothing.
    pub fn mirror(
        &mut self,
        address: Address,
        bytes: u64,
        backing: Address,
        segment: &Segment,
    ) -> Outcome {
        let end = address.checked_add(bytes);
        let pages = address.is_multiple_of(PAGE) && bytes.is_multiple_of(PAGE) && bytes > 0;
        if !pages || address < LOWEST || end.is_none_or(|end| end > HIGHEST) {
            return Err(Code::INVALID_VALUE.because("they are no pages of a program"));
        }
        if self.mirrors.len() >= MIRRORS {
            return Err(Code::MEMORY_ALLOCATION.because("too many stretches are registered"));
        }
        segment.mirror(address, bytes, backing).map_err(crate::connection::no_memory)?;
        self.mirrors.insert(address, bytes);
        Ok(())
    }

    /// The bytes of the stretch that begins there.
    pub fn mirrored(&self, address: Address) -> Result<u64, Failure> {
        let unknown = || Code::INVALID_VALUE.because("nothing is mirrored there");
        self.mirrors.get(&address).copied().ok_or_else(unknown)
    }

    pub fn unmirror(&mut self, address: Address) -> Outcome {
        let bytes = self.mirrored(address)?;
        self.mirrors.remove(&address);
        let start = std::ptr::with_exposed_provenance_mut(address as usize);
        // SAFETY: `mirror` has mapped it, over nothing, and no reference into it exists.
        unsafe { rustix::mm::munmap(start, bytes as usize) }
            .map_err(|error| crate::connection::no_memory(error.into()))
    }

    /// Whether each byte of a range is mirrored: stretches that touch count as one.
    pub fn mirrors(&self, address: Address, bytes: u64) -> bool {
        let Some(end) = address.checked_add(bytes) else { return false };
        let mut at = address;
        while at < end {
            match self.mirrors.range(..=at).next_back() {
                Some((start, len)) if at - start < *len => at = start + len,
                _ => return false,
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_not_used_again_before_all_were() {
        let mut window = HostWindow::default();
        let first = window.allocate(5000).expect("room");
        let second = window.allocate(1).expect("room");
        assert_eq!((first, second), (HOST_WINDOW, HOST_WINDOW + 3 * PAGE));
        window.freed.push((0, 3 * PAGE));
        assert_eq!(window.allocate(1).expect("room"), HOST_WINDOW + 5 * PAGE);
        let rest = HOST_BYTES - window.walked;
        window.allocate(rest - PAGE).expect("room");
        assert_eq!(window.allocate(1).expect("room"), HOST_WINDOW);
        assert!(window.allocate(2 * PAGE).is_err());
        assert!(window.allocate(u64::MAX).is_err());
    }

    #[test]
    fn a_range_is_mirrored_by_stretches_without_a_gap() {
        let mut window = HostWindow::default();
        window.mirrors.extend([(0x10000, 0x1000), (0x11000, 0x2000), (0x14000, 0x1000)]);
        assert!(window.mirrors(0x10ff0, 0x2010));
        assert!(!window.mirrors(0x10ff0, 0x2011) && !window.mirrors(0xffff, 2));
        assert!(window.mirrors(0x14000, 0x1000) && !window.mirrors(0x14001, 0x1000));
        assert!(!window.mirrors(0x14000, u64::MAX));
    }
}
