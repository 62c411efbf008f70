//! MXFP4 quantization as TorchAO's `to_mx` does it with `ScaleCalculationMode.FLOOR`.
//!
//! For each block of 32 elements along a row, with E the biased exponent field of the block's
//! largest magnitude:
//!
//! ```text
//! scale byte  s = max(E - 2, 0)                 255 if the block holds NaN
//! code        e2m1(x / 2^(max(s, 1) - 127))     to nearest even, saturating at 6
//! ```
//!
//! E - 127 is floor(log2 amax), and 2 is the exponent of E2M1's largest value (6 = 1.5·2²). The
//! scaled amax lies in [4, 8), so what lands above 6 is clipped: that is the recipe, not a fault.
//!
//! All of it is exact: dividing by a power of two only moves the exponent. (It could round only
//! where the quotient is subnormal, far below the first midpoint.) A block with infinity has E 255:
//! its scale byte is 253, infinity is clipped to 6 and the rest mostly vanishes.

mod compare;
mod explain;
pub(crate) mod families;
pub(crate) mod recipe;

use formats::{e2m1, pack};
use rayon::prelude::*;

use crate::problem::{Given, Truth};
use crate::{CaseSpec, Comparison, Expected, Poison, Seed};

pub(crate) struct Reference;

/// Elements that share a scale.
pub(crate) const BLOCK: usize = 32;

impl Truth for Reference {
    fn fill(&self, case: &CaseSpec, seed: &Seed, inputs: &mut [&mut [u8]]) -> Vec<f32> {
        families::fill(case.family, seed, bytemuck::cast_slice_mut(inputs[0]));
        Vec::new()
    }

    fn expected(&self, given: &Given) -> Expected {
        let (q, scale) = quantize(bytemuck::cast_slice(given.inputs[0]));
        Expected::of(vec![q, scale])
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

/// Packed codes and scale bytes of `values`, whose length is a multiple of [`BLOCK`].
pub(crate) fn quantize(values: &[f32]) -> (Vec<u8>, Vec<u8>) {
    /// Blocks that one task takes: 64 KiB of input.
    const TASK: usize = 512;
    let mut q = vec![0; values.len() / 2];
    let mut scale = vec![0; values.len() / BLOCK];
    let tasks = values.par_chunks(TASK * BLOCK).zip(q.par_chunks_mut(TASK * BLOCK / 2));
    tasks.zip(scale.par_chunks_mut(TASK)).for_each(|((values, q), scale)| {
        let (blocks, _) = values.as_chunks::<BLOCK>();
        let (packed, _) = q.as_chunks_mut::<{ BLOCK / 2 }>();
        for ((block, packed), scale) in blocks.iter().zip(packed).zip(scale) {
            *scale = scale_byte(block);
            *packed = codes(block, divisor_byte(*scale));
        }
    });
    (q, scale)
}

/// The scale byte of a block: see the top of this file.
#[inline]
pub(crate) fn scale_byte(block: &[f32; BLOCK]) -> u8 {
    // Magnitudes order like their bits, and NaN comes last, as it should.
    let amax = block.iter().fold(0, |amax: i32, x| amax.max((x.to_bits() & 0x7fff_ffff) as i32));
    let infinity = f32::INFINITY.to_bits() as i32;
    if amax > infinity { 255 } else { ((amax >> 23) - 2).max(0) as u8 }
}

/// TorchAO divides by at least 2^-126, although scale byte 0 stands for 2^-127.
pub(crate) fn divisor_byte(scale: u8) -> u8 {
    scale.max(1)
}

/// 1 / 2^(byte-127), for bytes 1 to 253.
pub(crate) fn reciprocal(byte: u8) -> f32 {
    f32::from_bits((254 - u32::from(byte).min(253)) << 23)
}

/// The packed codes of a block divided by 2^(divisor-127).
#[inline]
pub(crate) fn codes(block: &[f32; BLOCK], divisor: u8) -> [u8; BLOCK / 2] {
    let factor = reciprocal(divisor);
    let codes = block.map(|x| e2m1::encode(x * factor));
    std::array::from_fn(|i| pack::pair(codes[2 * i], codes[2 * i + 1]))
}

#[cfg(test)]
mod tests;
