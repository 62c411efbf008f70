//! When there are enough samples.

use std::time::Duration;

use timing::stats::{MedianInterval, median_interval};

/// The samples of one size in one process, in blocks, as they come.
#[derive(Clone, Debug, Default)]
pub struct Series {
    /// Device nanoseconds.
    pub blocks: Vec<Vec<f64>>,
    /// Time since the first block began.
    pub wall: Duration,
}

impl Series {
    pub fn samples(&self) -> Vec<f64> {
        self.blocks.concat()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    Continue,
    /// The median is known as well as was asked for.
    Settled,
    /// It is not, and more samples would cost more than they tell.
    Noisy,
}

pub trait StoppingRule {
    /// Asked after each block.
    fn decide(&self, series: &Series) -> Decision;
}

/// Stops when the interval of the median is narrow enough, within bounds on either side.
#[derive(Clone, Copy, Debug)]
pub struct MedianWithin {
    /// Half of the interval's width, relative to the median: 0.005.
    pub half_width: f64,
    pub confidence: f64,
    pub least_samples: usize,
    pub least_blocks: usize,
    pub most_samples: usize,
    /// Of all samples together.
    pub most_device: Duration,
    pub most_wall: Duration,
}

impl MedianWithin {
    /// The rule for a half width; `most_wall` also honours the user's limit.
    pub fn new(half_width: f64, limit: Duration) -> Self {
        Self {
            half_width,
            confidence: 0.95,
            least_samples: 50,
            least_blocks: 5,
            most_samples: 2000,
            most_device: Duration::from_secs(3),
            most_wall: Duration::from_secs(15).min(limit),
        }
    }
}

impl StoppingRule for MedianWithin {
    fn decide(&self, series: &Series) -> Decision {
        let samples = series.samples();
        let device: f64 = samples.iter().sum::<f64>() * 1e-9;
        let narrow = |interval: MedianInterval| interval.relative_half_width() <= self.half_width;
        let enough =
            samples.len() >= self.least_samples && series.blocks.len() >= self.least_blocks;
        if enough && median_interval(&samples, self.confidence).is_some_and(narrow) {
            Decision::Settled
        } else if samples.len() >= self.most_samples
            || device >= self.most_device.as_secs_f64()
            || series.wall >= self.most_wall
        {
            Decision::Noisy
        } else {
            Decision::Continue
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(blocks: usize, sample: impl Fn(usize) -> f64) -> Series {
        let block = |block: usize| (0..10).map(|index| sample(block * 10 + index)).collect();
        Series { blocks: (0..blocks).map(block).collect(), wall: Duration::ZERO }
    }

    #[test]
    fn a_steady_clock_settles_at_the_fewest_samples() {
        let rule = MedianWithin::new(0.005, Duration::MAX);
        assert_eq!(rule.decide(&series(4, |_| 1e4)), Decision::Continue);
        assert_eq!(rule.decide(&series(5, |_| 1e4)), Decision::Settled);
        // Few but large blocks are not enough: they would all see the same clock.
        let one = Series { blocks: vec![vec![1e4; 100]], wall: Duration::ZERO };
        assert_eq!(rule.decide(&one), Decision::Continue);
    }

    #[test]
    fn spread_goes_on_until_a_cap() {
        let wild = |index: usize| 1e4 * (1.0 + (index as f64 * 0.618).fract());
        let rule = MedianWithin::new(0.005, Duration::from_secs(9));
        assert_eq!(rule.decide(&series(100, wild)), Decision::Continue);
        assert_eq!(rule.decide(&series(200, wild)), Decision::Noisy);
        // 1000 samples of 3 ms and more are over 3 s of device time.
        assert_eq!(rule.decide(&series(100, |index| wild(index) * 300.0)), Decision::Noisy);
        let late = Series { wall: Duration::from_secs(9), ..series(10, wild) };
        assert_eq!(rule.decide(&late), Decision::Noisy);
    }
}
