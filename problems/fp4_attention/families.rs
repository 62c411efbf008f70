//! Input families. V is normal unless said, so that no output is zero.

use crate::folders::mxfp4_quantize::{BLOCK, families::ties};
use crate::random::{Random, fill_chunks};
use crate::{CaseSpec, Family, Seed};

/// Two queries in so many of `mixed` have scores whose exponentials are infinite unless the largest is
/// subtracted. One of the two is a key: its largest score does not follow from its length.
const LOUD: u32 = 32;

/// Rows that one stream of random numbers draws.
const CHUNK: usize = 64;

pub(super) fn fill(case: &CaseSpec, seed: &Seed, inputs: &mut [&mut [u8]]) {
    let size = |name| case.sizes.get(name).unwrap_or_default() as usize;
    let columns = size("head_dim");
    let [q, k, v] = inputs else { return };
    let [q, k, v] = [q, k, v].map(|bytes| bytemuck::cast_slice_mut::<u8, f32>(bytes));
    let rows = |buffer: u32,
                values: &mut [f32],
                draw: &(dyn Fn(&mut Random, usize, &mut [f32]) + Sync)| {
        fill_chunks(seed, buffer, values, CHUNK * columns, |random, start, values| {
            for (index, row) in values.chunks_mut(columns).enumerate() {
                draw(random, start / columns + index, row);
            }
        });
    };
    rows(2, v, &|random, row, values| match case.family {
        Family::Uniform => random.fill_uniform(values),
        // The last key of each head is the loudest.
        Family::Outliers if (row + 1).is_multiple_of(size("seq_k")) => {
            random.fill_normal(values);
            values.iter_mut().for_each(|x| *x *= 64.0);
        }
        Family::Wide => {
            random.fill_normal(values);
            let magnitude = 2f32.powi(random.between(-6, 6));
            values.iter_mut().for_each(|x| *x *= magnitude);
        }
        _ => random.fill_normal(values),
    });
    let draw = |random: &mut Random, row: usize, is_q: bool, values: &mut [f32]| match case.family {
        Family::Uniform => random.fill_uniform(values),
        Family::Wide => wide(random, seed, is_q, values),
        Family::Ties => blocks(values, |block| {
            let scale = 2f32.powi(random.between(-3, 0));
            ties(random, scale, block);
        }),
        Family::Zeros if is_q && row.is_multiple_of(2) => {
            values.iter_mut().for_each(|x| *x = 0.0 * random.sign());
        }
        Family::Zeros => blocks(values, |block| zeros(random, block)),
        Family::Outliers => blocks(values, |block| outlier(random, block)),
        Family::Identity => values[row % columns] = 16.0,
        Family::Overflow => overflow(random, columns, values),
        _ => random.fill_normal(values),
    };
    // Row numbers within the head, so that query r and key r are the same row of the identity.
    rows(1, k, &|random, row, values| draw(random, row % size("seq_k"), false, values));
    let per_head = (size("seq_q"), size("seq_k"));
    let k = &*k;
    // One of the keys of the query's head.
    let copy = |row: usize, key: usize, values: &mut [f32]| {
        let key = row / per_head.0 * per_head.1 + key;
        values.copy_from_slice(&k[key * columns..(key + 1) * columns]);
    };
    rows(0, q, &|random, row, values| match case.family {
        Family::Overflow => copy(row, row % per_head.0 % per_head.1, values),
        Family::Mixed => {
            random.fill_normal(values);
            match random.below(LOUD) {
                0 => copy(row, random.below(per_head.1 as u32) as usize, values),
                1 => {}
                _ => return,
            }
            values.iter_mut().for_each(|x| *x *= 64.0);
        }
        _ => draw(random, row % per_head.0, true, values),
    });
}

fn blocks(values: &mut [f32], draw: impl FnMut(&mut [f32])) {
    values.chunks_mut(BLOCK).for_each(draw);
}

/// Every block has its own magnitude: what belongs to a column of blocks is large in Q and small in
/// K, or the other way round, so that scores stay moderate and every misplaced scale shows.
fn wide(random: &mut Random, seed: &Seed, is_q: bool, values: &mut [f32]) {
    let mut column = Random::new(seed, 3 << 32);
    random.fill_uniform(values);
    blocks(values, |block| {
        let shared = column.between(-12, 12);
        let magnitude = if is_q { shared } else { -shared } + random.between(-1, 2);
        block.iter_mut().for_each(|x| *x *= 2f32.powi(magnitude));
    });
}

/// Zero blocks, both zeros, and values that round to zero beside one that does not.
fn zeros(random: &mut Random, block: &mut [f32]) {
    random.fill_normal(block);
    if random.below(3) == 0 {
        block.iter_mut().for_each(|x| *x = 0.0 * random.sign());
    } else {
        for x in block.iter_mut() {
            let tiny = random.uniform() * 0.1;
            *x = random.pick(&[*x, *x, tiny, 0.0, -0.0]);
        }
    }
}

/// Normal values, and in half of the blocks one that is up to 16 times larger.
fn outlier(random: &mut Random, block: &mut [f32]) {
    random.fill_normal(block);
    if random.below(2) == 0 {
        block[random.below(BLOCK as u32) as usize] *= 2f32.powi(random.between(2, 4));
    }
}

/// Keys whose product with themselves, over √d, lies between 100 and 350: above 88.8 an f32
/// exponential is infinite. Every query is one of the keys.
fn overflow(random: &mut Random, columns: usize, values: &mut [f32]) {
    let magnitude = if columns <= 64 { 8f32.sqrt() } else { 2.0 };
    for x in values {
        *x = random.pick(&[1.0, 1.5, 2.0, 3.0]) * random.sign() * magnitude;
    }
}
