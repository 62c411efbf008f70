//! Where atomic updates meet.
//!
//! L2 does one update of a word at a time, and neighbouring words belong to one of its slices: updates
//! of one address, or of a few that lie together, wait for each other however many SMs send them. So
//! costs are added up for each stretch of 512 bytes, and the stretch with the most bounds the launch.
//!
//! ```text
//! one request    to a sector: as many passes as its most wanted word has lanes
//! 32 lanes, one word          32 passes
//! 32 lanes, 32 words          4 sectors, a pass each
//! ```
//!
//! On an H200 a pass takes 0.73 ns: 262,144 threads at one word take 192 us, at 32 neighbouring words
//! 20 us, at 1,024 random words of 4 KiB 22 us (calibration programs `grids`, calls `update`). A float
//! waits for its sum: 1.77 ns where one word is wanted again and again.
//!
//! Stretches share counters by a hash: with more than a thousand in use none of them is a limit.

/// Bytes of memory that wait for each other.
const STRETCH: u64 = 512;
const COUNTERS: usize = 1024;

/// Eighths of a pass by stretch; empty until something was updated.
#[derive(Clone, Debug, Default)]
pub struct Heat(Vec<u64>);

impl Heat {
    pub fn add(&mut self, other: &Self) {
        if self.0.is_empty() {
            self.0.clone_from(&other.0);
            return;
        }
        self.0.iter_mut().zip(&other.0).for_each(|(sum, more)| *sum += more);
    }

    /// One request: addresses of its lanes, and the eighths of a pass that a word costs that all of them
    /// want.
    pub fn request(&mut self, addresses: &mut [u64], contended: u64) {
        addresses.sort_unstable();
        self.0.resize(COUNTERS, 0);
        let alone = addresses.first() == addresses.last();
        let each = if alone { contended } else { 8 };
        for sector in addresses.chunk_by(|a, b| a / 32 == b / 32) {
            let words = sector.chunk_by(|a, b| a == b);
            let passes = words.map(<[u64]>::len).max().unwrap_or(0) as u64;
            let hash = (sector[0] / STRETCH).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 54;
            self.0[hash as usize % COUNTERS] += passes * each;
        }
    }

    /// Eighths of a pass of the stretch that has the most.
    pub fn hottest(&self) -> u64 {
        self.0.iter().copied().max().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hottest(mut addresses: [u64; 32], contended: u64) -> u64 {
        let mut heat = Heat::default();
        heat.request(&mut addresses, contended);
        heat.hottest()
    }

    #[test]
    fn lanes_wait_for_each_other_by_sector_and_word() {
        assert_eq!(hottest([4096; 32], 8), 32 * 8, "one word");
        assert_eq!(hottest([4096; 32], 19), 32 * 19, "one float");
        assert_eq!(hottest(std::array::from_fn(|l| 4096 + 4 * l as u64), 19), 4 * 8, "32 words");
        assert_eq!(hottest(std::array::from_fn(|l| 4096 * l as u64), 8), 8, "far from each other");
    }
}
