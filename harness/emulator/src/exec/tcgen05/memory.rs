//! Tensor memory: 128 lanes of 512 columns, each cell 32 bits (PTX ISA 9.7.16.1).
//!
//! Cells lie column by column, since a column's lanes are a register's: lane 40 of column 3 is cell
//! `3 * 128 + 40`. What a CTA finds in them is undefined; here every bit is set, which is a NaN in all
//! floats, so that sums which count on zeros go wrong here, too.

/// Lanes, which warps reach 32 of.
pub const LANES: usize = 128;
pub const COLUMNS: u32 = 512;
/// What nobody wrote.
const UNWRITTEN: u32 = u32::MAX;
/// Fewest columns of an allocation (9.7.16.7.1).
const FEWEST: u32 = 32;

/// A place in it: the lane in the upper half, the column in the lower.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Address {
    pub lane: u32,
    pub column: u32,
}

impl From<u32> for Address {
    fn from(address: u32) -> Self {
        Self { lane: address >> 16, column: address & 0xffff }
    }
}

/// Columns that one `alloc` gave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Allocation {
    first: u32,
    count: u32,
    /// The instruction that asked, for the sanitizer.
    ip: u32,
}

#[derive(Default)]
pub struct TensorMemory {
    /// None before the CTA's first allocation: most kernels have no use for them.
    cells: Vec<u32>,
    /// By column, the lanes that somebody wrote.
    written: Vec<u128>,
    /// By their first column.
    allocations: Vec<Allocation>,
    /// Whether the CTA has given up the right to allocate.
    relinquished: bool,
}

impl TensorMemory {
    /// Ready for another CTA.
    pub fn reset(&mut self) {
        self.cells.clear();
        self.written.clear();
        self.allocations.clear();
        self.relinquished = false;
    }

    /// The first of `count` columns that are the CTA's from now on: the lowest that are free, which
    /// kernels count on that free column 0 without looking. `None` if there are not so many next to each other.
    pub fn allocate(&mut self, count: u32, ip: u32) -> Result<Option<u32>, String> {
        if !count.is_power_of_two() || !(FEWEST..=COLUMNS).contains(&count) {
            return Err(format!(
                "allocates {count} columns of tensor memory; a power of two from 32 to 512 will do"
            ));
        }
        if self.relinquished {
            return Err("allocates tensor memory behind its own \
                        tcgen05.relinquish_alloc_permit"
                .to_owned());
        }
        let free = |first: u32| {
            let apart = |a: &Allocation| a.first + a.count <= first || first + count <= a.first;
            self.allocations.iter().all(apart)
        };
        let Some(first) = (0..COLUMNS).step_by(count as usize).find(|&first| free(first)) else {
            return Ok(None);
        };
        let at = self.allocations.partition_point(|a| a.first < first);
        self.allocations.insert(at, Allocation { first, count, ip });
        if self.cells.is_empty() {
            self.cells.resize(LANES * COLUMNS as usize, UNWRITTEN);
            self.written.resize(COLUMNS as usize, 0);
        }
        Ok(Some(first))
    }

    /// What a warp does that waits for columns that nobody will free.
    pub fn lacks(&self, count: u32) -> String {
        let held: u32 = self.allocations.iter().map(|a| a.count).sum();
        format!(
            "asks for ever for {count} columns of tensor memory, of which the block holds {held} of {COLUMNS}"
        )
    }

    pub fn free(&mut self, address: u32, count: u32) -> Result<(), String> {
        let named = |a: &Allocation| a.first == address && a.count == count;
        match self.allocations.iter().position(named) {
            Some(at) => {
                self.allocations.remove(at);
                Ok(())
            }
            None => Err(format!(
                "frees {count} columns of tensor memory at {address:#010x}, and {}",
                self.described()
            )),
        }
    }

    pub fn relinquish(&mut self) {
        self.relinquished = true;
    }

    /// Whether these columns are the CTA's, in one allocation or in several that meet.
    pub fn owns(&self, first: u32, count: u32) -> bool {
        let end = first.saturating_add(count);
        let mut at = first;
        for allocation in &self.allocations {
            if (allocation.first..allocation.first + allocation.count).contains(&at) {
                at = allocation.first + allocation.count;
            }
        }
        at >= end
    }

    /// The lanes of a column that [`Self::owns`] was asked of in which somebody has written.
    pub fn written(&self, column: u32) -> u128 {
        self.written[column as usize]
    }

    /// The columns of an allocation, the first and the last, and the instruction that asked for them.
    pub fn held(&self) -> Option<([u32; 2], u32)> {
        let held = self.allocations.first()?;
        Some(([held.first, held.first + held.count - 1], held.ip))
    }

    /// What is allocated, as the end of a sentence.
    pub fn described(&self) -> String {
        let columns = |a: &Allocation| format!("{} to {}", a.first, a.first + a.count - 1);
        match self.allocations.as_slice() {
            [] => "nothing is allocated".to_owned(),
            [one] => format!("its columns {} are allocated", columns(one)),
            several => {
                let all: Vec<_> = several.iter().map(columns).collect();
                format!("its columns {} are allocated", all.join(", "))
            }
        }
    }

    /// The 128 lanes of a column that [`Self::owns`] was asked of.
    pub fn column(&self, column: u32) -> &[u32] {
        &self.cells[column as usize * LANES..][..LANES]
    }

    /// As [`Self::column`], to write these lanes.
    pub fn column_mut(&mut self, column: u32, lanes: u128) -> &mut [u32] {
        self.written[column as usize] |= lanes;
        &mut self.cells[column as usize * LANES..][..LANES]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lowest_columns_go_first() {
        let mut memory = TensorMemory::default();
        assert_eq!(memory.allocate(128, 0), Ok(Some(0)));
        assert_eq!(memory.allocate(128, 0), Ok(Some(128)));
        assert_eq!(memory.allocate(32, 0), Ok(Some(256)));
        assert_eq!(memory.free(0, 128), Ok(()));
        assert_eq!(memory.allocate(64, 0), Ok(Some(0)));
        assert!(memory.owns(0, 64) && !memory.owns(0, 65) && memory.owns(130, 158));
        assert!(!memory.owns(280, 9));
    }

    #[test]
    fn only_what_was_given_can_be_freed() {
        let mut memory = TensorMemory::default();
        assert_eq!(memory.allocate(64, 0), Ok(Some(0)));
        assert!(memory.free(0, 32).is_err() && memory.free(32, 64).is_err());
        assert_eq!(memory.free(0, 64), Ok(()));
        assert!(memory.free(0, 64).is_err());
    }

    #[test]
    fn widths_are_powers_of_two_and_permits_end() {
        let mut memory = TensorMemory::default();
        for count in [0, 16, 33, 96, 1024, u32::MAX] {
            assert!(memory.allocate(count, 0).is_err(), "{count}");
        }
        assert_eq!(memory.allocate(512, 0), Ok(Some(0)));
        assert_eq!(memory.allocate(32, 0), Ok(None));
        memory.reset();
        memory.relinquish();
        assert!(memory.allocate(32, 0).is_err());
    }
}
