//! A logarithmic scale: times and rates of kernels differ by factors, so equal factors get equal
//! room.

/// From `low` to `high`, both above zero.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Log {
    low: f64,
    high: f64,
}

impl Log {
    /// Around all values, with some air; absent where there is none that can be shown.
    pub fn around(values: impl IntoIterator<Item = f64>) -> Option<Self> {
        let (low, high) = values
            .into_iter()
            .filter(|value| value.is_finite() && *value > 0.0)
            .fold((f64::INFINITY, 0.0_f64), |(low, high), value| (low.min(value), high.max(value)));
        let air = (high / low).powf(0.07).max(1.04);
        (high > 0.0).then_some(Self { low: low / air, high: high * air })
    }

    pub fn low(&self) -> f64 {
        self.low
    }

    pub fn high(&self) -> f64 {
        self.high
    }

    /// 0 at `low`, 1 at `high`.
    pub fn share(&self, value: f64) -> f64 {
        ((value / self.low).ln() / (self.high / self.low).ln()).clamp(0.0, 1.0)
    }

    /// Round values to label, three at least where that can be, and few.
    pub fn ticks(&self) -> Vec<f64> {
        let decades = (self.low.log10().floor() as i32)..=(self.high.log10().ceil() as i32);
        let within = |digits: &[f64]| -> Vec<f64> {
            decades
                .clone()
                .flat_map(|decade| digits.iter().map(move |digit| digit * 10_f64.powi(decade)))
                .filter(|tick| (self.low..=self.high).contains(tick))
                .collect()
        };
        for digits in [&[1.0][..], &[1.0, 3.0], &[1.0, 2.0, 5.0]] {
            let ticks = within(digits);
            if ticks.len() >= 3 {
                let every = ticks.len().div_ceil(7);
                return ticks.into_iter().step_by(every).collect();
            }
        }
        // Less than a decade: in equal steps.
        let rough = (self.high - self.low) / 3.0;
        let decade = 10_f64.powf(rough.log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0]
            .into_iter()
            .map(|digit| digit * decade)
            .find(|step| *step >= rough * 0.99)
            .unwrap_or(10.0 * decade);
        let first = (self.low / step).ceil() as i64;
        let last = (self.high / step).floor() as i64;
        (first..=last.min(first + 8)).map(|tick| tick as f64 * step).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_factors_get_equal_room() {
        let log = Log { low: 1.0, high: 100.0 };
        assert_eq!([1.0, 10.0, 100.0, 1e9].map(|value| log.share(value)), [0.0, 0.5, 1.0, 1.0]);
        assert_eq!(Log::around([f64::NAN, 0.0, -1.0, f64::INFINITY]), None);
    }

    #[test]
    fn ticks_are_round_and_few_whatever_the_range() {
        let ticks = |low, high| Log { low, high }.ticks();
        assert_eq!(ticks(0.9, 1100.0), [1.0, 10.0, 100.0, 1000.0]);
        assert_eq!(ticks(4.0, 60.0), [5.0, 10.0, 20.0, 50.0]);
        assert_eq!(ticks(10.0, 11.6), [10.0, 11.0]);
        for exponent in -60..60 {
            let low = 1.37 * 10_f64.powf(f64::from(exponent) / 6.0);
            for factor in [1.08, 1.3, 2.0, 7.0, 40.0, 1e4, 1e9] {
                let ticks = ticks(low, low * factor);
                assert!((1..=8).contains(&ticks.len()), "{low} × {factor}: {ticks:?}");
            }
        }
    }
}
