//! FP4 attention with every choice left open that people are known to get wrong. Slow and plain: a
//! head at a time, in f64.

#[path = "mutations.rs"]
mod mutations;

use formats::{e2m1, e8m0, pack};

use super::Shape;
use crate::folders::mxfp4_quantize::BLOCK;
use crate::folders::mxfp4_quantize::recipe::{Matrix, Recipe as Quantizer};

pub(super) use mutations::MUTATIONS;

/// The choices. [`Recipe::RIGHT`] is the reference.
#[derive(Clone, Copy, Debug)]
pub(super) struct Recipe {
    q: Operand,
    k: Operand,
    v: Operand,
    /// What scores are multiplied by, of the head dimension.
    temperature: fn(f64) -> f64,
    /// Turns scores into weights; returns what the weighted sum is divided by.
    softmax: fn(&mut [f64]) -> f64,
    /// Keys that a query looks at, of all keys and the query's number.
    keys: fn(usize, usize) -> usize,
    /// Keys that count, those that a tile was filled up with included: their score and value are 0.
    counted: fn(usize) -> usize,
    /// Which key lies in a key's place when a query looks there; none if nothing was put there yet.
    found: fn(usize, usize) -> Option<usize>,
    /// Which row of V goes with a key.
    value_row: fn(usize) -> usize,
    /// Which query's result lands in a row and column of the output.
    written: fn(usize, usize) -> usize,
}

/// One of the matrices on its way into a product.
#[derive(Clone, Copy, Debug)]
struct Operand {
    quantizer: Quantizer,
    /// Elements that share a scale; 0 if they are not quantized.
    block: usize,
    /// Whose code is taken for an element, and whose scale.
    code_at: fn(Place) -> (usize, usize),
    scale_at: fn(Place) -> (usize, usize),
}

/// An element of a head's matrix.
#[derive(Clone, Copy)]
struct Place {
    row: usize,
    column: usize,
    columns: usize,
}

impl Place {
    fn own(self) -> (usize, usize) {
        (self.row, self.column)
    }
}

/// One head's inputs.
#[derive(Clone, Copy)]
pub(super) struct Head<'a> {
    pub shape: Shape,
    pub q: &'a [f32],
    pub k: &'a [f32],
    pub v: &'a [f32],
}

/// A head with its matrices as a recipe sees them.
pub(super) struct Prepared<'a> {
    recipe: &'a Recipe,
    shape: Shape,
    q: Vec<f64>,
    k: Vec<f64>,
    v: Vec<f64>,
}

impl Recipe {
    pub const RIGHT: Recipe = Recipe {
        q: Operand::MXFP4,
        k: Operand::MXFP4,
        v: Operand { block: 0, ..Operand::MXFP4 },
        temperature: |head_dim| head_dim.sqrt().recip(),
        softmax: |scores| {
            let largest = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            exponentials(scores, |score| (score - largest).exp())
        },
        keys: |keys, _| keys,
        counted: |keys| keys,
        found: |_, key| Some(key),
        value_row: |key| key,
        written: |row, _| row,
    };

    pub fn prepare<'a>(&'a self, head: &Head<'a>) -> Prepared<'a> {
        let columns = head.shape.head_dim;
        Prepared {
            recipe: self,
            shape: head.shape,
            q: self.q.values(head.q, columns),
            k: self.k.values(head.k, columns),
            v: self.v.values(head.v, columns),
        }
    }
}

impl Operand {
    const MXFP4: Operand = Operand {
        quantizer: Quantizer::RIGHT,
        block: BLOCK,
        code_at: Place::own,
        scale_at: Place::own,
    };

    /// What is multiplied in place of `values`.
    fn values(&self, values: &[f32], columns: usize) -> Vec<f64> {
        if self.block == 0 {
            return values.iter().map(|&value| f64::from(value)).collect();
        }
        let (codes, scales) = self.quantize(values, columns);
        let value = |index| {
            let place = Place { row: index / columns, column: index % columns, columns };
            let at = |(row, column): (usize, usize)| row * columns + column;
            // A place past the end holds nothing.
            let code = codes.get(at((self.code_at)(place))).copied().unwrap_or_default();
            let scale = scales.get(at((self.scale_at)(place)) / self.block);
            f64::from(code) * f64::from(scale.copied().unwrap_or_default())
        };
        (0..values.len()).map(value).collect()
    }

    /// Values of all codes and of all scales.
    fn quantize(&self, values: &[f32], columns: usize) -> (Vec<f32>, Vec<f32>) {
        // Smaller blocks are filled up with zeros, which change neither scale nor codes.
        let padded: Vec<f32> = values
            .chunks(self.block)
            .flat_map(|block| {
                block.iter().copied().chain(std::iter::repeat_n(0.0, BLOCK - self.block))
            })
            .collect();
        let matrix = Matrix { values: &padded, columns: columns / self.block * BLOCK };
        let written =
            (0..padded.len() / BLOCK).map(|block| self.quantizer.block(&matrix, block, false));
        let (mut codes, mut scales) = (Vec::new(), Vec::new());
        for block in written {
            codes.extend((0..self.block).map(|index| e2m1::decode(pack::get(&block.codes, index))));
            scales.push(e8m0::decode(block.scale));
        }
        (codes, scales)
    }
}

impl Prepared<'_> {
    /// A row of the output, and for each value the length of the vector it is added up from: see
    /// the derivation of the tolerance in `spec.md`.
    pub fn row(&self, row: usize) -> Vec<(f64, f64)> {
        let columns = self.shape.head_dim;
        let mut done: Vec<(usize, Vec<(f64, f64)>)> = Vec::new();
        let value = |column| {
            let source = (self.recipe.written)(row, column).min(self.shape.seq_q - 1);
            let known = done.iter().position(|(known, _)| *known == source);
            let known = known.unwrap_or_else(|| {
                done.push((source, self.attend(source)));
                done.len() - 1
            });
            done[known].1[column]
        };
        (0..columns).map(value).collect()
    }

    fn attend(&self, row: usize) -> Vec<(f64, f64)> {
        let columns = self.shape.head_dim;
        let q = &self.q[row * columns..(row + 1) * columns];
        let temperature = (self.recipe.temperature)(columns as f64);
        let keys = (self.recipe.keys)(self.shape.seq_k, row).min(self.shape.seq_k);
        let dot = |k: &[f64]| q.iter().zip(k).map(|(q, k)| q * k).sum::<f64>() * temperature;
        let score = |key| match (self.recipe.found)(row, key) {
            Some(key) => dot(&self.k[key * columns..(key + 1) * columns]),
            None => 0.0,
        };
        let mut weights: Vec<f64> = (0..keys).map(score).collect();
        weights.resize((self.recipe.counted)(keys), 0.0);
        let sum = (self.recipe.softmax)(&mut weights);
        let mut out = vec![(0.0, 0.0); columns];
        for (key, weight) in weights.iter().take(keys).enumerate() {
            let v = &self.v[(self.recipe.value_row)(key) * columns..][..columns];
            for ((total, squares), v) in out.iter_mut().zip(v) {
                *total += weight * v;
                *squares += (weight * v).powi(2);
            }
        }
        out.iter().map(|(total, squares)| (total / sum, squares.sqrt() / sum)).collect()
    }
}

/// Replaces scores by what `exponential` makes of them; returns the sum.
fn exponentials(scores: &mut [f64], exponential: impl Fn(f64) -> f64) -> f64 {
    scores.iter_mut().for_each(|score| *score = exponential(*score));
    scores.iter().sum()
}
