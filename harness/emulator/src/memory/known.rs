//! Which bytes of an allocation anyone has written, a bit each: for the sanitizer.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

pub struct Known {
    bits: Box<[AtomicU64]>,
    /// Bytes that nobody has written: most buffers are soon written as a whole, and then not asked for
    /// bits any more.
    missing: AtomicU64,
}

/// Words of 64 bytes from `first` to before `first + bytes`, and which bytes of each.
#[inline(always)]
pub fn words_of_bits(first: u64, bytes: u64) -> impl Iterator<Item = (usize, u64)> {
    let end = first + bytes;
    (first / 64..end.div_ceil(64)).map(move |word| {
        let low = first.saturating_sub(64 * word);
        let high = (end - 64 * word).min(64);
        (word as usize, (u64::MAX << low) & (u64::MAX >> (64 - high)))
    })
}

impl Known {
    /// Of `bytes` bytes, none.
    pub fn new(bytes: u64) -> Self {
        let bits = (0..bytes.div_ceil(64)).map(|_| AtomicU64::new(0)).collect();
        Self { bits, missing: AtomicU64::new(bytes) }
    }

    /// The bytes must be among those that there are.
    pub fn set(&self, first: u64, bytes: u64) {
        if self.is_whole() {
            return;
        }
        for (word, mask) in words_of_bits(first, bytes) {
            let Some(word) = self.bits.get(word) else { continue };
            if word.load(Relaxed) & mask != mask {
                let fresh = mask & !word.fetch_or(mask, Relaxed);
                self.missing.fetch_sub(fresh.count_ones().into(), Relaxed);
            }
        }
    }

    /// Whether any of the bytes is known.
    #[inline]
    pub fn any(&self, first: u64, bytes: u64) -> bool {
        self.is_whole() || self.words(first, bytes).any(|(word, mask)| word & mask != 0)
    }

    /// Whether all of them are.
    #[inline]
    pub fn all(&self, first: u64, bytes: u64) -> bool {
        self.is_whole() || self.words(first, bytes).all(|(word, mask)| word & mask == mask)
    }

    /// Whether there is nothing that is not.
    #[inline]
    pub fn is_whole(&self) -> bool {
        self.missing.load(Relaxed) == 0
    }

    fn words(&self, first: u64, bytes: u64) -> impl Iterator<Item = (u64, u64)> {
        let word = |word: usize| self.bits.get(word).map_or(0, |word| word.load(Relaxed));
        words_of_bits(first, bytes).map(move |(index, mask)| (word(index), mask))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_written_is_known() {
        let known = Known::new(200);
        known.set(60, 10);
        assert!(!known.any(0, 60) && !known.any(70, 130));
        assert!(known.any(59, 2) && known.any(69, 1) && known.any(64, 4));
        assert!(known.all(60, 10) && !known.all(59, 2) && !known.all(69, 2));
        known.set(128, 64);
        assert!(known.any(191, 1) && !known.any(192, 8));
    }

    #[test]
    fn what_was_written_whole_is_known_whole() {
        let known = Known::new(100);
        known.set(0, 70);
        known.set(30, 69);
        assert!(!known.all(0, 100) && !known.any(99, 1));
        known.set(99, 1);
        assert!(known.all(0, 100) && known.any(99, 1));
    }
}
