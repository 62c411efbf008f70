//! Which bytes of an allocation anyone has written, a bit each: for the sanitizer.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

pub struct Known(Box<[AtomicU64]>);

/// Words of 64 bytes from `first` to before `end`, and which bytes of each.
fn words(first: u64, bytes: u64) -> impl Iterator<Item = (usize, u64)> {
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
        Self((0..bytes.div_ceil(64)).map(|_| AtomicU64::new(0)).collect())
    }

    pub fn set(&self, first: u64, bytes: u64) {
        for (word, mask) in words(first, bytes) {
            if let Some(word) = self.0.get(word) {
                word.fetch_or(mask, Relaxed);
            }
        }
    }

    /// Whether any of the bytes is known.
    pub fn any(&self, first: u64, bytes: u64) -> bool {
        words(first, bytes)
            .any(|(word, mask)| self.0.get(word).is_some_and(|word| word.load(Relaxed) & mask != 0))
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
        known.set(128, 64);
        assert!(known.any(191, 1) && !known.any(192, 8));
    }
}
