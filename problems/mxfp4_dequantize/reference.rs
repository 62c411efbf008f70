//! MXFP4 to float32 as TorchAO's `to_dtype` does it: code times scale.
//!
//! The scale is 2^(s-127), also for s = 0, where it is a subnormal float; s = 255 is NaN. Products
//! are exact, with two ends: below 2⁻¹²⁶ they are subnormal (still exact: a code has at most two
//! significant bits and no value below 0.5 · 2⁻¹²⁷), and above the largest float they are infinite.

mod recipe;

use formats::{e2m1, e8m0, pack};
use rayon::prelude::*;

use crate::diagnosis::Diagnosis;
use crate::family::mix_scales;
use crate::folders::mxfp4_quantize::{self, BLOCK};
use crate::hypothesis::thousands;
use crate::problem::{Given, Truth};
use crate::random::{Random, fill_chunks};
use crate::values::{Closeness, Values};
use crate::{CaseSpec, Comparison, DequantizedElement, Expected, Family, Poison, Seed};
use recipe::{MUTATIONS, Recipe};

pub(crate) struct Reference;

/// Blocks that one stream of random numbers draws.
const CHUNK: usize = 1 << 10;

/// A scale of `codes` or `special`.
fn draw_scale(family: Family, random: &mut Random) -> u8 {
    match (family, random.below(3)) {
        (Family::Special, 0) => random.below(3) as u8,
        (Family::Special, 1) => 250 + random.below(6) as u8,
        (Family::Special, _) => random.pick(&[0, 1, 127, 254, 255]),
        _ => 2 + random.below(251) as u8,
    }
}

impl Truth for Reference {
    /// `uniform` is what quantizing the competition's numbers gives; `codes` is every code with
    /// every scale whose products are normal; `special` is the scales at both ends, NaN too; `mixed` has the
    /// scales of all three.
    fn fill(&self, case: &CaseSpec, seed: &Seed, inputs: &mut [&mut [u8]]) -> Vec<f32> {
        let [q, scale] = inputs else { return Vec::new() };
        if matches!(case.family, Family::Uniform | Family::Mixed) {
            let mut values = vec![0.0; q.len() * 2];
            fill_chunks(seed, 0, &mut values, CHUNK * BLOCK, |random, _, values| {
                random.fill_uniform(values);
            });
            let (codes, scales) = mxfp4_quantize::quantize(&values);
            q.copy_from_slice(&codes);
            scale.copy_from_slice(&scales);
            if case.family == Family::Mixed {
                mix_scales(seed, scale, draw_scale);
            }
            return Vec::new();
        }
        fill_chunks(seed, 0, q, CHUNK * BLOCK / 2, |random, _, bytes| random.fill_bytes(bytes));
        fill_chunks(seed, 1, scale, CHUNK, |random, _, bytes| {
            bytes.iter_mut().for_each(|byte| *byte = draw_scale(case.family, random));
        });
        Vec::new()
    }

    fn expected(&self, given: &Given) -> Expected {
        let values = dequantize(given.inputs[0], given.inputs[1]);
        Expected::of(vec![bytemuck::cast_slice(&values).to_vec()])
    }

    fn compare(
        &self,
        given: &Given,
        expected: &Expected,
        outputs: &[&[u8]],
        poison: &Poison,
    ) -> Comparison {
        let (q, scale) = (given.inputs[0], given.inputs[1]);
        let exactly = Closeness { relative: 0.0 };
        let values = Values::new(expected, outputs[0], given.size("k"), BLOCK, exactly);
        let unit = |index: usize| f64::from(e8m0::decode(scale[index / BLOCK]));
        let (mut comparison, differing) = values.compare(unit);
        if let Some(first) = &mut comparison.first {
            let index = first.row as usize * values.columns + first.column as usize;
            let (code, byte) = (pack::get(q, index), scale[index / BLOCK]);
            first.dequantized = Some(DequantizedElement {
                block: first.column / BLOCK as u64,
                code,
                code_value: e2m1::decode(code),
                scale: byte,
                scale_value: e8m0::decode(byte),
            });
            let out = values.untouched("out", poison);
            let input = recipe::Input { q, scale, columns: values.columns };
            let diagnosis = Diagnosis {
                right: Recipe::RIGHT,
                mutations: &MUTATIONS,
                units: scale.len(),
                agrees: &|recipe: &Recipe, block, excuse| {
                    let excused = |index| excuse && out.at(index);
                    values.agree(block, excused, |index| recipe.value(&input, index))
                },
                what: format!("{} values", thousands(comparison.elements)),
                outputs: &[&out],
                otherwise: &|| "no code and no scale is read right everywhere".to_owned(),
            };
            diagnosis.explain(&differing, &mut comparison);
        }
        comparison
    }
}

/// Values of packed codes and their scale bytes.
pub(crate) fn dequantize(q: &[u8], scale: &[u8]) -> Vec<f32> {
    let mut values = vec![0.0; q.len() * 2];
    let blocks = values.par_chunks_mut(BLOCK).zip(q.par_chunks(BLOCK / 2)).zip(scale);
    blocks.with_min_len(CHUNK).for_each(|((values, q), &scale)| {
        let scale = e8m0::decode(scale);
        for (pair, &byte) in values.as_chunks_mut::<2>().0.iter_mut().zip(q) {
            let (even, odd) = pack::split(byte);
            *pair = [e2m1::decode(even) * scale, e2m1::decode(odd) * scale];
        }
    });
    values
}

#[cfg(test)]
mod tests;
