//! What of an attempt's times can be computed again from the attempt itself.
//!
//! A time rests on the word of the machine that took it. But who edits one must edit all that hangs on it:
//! the mean, the share of the speed of light, the samples. And nobody is faster than light.

use crate::attempt::{Outcome, Samples, Size};

/// How far a number may be from what it was computed from: records keep all digits.
const ROUNDING: f64 = 1e-6;

/// A time at the speed of light is suspicious below this share of the least possible: the peak that it is
/// computed from is a data sheet's.
const LIGHT: f64 = 0.9;

/// The first contradiction.
pub(super) fn contradiction(outcome: &Outcome, samples: &[Samples]) -> Option<String> {
    let geomean = outcome.geomean.as_ref()?;
    let logarithms = outcome.sizes.iter().map(|size| size.median.us.ln());
    let mean = (logarithms.sum::<f64>() / outcome.sizes.len() as f64).exp();
    if !close(geomean.us, mean) {
        return Some(format!("a mean of {} us, where its sizes have {mean} us", geomean.us));
    }
    outcome.sizes.iter().find_map(|size| {
        of_size(size).or_else(|| of_samples(size, samples).filter(|_| !outcome.modelled))
    })
}

fn of_size(size: &Size) -> Option<String> {
    let Size { name, median, sol_us, sol_percent, .. } = size;
    let us = median.us;
    if !close(*sol_percent, 100.0 * sol_us / us) {
        return Some(format!(
            "{name}: {sol_percent} % of the speed of light, {sol_us} us, in {us} us"
        ));
    }
    (us < LIGHT * sol_us)
        .then(|| format!("{name}: {us} us, where the speed of light takes {sol_us} us"))
}

/// A median is one of several processes' medians, so all that is sure is that it lies among the samples.
fn of_samples(Size { name, median, .. }: &Size, samples: &[Samples]) -> Option<String> {
    let us = median.us;
    let taken = samples.iter().find(|one| one.size == *name);
    let taken = taken.map_or(&[][..], |one| &one.samples_us);
    if taken.is_empty() {
        return Some(format!("{name}: a median of {us} us of no samples"));
    }
    let (least, most) = taken
        .iter()
        .fold((f64::INFINITY, 0f64), |(least, most), &us| (least.min(us), most.max(us)));
    let within = (least * (1.0 - ROUNDING)..=most * (1.0 + ROUNDING)).contains(&us);
    (!within)
        .then(|| format!("{name}: a median of {us} us, of samples from {least} us to {most} us"))
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= ROUNDING * b.abs()
}
