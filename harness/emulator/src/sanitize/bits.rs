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

    #[inline(always)]
    pub fn set(&mut self, first: u64, count: u64, on: bool) {
        let mut set = |word: usize, mask: u64| {
            if let Some(word) = self.0.get_mut(word) {
                if on { *word |= mask } else { *word &= !mask }
            }
        };
        match in_one_word(first, count) {
            Some((word, mask)) => set(word, mask),
            None => words_of_bits(first, count).for_each(|(word, mask)| set(word, mask)),
        }
    }

    #[inline(always)]
    pub fn any(&self, first: u64, count: u64) -> bool {
        match in_one_word(first, count) {
            Some((word, mask)) => self.word(word) & mask != 0,
            None => words_of_bits(first, count).any(|(word, mask)| self.word(word) & mask != 0),
        }
    }

    #[inline(always)]
    pub fn all(&self, first: u64, count: u64) -> bool {
        match in_one_word(first, count) {
            Some((word, mask)) => self.word(word) & mask == mask,
            None => words_of_bits(first, count).all(|(word, mask)| self.word(word) & mask == mask),
        }
    }

    #[inline(always)]
    fn word(&self, index: usize) -> u64 {
        self.0.get(index).copied().unwrap_or(0)
    }
}

/// The usual case of [`words_of_bits`].
#[inline(always)]
fn in_one_word(first: u64, count: u64) -> Option<(usize, u64)> {
    let inside = count > 0 && first % 64 + count <= 64;
    inside.then(|| ((first / 64) as usize, (u64::MAX >> (64 - count)) << (first % 64)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stretches_within_a_word_and_across() {
        for (first, count) in [(0, 1), (3, 61), (60, 4), (60, 5), (64, 64), (10, 150), (63, 66)] {
            let mut bits = Bits::new(256);
            bits.set(first, count, true);
            assert!(bits.all(first, count));
            let expected = |bit: u64| (first..first + count).contains(&bit);
            assert!((0..256).all(|bit| bits.any(bit, 1) == expected(bit)), "{first} {count}");
            bits.set(first, count, false);
            assert!(!bits.any(0, 256));
        }
    }
}
