//! MXFP4 quantization with every choice left open that people are known to get wrong.

#[path = "mutations.rs"]
mod mutations;

use formats::{e2m1, pack, swizzle};

use super::{BLOCK, divisor_byte, reciprocal};
use crate::encoder::{Encoder, Encodes, Order};

pub(crate) use mutations::MUTATIONS;

/// The choices. [`Recipe::RIGHT`] is the reference.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Recipe {
    read: fn(f32) -> f32,
    /// What counts as large: |x|, or by mistake x.
    size: fn(f32) -> f32,
    scope: Scope,
    scale: fn(Amax) -> i32,
    /// What happens to the byte on its way to memory; the division is not affected.
    stored: fn(i32) -> i32,
    layout: Layout,
    divide: Divide,
    encoder: Encoder,
    order: Order,
}

/// Where the amax of a block is looked for.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Scope {
    Block,
    /// The first half of the block, for all of it: lanes of the other half were not asked.
    FirstHalf,
    /// Each half divides by its own; the first half's is stored.
    EachHalf,
    /// Two blocks together.
    TwoBlocks,
    Row,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Layout {
    RowMajor,
    ColumnMajor,
    Swizzled,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Divide {
    ByScale,
    Not,
    /// Multiplies by the scale.
    Inverted,
    /// By amax / 6, although the scale that is stored is a power of two.
    BySixth,
}

/// The largest magnitude, taken apart.
#[derive(Clone, Copy)]
struct Amax {
    value: f32,
    /// Biased exponent field: floor(log2) + 127 of a normal number.
    exponent: i32,
    /// Whether it is not a power of two.
    fraction: bool,
}

impl Amax {
    fn of(value: f32) -> Amax {
        let bits = value.to_bits() & 0x7fff_ffff;
        Amax { value, exponent: (bits >> 23) as i32, fraction: bits & 0x007f_ffff != 0 }
    }

    fn floor(self) -> i32 {
        (self.exponent - 2).max(0)
    }

    /// Biased floor(log2(amax / 6)), and whether amax / 6 is not a power of two.
    fn sixth(self) -> (i32, bool) {
        let sixth = f64::from(self.value) / 6.0;
        let bits = sixth.to_bits();
        ((bits >> 52 & 0x7ff) as i32 - 1023 + 127, bits & ((1 << 52) - 1) != 0)
    }
}

/// Blocks of a matrix.
pub(crate) struct Matrix<'a> {
    pub values: &'a [f32],
    pub columns: usize,
}

impl Matrix<'_> {
    pub fn block(&self, block: usize) -> &[f32; BLOCK] {
        &self.values.as_chunks::<BLOCK>().0[block]
    }

    fn blocks_in_row(&self) -> usize {
        self.columns / BLOCK
    }
}

/// What a recipe writes for one block.
pub(crate) struct Written {
    pub scale: u8,
    /// Where the scale byte goes.
    pub position: usize,
    pub codes: [u8; BLOCK / 2],
}

impl Recipe {
    pub const RIGHT: Recipe = Recipe {
        read: |x| x,
        size: f32::abs,
        scope: Scope::Block,
        scale: Amax::floor,
        stored: |byte| byte,
        layout: Layout::RowMajor,
        divide: Divide::ByScale,
        encoder: Encoder::RIGHT,
        order: Order::EvenLow,
    };

    /// `doubled` divides blocks of scale byte 0 by 2^-127 and not by 2^-126.
    pub fn block(&self, matrix: &Matrix, block: usize, doubled: bool) -> Written {
        let values = matrix.block(block).map(self.read);
        let half = BLOCK / 2;
        let across = matrix.blocks_in_row();
        let amax = Amax::of(match self.scope {
            Scope::Block => self.amax(&values),
            Scope::FirstHalf | Scope::EachHalf => self.amax(&values[..half]),
            Scope::TwoBlocks => {
                let first = block & !1;
                let last = (first + 2).min(matrix.values.len() / BLOCK);
                self.amax(&matrix.values[first * BLOCK..last * BLOCK])
            }
            Scope::Row => {
                let row = block / across;
                self.amax(&matrix.values[row * matrix.columns..(row + 1) * matrix.columns])
            }
        });
        let byte = (self.scale)(amax);
        let second = match self.scope {
            Scope::EachHalf => (self.scale)(Amax::of(self.amax(&values[half..]))),
            _ => byte,
        };
        let codes = std::array::from_fn(|pair| {
            let byte = if 2 * pair < half { byte } else { second };
            let code = |x: f32| self.encoder.encode(self.scaled(x, byte, amax, doubled), x);
            let (even, odd) = (code(values[2 * pair]), code(values[2 * pair + 1]));
            let (low, high) = self.order.nibbles(even, odd, 0);
            pack::pair(low, high)
        });
        let (row, column) = (block / across, block % across);
        let position = match self.layout {
            Layout::RowMajor => block,
            Layout::ColumnMajor => column * (matrix.values.len() / matrix.columns) + row,
            Layout::Swizzled => swizzle::offset(row, column, across),
        };
        Written { scale: (self.stored)(byte) as u8, position, codes }
    }

    fn amax(&self, values: &[f32]) -> f32 {
        values.iter().fold(0.0, |amax: f32, &x| amax.max((self.size)((self.read)(x))))
    }

    fn scaled(&self, x: f32, byte: i32, amax: Amax, doubled: bool) -> f32 {
        // Of a byte outside the format only its low eight bits exist.
        let byte = byte as u8;
        let factor = if doubled && byte == 0 { 2f32 } else { 1f32 };
        match self.divide {
            Divide::ByScale if byte > 252 => x * factor / formats::e8m0::decode(byte),
            Divide::ByScale => x * factor * reciprocal(divisor_byte(byte)),
            Divide::Not => x,
            Divide::Inverted => x * formats::e8m0::decode(byte),
            Divide::BySixth if amax.value == 0.0 => x,
            Divide::BySixth => x / (amax.value / e2m1::MAX),
        }
    }
}

impl Encodes for Recipe {
    fn encoder(&mut self) -> &mut Encoder {
        &mut self.encoder
    }

    fn order(&mut self) -> &mut Order {
        &mut self.order
    }
}

fn flushed(x: f32) -> f32 {
    if x.abs() < f32::MIN_POSITIVE { 0.0f32.copysign(x) } else { x }
}
