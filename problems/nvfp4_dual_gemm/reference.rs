//! Two products of NVFP4 matrices with one factor in common, the second gated by the first: exact
//! sums, silu in f64, rounded once to f16.

mod families;
mod gate;
mod mutations;

use gate::Gated;

use crate::problem::{Given, Truth};
use crate::products::compare::View;
use crate::products::dot::round;
use crate::products::operands::Operands;
use crate::products::sums::sums;
use crate::unwritten::in_order;
use crate::{CaseSpec, Comparison, Expected, Poison, Seed};

pub(crate) struct Reference;

impl Truth for Reference {
    fn fill(&self, case: &CaseSpec, seed: &Seed, inputs: &mut [&mut [u8]]) -> Vec<f32> {
        let size = |name| case.sizes.get(name).unwrap_or_default() as usize;
        let sizes = ["m", "n", "k"].map(size);
        families::fill(case.family, seed, sizes, inputs);
        Vec::new()
    }

    fn expected(&self, given: &Given) -> Expected {
        let [first, second] = operands(given.inputs, sizes(given)).map(|one| sums(&one));
        let gated = first.into_iter().zip(second).map(|(s1, s2)| round(gate::silu(s1) * s2));
        let c: Vec<u16> = gated.collect();
        Expected::of(vec![bytemuck::cast_slice(&c).to_vec()])
    }

    fn compare(
        &self,
        given: &Given,
        expected: &Expected,
        outputs: &[&[u8]],
        poison: &Poison,
    ) -> Comparison {
        let product = Gated(operands(given.inputs, sizes(given)));
        View::new(product, expected, outputs[0], (poison, &in_order)).compare()
    }
}

/// Those of both products: the matrix is b1 or b2, the vectors are the rows of a.
fn operands<'a>(inputs: &[&'a [u8]], [m, n, k]: [usize; 3]) -> [Operands<'a>; 2] {
    let [a, b1, b2, sfa, sfb1, sfb2, sfa_blocked, sfb1_blocked, sfb2_blocked] =
        std::array::from_fn(|index| inputs[index]);
    let of = |b, sfb, sfb_blocked| Operands {
        a: b,
        b: a,
        sfa: sfb,
        sfb: sfa,
        sfa_blocked: sfb_blocked,
        sfb_blocked: sfa_blocked,
        m: n,
        k,
        l: m,
    };
    [of(b1, sfb1, sfb1_blocked), of(b2, sfb2, sfb2_blocked)]
}

fn sizes(given: &Given) -> [usize; 3] {
    ["m", "n", "k"].map(|name| given.size(name))
}

#[cfg(test)]
mod tests;
