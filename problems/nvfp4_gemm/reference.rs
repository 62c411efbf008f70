//! The product of two NVFP4 matrices, exact and rounded once to f16.
//!
//! Row i of c is a batch: the matrix b times the vector a[i].

use crate::hypothesis::Mutation;
use crate::problem::{Given, Truth};
use crate::products::compare::{Plain, Sums, View};
use crate::products::dot::round;
use crate::products::families::{self, Contest};
use crate::products::mutations::{COUNT, mutations};
use crate::products::operands::Operands;
use crate::products::recipe::Recipe;
use crate::products::sums::sums;
use crate::unwritten::in_order;
use crate::{CaseSpec, Comparison, Expected, Poison, Seed};

pub(crate) struct Reference;

/// The competition's data: all codes, scales 0, 1, 2 and 3.
const CONTEST: Contest =
    Contest { codes: 0xff, scale: |byte| [0, 0x38, 0x40, 0x44][usize::from(byte % 4)] };

static MUTATIONS: [Mutation<Recipe>; COUNT] = mutations();

static SUMS: Sums = Sums {
    right: Recipe::OF_ROWS,
    mutations: &MUTATIONS,
    shape: |operands, at| operands.rows_of_batches(at),
    block_scaled: true,
};

impl Truth for Reference {
    fn fill(&self, case: &CaseSpec, seed: &Seed, inputs: &mut [&mut [u8]]) -> Vec<f32> {
        let size = |name| case.sizes.get(name).unwrap_or_default() as usize;
        let sizes = ["m", "n", "k"].map(size);
        families::fill((case.family, &CONTEST), seed, sizes, inputs);
        Vec::new()
    }

    fn expected(&self, given: &Given) -> Expected {
        let sums = sums(&operands(given.inputs, sizes(given)));
        let c: Vec<u16> = sums.into_iter().map(round).collect();
        Expected::of(vec![bytemuck::cast_slice(&c).to_vec()])
    }

    fn compare(
        &self,
        given: &Given,
        expected: &Expected,
        outputs: &[&[u8]],
        poison: &Poison,
    ) -> Comparison {
        let operands = operands(given.inputs, sizes(given));
        let product = Plain { operands, sums: &SUMS };
        View::new(product, expected, outputs[0], (poison, &in_order)).compare()
    }
}

/// The operands as `nvfp4_gemv` names them: the matrix is b, the vectors are the rows of a.
fn operands<'a>(inputs: &[&'a [u8]], [m, n, k]: [usize; 3]) -> Operands<'a> {
    let [b, a, sfb, sfa, sfb_blocked, sfa_blocked] = std::array::from_fn(|index| inputs[index]);
    Operands { a, b, sfa, sfb, sfa_blocked, sfb_blocked, m: n, k, l: m }
}

fn sizes(given: &Given) -> [usize; 3] {
    ["m", "n", "k"].map(|name| given.size(name))
}

#[cfg(test)]
mod tests;
