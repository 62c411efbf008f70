//! Is B faster than A? A paired comparison that drift cannot fool.
//!
//! Two kernels timed one after the other differ by whatever the machine did in between: a GPU that
//! warms up by 1 % makes the second one "slower" every time. Here they take turns. A *pair* is a
//! block of samples of A and a block of B, one right after the other, in random order; both see
//! nearly the same machine, and what is left of the drift cancels over the pairs. A block counts
//! by its median, so that a spike of 30 % in one sample of a hundred moves nothing.
//!
//! The effect at one size is the median over the pairs of `ln(B / A)`. Its interval comes from a
//! bootstrap: pairs are drawn with replacement, as many as there were, and the median is taken
//! again, thousands of times; the middle 95 % of these medians is the interval (Efron &
//! Tibshirani, An Introduction to the Bootstrap, 1993, §13.3, the percentile interval). Over
//! several sizes each is resampled by itself, a stratum, and the effects are averaged, which is
//! the logarithm of the ratio of geomeans.
//!
//! Worked example: A takes 100 µs and B 101, samples scatter by 1 %, blocks hold 10, there are 20
//! pairs. A block's median scatters by 0.4 %, a pair's log-ratio by 0.56 %, the median of 20 pairs
//! by 0.16 %. So the interval is about 1 % ± 0.3 %, and B is called slower. With A against itself
//! an effect beyond [`Options::threshold`] of 0.5 % happens by chance once in 700 comparisons.
//!
//! Not known: how a real GPU's clock wanders within a block. What the tests simulate is noise, a
//! linear drift, and spikes.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use serde::Serialize;

/// What was measured at one size.
#[derive(Clone, Debug, PartialEq)]
pub struct SizePairs {
    pub size: String,
    pub pairs: Vec<Pair>,
}

/// A block of times of A and one of B, taken one right after the other, microseconds.
#[derive(Clone, Debug, PartialEq)]
pub struct Pair {
    pub a_us: Vec<f64>,
    pub b_us: Vec<f64>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Options {
    /// The same seed and data give the same verdict.
    pub seed: u64,
    pub resamples: usize,
    /// An effect up to this is of no interest, however certain: 0.005 is half a per cent.
    pub threshold: f64,
}

impl Default for Options {
    fn default() -> Self {
        Self { seed: 0, resamples: 10_000, threshold: 0.005 }
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
    #[error("{size}: {pairs} pairs of blocks are too few, at least {MIN_PAIRS} are needed")]
    TooFewPairs { size: String, pairs: usize },
    #[error("{size}: a block without samples, or with one that is no time")]
    BadSample { size: String },
}

/// With fewer, the outermost medians are too likely by chance for a 95 % interval: of 6 pairs, all
/// lie on one side with a probability of 2 / 2⁶, 3 %.
pub const MIN_PAIRS: usize = 6;

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

pub fn compare(sizes: &[SizePairs], options: Options) -> Result<Comparison, NotComparable> {
    if sizes.is_empty() {
        return Err(NotComparable::NoSizes);
    }
    let mut rng = ChaCha8Rng::seed_from_u64(options.seed);
    let mut total = vec![0.0; options.resamples.max(1)];
    let mut total_center = 0.0;
    let mut effects = Vec::with_capacity(sizes.len());
    let mut drawn = Vec::new();
    let share = 1.0 / sizes.len() as f64;
    for size in sizes {
        let logs = log_ratios(size)?;
        let center = sorted_median(&logs);
        let resampled: Vec<f64> =
            total.iter().map(|_| resampled_median(&logs, &mut drawn, &mut rng)).collect();
        total_center += share * center;
        total.iter_mut().zip(&resampled).for_each(|(total, one)| *total += share * one);
        effects.push(SizeEffect {
            size: size.size.clone(),
            pairs: logs.len(),
            effect: judge(center, resampled, options.threshold),
        });
    }
    Ok(Comparison { sizes: effects, geomean: judge(total_center, total, options.threshold) })
}

/// Sorted.
fn log_ratios(size: &SizePairs) -> Result<Vec<f64>, NotComparable> {
    if size.pairs.len() < MIN_PAIRS {
        let (size, pairs) = (size.size.clone(), size.pairs.len());
        return Err(NotComparable::TooFewPairs { size, pairs });
    }
    let mut logs = Vec::with_capacity(size.pairs.len());
    for pair in &size.pairs {
        for block in [&pair.a_us, &pair.b_us] {
            if block.is_empty() || !block.iter().all(|us| us.is_finite() && *us > 0.0) {
                return Err(NotComparable::BadSample { size: size.size.clone() });
            }
        }
        logs.push((median(&pair.b_us) / median(&pair.a_us)).ln());
    }
    logs.sort_by(f64::total_cmp);
    Ok(logs)
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

/// The median of as many values drawn with replacement. Since they are sorted, it is enough to
/// count in `drawn` how often each was.
fn resampled_median(sorted: &[f64], drawn: &mut Vec<usize>, rng: &mut ChaCha8Rng) -> f64 {
    let count = sorted.len();
    drawn.clear();
    drawn.resize(count, 0);
    for _ in 0..count {
        drawn[below(rng, count)] += 1;
    }
    let at = |rank: usize| {
        let mut seen = 0;
        let found = drawn.iter().position(|times| {
            seen += times;
            seen > rank
        });
        sorted[found.unwrap_or(count - 1)]
    };
    let half = count / 2;
    if count % 2 == 1 { at(half) } else { 0.5 * (at(half - 1) + at(half)) }
}

/// Uniform in `0..bound`, but for a bias below `bound / 2³²`.
fn below(rng: &mut ChaCha8Rng, bound: usize) -> usize {
    ((u64::from(rng.next_u32()) * bound as u64) >> 32) as usize
}

/// `center` and `resampled` are logarithms of ratios.
fn judge(center: f64, mut resampled: Vec<f64>, threshold: f64) -> Effect {
    resampled.sort_by(f64::total_cmp);
    let at = |share: f64| resampled[((resampled.len() - 1) as f64 * share).round() as usize];
    let (low, high) = (at(0.025).exp_m1(), at(0.975).exp_m1());
    let relative = center.exp_m1();
    let call = if low >= -threshold && high <= threshold {
        Call::Same
    } else if low > 0.0 && relative > threshold {
        Call::Slower
    } else if high < 0.0 && relative < -threshold {
        Call::Faster
    } else {
        Call::Unclear
    };
    Effect { call, relative, interval: (low, high) }
}
