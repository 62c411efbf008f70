//! Where the input values come from.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::Seed;
use crate::Sizes;
use crate::random::{Random, fill_chunks};

/// A way to draw inputs. The general ones hunt for the mistakes that uniform numbers hide; what
/// each does exactly stands in the problem's `families.rs` and is told in its spec.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Family {
    /// The competition's own distribution.
    Uniform,
    Normal,
    /// Every block has its own magnitude.
    Wide,
    /// Exact midpoints between neighbouring codes, and the values next to them.
    Ties,
    /// Zero blocks, both zeros, and values that round to zero.
    Zeros,
    /// One element that dwarfs its block, also in the very last block.
    Outliers,
    /// Subnormals, powers of two, the largest finite values.
    Special,
    /// Every code with every scale.
    Codes,
    /// Rows of the identity matrix: whose value ends up where is seen at once.
    Identity,
    /// Scores whose exponentials are infinite unless the largest score is subtracted.
    Overflow,
    /// Sums that float32 holds exactly, in whatever order.
    Exact,
    /// One element of a row is not zero.
    OneHot,
    /// Mostly the competition's own distribution, and in between stretches of the other families: for
    /// the sizes that are timed, so that what holds for the competition's numbers alone is found out there.
    Mixed,
}

impl Family {
    pub fn name(self) -> &'static str {
        match self {
            Family::Uniform => "uniform",
            Family::Normal => "normal",
            Family::Wide => "wide",
            Family::Ties => "ties",
            Family::Zeros => "zeros",
            Family::Outliers => "outliers",
            Family::Special => "special",
            Family::Codes => "codes",
            Family::Identity => "identity",
            Family::Overflow => "overflow",
            Family::Exact => "exact",
            Family::OneHot => "one_hot",
            Family::Mixed => "mixed",
        }
    }
}

/// One stretch of [`Family::Mixed`] in so many is of another family.
const RARITY: u32 = 8;

/// The family of the next stretch of [`Family::Mixed`].
pub(crate) fn of_stretch(random: &mut Random, others: &[Family]) -> Family {
    if random.below(RARITY) == 0 { random.pick(others) } else { Family::Uniform }
}

/// Scales that share a family in [`mix_scales`], and those of a chunk.
const STRETCH: usize = 16;
const CHUNK: usize = 1 << 10;

/// Of a dequantizer's scale bytes that come from uniform values, gives some stretches scales of `codes` or
/// `special`, as [`Family::Mixed`] has them.
pub(crate) fn mix_scales(
    seed: &Seed,
    scales: &mut [u8],
    draw: impl Fn(Family, &mut Random) -> u8 + Sync,
) {
    fill_chunks(seed, 1, scales, CHUNK, |random, _, chunk| {
        for stretch in chunk.chunks_mut(STRETCH) {
            match of_stretch(random, &[Family::Codes, Family::Special]) {
                Family::Uniform => {}
                family => stretch.iter_mut().for_each(|byte| *byte = draw(family, random)),
            }
        }
    });
}

impl fmt::Display for Family {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// One problem at one size with one family; with a seed it is a case.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct CaseSpec {
    pub sizes: Sizes,
    pub family: Family,
}

impl CaseSpec {
    /// `1024x1024 uniform`
    pub fn name(&self) -> String {
        format!("{} {}", self.sizes, self.family)
    }
}
