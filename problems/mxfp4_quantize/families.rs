//! Input families. Each draws block by block, because a block is what a quantizer sees.

use formats::e2m1;

use super::BLOCK;
use crate::family::of_stretch;
use crate::random::{Random, fill_chunks};
use crate::{Family, Seed};

/// Elements that one stream of random numbers draws; a multiple of [`BLOCK`].
const CHUNK: usize = 1 << 13;

/// Elements of one family in `mixed`.
const STRETCH: usize = 16 * BLOCK;

/// What `mixed` has beside uniform values.
const OTHERS: [Family; 6] =
    [Family::Normal, Family::Wide, Family::Ties, Family::Zeros, Family::Outliers, Family::Special];

pub(super) fn fill(family: Family, seed: &Seed, a: &mut [f32]) {
    let last = a.len().saturating_sub(BLOCK);
    fill_chunks(seed, 0, a, CHUNK, |random, start, values| {
        if family != Family::Mixed {
            return draw(family, random, (start, last), values);
        }
        for (index, stretch) in values.chunks_mut(STRETCH).enumerate() {
            let family = of_stretch(random, &OTHERS);
            draw(family, random, (start + index * STRETCH, last), stretch);
        }
    });
}

/// Values that begin at `start`, of a matrix whose last block begins at `last`.
fn draw(family: Family, random: &mut Random, (start, last): (usize, usize), values: &mut [f32]) {
    match family {
        Family::Normal => random.fill_normal(values),
        Family::Wide => blocks(values, |block| wide(random, block)),
        Family::Ties => blocks(values, |block| {
            let scale = 2f32.powi(random.between(-10, 10));
            ties(random, scale, block);
        }),
        Family::Zeros => blocks(values, |block| zeros(random, block)),
        Family::Outliers => {
            let mut position = start;
            blocks(values, |block| {
                outliers(random, position == last, block);
                position += BLOCK;
            });
        }
        Family::Special => blocks(values, |block| special(random, block)),
        _ => random.fill_uniform(values),
    }
}

fn blocks(values: &mut [f32], draw: impl FnMut(&mut [f32])) {
    values.chunks_mut(BLOCK).for_each(draw);
}

/// Uniform values times a power of two that belongs to the block: 2^-30 to 2^30. A constant scale
/// byte fails, and so does any scale that two blocks share.
fn wide(random: &mut Random, block: &mut [f32]) {
    let magnitude = 2f32.powi(random.between(-30, 30));
    block.iter_mut().for_each(|x| *x = random.uniform() * magnitude);
}

/// Midpoints between neighbouring codes, exactly representable after scaling, and their f32
/// neighbours. One element lies in [4, 8) scaled, so that the scale is what the midpoints assume;
/// where it is 4 the block's amax is a power of two.
pub(crate) fn ties(random: &mut Random, scale: f32, block: &mut [f32]) {
    let top = random.pick(&[4.0, 5.0, 5.0f32.next_up(), 6.0, 6.5, 7.0, 8.0f32.next_down()]);
    let midpoints = if top == 4.0 { &e2m1::MIDPOINTS[..6] } else { &e2m1::MIDPOINTS };
    for x in block.iter_mut() {
        let midpoint = random.pick(midpoints) * scale;
        let near = match random.below(4) {
            0 => midpoint.next_down(),
            1 => midpoint.next_up(),
            _ => midpoint,
        };
        *x = near * random.sign();
    }
    block[random.below(BLOCK as u32) as usize] = top * scale * random.sign();
}

/// Both zeros, values below the first midpoint (which keep their sign), and blocks of nothing else.
fn zeros(random: &mut Random, block: &mut [f32]) {
    let kind = random.below(4);
    for x in block.iter_mut() {
        let tiny = random.uniform() * 0.24;
        *x = match kind {
            0 => 0.0,
            1 => -0.0,
            2 => 0.0 * random.sign(),
            _ => random.pick(&[0.0, -0.0, tiny]),
        };
    }
    if kind == 3 {
        block[random.below(BLOCK as u32) as usize] = 4.0 * random.sign();
    }
}

/// Normal values and one that is up to 2^20 times larger, anywhere in the block; always at the very
/// end of the matrix.
fn outliers(random: &mut Random, last: bool, block: &mut [f32]) {
    random.fill_normal(block);
    if last || random.below(2) == 0 {
        let at = if last { BLOCK as u32 - 1 } else { random.below(BLOCK as u32) };
        block[at as usize] = 2f32.powi(random.between(4, 20)) * random.uniform();
    }
}

/// Where exponent arithmetic ends: powers of two and their neighbours, amax on both sides of 6
/// scaled, subnormals, the least normal and the largest finite values.
fn special(random: &mut Random, block: &mut [f32]) {
    let kind = random.below(5);
    let scale = 2f32.powi(random.between(-100, 100));
    for x in block.iter_mut() {
        let magnitude = match kind {
            0 => f32::from_bits(random.below(0x0080_0000)),
            1 => f32::from_bits(random.below(0x0300_0000)),
            2 => f32::from_bits(0x7f7f_ffff - random.below(0x0180_0000)),
            3 => 2f32.powi(random.between(-3, 2)) * scale,
            _ => random.pick(&[6.0, 6.0f32.next_up(), 6.0f32.next_down(), 4.0, 3.0]) * scale,
        };
        *x = magnitude * random.sign();
    }
    if kind == 3 && random.below(2) == 0 {
        // Just below a power of two: the logarithm of a kernel that computes one may round up.
        block[0] = (8.0 * scale).next_down();
    }
}
