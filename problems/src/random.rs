//! Random numbers that do not depend on how many threads draw them.
//!
//! A buffer is cut into chunks of fixed length, and each chunk draws from its own ChaCha8 stream,
//! numbered by buffer and chunk. ChaCha because the seed must not be guessable from the data a
//! solution sees (it could predict the next case), eight rounds because input generation is a
//! visible part of a check: about 1 GB/s and core.

use bytemuck::Pod;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng as _, SeedableRng as _};
use rayon::prelude::*;

pub type Seed = [u8; 32];

pub(crate) struct Random {
    generator: ChaCha8Rng,
}

impl Random {
    /// Numbers for the values of one case that belong to no buffer.
    pub fn new(seed: &Seed, stream: u64) -> Random {
        let mut generator = ChaCha8Rng::from_seed(*seed);
        generator.set_stream(stream);
        Random { generator }
    }

    pub fn bits(&mut self) -> u32 {
        self.generator.next_u32()
    }

    /// Less than `limit`, which is far below 2^32: the bias is of no concern here.
    pub fn below(&mut self, limit: u32) -> u32 {
        ((u64::from(self.bits()) * u64::from(limit)) >> 32) as u32
    }

    /// In `low..=high`.
    pub fn between(&mut self, low: i32, high: i32) -> i32 {
        low + self.below((high - low + 1) as u32) as i32
    }

    pub fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len() as u32) as usize]
    }

    /// In [-1, 1), on a grid of 2^-23: `torch.rand() * 2 - 1`.
    pub fn uniform(&mut self) -> f32 {
        uniform(self.bits())
    }

    /// 1 or -1.
    pub fn sign(&mut self) -> f32 {
        if self.bits() & 1 == 0 { 1.0 } else { -1.0 }
    }

    pub fn fill_uniform(&mut self, values: &mut [f32]) {
        self.generator.fill_bytes(bytemuck::cast_slice_mut(values));
        for value in values {
            *value = uniform(value.to_bits());
        }
    }

    pub fn fill_bytes(&mut self, bytes: &mut [u8]) {
        self.generator.fill_bytes(bytes);
    }

    /// Standard normal values, in pairs (Box and Muller).
    pub fn fill_normal(&mut self, values: &mut [f32]) {
        for pair in values.chunks_mut(2) {
            // In (0, 1]: the logarithm is finite.
            let u = ((self.bits() >> 8) + 1) as f32 * 2f32.powi(-24);
            let radius = (-2.0 * u.ln()).sqrt();
            let (sine, cosine) = (std::f32::consts::PI * self.uniform()).sin_cos();
            pair[0] = radius * cosine;
            if let Some(second) = pair.get_mut(1) {
                *second = radius * sine;
            }
        }
    }
}

fn uniform(bits: u32) -> f32 {
    (bits >> 8) as f32 * 2f32.powi(-23) - 1.0
}

/// Fills `data` chunk by chunk in parallel: `draw(random, index of the chunk's first element,
/// chunk)`. `buffer` numbers the buffer within its problem.
pub(crate) fn fill_chunks<T: Pod + Send>(
    seed: &Seed,
    buffer: u32,
    data: &mut [T],
    chunk: usize,
    draw: impl Fn(&mut Random, usize, &mut [T]) + Sync,
) {
    data.par_chunks_mut(chunk).enumerate().for_each(|(index, values)| {
        let stream = u64::from(buffer) << 32 | index as u64;
        draw(&mut Random::new(seed, stream), index * chunk, values);
    });
}
