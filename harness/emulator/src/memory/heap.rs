//! The heap of device-side `malloc` (CUDA C++ Programming Guide, "Dynamic Global Memory Allocation"): one
//! allocation of fixed size, as on the hardware, handed out first fit.
//!
//! Kernels are checked against the heap's bounds, not those of each block: the table of allocations does
//! not change while a launch runs.

use std::collections::BTreeMap;

/// The hardware's default (`cudaLimitMallocHeapSize`).
pub const HEAP_BYTES: u64 = 8 << 20;
const ALIGN: u64 = 16;

/// Blocks and gaps, by offset; together they are the heap, and no two gaps touch. The first gap is mostly
/// large enough, however many blocks there are.
#[derive(Debug)]
pub struct Heap {
    base: u64,
    blocks: BTreeMap<u64, u64>,
    gaps: BTreeMap<u64, u64>,
    /// A block was asked for.
    touched: bool,
}

impl Heap {
    pub fn new(base: u64, bytes: u64) -> Self {
        let gaps = BTreeMap::from([(0, bytes - bytes % ALIGN)]);
        Self { base, blocks: BTreeMap::new(), gaps, touched: false }
    }

    pub fn base(&self) -> u64 {
        self.base
    }

    /// Whether a kernel has used it, from when on its size is fixed.
    pub fn is_touched(&self) -> bool {
        self.touched
    }

    /// The address of `bytes` bytes; none if they do not fit, or are none.
    pub fn allocate(&mut self, bytes: u64) -> Option<u64> {
        self.touched = true;
        let bytes = bytes.checked_next_multiple_of(ALIGN).filter(|&bytes| bytes > 0)?;
        let (&at, &room) = self.gaps.iter().find(|&(_, &room)| room >= bytes)?;
        self.gaps.remove(&at);
        if room > bytes {
            self.gaps.insert(at + bytes, room - bytes);
        }
        self.blocks.insert(at, bytes);
        Some(self.base + at)
    }

    /// False for what is no block of it.
    pub fn free(&mut self, address: u64) -> bool {
        let Some(mut at) = address.checked_sub(self.base) else { return false };
        let Some(mut bytes) = self.blocks.remove(&at) else { return false };
        if let Some(behind) = self.gaps.remove(&(at + bytes)) {
            bytes += behind;
        }
        let before = self.gaps.range(..at).next_back().map(|(&start, &room)| (start, room));
        if let Some((start, room)) = before.filter(|(start, room)| start + room == at) {
            (at, bytes) = (start, room + bytes);
        }
        self.gaps.insert(at, bytes);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_are_used_again() {
        let mut heap = Heap::new(4096, HEAP_BYTES);
        let first = heap.allocate(10).expect("room");
        let second = heap.allocate(100).expect("room");
        assert_eq!((first, second), (4096, 4112));
        assert!(heap.free(first) && !heap.free(first) && !heap.free(4100));
        assert_eq!(heap.allocate(17), Some(second + 112));
        assert_eq!(heap.allocate(16), Some(first));
        assert_eq!(heap.allocate(HEAP_BYTES), None);
        assert_eq!(heap.allocate(0), None);
        assert_eq!(heap.allocate(u64::MAX), None);
    }

    #[test]
    fn what_is_freed_in_any_order_is_one_gap_again() {
        let mut heap = Heap::new(0, 1024);
        let blocks: Vec<_> = (0..8).map(|_| heap.allocate(128).expect("room")).collect();
        assert_eq!(heap.allocate(1), None);
        for index in [3, 1, 2, 7, 0, 5, 4, 6] {
            assert!(heap.free(blocks[index]));
        }
        assert_eq!(heap.allocate(1024), Some(0));
    }
}
