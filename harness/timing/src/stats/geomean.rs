/// The geometric mean: what times of different sizes are averaged with, since it ranks the same
/// whatever they are divided by (P. J. Fleming and J. J. Wallace, "How not to lie with statistics",
/// Communications of the ACM 29, 1986). `None` of nothing, or where a value is not positive.
pub fn geomean(values: &[f64]) -> Option<f64> {
    if values.is_empty() || !values.iter().all(|value| *value > 0.0 && value.is_finite()) {
        return None;
    }
    let logs: f64 = values.iter().map(|value| value.ln()).sum();
    Some((logs / values.len() as f64).exp())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_values() {
        assert!((geomean(&[1.0, 4.0, 16.0]).unwrap() - 4.0).abs() < 1e-12);
        // No overflow on the way.
        assert!((geomean(&[1e200, 1e200, 1e-100]).unwrap() / 1e100 - 1.0).abs() < 1e-9);
    }

    #[test]
    fn one_size_at_zero_is_no_score() {
        assert_eq!(geomean(&[3.0, 0.0]), None);
        assert_eq!(geomean(&[3.0, f64::NAN]), None);
        assert_eq!(geomean(&[]), None);
    }
}
