//! Input families. Sums must be small: c is a product of two, and f16 ends at 65504. And silu is
//! only curved near zero, so the rows of b1 have magnitudes of their own.

use crate::products::BLOCK;
use crate::products::families::{
    At, Block, Column, Contest, Draw, Kind, LARGEST, around, block, columns, huge, outliers, rows,
    set, tiny,
};
use crate::random::Random;
use crate::{Family, Seed};

/// The competition's: codes of ±0, ±0.5, ±1 and ±1.5, scales even in [0, 1).
const CONTEST: Contest =
    Contest { codes: 0xbb, scale: |byte| formats::e4m3::encode((f32::from(byte) + 0.5) / 256.0) };

/// Draws a of m rows, b1 and b2 of n and their scales, and copies the scales into the blocked layout.
pub(super) fn fill(family: Family, seed: &Seed, [m, n, k]: [usize; 3], inputs: &mut [&mut [u8]]) {
    let [a, b1, b2, sfa, sfb1, sfb2, sfa_blocked, sfb1_blocked, sfb2_blocked] = inputs else {
        return;
    };
    let columns = columns(seed, k / BLOCK);
    let draws = draws(family);
    let sides =
        [(a, sfa, sfa_blocked, m), (b1, sfb1, sfb1_blocked, n), (b2, sfb2, sfb2_blocked, n)];
    for (index, ((codes, scales, blocked, count), draw)) in sides.into_iter().zip(draws).enumerate()
    {
        rows(seed, index as u32, &columns, [codes, scales], draw);
        block(scales, count, k / BLOCK, blocked);
    }
}

/// How a family makes blocks of a, b1 and b2 out of random bytes.
fn draws(family: Family) -> [Draw; 3] {
    match family {
        Family::Uniform => [contest; 3],
        Family::Exact => [exact, exact_b1, exact_b2],
        Family::OneHot => [one_hot, small, small],
        Family::Outliers => [outliers, small_odd_codes, larger_odd_codes],
        Family::Zeros => [zeros, zeros_b1, zeros_b2],
        Family::Special => [special_a, special_b1, special_b2],
        _ => [wide_a, wide_b1, wide_b2],
    }
}

fn contest(_: &mut Random, _: At, _: Column, block: Block) {
    CONTEST.draw(block);
}

/// Octaves that sums grow by with the length of a row, over that of 256.
fn growth(at: At) -> i32 {
    ((at.columns / 16).max(1).ilog2() / 2).cast_signed()
}

/// All codes, and in each column the magnitude of the one operand against that of the other. Sums of
/// b1 have a standard deviation of 2 to 20, row by row, those of b2 one of 30.
fn wide_a(_: &mut Random, _: At, column: Column, block: Block) {
    *block.scale = around(column.magnitude - 3, i32::from(*block.scale % 48) - 24);
}

fn wide_b1(_: &mut Random, at: At, column: Column, block: Block) {
    let down = 2 + growth(at) + (at.row % 4) as i32;
    *block.scale = around(-column.magnitude - down, i32::from(*block.scale % 16) - 8);
}

fn wide_b2(_: &mut Random, at: At, column: Column, block: Block) {
    *block.scale = around(-column.magnitude - 1 - growth(at), i32::from(*block.scale % 16) - 8);
}

/// All codes, and scales of few bits: terms are multiples of 2^-9, and float32 has every sum.
fn exact(_: &mut Random, _: At, _: Column, block: Block) {
    *block.scale = [0x30, 0x38, 0x3c, 0x40][usize::from(*block.scale) % 4];
}

/// 2^-6, 2^-5, 1.5 times that, and 2^-4.
fn exact_b1(_: &mut Random, _: At, _: Column, block: Block) {
    *block.scale = [0x08, 0x10, 0x14, 0x18][usize::from(*block.scale) % 4];
}

/// Twice those.
fn exact_b2(_: &mut Random, _: At, _: Column, block: Block) {
    *block.scale = [0x10, 0x18, 0x1c, 0x20][usize::from(*block.scale) % 4];
}

/// All codes with scales from 1/16 to 1: for the side that a one-hot row picks from.
fn small(_: &mut Random, _: At, _: Column, block: Block) {
    *block.scale = around(-2, i32::from(*block.scale % 32) - 16);
}

/// Nothing but one element: both sums are single products.
fn one_hot(random: &mut Random, at: At, _: Column, block: Block) {
    *block.scale = around(-1, i32::from(*block.scale % 32) - 16);
    block.codes.iter_mut().for_each(|byte| *byte &= 0x88);
    if let Some(code) = at.standing_out() {
        set(block.codes, code, 1 + random.below(15) as u8);
    }
}

/// What meets the outliers of a: codes of ±1 and more, no zeros, and sums from 2 to 50.
fn small_odd_codes(_: &mut Random, _: At, _: Column, block: Block) {
    odd(-6, block);
}

/// Sums from 8 to 200.
fn larger_odd_codes(_: &mut Random, _: At, _: Column, block: Block) {
    odd(-4, block);
}

fn odd(magnitude: i32, block: Block) {
    block.codes.iter_mut().for_each(|byte| *byte |= 0x22);
    *block.scale = around(magnitude, i32::from(*block.scale % 16) - 8);
}

/// Rows of zeros, blocks of zeros, scales of zero; zeros have either sign.
fn zeros(random: &mut Random, at: At, _: Column, block: Block) {
    sparse(random, at, 0, block);
}

fn zeros_b1(random: &mut Random, at: At, _: Column, block: Block) {
    sparse(random, at, -4, block);
}

fn zeros_b2(random: &mut Random, at: At, _: Column, block: Block) {
    sparse(random, at, -2, block);
}

fn sparse(random: &mut Random, at: At, magnitude: i32, block: Block) {
    if at.row % 4 == 3 || random.below(2) == 0 {
        block.codes.iter_mut().for_each(|byte| *byte &= 0x88);
    }
    let scale = around(magnitude, i32::from(*block.scale % 16) - 8);
    *block.scale = if random.below(4) == 0 { 0 } else { scale };
}

/// The ends of E4M3: subnormal scales, and those from 256 to 448, against the opposite in b1 and b2.
/// Codes of a are ±0 and ±0.5, so that the first sums are some tens: silu is x, or next to nothing. In
/// every third row one element of ±0.5 meets the largest scale in a and b1, which is beyond f16, and exp
/// of it beyond float32.
fn special_a(_: &mut Random, at: At, column: Column, block: Block) {
    *block.scale = match column.kind {
        Kind::Tiny | Kind::TinyTimesHuge => tiny(*block.scale),
        Kind::HugeTimesTiny => huge(*block.scale),
        Kind::Huge => LARGEST,
    };
    let sparse = column.kind == Kind::Huge || at.row % 3 == 2 && !at.column.is_multiple_of(8);
    block.codes.iter_mut().for_each(|byte| *byte &= if sparse { 0x88 } else { 0x99 });
    if column.kind == Kind::Huge && at.row % 3 == 1 {
        set(block.codes, at.element % BLOCK, 1);
    }
}

fn special_b1(random: &mut Random, at: At, column: Column, block: Block) {
    let Block { codes, scale } = block;
    special_b2(random, at, column, Block { codes: &mut *codes, scale });
    if column.kind == Kind::Huge {
        codes.iter_mut().for_each(|byte| *byte |= 0x11);
    }
}

/// Nothing of b2 meets the largest scales: c is finite where silu is.
fn special_b2(_: &mut Random, _: At, column: Column, block: Block) {
    *block.scale = match column.kind {
        Kind::Tiny | Kind::HugeTimesTiny => tiny(*block.scale),
        Kind::TinyTimesHuge => huge(*block.scale),
        Kind::Huge => LARGEST,
    };
    let mask = if column.kind == Kind::Huge { 0x88 } else { 0xbb };
    block.codes.iter_mut().for_each(|byte| *byte &= mask);
}
