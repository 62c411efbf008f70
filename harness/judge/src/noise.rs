//! How much two timings of one thing differ on this machine: an A/A run.

use problems::Problem;

use crate::bench::Pair;
use crate::config::{Config, Stage};
use crate::{DeviceChoice, Error, Event, compare};
use timing::stats::{median, quantile};

/// What an A/A run found. Differences are relative.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Noise {
    pub pairs: usize,
    /// Of one block's median and the other's, in the median: 0 but for chance.
    pub bias: f64,
    /// Nineteen of twenty pairs differ by less.
    pub spread: f64,
    pub median_us: f64,
}

const PAIRS: usize = 20;

/// Times a problem's starter against itself, in turn, at the largest size of its bench.
///
/// # Errors
///
/// [`Error::Machine`] where this machine cannot.
pub fn noise(
    problem: &Problem,
    device: DeviceChoice,
    emit: &mut dyn FnMut(Event),
) -> Result<Noise, Error> {
    let failed = |error: std::io::Error| {
        Error::machine(format!("no temporary folder: {error}"), "free some space, or set TMPDIR")
    };
    let folder = tempfile::tempdir().map_err(failed)?;
    let file = folder.path().join("starter.cu");
    std::fs::write(&file, problem.starter()).map_err(failed)?;
    let mut config = Config::new(file, Stage::Bench);
    config.problem = Some(problem.name().to_owned());
    config.device = device;
    let sizes = problem.bench_cases().into_iter().map(|case| case.sizes);
    let bytes = |sizes: &problems::Sizes| problem.bytes(sizes).unwrap_or(0.0) as u64;
    let largest = sizes.max_by_key(bytes).unwrap_or_default();
    config.sizes = vec![largest.iter().map(|(name, size)| (name.to_owned(), size)).collect()];
    let order: Vec<bool> = (0..PAIRS).map(|pair| pair % 2 == 0).collect();
    let compared = compare([&config, &config], &order, emit)?;
    let pairs = compared.sizes.first().map(|(_, rounds)| rounds.concat()).unwrap_or_default();
    of(&pairs).ok_or_else(|| {
        let why = compared.a.message.unwrap_or_else(|| "the starter is not accepted".to_owned());
        Error::machine(why, "nibble check says more")
    })
}

fn of(pairs: &[Pair]) -> Option<Noise> {
    let ratio = |[a, b]: &Pair| Some((median(a)? / median(b)?).ln());
    let logs: Vec<f64> = pairs.iter().filter_map(ratio).collect();
    let sizes: Vec<f64> = logs.iter().map(|log| log.abs()).collect();
    let all: Vec<f64> = pairs.iter().flat_map(|[a, b]| a.iter().chain(b).copied()).collect();
    Some(Noise {
        pairs: logs.len(),
        bias: median(&logs)?.exp() - 1.0,
        spread: quantile(&sizes, 0.95)?.exp() - 1.0,
        median_us: median(&all)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_blocks_have_no_noise_and_a_slower_one_shows() {
        let even = vec![[vec![10.0; 5], vec![10.0; 5]]; 20];
        assert_eq!(of(&even).map(|noise| (noise.bias, noise.spread)), Some((0.0, 0.0)));
        let mut odd = even;
        for pair in odd.iter_mut().take(4) {
            pair[0] = vec![11.0; 5];
        }
        let noise = of(&odd).unwrap();
        assert_eq!((noise.pairs, noise.bias), (20, 0.0));
        assert!((noise.spread - 0.1).abs() < 1e-9, "{noise:?}");
        assert_eq!(of(&[]), None);
    }
}
