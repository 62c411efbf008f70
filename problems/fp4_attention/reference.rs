//! Attention with Q and K in MXFP4: out = softmax(Q̂K̂ᵀ / √d) V, every head by itself, not causal.
//!
//! Q̂ and K̂ are what comes back from MXFP4 with FLOOR scaling (`mxfp4_quantize`), blocks of 32 along
//! the head dimension. V is not quantized.
//!
//! Where the numbers are exact: a code is a whole number of halves, so within a block the products
//! of codes are whole numbers of quarters, at most 32 · 12 · 12 of them: sums of `i16` products in
//! `i32` have no error and are what a CPU is quickest at. Times the two scales, powers of two, a
//! block's sum is still exact in f64; only adding the few blocks of a row may round, 29 bits below
//! what an f32 shows. From there on (exponentials, their sum, the weighted sum of V's rows) it is
//! f64, rounded once, to f32, at the end.
//!
//! The scores of one tile of queries exist at a time, never those of a head.

mod compare;
mod explain;
mod families;
mod recipe;

use formats::{e2m1, pack};
use rayon::prelude::*;

use crate::folders::mxfp4_quantize::{self, BLOCK};
use crate::problem::{Given, Truth};
use crate::{CaseSpec, Comparison, Expected, Poison, Seed};

pub(crate) struct Reference;

impl Truth for Reference {
    fn fill(&self, case: &CaseSpec, seed: &Seed, inputs: &mut [&mut [u8]]) -> Vec<f32> {
        families::fill(case, seed, inputs);
        Vec::new()
    }

    fn expected(&self, given: &Given) -> Expected {
        let out = Attention::new(given).average(|weight, value| weight * value, |sum| sum);
        Expected::of(vec![bytemuck::cast_slice(&out).to_vec()])
    }

    fn compare(
        &self,
        given: &Given,
        expected: &Expected,
        outputs: &[&[u8]],
        poison: &Poison,
    ) -> Comparison {
        compare::compare(given, expected, outputs, poison)
    }
}

/// The sizes of a case. Heads of all batches are numbered through: they lie one after the other.
#[derive(Clone, Copy)]
struct Shape {
    heads: usize,
    seq_q: usize,
    seq_k: usize,
    head_dim: usize,
}

impl Shape {
    fn of(given: &Given) -> Shape {
        Shape {
            heads: given.size("batch") * given.size("heads"),
            seq_q: given.size("seq_q"),
            seq_k: given.size("seq_k"),
            head_dim: given.size("head_dim"),
        }
    }
}

/// A matrix through MXFP4.
struct Quantized {
    /// Twice the value of each code: whole numbers from -12 to 12.
    twice: Vec<i16>,
    /// Half the value of each block's scale, which takes the factor back.
    half_scales: Vec<f64>,
}

impl Quantized {
    fn new(values: &[f32]) -> Quantized {
        let (q, scale) = mxfp4_quantize::quantize(values);
        let twice = |byte: &u8| {
            let (even, odd) = pack::split(*byte);
            [even, odd].map(|code| (2.0 * e2m1::decode(code)) as i16)
        };
        Quantized {
            twice: q.par_iter().flat_map_iter(twice).collect(),
            half_scales: scale.iter().map(|&byte| 2f64.powi(i32::from(byte) - 128)).collect(),
        }
    }

    /// Row `row` of a matrix of `columns`.
    fn row(&self, row: usize, columns: usize) -> (&[[i16; BLOCK]], &[f64]) {
        let blocks = columns / BLOCK;
        let scales = &self.half_scales[row * blocks..(row + 1) * blocks];
        (self.twice[row * columns..(row + 1) * columns].as_chunks().0, scales)
    }
}

/// The inputs, ready to be attended to.
struct Attention<'a> {
    shape: Shape,
    q: Quantized,
    k: Quantized,
    v: &'a [f32],
}

impl<'a> Attention<'a> {
    fn new(given: &Given<'a>) -> Attention<'a> {
        let [q, k, v] = [0, 1, 2].map(|index| bytemuck::cast_slice(given.inputs[index]));
        Attention { shape: Shape::of(given), q: Quantized::new(q), k: Quantized::new(k), v }
    }

    /// For each element of the output, `finish` of the sum of `term(weight, value)` over all keys,
    /// where weights are not normalized (the largest is 1), divided by the sum of weights.
    fn average(
        &self,
        term: impl Fn(f64, f64) -> f64 + Sync,
        finish: impl Fn(f64) -> f64 + Sync,
    ) -> Vec<f32> {
        /// Query rows that share each row of V while it is in registers and L1.
        const TILE: usize = 8;
        let Shape { heads, seq_q, seq_k, head_dim } = self.shape;
        let mut out = vec![0.0; heads * seq_q * head_dim];
        let tiles = |(head, out): (usize, &mut [f32])| {
            let v = &self.v[head * seq_k * head_dim..(head + 1) * seq_k * head_dim];
            out.par_chunks_mut(TILE * head_dim).enumerate().for_each(|(tile, out)| {
                let rows = (tile * TILE..).take(out.len() / head_dim);
                let softmax: Vec<_> = rows.map(|row| self.softmax(head, row)).collect();
                let mut sums = vec![0.0; out.len()];
                for (key, v) in v.chunks(head_dim).enumerate() {
                    for (sums, (weights, _)) in sums.chunks_mut(head_dim).zip(&softmax) {
                        for (sum, &value) in sums.iter_mut().zip(v) {
                            *sum += term(weights[key], f64::from(value));
                        }
                    }
                }
                for (index, (out, sum)) in out.iter_mut().zip(sums).enumerate() {
                    *out = (finish(sum) / softmax[index / head_dim].1) as f32;
                }
            });
        };
        out.par_chunks_mut(seq_q * head_dim).enumerate().for_each(tiles);
        out
    }

    /// The weights of all keys for a query, the largest 1, and their sum.
    fn softmax(&self, head: usize, row: usize) -> (Vec<f64>, f64) {
        let mut weights = self.scores(head, row);
        let largest = weights.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        weights.iter_mut().for_each(|weight| *weight = (*weight - largest).exp());
        let sum = weights.iter().sum();
        (weights, sum)
    }

    /// Q̂K̂ᵀ / √d of a query with all keys.
    fn scores(&self, head: usize, row: usize) -> Vec<f64> {
        let Shape { seq_q, seq_k, head_dim, .. } = self.shape;
        let (q, q_scales) = self.q.row(head * seq_q + row, head_dim);
        let temperature = (head_dim as f64).sqrt().recip();
        let score = |key| {
            let (k, k_scales) = self.k.row(head * seq_k + key, head_dim);
            let blocks = q.iter().zip(k).zip(q_scales.iter().zip(k_scales));
            blocks.map(|((q, k), (a, b))| f64::from(dot(q, k)) * (a * b)).sum::<f64>() * temperature
        };
        (0..seq_k).map(score).collect()
    }
}

#[inline]
fn dot(a: &[i16; BLOCK], b: &[i16; BLOCK]) -> i32 {
    a.iter().zip(b).map(|(&a, &b)| i32::from(a) * i32::from(b)).sum()
}

#[cfg(test)]
mod tests;
