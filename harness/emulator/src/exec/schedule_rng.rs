//! The order of things by chance, so that what depends on it shows: `--schedule random --seed N`.
//!
//! Warps of a CTA take their turns in a shuffled order and stop in the middle of them, either side of a
//! divergent branch goes first, and CTAs begin and go on in any order. One host thread draws all numbers,
//! so a seed gives the same run again. The numbers are SplitMix64 (Steele, Lea and Flood, 2014).

pub struct ScheduleRng(u64);

impl ScheduleRng {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn throw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// One of `0..n`; 0 if there is none.
    pub fn below(&mut self, n: usize) -> usize {
        ((u128::from(self.throw()) * n as u128) >> 64) as usize
    }

    pub fn coin(&mut self) -> bool {
        self.throw() >> 63 == 1
    }

    /// Blocks of code that a warp may run: most often few, now and then many, so that loops get on.
    pub fn slice(&mut self) -> u32 {
        1 << self.below(9)
    }

    /// Every number of `0..n` once.
    pub fn order(&mut self, n: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..n).collect();
        for last in (1..n).rev() {
            order.swap(last, self.below(last + 1));
        }
        order
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_gives_the_same_order_again_and_another_one_another() {
        let order = |seed| ScheduleRng::new(seed).order(100);
        assert_eq!(order(1), order(1));
        assert_ne!(order(1), order(2));
        let mut sorted = order(3);
        sorted.sort_unstable();
        assert_eq!(sorted, (0..100).collect::<Vec<_>>());
    }
}
