//! Is B faster than A? A paired comparison that neither drift nor a lucky process can fool.
//!
//! Two kernels timed one after the other differ by whatever the machine did in between: a GPU that
//! warms up by 1 % makes the second one "slower" every time. Here they take turns. A *pair* is a
//! block of samples of A and a block of B, one right after the other, in random order; both see
//! nearly the same machine, and what is left of the drift cancels over the pairs. A block counts
//! by its median, so that a spike of 30 % in one sample of a hundred moves nothing.
//!
//! A *round* is what one fresh process of A and one of B gave. All samples of a process share its
//! luck: where its memory came to lie, which clocks it found. No number of pairs within a round
//! averages that out, and an interval that takes pairs for independent is too narrow. On an H200
//! such an interval called a kernel of 5 µs different from itself in 15 of 46 comparisons. So a
//! round counts once, by the mean of its pairs' `ln(B / A)`; the effect is the mean of the rounds,
//! and its interval Student's, from how the rounds scatter (Student, "The probable error of a
//! mean", 1908). The effect of all sizes is the mean of theirs, which is the logarithm of the ratio
//! of geomeans; a process times every size, so it is taken round by round too.
//!
//! A clock that ticks cannot tell what is less than a tick: 32 ns of an H200's events are 0.6 % of
//! 5 µs, and all rounds may fall on the same side of one. An effect of up to a tick is therefore
//! of no interest, just as one up to [`Options::threshold`]. The tick is found in the samples: no
//! two of a process differ by less.
//!
//! Whoever compares twenty times an hour should not be told once an hour of a difference that there
//! is not: FASTER and SLOWER need an interval of 99 % on one side of zero. The one that is shown, and
//! that SAME goes by, is of 95 %.
//!
//! Worked example: at 5 µs processes scatter by 1.2 %, so a round by 1.7 %. Of 7 rounds the mean
//! scatters by 0.64 %, and the interval is 2.4 times that each way: ±1.6 %, UNCLEAR for A against
//! itself; 2.4 % or more is called. At 36 µs processes scatter by 0.3 %: ±0.4 %, and 1 % is found.
//!
//! Not known: whether rounds scatter normally. One process in many that is far off widens the
//! interval, and so leaves UNCLEAR what it might have called wrong.

mod modelled;

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use serde::Serialize;

pub use modelled::{SizeTimes, modelled};

/// What was measured at one size: rounds of pairs.
#[derive(Clone, Debug, PartialEq)]
pub struct SizeRounds {
    pub size: String,
    pub rounds: Vec<Vec<Pair>>,
}

/// A block of times of A and one of B, taken one right after the other, microseconds.
#[derive(Clone, Debug, PartialEq)]
pub struct Pair {
    pub a_us: Vec<f64>,
    pub b_us: Vec<f64>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Options {
    /// An effect up to this is of no interest, however certain: 0.005 is half a per cent.
    pub threshold: f64,
}

impl Default for Options {
    fn default() -> Self {
        Self { threshold: 0.005 }
    }
}

/// Of B, seen from A.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Call {
    Faster,
    Slower,
    /// Certainly within the threshold.
    Same,
    /// The interval allows more than one of these: take more samples.
    Unclear,
}

/// B's time relative to A's, less one: -0.02 is 2 % faster.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Effect {
    pub call: Call,
    pub relative: f64,
    /// 95 %.
    pub interval: (f64, f64),
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Comparison {
    pub sizes: Vec<SizeEffect>,
    /// Over all sizes, each counting the same.
    pub geomean: Effect,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SizeEffect {
    pub size: String,
    pub pairs: usize,
    pub effect: Effect,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotComparable {
    #[error("there is no size that both have")]
    NoSizes,
    #[error("{size}: {rounds} rounds are too few, at least {MIN_ROUNDS} are needed")]
    TooFewRounds { size: String, rounds: usize },
    #[error("sizes with different numbers of rounds")]
    Uneven,
    #[error("{size}: a block without samples, or with one that is no time")]
    BadSample { size: String },
}

/// With fewer, Student's interval is so wide that hardly anything is found.
pub const MIN_ROUNDS: usize = 6;

/// Who comes first in each pair: true for A. Half the pairs each way, in random order.
pub fn a_first(pairs: usize, seed: u64) -> Vec<bool> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut order: Vec<bool> = (0..pairs).map(|pair| pair % 2 == 0).collect();
    if pairs % 2 == 1 && rng.next_u32() & 1 == 1 {
        order.iter_mut().for_each(|first| *first = !*first);
    }
    for last in (1..pairs).rev() {
        order.swap(last, below(&mut rng, last + 1));
    }
    order
}

/// # Errors
///
/// [`NotComparable`] where there is too little, or what is no time.
pub fn compare(sizes: &[SizeRounds], options: Options) -> Result<Comparison, NotComparable> {
    let Some(first) = sizes.first() else { return Err(NotComparable::NoSizes) };
    if sizes.iter().any(|size| size.rounds.len() != first.rounds.len()) {
        return Err(NotComparable::Uneven);
    }
    let mut total = vec![0.0; first.rounds.len()];
    let mut total_tick = 0.0;
    let mut effects = Vec::with_capacity(sizes.len());
    let share = 1.0 / sizes.len() as f64;
    for size in sizes {
        let logs = round_logs(size)?;
        let tick = relative_tick(&size.rounds);
        total.iter_mut().zip(&logs).for_each(|(total, log)| *total += share * log);
        total_tick += share * tick;
        effects.push(SizeEffect {
            size: size.size.clone(),
            pairs: size.rounds.iter().map(Vec::len).sum(),
            effect: judge(&logs, options.threshold.max(tick)),
        });
    }
    let geomean = judge(&total, options.threshold.max(total_tick));
    Ok(Comparison { sizes: effects, geomean })
}

/// Each round's `ln(B / A)`.
fn round_logs(size: &SizeRounds) -> Result<Vec<f64>, NotComparable> {
    let rounds = size.rounds.iter().filter(|round| !round.is_empty()).count();
    if rounds < MIN_ROUNDS || rounds < size.rounds.len() {
        return Err(NotComparable::TooFewRounds { size: size.size.clone(), rounds });
    }
    let blocks = size.rounds.iter().flatten().flat_map(|pair| [&pair.a_us, &pair.b_us]);
    for block in blocks {
        if block.is_empty() || !block.iter().all(|us| us.is_finite() && *us > 0.0) {
            return Err(NotComparable::BadSample { size: size.size.clone() });
        }
    }
    let log = |pair: &Pair| (median(&pair.b_us) / median(&pair.a_us)).ln();
    Ok(size.rounds.iter().map(|round| mean(round.iter().map(log))).collect())
}

/// The least by which two samples of one process differ that are not the same, relative to their
/// median. Where times are not counted in ticks, that is next to nothing.
fn relative_tick(rounds: &[Vec<Pair>]) -> f64 {
    let of = |round: &Vec<Pair>, side: fn(&Pair) -> &Vec<f64>| {
        let mut all: Vec<f64> = round.iter().flat_map(side).copied().collect();
        all.sort_by(f64::total_cmp);
        let middle = sorted_median(&all);
        // Events give their times as floats of milliseconds, so equal ones may differ by a little.
        let steps = all.windows(2).map(|two| (two[1] - two[0]) / middle);
        steps.filter(|step| *step > 1e-6).fold(f64::INFINITY, f64::min)
    };
    let sides = rounds
        .iter()
        .flat_map(|round| [of(round, |pair| &pair.a_us), of(round, |pair| &pair.b_us)]);
    let least = sides.fold(f64::INFINITY, f64::min);
    // A little more, so that one tick is not above one tick.
    if least.is_finite() { 1.000_001 * least } else { 0.0 }
}

fn mean(values: impl ExactSizeIterator<Item = f64>) -> f64 {
    let count = values.len() as f64;
    values.sum::<f64>() / count
}

fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted_median(&sorted)
}

fn sorted_median(sorted: &[f64]) -> f64 {
    let half = sorted.len() / 2;
    if sorted.len() % 2 == 1 { sorted[half] } else { 0.5 * (sorted[half - 1] + sorted[half]) }
}

/// Uniform in `0..bound`, but for a bias below `bound / 2³²`.
fn below(rng: &mut ChaCha8Rng, bound: usize) -> usize {
    ((u64::from(rng.next_u32()) * bound as u64) >> 32) as usize
}

/// `logs` are the rounds', logarithms of ratios.
fn judge(logs: &[f64], threshold: f64) -> Effect {
    let count = logs.len() as f64;
    let center = mean(logs.iter().copied());
    let squares: f64 = logs.iter().map(|log| (log - center).powi(2)).sum();
    let error = (squares / (count - 1.0) / count).sqrt();
    let half = student(SHOWN, count - 1.0) * error;
    let (low, high) = ((center - half).exp_m1(), (center + half).exp_m1());
    let relative = center.exp_m1();
    let sure = center.abs() > student(CALLED, count - 1.0) * error;
    let call = if low >= -threshold && high <= threshold {
        Call::Same
    } else if sure && relative > threshold {
        Call::Slower
    } else if sure && relative < -threshold {
        Call::Faster
    } else {
        Call::Unclear
    };
    Effect { call, relative, interval: (low, high) }
}

/// Quantiles of the normal distribution: 97.5 and 99.5 %, for what is left out on either side.
const SHOWN: f64 = 1.959_963_984_540_054;
const CALLED: f64 = 2.575_829_303_548_901;

/// A quantile of Student's distribution by an expansion around `z`, the normal one's (Abramowitz
/// and Stegun, Handbook of Mathematical Functions, 26.7.5); right to 1 % from 5 degrees of freedom
/// on.
fn student(z: f64, freedom: f64) -> f64 {
    let term = |coefficients: &[f64], over: f64| {
        // Of odd powers, the highest first.
        coefficients.iter().fold(0.0, |sum, factor| sum * z * z + factor) * z / over
    };
    let terms = [
        term(&[1.0, 1.0], 4.0),
        term(&[5.0, 16.0, 3.0], 96.0),
        term(&[3.0, 19.0, 17.0, -15.0], 384.0),
        term(&[79.0, 776.0, 1482.0, -1920.0, -945.0], 92_160.0),
    ];
    terms.iter().rev().fold(0.0, |sum, term| (sum + term) / freedom) + z
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Against a table of the distribution.
    #[test]
    fn students_quantiles_are_the_tables() {
        let shown = [(5, 2.571), (6, 2.447), (9, 2.262), (19, 2.093), (60, 2.000)];
        let called = [(5, 4.032), (6, 3.707), (9, 3.250), (19, 2.861), (60, 2.660)];
        for (z, table) in [(SHOWN, shown), (CALLED, called)] {
            for (freedom, quantile) in table {
                let found = student(z, f64::from(freedom));
                assert!((found / quantile - 1.0).abs() < 0.01, "{freedom}: {found}");
            }
        }
    }

    #[test]
    fn the_tick_is_found_in_the_samples() {
        let pair = |a: &[f64], b: &[f64]| Pair { a_us: a.to_vec(), b_us: b.to_vec() };
        let rounds = [vec![pair(&[5.376, 5.408], &[5.408, 5.472])], vec![pair(&[5.408], &[5.376])]];
        assert!((relative_tick(&rounds) - 0.032 / 5.392).abs() < 1e-7);
        assert_eq!(relative_tick(&[vec![pair(&[5.0], &[5.0])]]), 0.0);
    }
}
