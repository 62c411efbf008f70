//! NVFP4 quantization as FlashInfer's `nvfp4_quantize` does it, layout 128x4.
//!
//! Two levels of scales: the caller gives one float for the whole tensor, `sf_g`, normally
//! 448·6 / amax(a); each block of 16 elements along a row gets an E4M3 byte. With v the block's
//! largest magnitude, rcp an approximate reciprocal and every multiplication flushing subnormals:
//!
//! ```text
//! scale byte  s = e4m3(sf_g · (v · rcp(6)))                to nearest even, saturating at 448
//! factor      o = rcp(s · rcp(sf_g)), 0 for a zero block
//! code            e2m1(x · o)                              to nearest even, saturating at 6
//! ```
//!
//! The three reciprocals are the hardware's, which may be off by one unit in the last place either
//! way ([`Reciprocal`]). The expected output takes the nearest; [`Scaling`] also says how far
//! scales and codes may lawfully move.

pub(crate) mod compare;
mod explain;
mod families;
mod recipe;

use formats::{e2m1, e4m3, f16, pack, swizzle};
use rayon::prelude::*;

use crate::problem::{Given, Truth};
use crate::reciprocal::{Reciprocal, flush};
pub(crate) use families::fill;

use crate::{CaseSpec, Comparison, Expected, Poison, Seed};

pub(crate) struct Reference;

impl Truth for Reference {
    fn fill(&self, case: &CaseSpec, seed: &Seed, inputs: &mut [&mut [u8]]) -> Vec<f32> {
        let values = bytemuck::cast_slice_mut(inputs[0]);
        fill(case.family, seed, values);
        vec![global_scale(values)]
    }

    fn expected(&self, given: &Given) -> Expected {
        let values = bytemuck::cast_slice(given.inputs[0]);
        let (q, scale) = quantize(values, given.size("k"), given.scalars[0]);
        Expected::of(vec![q, scale])
    }

    fn compare(
        &self,
        given: &Given,
        expected: &Expected,
        outputs: &[&[u8]],
        poison: &Poison,
    ) -> Comparison {
        let tensor = compare::Tensor {
            values: bytemuck::cast_slice(given.inputs[0]),
            columns: given.size("k"),
            global: given.scalars[0],
        };
        let expected = (&expected.outputs[0][..], &expected.outputs[1][..]);
        compare::compare(tensor, expected, (outputs[0], outputs[1]), poison)
    }
}

/// What the caller passes as `sf_g`: 448·6 / amax, or 1 for a tensor of zeros.
pub(crate) fn global_scale(values: &[u16]) -> f32 {
    let chunks = values.par_chunks(1 << 16);
    let amax = chunks.map(|chunk| chunk.iter().fold(0, |amax: u16, x| amax.max(x & 0x7fff))).max();
    let amax = amax.map_or(0.0, f16::decode);
    if amax == 0.0 { 1.0 } else { e4m3::MAX * e2m1::MAX / amax }
}

/// Elements that share a scale.
pub(crate) const BLOCK: usize = 16;

/// The global scale and what is made of it once.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scaling {
    global: f32,
    inverse: Reciprocal,
    sixth: Reciprocal,
}

impl Scaling {
    pub fn new(global: f32) -> Scaling {
        Scaling { global, inverse: Reciprocal::of(global), sixth: Reciprocal::of(6.0) }
    }

    /// Scale byte of a block with this amax.
    #[inline]
    pub fn scale(&self, amax: f32) -> u8 {
        e4m3::encode(self.unrounded(amax, self.sixth.nearest))
    }

    /// The least and the greatest byte that the reciprocal of 6 allows.
    pub fn scale_range(&self, amax: f32) -> (u8, u8) {
        let (least, greatest) = self.unrounded_range(amax);
        (e4m3::encode(least), e4m3::encode(greatest))
    }

    /// The scale before it is rounded: the least and the greatest.
    pub fn unrounded_range(&self, amax: f32) -> (f32, f32) {
        (self.unrounded(amax, self.sixth.least), self.unrounded(amax, self.sixth.greatest))
    }

    #[inline]
    fn unrounded(&self, amax: f32, sixth: f32) -> f32 {
        flush(self.global * flush(amax * sixth))
    }

    /// What the elements of a block with this amax and scale byte are multiplied by.
    #[inline]
    pub fn factor(&self, amax: f32, scale: u8) -> f32 {
        if amax == 0.0 {
            return 0.0;
        }
        let product = flush(e4m3::decode(scale) * self.inverse.nearest);
        flush(1.0 / product)
    }

    /// The least and the greatest factor that the reciprocals allow.
    pub fn factor_range(&self, amax: f32, scale: u8) -> (f32, f32) {
        if amax == 0.0 {
            return (0.0, 0.0);
        }
        let scale = e4m3::decode(scale);
        let least = Reciprocal::of(flush(scale * self.inverse.greatest)).least;
        (least, Reciprocal::of(flush(scale * self.inverse.least)).greatest)
    }
}

/// Largest magnitude of a block.
#[inline]
pub(crate) fn amax(block: &[u16; BLOCK]) -> f32 {
    let amax = block.iter().fold(0, |amax: i16, x| amax.max((x & 0x7fff) as i16));
    if amax > 0x7c00 { amax_with_nan(block) } else { f16::decode(amax as u16) }
}

/// FlashInfer reduces even and odd elements apart, as pairs of halves, which ignores NaN; the two
/// results are then compared, which keeps a NaN of the odd ones.
#[cold]
fn amax_with_nan(block: &[u16; BLOCK]) -> f32 {
    let lane = |parity: usize| {
        let magnitudes = block.iter().skip(parity).step_by(2).map(|x| x & 0x7fff);
        let numbers = magnitudes.filter(|&magnitude| magnitude <= 0x7c00);
        numbers.max().map_or(f32::NAN, f16::decode)
    };
    let (even, odd) = (lane(0), lane(1));
    if even > odd { even } else { odd }
}

/// Packed codes of `rows` by `columns` f16 bit patterns, and their scale bytes in the 128x4 layout,
/// pads zero.
pub(crate) fn quantize(values: &[u16], columns: usize, global: f32) -> (Vec<u8>, Vec<u8>) {
    let scaling = Scaling::new(global);
    let rows = values.len() / columns;
    let across = columns / BLOCK;
    let mut q = vec![0; values.len() / 2];
    let mut linear = vec![0; values.len() / BLOCK];
    let tasks = values.par_chunks(columns).zip(q.par_chunks_mut(columns / 2));
    tasks.zip(linear.par_chunks_mut(across)).for_each_init(
        || vec![0.0; columns],
        |floats, ((values, q), scales)| quantize_row(&scaling, values, floats, q, scales),
    );
    (q, swizzled(&linear, rows, across))
}

/// In three loops over the row, each of which the compiler turns into vector instructions.
fn quantize_row(
    scaling: &Scaling,
    values: &[u16],
    floats: &mut [f32],
    q: &mut [u8],
    scales: &mut [u8],
) {
    floats.iter_mut().zip(values).for_each(|(float, &x)| *float = f16::decode(x));
    let blocks = values.as_chunks::<BLOCK>().0.iter().zip(floats.as_chunks_mut::<BLOCK>().0);
    for ((block, floats), scale) in blocks.zip(scales) {
        let amax = amax(block);
        *scale = scaling.scale(amax);
        let factor = scaling.factor(amax, *scale);
        floats.iter_mut().for_each(|x| *x *= factor);
    }
    for (byte, pair) in q.iter_mut().zip(floats.as_chunks::<2>().0) {
        *byte = pack::pair(e2m1::encode(pair[0]), e2m1::encode(pair[1]));
    }
}

/// Row-major scales in the 128x4 layout.
pub(crate) fn swizzled(linear: &[u8], rows: usize, across: usize) -> Vec<u8> {
    let mut scales = vec![0; swizzle::padded_len(rows, across)];
    for (row, bytes) in linear.chunks(across).enumerate() {
        for (column, &byte) in bytes.iter().enumerate() {
            scales[swizzle::offset(row, column, across)] = byte;
        }
    }
    scales
}

#[cfg(test)]
mod tests;
