//! Input families, in f16. What the global scale makes of them is part of the design: it is
//! 2688 / amax of the whole tensor, so a few large values decide what all others scale to.

use formats::{e2m1, f16};

use super::BLOCK;
use crate::family::of_stretch;
use crate::random::{Random, fill_chunks};
use crate::{Family, Seed};

/// Elements that one stream of random numbers draws; a multiple of [`BLOCK`].
const CHUNK: usize = 1 << 13;

/// A stream for what all blocks of a case share.
const SHARED: u64 = u64::MAX;

/// Elements of one family in `mixed`.
const STRETCH: usize = 16 * BLOCK;

/// What `mixed` has beside uniform values. Not `special`, whose amax is the same in every tensor.
const OTHERS: [Family; 5] =
    [Family::Normal, Family::Wide, Family::Ties, Family::Zeros, Family::Outliers];

/// What all blocks of a case have in common.
#[derive(Clone, Copy)]
struct Tensor {
    /// Where the last block begins.
    last: usize,
    /// There is no other block.
    alone: bool,
    exponent: i32,
    mixed: Mixed,
}

/// What makes amax of `mixed` a number that nobody knows before having read the whole tensor: one value
/// stands out, anywhere, by as much as it likes.
#[derive(Clone, Copy)]
struct Mixed {
    /// Of every value.
    factor: f32,
    /// No other value is larger.
    limit: f32,
    peak: f32,
    peak_at: usize,
}

impl Mixed {
    fn draw(random: &mut Random, len: usize) -> Mixed {
        let factor = 2f32.powi(random.between(-6, 3)) * (1.5 + 0.5 * random.uniform());
        let limit = factor * 2f32.powi(random.between(3, 9));
        let peak = limit * (1.0 + random.uniform().abs()) * random.sign();
        let peak_at = random.below(u32::try_from(len).unwrap_or(u32::MAX)) as usize;
        Mixed { factor, limit, peak, peak_at }
    }

    /// What the value `x` at `index` becomes.
    fn value(self, random: &mut Random, index: usize, x: f32) -> f32 {
        let x = x * self.factor;
        match x.abs() <= self.limit {
            _ if index == self.peak_at => self.peak,
            true => x,
            false => self.limit * random.uniform(),
        }
    }
}

pub(crate) fn fill(family: Family, seed: &Seed, a: &mut [u16]) {
    let mut shared = Random::new(seed, SHARED);
    let tensor = Tensor {
        last: a.len().saturating_sub(BLOCK),
        alone: a.len() == BLOCK,
        exponent: shared.between(-4, 4),
        mixed: Mixed::draw(&mut shared, a.len()),
    };
    fill_chunks(seed, 0, a, CHUNK, |random, start, values| {
        if family != Family::Mixed {
            return draw(family, random, (start, tensor), values);
        }
        for (index, stretch) in values.chunks_mut(STRETCH).enumerate() {
            let (family, start) = (of_stretch(random, &OTHERS), start + index * STRETCH);
            draw(family, random, (start, tensor), stretch);
            for (x, index) in stretch.iter_mut().zip(start..) {
                *x = f16::encode(tensor.mixed.value(random, index, f16::decode(*x)));
            }
        }
    });
}

/// Values that begin at `start` of the tensor.
fn draw(family: Family, random: &mut Random, (start, tensor): (usize, Tensor), values: &mut [u16]) {
    if family == Family::Uniform {
        random.fill_bytes(bytemuck::cast_slice_mut(values));
        values.iter_mut().for_each(|x| *x = uniform(*x));
        return;
    }
    for (index, block) in values.chunks_mut(BLOCK).enumerate() {
        let is_last = start + index * BLOCK == tensor.last;
        let floats = match family {
            Family::Wide => wide(random),
            Family::Ties => ties(random, tensor.exponent, is_last),
            Family::Zeros => zeros(random, tensor.alone),
            Family::Outliers => outliers(random, is_last),
            Family::Special => special(random),
            _ => normal(random),
        };
        block.iter_mut().zip(floats).for_each(|(x, float)| *x = f16::encode(float));
    }
}

/// In [-1, 1) on a grid of 2^-10, from random bits: `torch.rand(…, dtype=float16) * 2 - 1`.
fn uniform(bits: u16) -> u16 {
    f16::encode(f32::from(bits >> 5) * 2f32.powi(-10) - 1.0)
}

fn normal(random: &mut Random) -> [f32; BLOCK] {
    let mut block = [0.0; BLOCK];
    random.fill_normal(&mut block);
    block
}

/// Uniform values times a power of two that belongs to the block. Beside the largest blocks the
/// smallest have a scale of zero or a subnormal one.
fn wide(random: &mut Random) -> [f32; BLOCK] {
    let magnitude = 2f32.powi(random.between(-14, 12));
    [0.0; BLOCK].map(|_| random.uniform() * magnitude)
}

/// Exact midpoints and their f16 neighbours. The last block holds the tensor's amax, 2688·2^shared,
/// which makes the global scale a power of two; the amax of every other block is 6 times a power of
/// two, which makes its scale and its factor powers of two, whose reciprocals are exact.
fn ties(random: &mut Random, shared: i32, last: bool) -> [f32; BLOCK] {
    let unit = 2f32.powi(shared + random.between(-3, 8));
    let mut block = [0.0; BLOCK].map(|_| {
        let midpoint = f16::encode(random.pick(&e2m1::MIDPOINTS) * unit);
        let near = midpoint.wrapping_add_signed(random.pick(&[0, 0, -1, 1]));
        f16::decode(near) * random.sign()
    });
    block[random.below(BLOCK as u32) as usize] = 6.0 * unit * random.sign();
    if last {
        block[BLOCK - 1] = 2688.0 * 2f32.powi(shared) * random.sign();
    }
    block
}

/// Both zeros, values that round to zero, and blocks of nothing else. A tensor of one block has
/// nothing but zeros: there is no amax to divide by.
fn zeros(random: &mut Random, alone: bool) -> [f32; BLOCK] {
    let kind = random.below(if alone { 3 } else { 4 });
    let mut block = [0.0; BLOCK].map(|_| {
        let tiny = random.uniform() * 0.03;
        match kind {
            0 => 0.0,
            1 => -0.0,
            2 => 0.0 * random.sign(),
            _ => random.pick(&[0.0, -0.0, tiny]),
        }
    });
    if kind == 3 {
        block[random.below(BLOCK as u32) as usize] = random.sign();
    }
    block
}

/// Normal values and one up to 2^10 times larger, anywhere in the block; always at the very end.
fn outliers(random: &mut Random, last: bool) -> [f32; BLOCK] {
    let mut block = normal(random);
    if last || random.below(2) == 0 {
        let at = if last { BLOCK as u32 - 1 } else { random.below(BLOCK as u32) };
        block[at as usize] = 2f32.powi(random.between(3, 10)) * random.uniform();
    }
    block
}

/// Subnormals, the least normal and the largest finite values, powers of two, blocks of one
/// magnitude.
fn special(random: &mut Random) -> [f32; BLOCK] {
    let kind = random.below(5);
    let power = random.between(-14, 12);
    [0.0; BLOCK].map(|_| {
        let magnitude = match kind {
            0 => f16::decode(random.below(0x0400) as u16),
            1 => f16::decode(random.below(0x0c00) as u16),
            2 => f16::decode(0x7bff - random.below(0x0c00) as u16),
            3 => 2f32.powi((power + random.between(-3, 3)).clamp(-24, 15)),
            _ => 2f32.powi(power),
        };
        magnitude * random.sign()
    })
}
