//! Comparing modelled times, in which nothing is chance but which are off.

use super::{Call, Comparison, Effect, NotComparable, SizeEffect};

/// The times of A and of B at one size, microseconds.
#[derive(Clone, Debug, PartialEq)]
pub struct SizeTimes {
    pub size: String,
    pub a_us: f64,
    pub b_us: f64,
}

/// Two times that differ by less than `apart` (0.15 is 15 %) may be in either order on a GPU: UNCLEAR.
/// Where the model sees no difference at all, nothing that it knows of was changed: SAME.
///
/// # Errors
///
/// [`NotComparable`] where there is no size, or what is no time.
pub fn modelled(sizes: &[SizeTimes], apart: f64) -> Result<Comparison, NotComparable> {
    if sizes.is_empty() {
        return Err(NotComparable::NoSizes);
    }
    let is_time = |us: f64| us.is_finite() && us > 0.0;
    if let Some(size) = sizes.iter().find(|size| !is_time(size.a_us) || !is_time(size.b_us)) {
        return Err(NotComparable::BadSample { size: size.size.clone() });
    }
    let logs: Vec<f64> = sizes.iter().map(|size| (size.b_us / size.a_us).ln()).collect();
    let effects = sizes.iter().zip(&logs).map(|(size, log)| SizeEffect {
        size: size.size.clone(),
        pairs: 0,
        effect: effect(*log, apart),
    });
    let mean = logs.iter().sum::<f64>() / logs.len() as f64;
    Ok(Comparison { sizes: effects.collect(), geomean: effect(mean, apart) })
}

fn effect(log: f64, apart: f64) -> Effect {
    let off = apart.ln_1p();
    let call = match log {
        0.0 => Call::Same,
        _ if log.abs() < off => Call::Unclear,
        _ if log < 0.0 => Call::Faster,
        _ => Call::Slower,
    };
    let interval = ((log - off).exp_m1(), (log + off).exp_m1());
    Effect { call, relative: log.exp_m1(), interval }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn calls(times: &[(f64, f64)]) -> Result<(Vec<Call>, Call), NotComparable> {
        let size = |&(a_us, b_us): &(f64, f64)| SizeTimes { size: "1x32".to_owned(), a_us, b_us };
        let sizes: Vec<SizeTimes> = times.iter().map(size).collect();
        let found = modelled(&sizes, 0.15)?;
        let of_sizes = found.sizes.iter().map(|size| size.effect.call).collect();
        Ok((of_sizes, found.geomean.call))
    }

    #[test]
    fn what_the_model_cannot_tell_apart_is_unclear() {
        assert_eq!(calls(&[(10.0, 10.0)]), Ok((vec![Call::Same], Call::Same)));
        assert_eq!(calls(&[(10.0, 11.0)]), Ok((vec![Call::Unclear], Call::Unclear)));
        assert_eq!(calls(&[(10.0, 12.0)]), Ok((vec![Call::Slower], Call::Slower)));
        assert_eq!(calls(&[(12.0, 10.0)]), Ok((vec![Call::Faster], Call::Faster)));
        let mixed = calls(&[(10.0, 5.0), (10.0, 19.0)]);
        assert_eq!(mixed, Ok((vec![Call::Faster, Call::Slower], Call::Unclear)));
    }

    #[test]
    fn what_is_no_time_is_refused() {
        assert_eq!(calls(&[]), Err(NotComparable::NoSizes));
        assert_eq!(calls(&[(0.0, 1.0)]), Err(NotComparable::BadSample { size: "1x32".to_owned() }));
    }
}
