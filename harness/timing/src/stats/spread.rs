/// The median absolute deviation from the median, times 1.4826: estimates the standard deviation
/// of normal data and ignores up to half of the sample being wild (F. R. Hampel, "The influence
/// curve and its role in robust estimation", JASA 69, 1974). `None` of nothing.
pub fn mad(sample: &[f64]) -> Option<f64> {
    let center = super::median(sample)?;
    let deviations: Vec<f64> = sample.iter().map(|value| (value - center).abs()).collect();
    Some(1.4826 * super::median(&deviations)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spike_does_not_move_it() {
        // Deviations from 3: 2, 1, 0, 1, 997, whose median is 1.
        assert!((mad(&[1.0, 2.0, 3.0, 4.0, 1000.0]).unwrap() - 1.4826).abs() < 1e-12);
        assert_eq!(mad(&[5.0; 9]), Some(0.0));
        assert_eq!(mad(&[]), None);
    }
}
