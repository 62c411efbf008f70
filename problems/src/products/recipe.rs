//! The product with every choice left open that people are known to get wrong.

use formats::{e2m1, e4m3, pack, swizzle};

use super::dot;
use super::operands::Operands;
use super::{B_ROWS, BLOCK};
use crate::decoder::Order;

/// The choices. [`Recipe::RIGHT`] is the reference.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Recipe {
    /// Value of a code of a and of b.
    pub a_code: fn(u8) -> f32,
    pub b_code: fn(u8) -> f32,
    /// How codes are taken from bytes. `EvenHigh` is a's order only: swapped on both sides, the sum
    /// is the same.
    pub order: Order,
    pub a_place: Place,
    pub scale: fn(u8) -> f32,
    /// From the scales of a and of b to the factor of a block.
    pub factor: fn(f32, f32) -> f32,
    /// Elements that share a scale.
    pub block: usize,
    pub sfa_place: Place,
    pub sfb_place: Place,
    /// The row of b, and of its scales, that is used for a batch, counted over all batches.
    pub b_row: fn(usize) -> usize,
    pub sfb_row: fn(usize) -> usize,
    /// The batch that a, and its scales, are taken from.
    pub a_batch: fn(usize) -> usize,
    pub sfa_batch: fn(usize) -> usize,
    /// Whether the eight elements from this one on, in a row of so many, are summed.
    pub summed: fn(usize, usize) -> bool,
    pub store: fn(f64) -> u16,
    /// The output whose sum is stored as this one, from its number, the batches and the rows.
    pub output: fn(usize, usize, usize) -> usize,
}

/// How a row and a column find their byte in a matrix.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Place {
    RowMajor,
    ColumnMajor,
    /// Row-major, with a row taken to be half as long.
    HalfStride,
    /// Row-major, in the array that is blocked.
    BlockedAsPlain,
    /// The 128x4 layout, in the array that is plain.
    PlainAsBlocked,
    /// The 128x4 layout with the rows of a tile one after the other.
    RowsInOrder,
    /// The 128x4 layout with tiles that follow each other down the rows.
    TilesTransposed,
}

/// The sum of an output, and what decides how far a float32 sum may be from it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sum {
    pub value: f64,
    /// The sum of the terms' magnitudes.
    pub magnitude: f64,
    /// Every term is a multiple of this power of two. Infinite if all are zero.
    pub grid: f64,
    /// The largest product of two scales, of blocks of zeros too.
    pub scale: f64,
}

impl Sum {
    /// How far the sum of block-scaled `mma` over `terms` terms may be from the value besides what
    /// [`Sum::slack`] allows. Each instruction aligns its four blocks of 16 and what was summed so far to
    /// the largest product of two scales, whatever their codes, and cuts all five off 35 bits below.
    pub fn cut_off(&self, terms: usize) -> f64 {
        let lowest = 2.0 * self.scale * 0.5f64.powi(35);
        if lowest <= self.grid { 0.0 } else { terms as f64 * (5.0 / 64.0) * lowest }
    }

    /// How far a right sum of `terms` terms may be from the value, where it may be what block-scaled
    /// `mma` makes of it, and else.
    pub fn allowance(&self, terms: usize, block_scaled: bool) -> f64 {
        self.slack(terms) + if block_scaled { self.cut_off(terms) } else { 0.0 }
    }

    /// How far a right float32 sum of `terms` terms may be from the value, in whatever order it
    /// adds: derived in spec.md.
    pub fn slack(&self, terms: usize) -> f64 {
        const ROUNDING: f64 = f32::EPSILON as f64 / 2.0;
        if self.magnitude * ROUNDING <= self.grid {
            return 0.0;
        }
        4.0 * ROUNDING * (terms as f64).sqrt() * self.magnitude
    }
}

/// A computation that a sum of products is part of, and the choices of that part.
pub(crate) trait Choices: Copy + Sync + 'static {
    fn product(&mut self) -> &mut Recipe;
}

impl Choices for Recipe {
    fn product(&mut self) -> &mut Recipe {
        self
    }
}

impl Recipe {
    /// Codes are given this value on both sides.
    pub fn set_codes(&mut self, code: fn(u8) -> f32) {
        (self.a_code, self.b_code) = (code, code);
    }

    pub const RIGHT: Recipe = Recipe {
        a_code: e2m1::decode,
        b_code: e2m1::decode,
        order: Order::EvenLow,
        a_place: Place::RowMajor,
        scale: e4m3::decode_scale,
        factor: |a, b| a * b,
        block: BLOCK,
        sfa_place: Place::RowMajor,
        sfb_place: Place::RowMajor,
        b_row: |batch| batch * B_ROWS,
        sfb_row: |batch| batch * B_ROWS,
        a_batch: |batch| batch,
        sfa_batch: |batch| batch,
        summed: |_, _| true,
        store: dot::round,
        output: |output, _, _| output,
    };

    /// The same for a product of two matrices: one matrix serves all vectors, and a vector is one row.
    pub const OF_ROWS: Recipe = Recipe {
        a_batch: |_| 0,
        sfa_batch: |_| 0,
        b_row: |row| row,
        sfb_row: |row| row,
        ..Recipe::RIGHT
    };

    /// The sum of output `output`; its value is NaN where an operand would be read out of bounds.
    pub fn sum(&self, operands: &Operands, output: usize) -> Sum {
        let Operands { m, k, l, .. } = *operands;
        let output = (self.output)(output, l, m);
        let (batch, row) = (output / m, output % m);
        let (a_codes, b_codes) = (table(self.a_code), table(self.b_code));
        let b_row = (self.b_row)(batch);
        let Some(b) = operands.b.get(b_row * k / 2..(b_row + 1) * k / 2) else {
            return Sum { value: f64::NAN, ..Sum::default() };
        };
        let a = View { bytes: operands.a, other: &[], rows: m, columns: k / 2 };
        let (a_batch, sfa_batch) = ((self.a_batch)(batch), (self.sfa_batch)(batch));
        let blocks = operands.blocks();
        let sfa =
            View { bytes: operands.sfa, other: operands.sfa_blocked, rows: m, columns: blocks };
        let sfb = View {
            bytes: operands.sfb,
            other: operands.sfb_blocked,
            rows: B_ROWS,
            columns: blocks,
        };
        let sfb_row = (self.sfb_row)(batch);
        let code_grid = grid_of(&a_codes) * grid_of(&b_codes);

        let mut sum = Sum { grid: f64::INFINITY, ..Sum::default() };
        for first in (0..k).step_by(8).filter(|&first| (self.summed)(first, k)) {
            let column = first / self.block;
            let sfa = sfa.byte(self.sfa_place, sfa_batch, row, column);
            let sfb = sfb.byte(self.sfb_place, sfb_row / B_ROWS, sfb_row % B_ROWS, column);
            let decode = |byte: Option<u8>| byte.map_or(f32::NAN, self.scale);
            let factor = f64::from((self.factor)(decode(sfa), decode(sfb)));
            let (mut value, mut magnitude) = (0.0, 0.0);
            for byte in first / 2..first / 2 + 4 {
                let Some(in_a) = a.byte(self.a_place, a_batch, row, byte) else {
                    return Sum { value: f64::NAN, ..sum };
                };
                let [a, b] = [in_a, b[byte]].map(|byte| <[u8; 2]>::from(pack::split(byte)));
                let pairs = match self.order {
                    Order::EvenLow => [(a[0], b[0]), (a[1], b[1])],
                    Order::EvenHigh => [(a[1], b[0]), (a[0], b[1])],
                    Order::LowTwice => [(a[0], b[0]), (a[0], b[0])],
                    Order::LowOnly => [(a[0], b[0]), (0, 0)],
                };
                for (a, b) in pairs {
                    let product = a_codes[usize::from(a)] * b_codes[usize::from(b)];
                    value += product;
                    magnitude += product.abs();
                }
            }
            sum.value += value * factor;
            sum.scale = sum.scale.max(factor.abs());
            sum.magnitude += magnitude * factor.abs();
            if magnitude > 0.0 && factor != 0.0 {
                sum.grid = sum.grid.min(lowest_bit(factor) * code_grid);
            }
        }
        sum
    }
}

/// Batches of matrices of `rows` by `columns` bytes, and the same in the other layout.
struct View<'a> {
    bytes: &'a [u8],
    other: &'a [u8],
    rows: usize,
    columns: usize,
}

impl View<'_> {
    fn byte(&self, place: Place, batch: usize, row: usize, column: usize) -> Option<u8> {
        let View { rows, columns, .. } = *self;
        let plain = batch * rows * columns;
        let blocked = batch * swizzle::padded_len(rows, columns);
        let tile = |row: usize, across: usize, column: usize| (row * across + column) * 512;
        let (from, index) = match place {
            Place::RowMajor => (self.bytes, plain + row * columns + column),
            Place::ColumnMajor => (self.bytes, plain + column * rows + row),
            Place::HalfStride => (self.bytes, plain + row * (columns / 2) + column),
            Place::BlockedAsPlain => (self.other, blocked + row * columns + column),
            Place::PlainAsBlocked => (self.bytes, plain + swizzle::offset(row, column, columns)),
            Place::RowsInOrder => {
                let tile = tile(row / 128, columns.div_ceil(4), column / 4);
                (self.other, blocked + tile + row % 128 * 4 + column % 4)
            }
            Place::TilesTransposed => {
                let tile = tile(column / 4, rows.div_ceil(128), row / 128);
                (self.other, blocked + tile + swizzle::offset(row % 128, column % 4, 4))
            }
        };
        from.get(index).copied()
    }
}

fn table(code: fn(u8) -> f32) -> [f64; 16] {
    std::array::from_fn(|index| f64::from(code(index as u8)))
}

/// The largest power of two that all values are multiples of.
fn grid_of(values: &[f64; 16]) -> f64 {
    values.iter().filter(|&&x| x != 0.0).map(|&x| lowest_bit(x)).fold(f64::INFINITY, f64::min)
}

/// The largest power of two that a number, normal and not zero, is a multiple of.
fn lowest_bit(x: f64) -> f64 {
    let mantissa = x.to_bits() << 12;
    let below = if mantissa == 0 { 0 } else { 64 - mantissa.trailing_zeros() };
    let exponent = f64::from_bits(x.to_bits() & 0x7ff0_0000_0000_0000);
    exponent * 0.5f64.powi(below.cast_signed())
}
