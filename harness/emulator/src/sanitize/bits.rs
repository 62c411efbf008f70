//! A set of bytes or words of shared memory, a bit each.

use crate::memory::words_of_bits;

pub struct Bits(Vec<u64>);

impl Bits {
    /// None of `count`.
    pub fn new(count: u64) -> Self {
        Self(vec![0; count.div_ceil(64) as usize])
    }

    pub fn clear(&mut self) {
        self.0.fill(0);
    }

    pub fn copy_from(&mut self, other: &Self) {
        self.0.copy_from_slice(&other.0);
    }

    pub fn set(&mut self, first: u64, count: u64, on: bool) {
        for (word, mask) in words_of_bits(first, count) {
            if let Some(word) = self.0.get_mut(word) {
                if on { *word |= mask } else { *word &= !mask }
            }
        }
    }

    #[inline(always)]
    pub fn any(&self, first: u64, count: u64) -> bool {
        words_of_bits(first, count).any(|(word, mask)| self.word(word) & mask != 0)
    }

    #[inline(always)]
    pub fn all(&self, first: u64, count: u64) -> bool {
        words_of_bits(first, count).all(|(word, mask)| self.word(word) & mask == mask)
    }

    #[inline(always)]
    fn word(&self, index: usize) -> u64 {
        self.0.get(index).copied().unwrap_or(0)
    }
}
