//! Which parts of two contents may be exchanged for each other.
//!
//! A timed call needs inputs that the solution has never seen, and a judge that knows what is
//! expected of them, without drawing and computing everything anew for each. Where a problem's rows
//! (or tiles, or heads) are computed one by one, a mixture of two contents, unit by unit, is a new
//! content, and the same mixture of their outputs is what it comes to.

use serde::Deserialize;

use crate::formula::{Formula, FormulaError};
use crate::{BufferSpec, Direction, Sizes};

/// As the manifest says it.
#[derive(Clone, Debug, PartialEq)]
pub struct MixingRule {
    /// How many equal parts each buffer has.
    pub units: Formula,
    /// Inputs that all units read, and that both contents must have in common.
    pub shared: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RawMixing {
    units: String,
    #[serde(default)]
    shared: Vec<String>,
}

impl TryFrom<RawMixing> for MixingRule {
    type Error = FormulaError;

    fn try_from(raw: RawMixing) -> Result<MixingRule, FormulaError> {
        Ok(MixingRule { units: Formula::parse(&raw.units)?, shared: raw.shared })
    }
}

/// How the contents of one size mix.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mixing {
    pub units: usize,
    /// For each buffer, whether both contents must have it in common.
    pub shared: Vec<bool>,
}

/// Fewer units than this make too few mixtures.
const FEWEST: usize = 8;

impl MixingRule {
    /// `None` where these sizes have too few units, or units that are no whole number of 16-byte
    /// pieces in an input, or of 8-byte words in an output.
    pub(crate) fn at(&self, sizes: &Sizes, buffers: &[BufferSpec]) -> Option<Mixing> {
        let units = usize::try_from(self.units.evaluate(sizes).ok()?).ok()?;
        let shared: Vec<bool> =
            buffers.iter().map(|buffer| self.shared.contains(&buffer.name)).collect();
        let whole = |(buffer, shared): (&BufferSpec, &bool)| match buffer.direction {
            Direction::Out => buffer.bytes % (8 * units) == 0,
            _ if *shared => buffer.bytes % 16 == 0,
            _ => buffer.bytes % (16 * units) == 0,
        };
        let fits = units >= FEWEST && buffers.iter().zip(&shared).all(whole);
        fits.then_some(Mixing { units, shared })
    }
}
