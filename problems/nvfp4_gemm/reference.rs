//! The product of two NVFP4 matrices, exact and rounded once to f16.
//!
//! Row i of c is what `nvfp4_gemv` calls a batch: the matrix b times the vector a[i]. So its sums,
//! its bound and its search for known bugs serve here, with a and b in each other's places.

mod mutations;
mod product;

use crate::folders::nvfp4_gemv::compare::{Products, View};
use crate::folders::nvfp4_gemv::families::{self, Contest};
use crate::folders::nvfp4_gemv::operands::Operands;
use crate::folders::nvfp4_gemv::recipe::Recipe;
use crate::problem::{Given, Truth};
use crate::unwritten::in_order;
use crate::{CaseSpec, Comparison, Expected, Poison, Seed};
use mutations::MUTATIONS;

pub(crate) struct Reference;

/// The competition's data: all codes, scales 0, 1, 2 and 3.
const CONTEST: Contest = Contest { codes: 0xff, scales: &[0, 0x38, 0x40, 0x44] };

/// One matrix serves all vectors, and a vector is one row.
const RIGHT: Recipe = Recipe {
    a_batch: |_| 0,
    sfa_batch: |_| 0,
    b_row: |row| row,
    sfb_row: |row| row,
    ..Recipe::RIGHT
};

const PRODUCTS: Products = Products {
    right: RIGHT,
    twists: &MUTATIONS,
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
        let c = product::products(&operands(given.inputs, sizes(given)));
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
        View::new(operands, &PRODUCTS, expected, outputs[0], (poison, &in_order)).compare()
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
