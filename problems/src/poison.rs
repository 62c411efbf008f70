//! What lies in the outputs before a solution runs.

use rayon::prelude::*;

/// A pattern of bytes that depends on a seed the solution does not know. A wrong element that still
/// holds the pattern was not written. (One wrong byte in 256 holds it by chance: single elements are
/// evidence only in numbers.)
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Poison {
    seed: u64,
}

const CHUNK: usize = 1 << 16;

impl Poison {
    pub fn new(seed: u64) -> Poison {
        Poison { seed }
    }

    /// Writes the pattern, which starts anew with every buffer.
    pub fn fill(&self, buffer: &mut [u8]) {
        buffer.par_chunks_mut(CHUNK).enumerate().for_each(|(chunk, bytes)| {
            for (index, word) in bytes.chunks_mut(8).enumerate() {
                let pattern = self.word(chunk * (CHUNK / 8) + index).to_le_bytes();
                word.copy_from_slice(&pattern[..word.len()]);
            }
        });
    }

    /// Whether `bytes`, which lie at `offset` of an output, are still the pattern.
    pub fn matches(&self, offset: usize, bytes: &[u8]) -> bool {
        bytes.iter().enumerate().all(|(index, &byte)| byte == self.byte(offset + index))
    }

    /// The pattern at `offset`.
    pub fn byte(&self, offset: usize) -> u8 {
        self.word(offset / 8).to_le_bytes()[offset % 8]
    }

    /// SplitMix64 at position `index`.
    fn word(&self, index: usize) -> u64 {
        let x = self.seed.wrapping_add((index as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ (x >> 31)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_filled_matches_and_other_patterns_do_not() {
        let mut buffer = vec![0; 3 * CHUNK + 13];
        Poison::new(7).fill(&mut buffer);
        for (offset, len) in [(0, buffer.len()), (CHUNK - 3, 9), (buffer.len() - 1, 1)] {
            assert!(Poison::new(7).matches(offset, &buffer[offset..offset + len]));
        }
        assert!(!Poison::new(8).matches(0, &buffer));
        assert!(!Poison::new(7).matches(1, &buffer[..64]));
    }
}
