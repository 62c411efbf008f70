//! NVFP4 to float32 as FlashInfer's `e2m1_and_ufp8sf_scale_to_float` does it: code · (scale · (1 /
//! sf_g)), each operation rounded to f32.
//!
//! Others order the two products differently, divide, or take an approximate reciprocal, and are as
//! right. The bound is the sum of the roundings on both sides, in units of 2^-24 of the value, the
//! most that one rounding to nearest can cost:
//!
//! ```text
//! reference   1 / sf_g, times scale, times code                      3
//! solution    __fdividef or rcp.approx of sf_g: two units of 2^-23    4
//!             times scale, times code                                2
//! ```

mod recipe;

use formats::{e2m1, e4m3, pack, swizzle};
use rayon::prelude::*;

use crate::diagnosis::Diagnosis;
use crate::family::mix_scales;
use crate::folders::nvfp4_quantize::{self, BLOCK};
use crate::hypothesis::thousands;
use crate::problem::{Given, Truth};
use crate::random::{Random, fill_chunks};
use crate::values::{Closeness, Values};
use crate::{CaseSpec, Comparison, DequantizedElement, Expected, Family, Poison, Seed};
use recipe::{Input, MUTATIONS, Recipe};

pub(crate) struct Reference;

/// 2^-24: half a unit in the last place of a number in [1, 2).
const ROUNDING: f32 = f32::EPSILON / 2.0;
const CLOSENESS: Closeness = Closeness { relative: 9.0 * ROUNDING };

/// Bytes that one stream of random numbers draws.
const CHUNK: usize = 1 << 13;

/// A stream for what all blocks of a case share.
const SHARED: u64 = u64::MAX;

/// A scale of `codes` or `special`.
fn draw_scale(family: Family, random: &mut Random) -> u8 {
    match (family, random.below(3)) {
        (Family::Special, 0) => random.below(9) as u8,
        (Family::Special, 1) => 0x7c + random.below(4) as u8,
        (Family::Special, _) => random.pick(&[0, 1, 7, 8, 0x38, 0x7e, 0x7f]),
        _ => 1 + random.below(0x7e) as u8,
    }
}

impl Truth for Reference {
    /// `uniform` is what quantizing the competition's numbers gives; `codes` is every code with
    /// every positive scale, `special` the least and the largest scales and NaN. The last two have
    /// arbitrary bytes in the pads of the layout and an arbitrary global scale.
    fn fill(&self, case: &CaseSpec, seed: &Seed, inputs: &mut [&mut [u8]]) -> Vec<f32> {
        let [q, scale] = inputs else { return Vec::new() };
        if matches!(case.family, Family::Uniform | Family::Mixed) {
            let mut values = vec![0u16; q.len() * 2];
            nvfp4_quantize::fill(Family::Uniform, seed, &mut values);
            let global = nvfp4_quantize::global_scale(&values);
            let columns = case.sizes.get("k").unwrap_or_default() as usize;
            let (codes, scales) = nvfp4_quantize::quantize(&values, columns, global);
            q.copy_from_slice(&codes);
            scale.copy_from_slice(&scales);
            if case.family == Family::Mixed {
                mix_scales(seed, scale, draw_scale);
            }
            return vec![global];
        }
        fill_chunks(seed, 0, q, CHUNK, |random, _, bytes| random.fill_bytes(bytes));
        fill_chunks(seed, 1, scale, CHUNK, |random, _, bytes| {
            bytes.iter_mut().for_each(|byte| *byte = draw_scale(case.family, random));
        });
        let mut shared = Random::new(seed, SHARED);
        vec![2f32.powi(shared.between(-2, 12)) * (1.5 + shared.uniform() / 2.0)]
    }

    fn expected(&self, given: &Given) -> Expected {
        let inverse = 1.0 / given.scalars[0];
        let values = dequantize(given.inputs[0], given.inputs[1], given.size("k"), inverse);
        Expected::of(vec![bytemuck::cast_slice(&values).to_vec()])
    }

    fn compare(
        &self,
        given: &Given,
        expected: &Expected,
        outputs: &[&[u8]],
        poison: &Poison,
    ) -> Comparison {
        let columns = given.size("k");
        let input =
            Input { q: given.inputs[0], scale: given.inputs[1], global: given.scalars[0], columns };
        let values = Values::new(expected, outputs[0], columns, BLOCK, CLOSENESS);
        let unit = |index: usize| f64::from(values.expected[index].abs()) * f64::from(ROUNDING);
        let (mut comparison, differing) = values.compare(unit);
        if let Some(first) = &mut comparison.first {
            let (row, column) = (first.row as usize, first.column as usize);
            let code = pack::get(input.q, row * columns + column);
            let scale = input.scale[swizzle::offset(row, column / BLOCK, columns / BLOCK)];
            first.dequantized = Some(DequantizedElement {
                block: first.column / BLOCK as u64,
                code,
                code_value: e2m1::decode(code),
                scale,
                scale_value: e4m3::decode(scale),
            });
            let out = values.untouched("out", poison);
            let diagnosis = Diagnosis {
                right: Recipe::RIGHT,
                mutations: &MUTATIONS,
                units: input.q.len() * 2 / BLOCK,
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

/// Values of packed codes and their swizzled scale bytes; `inverse` is one over the global scale.
pub(crate) fn dequantize(q: &[u8], scale: &[u8], columns: usize, inverse: f32) -> Vec<f32> {
    let across = columns / BLOCK;
    let mut values = vec![0.0; q.len() * 2];
    let rows = values.par_chunks_mut(columns).zip(q.par_chunks(columns / 2)).enumerate();
    rows.for_each(|(row, (values, q))| {
        let blocks = values.as_chunks_mut::<BLOCK>().0.iter_mut().zip(q.chunks(BLOCK / 2));
        for (column, (values, q)) in blocks.enumerate() {
            let factor = e4m3::decode(scale[swizzle::offset(row, column, across)]) * inverse;
            for (pair, &byte) in values.as_chunks_mut::<2>().0.iter_mut().zip(q) {
                let (even, odd) = pack::split(byte);
                *pair = [e2m1::decode(even) * factor, e2m1::decode(odd) * factor];
            }
        }
    });
    values
}

#[cfg(test)]
mod tests;
