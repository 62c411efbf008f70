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

    #[inline]
    pub fn set(&mut self, first: u64, count: u64, on: bool) {
        for (word, mask) in words_of_bits(first, count) {
            if let Some(word) = self.0.get_mut(word) {
                if on { *word |= mask } else { *word &= !mask }
            }
        }
    }

    #[inline]
    pub fn any(&self, first: u64, count: u64) -> bool {
        let mut found = 0;
        for (word, mask) in words_of_bits(first, count) {
            found |= self.word(word) & mask;
        }
        found != 0
    }

    #[inline]
    pub fn all(&self, first: u64, count: u64) -> bool {
        let mut missing = 0;
        for (word, mask) in words_of_bits(first, count) {
            missing |= mask & !self.word(word);
        }
        missing == 0
    }

    #[inline(always)]
    fn word(&self, index: usize) -> u64 {
        self.0.get(index).copied().unwrap_or(0)
    }
}
