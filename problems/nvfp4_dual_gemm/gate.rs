//! What is made of the two sums, with its choices left open, and how exact it must be.

use crate::hypothesis::Mutation;
use crate::products::compare::{Coarse, Product, Range, sums_in_f16};
use crate::products::operands::Operands;
use crate::products::recipe::{Choices, Recipe, Sum};

/// The relative error of silu that `ex2.approx` and `rcp.approx` may make: derived in spec.md.
const OF_SILU: f64 = 1.0 / (1 << 17) as f64;

/// Where silu has its minimum, -0.278.
const LOWEST: f64 = -1.278_464_542_761_074;

/// x · sigmoid(x)
pub(super) fn silu(x: f64) -> f64 {
    x / (1.0 + (-x).exp())
}

/// The products of a with b1 and with b2.
pub(super) struct Gated<'a>(pub [Operands<'a>; 2]);

/// The choices.
#[derive(Clone, Copy, Debug)]
pub(super) struct Gate {
    /// Of both products.
    pub product: Recipe,
    /// The matrix, 0 for b1 and 1 for b2, that each product is made of, and its scales.
    pub matrix: [usize; 2],
    pub scales: [usize; 2],
    /// What becomes of a sum before it is used.
    pub sum: fn(f64) -> f64,
    pub gate: fn(f64) -> f64,
    /// What becomes of the gate before it is used.
    pub gated: fn(f64) -> f64,
    /// From the two sums, with the gate as a function.
    pub joined: fn(f64, f64, &dyn Fn(f64) -> f64) -> f64,
}

impl Choices for Gate {
    fn product(&mut self) -> &mut Recipe {
        &mut self.product
    }
}

impl Gate {
    pub const RIGHT: Gate = Gate {
        product: Recipe::OF_ROWS,
        matrix: [0, 1],
        scales: [0, 1],
        sum: |sum| sum,
        gate: silu,
        gated: |gate| gate,
        joined: |first, second, gate| gate(first) * second,
    };

    /// The value, with a gate that is off by this share.
    fn join(&self, [first, second]: [f64; 2], error: f64) -> f64 {
        let gate = |x| (self.gated)((self.gate)(x) * (1.0 + error));
        (self.joined)((self.sum)(first), (self.sum)(second), &gate)
    }
}

impl Gated<'_> {
    fn sums(&self, recipe: &Gate, output: usize) -> [Sum; 2] {
        [0, 1].map(|which| {
            let (codes, scales) = (recipe.matrix[which], recipe.scales[which]);
            let Operands { sfa, sfa_blocked, .. } = self.0[scales];
            recipe.product.sum(&Operands { sfa, sfa_blocked, ..self.0[codes] }, output)
        })
    }
}

impl Product for Gated<'_> {
    type Recipe = Gate;

    fn outputs(&self) -> usize {
        self.0[0].outputs()
    }

    fn position(&self, output: usize) -> (usize, usize) {
        self.0[0].rows_of_batches(output)
    }

    fn right(&self) -> Gate {
        Gate::RIGHT
    }

    fn mutations(&self) -> &'static [Mutation<Gate>] {
        &super::mutations::MUTATIONS
    }

    /// What the gate makes of any two sums that are right, each at the ends of what it may be and
    /// where silu turns between them, and silu's own error.
    fn range(&self, recipe: &Gate, output: usize) -> Range {
        let sums = self.sums(recipe, output);
        let [first, second] = sums;
        let value = recipe.join([first.value, second.value], 0.0);
        let around = |sum: Sum| {
            let slack = sum.allowance(self.0[0].k, true);
            let slack = if slack.is_finite() { slack } else { 0.0 };
            (sum.value - slack, sum.value + slack)
        };
        let (ends, others) = (around(first), around(second));
        let turn = if ends.0 < LOWEST && LOWEST < ends.1 { LOWEST } else { ends.0 };
        let (mut least, mut largest) = (value, value);
        for x in [ends.0, ends.1, turn] {
            for y in [others.0, others.1] {
                for error in [-OF_SILU, OF_SILU] {
                    let corner = recipe.join([x, y], error);
                    (least, largest) = (least.min(corner), largest.max(corner));
                }
            }
        }
        if value.is_nan() {
            (least, largest) = (value, value);
        }
        let gate = (recipe.gate)(first.value).abs();
        Range {
            value,
            // silu is nowhere steeper than 1.1.
            magnitude: gate * second.magnitude + 1.1 * first.magnitude * second.value.abs(),
            least,
            largest,
            store: recipe.product.store,
        }
    }

    fn coarse(&self) -> Vec<Coarse<Self>> {
        vec![by_tanh(), sums_in_f16()]
    }
}

/// x/2 · (1 + tanh(x/2)), whose relative error has no bound where x is negative: 1 and tanh cancel.
fn by_tanh<'a>() -> Coarse<Gated<'a>> {
    Coarse {
        id: "silu_by_tanh",
        says: "nearly every value is as near the right one as x/2 * (1 + tanh(x/2)) with tanh.approx \
               comes, which is off by 2^-12 of x: for a negative x 1 and tanh cancel each other",
        error: |product, output, range| {
            let [first, second] = product.sums(&Gate::RIGHT, output);
            let stored = range.value.abs() * 2f64.powi(-11) + 2f64.powi(-24);
            let slack = (range.largest - range.value).max(range.value - range.least);
            // A little more, for the float32 around it.
            (first.value * second.value).abs() * 2f64.powi(-12) * 1.01 + slack + stored
        },
    }
}
