//! The heap of device-side `malloc` (CUDA C++ Programming Guide, "Dynamic Global Memory Allocation"): one
//! allocation of fixed size, as on the hardware, handed out first fit.
//!
//! Kernels are checked against the heap's bounds, not those of each block: the table of allocations does
//! not change while a launch runs.

use std::collections::BTreeMap;

/// The hardware's default (`cudaLimitMallocHeapSize`).
pub const HEAP_BYTES: u64 = 8 << 20;
const ALIGN: u64 = 16;

#[derive(Debug)]
pub struct Heap {
    base: u64,
    /// Blocks in use: offset and length.
    used: BTreeMap<u64, u64>,
}

impl Heap {
    pub fn new(base: u64) -> Self {
        Self { base, used: BTreeMap::new() }
    }

    /// The address of `bytes` bytes; none if they do not fit, or are none.
    pub fn allocate(&mut self, bytes: u64) -> Option<u64> {
        if bytes == 0 || bytes > HEAP_BYTES {
            return None;
        }
        let bytes = bytes.next_multiple_of(ALIGN);
        let mut at = 0;
        for (&offset, &length) in &self.used {
            if offset - at >= bytes {
                break;
            }
            at = offset + length;
        }
        if at + bytes > HEAP_BYTES {
            return None;
        }
        self.used.insert(at, bytes);
        Some(self.base + at)
    }

    /// False for what is no block of it.
    pub fn free(&mut self, address: u64) -> bool {
        address.checked_sub(self.base).is_some_and(|offset| self.used.remove(&offset).is_some())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_are_used_again() {
        let mut heap = Heap::new(4096);
        let first = heap.allocate(10).expect("room");
        let second = heap.allocate(100).expect("room");
        assert_eq!((first, second), (4096, 4112));
        assert!(heap.free(first) && !heap.free(first) && !heap.free(4100));
        assert_eq!(heap.allocate(17), Some(second + 112));
        assert_eq!(heap.allocate(16), Some(first));
        assert_eq!(heap.allocate(HEAP_BYTES), None);
        assert_eq!(heap.allocate(0), None);
    }
}
