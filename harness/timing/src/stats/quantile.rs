/// The `p`-quantile (0 to 1) by linear interpolation between order statistics: definition 7 of
/// R. J. Hyndman and Y. Fan, "Sample quantiles in statistical packages", The American Statistician
/// 50 (1996), which is also NumPy's default. `None` of nothing.
///
/// Order does not matter; NaN sorts last (`f64::total_cmp`).
pub fn quantile(sample: &[f64], p: f64) -> Option<f64> {
    let mut sorted = sample.to_vec();
    sorted.sort_by(f64::total_cmp);
    let position = p.clamp(0.0, 1.0) * sorted.len().checked_sub(1)? as f64;
    let below = sorted[position.floor() as usize];
    let above = sorted[position.ceil() as usize];
    Some(below + (above - below) * position.fract())
}

/// The middle value, or the mean of the two in the middle: the times of a kernel have spikes on
/// one side, which move a mean and leave the median.
pub fn median(sample: &[f64]) -> Option<f64> {
    quantile(sample, 0.5)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_numpy_says() {
        // numpy.quantile([3, 1, 4, 1, 5, 9, 2, 6], [0, .25, .5, .9, 1])
        let sample = [3.0, 1.0, 4.0, 1.0, 5.0, 9.0, 2.0, 6.0];
        let wanted = [(0.0, 1.0), (0.25, 1.75), (0.5, 3.5), (0.9, 6.9), (1.0, 9.0)];
        for (p, value) in wanted {
            let got = quantile(&sample, p).unwrap();
            assert!((got - value).abs() < 1e-12, "{p}: {got}");
        }
    }

    #[test]
    fn of_nothing_and_of_one() {
        assert_eq!(median(&[]), None);
        assert_eq!(quantile(&[7.0], 0.99), Some(7.0));
    }
}
