//! Sizes that a problem does not list.
//!
//! A kernel can be right for the listed sizes alone: by chance, since none of them has a tail in a warp, or
//! on purpose. So a check has one case more, of sizes that are drawn anew each time:
//!
//! ```text
//! [fresh]
//! families = ["mixed"]
//! sizes = { m = { from = 1, to = 4096 }, k = { from = 32, to = 8192, step = 32 } }
//! ```

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::random::Random;
use crate::sizes::{MOST_GROUPS, entry};
use crate::{CaseSpec, Family, Manifest, Parameter, Seed, Sizes};

/// Bytes that a fresh case moves at most: it costs no more than the least of the timed sizes.
const MOST_BYTES: f64 = 16e6;

/// Draws, until sizes are found that are small enough.
const DRAWS: usize = 64;

/// The stream that the sizes of a case come from.
const STREAM: u64 = u64::MAX;

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fresh {
    pub families: Vec<Family>,
    /// Where a size is one of each group's, each group draws its own.
    pub sizes: BTreeMap<String, Range>,
}

impl Fresh {
    /// Sizes in the order of a signature, each of them chosen by `number` from its range.
    pub(crate) fn sizes(
        &self,
        signature: &[Parameter],
        mut number: impl FnMut(Range) -> u64,
    ) -> Sizes {
        let of = |name: &str| signature.iter().find(|parameter| parameter.name == name);
        let has_groups = |name: &str| of(name).is_some_and(|parameter| parameter.each.is_some());
        // How many groups there are comes before what each of them has.
        let (lists, alone): (Vec<_>, Vec<_>) =
            self.sizes.iter().partition(|(name, _)| has_groups(name));
        let alone: Vec<_> =
            alone.into_iter().map(|(name, &range)| (name.clone(), number(range))).collect();
        let mut all = alone.clone();
        let alone = Sizes::new(alone);
        for (name, &range) in lists {
            let groups = of(name).map_or(0, |parameter| parameter.count(&alone));
            // With more of them the sizes are incomplete, and refused.
            all.extend(
                (0..groups.min(MOST_GROUPS)).map(|group| (entry(name, group), number(range))),
            );
        }
        let order: Vec<String> = signature.iter().map(|parameter| parameter.name.clone()).collect();
        Sizes::new(all).sorted_by(&order)
    }
}

/// A size: `from`, and whole steps on to at most `to`.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Range {
    pub from: u64,
    pub to: u64,
    #[serde(default = "one")]
    pub step: u64,
}

fn one() -> u64 {
    1
}

impl Range {
    /// Whether there is anything to draw.
    pub(crate) fn is_some(self) -> bool {
        1 <= self.from && self.from <= self.to && 1 <= self.step
    }

    /// Each order of magnitude is as likely as the others.
    fn draw(self, random: &mut Random) -> u64 {
        let Range { from, to, step } = self;
        let most = (to - from) / step;
        let share = f64::from(random.uniform().abs());
        let steps = ((most + 2) as f64).powf(share) - 1.0;
        from + (steps as u64).min(most) * step
    }
}

impl Manifest {
    /// The cases of sizes that these numbers choose; none where the problem says no ranges, or ranges with
    /// hardly a size that fits.
    pub(crate) fn fresh_cases(&self, seed: &Seed) -> Vec<CaseSpec> {
        let Some(fresh) = &self.fresh else { return Vec::new() };
        let mut random = Random::new(seed, STREAM);
        let mut draw = || fresh.sizes(&self.signature, |range| range.draw(&mut random));
        let light = &self.speed_of_light;
        let listed = self.check.iter().chain([&self.bench]).flat_map(|group| &group.sizes);
        let listed: Vec<&Sizes> = listed.collect();
        let fits = |sizes: &Sizes| {
            if listed.contains(&sizes) {
                return false;
            }
            let bytes = light.total(&light.bytes, sizes);
            bytes.is_ok_and(|bytes| bytes as f64 <= MOST_BYTES) && self.validate(sizes).is_ok()
        };
        let sizes = (0..DRAWS).map(|_| draw()).find(fits);
        let of = |sizes: Sizes| {
            let case = |&family: &Family| CaseSpec { sizes: sizes.clone(), family };
            fresh.families.iter().map(case).collect()
        };
        sizes.map_or_else(Vec::new, of)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seed(number: u8) -> Seed {
        let mut seed = Seed::default();
        seed[0] = number;
        seed
    }

    #[test]
    fn every_problem_has_a_size_that_it_does_not_list() {
        for problem in crate::catalog() {
            let fresh: Vec<_> = (0..40).flat_map(|n| problem.fresh_cases(&seed(n))).collect();
            assert!(fresh.len() >= 40, "{}", problem.name());
            let distinct: std::collections::HashSet<_> = fresh.iter().map(|c| &c.sizes).collect();
            assert!(distinct.len() > 10, "{}: {distinct:?}", problem.name());
            let listed: Vec<_> = [problem.check_cases(), problem.bench_cases()].concat();
            for case in &fresh {
                assert!(listed.iter().all(|known| known.sizes != case.sizes), "{case:?}");
                assert!(problem.bytes(&case.sizes).unwrap() <= MOST_BYTES, "{case:?}");
                assert!(problem.buffers(&case.sizes).is_ok(), "{case:?}");
            }
        }
    }

    #[test]
    fn both_ends_of_a_range_are_drawn() {
        let mut random = Random::new(&seed(0), 0);
        let range = Range { from: 128, to: 384, step: 128 };
        let drawn: Vec<u64> = (0..100).map(|_| range.draw(&mut random)).collect();
        for size in [128, 256, 384] {
            assert!(drawn.contains(&size), "{drawn:?}");
        }
        assert!(drawn.iter().all(|size| [128, 256, 384].contains(size)), "{drawn:?}");
    }

    #[test]
    fn each_group_has_sizes_of_its_own() {
        let problem = crate::find("nvfp4_group_gemm").unwrap();
        let drawn: Vec<_> = (0..40).flat_map(|n| problem.fresh_cases(&seed(n))).collect();
        let differ = |case: &&CaseSpec| {
            case.sizes.get("k.1").is_some_and(|k| case.sizes.get("k.0") != Some(k))
        };
        assert!(drawn.iter().filter(differ).count() > 5, "{drawn:?}");
    }

    #[test]
    fn the_same_numbers_choose_the_same_size() {
        let problem = crate::find("mxfp4_quantize").unwrap();
        assert_eq!(problem.fresh_cases(&seed(1)), problem.fresh_cases(&seed(1)));
        assert_ne!(problem.fresh_cases(&seed(1)), problem.fresh_cases(&seed(2)));
    }
}
