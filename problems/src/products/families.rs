//! Input families. The judge's bound is on sums, so each family says how large they get: beyond
//! 65504 there is no f16 to be right.

use formats::swizzle;
use rayon::prelude::*;

use super::BLOCK;
use crate::random::Random;
use crate::{Family, Seed};

/// Codes and their scale byte: rows of a or b are drawn block by block.
pub(crate) struct Block<'a> {
    pub codes: &'a mut [u8; BLOCK / 2],
    pub scale: &'a mut u8,
}

/// Where a block stands.
#[derive(Clone, Copy)]
pub(crate) struct At {
    pub row: usize,
    pub column: usize,
    /// Blocks of a row.
    pub columns: usize,
    /// The element that stands out in this row, if the family has one.
    pub element: usize,
}

pub(crate) type Draw = fn(&mut Random, At, Column, Block);

/// What the blocks of a column have in common, in a and in b.
#[derive(Clone, Copy)]
pub(crate) struct Column {
    /// Between -6 and 6.
    pub magnitude: i32,
    pub kind: Kind,
}

/// How large the scales of a column are in `special`.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Kind {
    Tiny,
    TinyTimesHuge,
    HugeTimesTiny,
    Huge,
}

pub(crate) const ONE: u8 = 0x38;
pub(crate) const LARGEST: u8 = 0x7e;

/// A stream for what all rows share.
const SHARED: u64 = u64::MAX;

/// A competition's own data: codes whose bits are masked, scales made of a random byte.
pub(crate) struct Contest {
    pub codes: u8,
    pub scale: fn(u8) -> u8,
}

impl Contest {
    pub fn draw(&self, block: Block) {
        block.codes.iter_mut().for_each(|byte| *byte &= self.codes);
        *block.scale = (self.scale)(*block.scale);
    }
}

/// Draws a of m rows, b of n and their scales, and copies the scales into the blocked layout.
pub(crate) fn fill(
    (family, contest): (Family, &Contest),
    seed: &Seed,
    [m, n, k]: [usize; 3],
    inputs: &mut [&mut [u8]],
) {
    let [a, b, sfa, sfb, sfa_blocked, sfb_blocked] = inputs else { return };
    let columns = columns(seed, k / BLOCK);
    if family == Family::Uniform {
        let draw = |_: &mut Random, _: At, _: Column, block: Block| contest.draw(block);
        rows(seed, 0, &columns, [a, sfa], draw);
        rows(seed, 1, &columns, [b, sfb], draw);
    } else {
        let (draw_a, draw_b) = draws(family);
        rows(seed, 0, &columns, [a, sfa], draw_a);
        rows(seed, 1, &columns, [b, sfb], draw_b);
    }
    block(sfa, m, k / BLOCK, sfa_blocked);
    block(sfb, n, k / BLOCK, sfb_blocked);
}

/// Every column's magnitude and kind; exactly one is huge in both operands.
pub(crate) fn columns(seed: &Seed, count: usize) -> Vec<Column> {
    let mut random = Random::new(seed, SHARED);
    let mut columns: Vec<Column> = (0..count)
        .map(|_| Column {
            magnitude: random.between(-6, 6),
            kind: random.pick(&[Kind::Tiny, Kind::TinyTimesHuge, Kind::HugeTimesTiny]),
        })
        .collect();
    columns[random.below(count as u32) as usize].kind = Kind::Huge;
    columns
}

pub(crate) fn rows(
    seed: &Seed,
    buffer: u32,
    columns: &[Column],
    data: [&mut [u8]; 2],
    draw: impl Fn(&mut Random, At, Column, Block) + Sync,
) {
    let [codes, scales] = data;
    let count = columns.len();
    let rows = codes.par_chunks_mut(count * BLOCK / 2).zip(scales.par_chunks_mut(count));
    rows.enumerate().for_each(|(row, (codes, scales))| {
        let mut random = Random::new(seed, u64::from(buffer) << 32 | row as u64);
        random.fill_bytes(codes);
        random.fill_bytes(scales);
        let element = random.below((count * BLOCK) as u32) as usize;
        let blocks = codes.as_chunks_mut().0.iter_mut().zip(scales).zip(columns);
        for (column, ((codes, scale), &shared)) in blocks.enumerate() {
            let at = At { row, column, columns: count, element };
            draw(&mut random, at, shared, Block { codes, scale });
        }
    });
}

/// How a family makes blocks of a and of b out of random bytes.
fn draws(family: Family) -> (Draw, Draw) {
    match family {
        Family::Exact => (exact, exact),
        Family::OneHot => (one_hot, moderate),
        Family::Outliers => (outliers, odd_codes),
        Family::Zeros => (zeros, zeros),
        Family::Special => (special_a, special_b),
        _ => (wide_a, wide_b),
    }
}

/// All codes. The scales of a column lie within three octaves of its magnitude in a, and around one
/// over it in b: together they pass through all of E4M3, and products stay comparable. Sums are
/// normal with a standard deviation of 27 · √k.
fn wide_a(_: &mut Random, _: At, column: Column, block: Block) {
    *block.scale = around(column.magnitude, i32::from(*block.scale % 48) - 24);
}

fn wide_b(_: &mut Random, _: At, column: Column, block: Block) {
    *block.scale = around(-column.magnitude, i32::from(*block.scale % 16) - 8);
}

/// The scale byte `steps` eighths of an octave from a power of two.
pub(crate) fn around(exponent: i32, steps: i32) -> u8 {
    ((exponent + 7) * 8 + steps).clamp(1, i32::from(LARGEST)) as u8
}

/// All codes with the scales 0.5, 1, 1.5 and 2: terms are multiples of 1/16, and 2^24 of them make a
/// million.
fn exact(_: &mut Random, _: At, _: Column, block: Block) {
    *block.scale = [0x30, ONE, 0x3c, 0x40][usize::from(*block.scale) % 4];
}

/// All codes with scales from 1/8 to 15: for the side that a one-hot row picks from.
fn moderate(_: &mut Random, _: At, _: Column, block: Block) {
    *block.scale = moderately(*block.scale);
}

fn moderately(byte: u8) -> u8 {
    around(0, i32::from(byte % 56) - 24)
}

/// Nothing but one element: the row's sum is a single product.
fn one_hot(random: &mut Random, at: At, _: Column, block: Block) {
    *block.scale = moderately(*block.scale);
    block.codes.iter_mut().for_each(|byte| *byte &= 0x88);
    if let Some(code) = at.standing_out() {
        set(block.codes, code, 1 + random.below(7) as u8);
    }
}

/// Codes of ±0 and ±0.5, and one element of ±4 or ±6 whose scale is 2^7 to 2^8 times the others'. In
/// even rows it is in the last block, and in every fourth row the last element of all.
pub(crate) fn outliers(random: &mut Random, at: At, _: Column, block: Block) {
    *block.scale = around(-1, i32::from(*block.scale % 16) - 8);
    block.codes.iter_mut().for_each(|byte| *byte &= 0x99);
    let all = at.columns * BLOCK;
    let element = match at.row % 4 {
        0 => all - 1,
        2 => all - BLOCK + at.element % BLOCK,
        _ => at.element,
    };
    if let Some(place) = (At { element, ..at }).standing_out() {
        *block.scale = around(6, i32::from(*block.scale % 8));
        set(block.codes, place, 6 + random.below(2) as u8 + 8 * random.below(2) as u8);
    }
}

/// Codes of ±1 and more: no outlier meets a zero.
fn odd_codes(_: &mut Random, _: At, _: Column, block: Block) {
    block.codes.iter_mut().for_each(|byte| *byte |= 0x22);
    *block.scale = around(0, i32::from(*block.scale % 16) - 8);
}

/// Rows of zeros, blocks of zeros, scales of zero; zeros have either sign.
fn zeros(random: &mut Random, at: At, _: Column, block: Block) {
    if at.row % 4 == 3 || random.below(2) == 0 {
        block.codes.iter_mut().for_each(|byte| *byte &= 0x88);
    }
    *block.scale =
        if random.below(4) == 0 { 0 } else { around(0, i32::from(*block.scale % 16) - 8) };
}

/// The ends of E4M3: subnormal scales, and those from 256 to 448, in a against the opposite in b.
/// In every third row only the tiny meet the tiny, and sums are subnormal in f16. In another third
/// one element of ±0.5 meets the largest scale on both sides, whose product is beyond f16.
fn special_a(_: &mut Random, at: At, column: Column, block: Block) {
    *block.scale = match column.kind {
        Kind::Tiny | Kind::TinyTimesHuge => tiny(*block.scale),
        Kind::HugeTimesTiny => huge(*block.scale),
        Kind::Huge => LARGEST,
    };
    let only_tiny = at.row % 3 == 2;
    if column.kind == Kind::Huge || (only_tiny && column.kind != Kind::Tiny) {
        block.codes.iter_mut().for_each(|byte| *byte &= 0x88);
    }
    if column.kind == Kind::Huge && at.row % 3 == 1 {
        set(block.codes, at.element % BLOCK, 1);
    }
}

fn special_b(_: &mut Random, _: At, column: Column, block: Block) {
    *block.scale = match column.kind {
        Kind::Tiny | Kind::HugeTimesTiny => tiny(*block.scale),
        Kind::TinyTimesHuge => huge(*block.scale),
        Kind::Huge => LARGEST,
    };
    if column.kind == Kind::Huge {
        block.codes.iter_mut().for_each(|byte| *byte = *byte & 0x88 | 0x11);
    }
}

/// 1 to 8 times 2^-9.
pub(crate) fn tiny(byte: u8) -> u8 {
    1 + byte % 8
}

/// 256 to 448.
pub(crate) fn huge(byte: u8) -> u8 {
    0x78 + byte % 7
}

impl At {
    /// The place of the row's outstanding element in this block.
    pub fn standing_out(&self) -> Option<usize> {
        (self.element / BLOCK == self.column).then_some(self.element % BLOCK)
    }
}

pub(crate) fn set(codes: &mut [u8; BLOCK / 2], element: usize, code: u8) {
    formats::pack::set(codes, element, code);
}

/// Copies batches of scales of `rows` rows into the 128x4 layout; the pads are left as they are.
pub(crate) fn block(plain: &[u8], rows: usize, columns: usize, blocked: &mut [u8]) {
    let batches = blocked.chunks_mut(swizzle::padded_len(rows, columns));
    for (plain, blocked) in plain.chunks(rows * columns).zip(batches) {
        // A line of tiles holds 128 rows.
        let lines = blocked.par_chunks_mut(swizzle::padded_len(1, columns));
        lines.zip(plain.par_chunks(swizzle::TILE_ROWS * columns)).for_each(|(line, scales)| {
            for (row, scales) in scales.chunks(columns).enumerate() {
                for (column, &scale) in scales.iter().enumerate() {
                    line[swizzle::offset(row, column, columns)] = scale;
                }
            }
        });
    }
}
