//! The batched product of NVFP4 matrices with one vector each, exact and rounded once to f16.

mod mutations;

use rayon::prelude::*;

use crate::problem::{Given, Truth};
use crate::products::B_ROWS;
use crate::products::compare::{Plain, Sums, View};
use crate::products::dot::Vector;
use crate::products::families::{self, Contest};
use crate::products::operands::Operands;
use crate::products::recipe::Recipe;
use crate::{CaseSpec, Comparison, Expected, Poison, Seed};
use mutations::MUTATIONS;

pub(crate) struct Reference;

/// The competition's data: codes 0 to 3 in the low nibbles, 0 in the high ones, scales 0, 1 and 2.
/// Sums are multiples of 1/4 up to 9/4 · 4 · k/2.
const CONTEST: Contest =
    Contest { codes: 0x03, scale: |byte| [0, 0x38, 0x40][usize::from(byte % 3)] };

/// Outputs are numbered batch by batch.
static SUMS: Sums = Sums {
    right: Recipe::RIGHT,
    mutations: &MUTATIONS,
    shape: |operands, at| operands.columns_of_batches(at),
    block_scaled: false,
};

impl Truth for Reference {
    fn fill(&self, case: &CaseSpec, seed: &Seed, inputs: &mut [&mut [u8]]) -> Vec<f32> {
        let [m, k] = ["m", "k"].map(|name| case.sizes.get(name).unwrap_or_default() as usize);
        families::fill((case.family, &CONTEST), seed, [m, B_ROWS, k], inputs);
        Vec::new()
    }

    fn expected(&self, given: &Given) -> Expected {
        let c = products(&Operands::new(given));
        Expected::of(vec![bytemuck::cast_slice(&c).to_vec()])
    }

    fn compare(
        &self,
        given: &Given,
        expected: &Expected,
        outputs: &[&[u8]],
        poison: &Poison,
    ) -> Comparison {
        let operands = Operands::new(given);
        // The matrix of a report has a column for each batch; memory has them one after the other.
        let place = |index| index % operands.l * operands.m + index / operands.l;
        let product = Plain { operands, sums: &SUMS };
        View::new(product, expected, outputs[0], (poison, &place)).compare()
    }
}

/// All outputs, batch by batch. From the plain scales; the blocked ones are the same.
fn products(operands: &Operands) -> Vec<u16> {
    let vectors: Vec<Vector> =
        (0..operands.l).map(|batch| Vector::new(operands.b_row(batch))).collect();
    let product = |output: usize| vectors[output / operands.m].product(operands.a_row(output));
    (0..operands.outputs()).into_par_iter().map(product).collect()
}

#[cfg(test)]
mod tests;
