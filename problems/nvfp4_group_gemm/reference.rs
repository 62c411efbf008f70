//! Products of NVFP4 matrices, one for each group, exact and rounded once to f16.
//!
//! The groups are judged one by one, each with all of them at hand: what is known to go wrong takes
//! one group's operands for another's.

mod groups;
mod mutations;

use groups::{Group, Groups};

use crate::problem::{Given, Truth};
use crate::products::BLOCK;
use crate::products::compare::View;
use crate::products::dot::round;
use crate::products::families::{self, Contest};
use crate::products::sums::sums;
use crate::random::Random;
use crate::unwritten::in_order;
use crate::{CaseSpec, Comparison, Expected, Poison, Seed, Sizes};

pub(crate) struct Reference;

/// The competition's data: codes ±0, ±0.5, ±1 and ±1.5, scales 1 and 2.
const CONTEST: Contest = Contest { codes: 0xbb, scale: |byte| [0x38, 0x40][usize::from(byte % 2)] };

impl Truth for Reference {
    /// Each group from a seed of its own.
    fn fill(&self, case: &CaseSpec, seed: &Seed, inputs: &mut [&mut [u8]]) -> Vec<f32> {
        let sizes = shapes(&case.sizes);
        let count = sizes.len();
        let (a, rest) = inputs.split_at_mut(count);
        let (b, rest) = rest.split_at_mut(count);
        let (sfa, sfb) = rest.split_at_mut(count);
        let buffers = a.iter_mut().zip(b).zip(sfa.iter_mut().zip(sfb));
        for (group, (((a, b), (sfa_blocked, sfb_blocked)), &[m, n, k])) in
            buffers.zip(&sizes).enumerate()
        {
            let mut own = *seed;
            own[24..].iter_mut().zip((group as u64).to_le_bytes()).for_each(|(x, y)| *x ^= y);
            // What pads the rows of a tile is anything: no result may depend on it.
            Random::new(&own, u64::MAX - 1).fill_bytes(sfa_blocked);
            sfa_blocked.iter_mut().for_each(|byte| *byte = (*byte & 0x7f).min(0x7e));
            let (mut sfa, mut sfb) = (vec![0; m * k / BLOCK], vec![0; n * k / BLOCK]);
            let mut inputs: [&mut [u8]; 6] =
                [&mut **a, &mut **b, &mut sfa, &mut sfb, &mut **sfa_blocked, &mut **sfb_blocked];
            families::fill((case.family, &CONTEST), &own, [m, n, k], &mut inputs);
        }
        Vec::new()
    }

    fn expected(&self, given: &Given) -> Expected {
        let groups = Groups::new(given.inputs, &shapes(given.sizes));
        let c = |group| -> Vec<u8> {
            let c: Vec<u16> = sums(&groups.operands(group)).into_iter().map(round).collect();
            bytemuck::cast_slice(&c).to_vec()
        };
        Expected::of((0..groups.len()).map(c).collect())
    }

    fn compare(
        &self,
        given: &Given,
        expected: &Expected,
        outputs: &[&[u8]],
        poison: &Poison,
    ) -> Comparison {
        let groups = Groups::new(given.inputs, &shapes(given.sizes));
        let compare = |own: usize| {
            let expected = Expected::of(vec![expected.outputs[own].clone()]);
            let group = Group { groups: &groups, own };
            View::new(group, &expected, outputs[own], (poison, &in_order)).compare()
        };
        joined((0..groups.len()).map(compare).collect())
    }
}

/// m, n and k of each group.
fn shapes(sizes: &Sizes) -> Vec<[usize; 3]> {
    let shape = |group| {
        let own = sizes.of_group(group);
        ["m", "n", "k"].map(|name| own.get(name).unwrap_or_default() as usize)
    };
    (0..sizes.get("g").unwrap_or_default()).map(shape).collect()
}

/// All groups together. What is told of one is told of the first that is wrong; of the reasons, those
/// that explain most groups come first.
fn joined(groups: Vec<Comparison>) -> Comparison {
    let mut all = Comparison { max_error: Some(0.0), ..Comparison::default() };
    let mut reasons: Vec<(usize, String)> = Vec::new();
    for (index, group) in groups.into_iter().enumerate() {
        all.elements += group.elements;
        all.mismatches += group.mismatches;
        all.unwritten += group.unwritten;
        all.non_finite += group.non_finite;
        all.max_error = all.max_error.into_iter().chain(group.max_error).max_by(f64::total_cmp);
        for reason in &group.reasons {
            match reasons.iter_mut().find(|(_, known)| known == reason) {
                Some((count, _)) => *count += 1,
                None => reasons.push((1, reason.clone())),
            }
        }
        if all.first.is_none() && group.first.is_some() {
            all.first = group.first;
            all.picture = group.picture;
            let of = format!("in group {index}: ");
            all.explanation =
                group.explanation.into_iter().map(|said| format!("{of}{said}")).collect();
        }
    }
    reasons.sort_by_key(|(count, _)| std::cmp::Reverse(*count));
    all.reasons = reasons.into_iter().map(|(_, reason)| reason).collect();
    all
}

#[cfg(test)]
mod tests;
