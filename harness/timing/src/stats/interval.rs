//! An interval for the median that assumes nothing of the times' distribution.
//!
//! Of `n` independent samples each lies below the true median with probability 1/2, so that the
//! number below it is binomial. The interval between the `l`-th smallest and the `l`-th largest
//! sample misses the median only if fewer than `l` samples lie on one side of it:
//!
//! ```text
//! coverage(l) = 1 - 2 P(B < l),   B binomial with n trials and probability 1/2
//! ```
//!
//! The largest `l` whose coverage reaches the confidence gives the interval (H. A. David and
//! H. N. Nagaraja, "Order Statistics", 3rd edition, 2003, section 7.1). Worked example: n = 50 and
//! 95 %: P(B < 18) = 0.01642, coverage 0.967; P(B < 19) = 0.03245, coverage 0.935. So l = 18: from
//! the 18th to the 33rd of 50.
//!
//! What it does assume is independence. Times drift together when clocks do; the protocol breaks
//! that up with blocks and fresh processes, and a comparison pairs instead.

/// An interval that holds the true median with at least the confidence asked for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MedianInterval {
    pub low: f64,
    pub median: f64,
    pub high: f64,
    /// The probability, by construction at least the confidence.
    pub coverage: f64,
}

impl MedianInterval {
    /// Half of the width over the median.
    pub fn relative_half_width(&self) -> f64 {
        (self.high - self.low) / (2.0 * self.median)
    }
}

/// The interval for `confidence` (0.95). `None` where the sample is too small for it: fewer than
/// 6 samples for 95 %.
pub fn median_interval(sample: &[f64], confidence: f64) -> Option<MedianInterval> {
    let n = sample.len();
    let (rank, coverage) = rank(n, confidence)?;
    let mut sorted = sample.to_vec();
    sorted.sort_by(f64::total_cmp);
    let median = super::median(&sorted)?;
    Some(MedianInterval { low: sorted[rank - 1], median, high: sorted[n - rank], coverage })
}

/// The largest rank `l`, counted from 1, whose coverage reaches `confidence`, and that coverage.
fn rank(n: usize, confidence: f64) -> Option<(usize, f64)> {
    // P(B = 0) = 2^-n underflows for the sample sizes in use; logarithms do not.
    let mut log_term = -(n as f64) * std::f64::consts::LN_2;
    let mut below = 0.0;
    let mut best = None;
    for count in 0..n / 2 {
        below += log_term.exp();
        let coverage = 1.0 - 2.0 * below;
        if coverage < confidence {
            break;
        }
        best = Some((count + 1, coverage));
        log_term += ((n - count) as f64 / (count + 1) as f64).ln();
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ranks for 95 % from tables of the sign test (Conover, "Practical Nonparametric
    /// Statistics", 3rd edition, 1999, table A3), coverage from `scipy.stats.binom.cdf`.
    #[test]
    fn ranks_are_those_of_the_tables() {
        let wanted = [
            (5, None),
            (6, Some((1, 0.96875))),
            (10, Some((2, 0.978_515_625))),
            (20, Some((6, 0.958_610_534_667_968_8))),
            (50, Some((18, 0.967_160_862_4))),
            (100, Some((40, 0.964_799_799_8))),
        ];
        for (n, expected) in wanted {
            match (rank(n, 0.95), expected) {
                (None, None) => {}
                (Some((l, coverage)), Some((wanted_l, wanted_coverage))) => {
                    assert_eq!(l, wanted_l, "n = {n}");
                    let error: f64 = coverage - wanted_coverage;
                    assert!(error.abs() < 1e-9, "n = {n}: {coverage}");
                }
                other => panic!("n = {n}: {other:?}"),
            }
        }
        // No underflow where 2^-n is no double any more.
        let (l, coverage) = rank(5000, 0.95).unwrap();
        assert!((2400..2450).contains(&l) && coverage < 0.953, "{l} {coverage}");
    }

    #[test]
    fn the_interval_is_between_samples() {
        let sample: Vec<f64> = (1..=50).rev().map(f64::from).collect();
        let interval = median_interval(&sample, 0.95).unwrap();
        assert_eq!((interval.low, interval.median, interval.high), (18.0, 25.5, 33.0));
        assert!((interval.relative_half_width() - 7.5 / 25.5).abs() < 1e-12);
        assert_eq!(median_interval(&sample[..5], 0.95), None);
    }
}
