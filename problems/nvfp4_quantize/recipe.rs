//! NVFP4 quantization with every choice left open that people are known to get wrong.

#[path = "mutations.rs"]
mod mutations;

use formats::{e2m1, e4m3, f16, swizzle};

use super::compare::{Codes, Tensor};
use super::{BLOCK, Scaling, amax};
use crate::encoder::{Encoder, Encodes, Order};

pub(super) use mutations::MUTATIONS;

/// The choices. [`Recipe::RIGHT`] is the reference.
#[derive(Clone, Copy, Debug)]
pub(super) struct Recipe {
    scope: Scope,
    signed_amax: bool,
    /// What multiplies the scale, and what multiplies the elements' factor, of the global scale.
    global: fn(f32) -> (f32, f32),
    /// From the scale before rounding to its byte.
    round: fn(f32) -> u8,
    factor: Factor,
    layout: Layout,
    encoder: Encoder,
    order: Order,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Scope {
    Block,
    /// The first half of the block, for all of it.
    FirstHalf,
    /// Each half divides by its own; the first half's is stored.
    EachHalf,
    TwoBlocks,
    Row,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Factor {
    /// From the scale as stored.
    Stored,
    /// From the scale before it was rounded: 6 / amax.
    Unrounded,
    /// 1.
    Missing,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Layout {
    Swizzled,
    RowMajor,
    /// Row-major, with columns padded to 4.
    RowMajorPadded,
    ColumnMajor,
    /// Rows 0 to 3 and not 0, 32, 64, 96 side by side.
    RowsInOrder,
    /// Tiles below each other first.
    TilesTransposed,
}

/// What a recipe may write for one block.
pub(super) struct Written {
    pub scale: Codes,
    /// Where the scale byte goes.
    pub place: usize,
    /// In the order of the nibbles in memory, low first.
    pub codes: [Codes; BLOCK],
    /// Whether the scale is zero, so that the codes mean nothing.
    pub vanished: bool,
}

impl Recipe {
    pub const RIGHT: Recipe = Recipe {
        scope: Scope::Block,
        signed_amax: false,
        global: |global| (global, global),
        round: e4m3::encode,
        factor: Factor::Stored,
        layout: Layout::Swizzled,
        encoder: Encoder::RIGHT,
        order: Order::EvenLow,
    };

    /// `given` is the byte that the solution wrote for this block where this recipe puts it, or 0:
    /// of the bytes that the reciprocals allow, codes are judged by the one that was chosen.
    pub fn block(&self, tensor: &Tensor, block: usize, given: &dyn Fn(usize) -> u8) -> Written {
        let values = tensor.block(block);
        let (for_scale, for_factor) = (self.global)(tensor.global);
        let scaling = Scaling::new(for_scale);
        let elements = Scaling::new(for_factor);
        let amax = match self.scope {
            Scope::Block => self.amax(values),
            Scope::FirstHalf | Scope::EachHalf => self.amax(&values[..BLOCK / 2]),
            Scope::TwoBlocks => {
                let first = block & !1;
                let last = (first + 2).min(tensor.values.len() / BLOCK);
                self.amax(&tensor.values[first * BLOCK..last * BLOCK])
            }
            Scope::Row => {
                let row = block / tensor.across() * tensor.columns;
                self.amax(&tensor.values[row..row + tensor.columns])
            }
        };
        let place = self.place(tensor, block);
        let scale = self.scale_range(&scaling, amax);
        let chosen = given(place).clamp(scale.least, scale.greatest);
        let factors = self.factor_range(&elements, amax, chosen);
        let second = match self.scope {
            Scope::EachHalf => {
                let amax = self.amax(&values[BLOCK / 2..]);
                let scale = self.scale_range(&scaling, amax).greatest;
                self.factor_range(&elements, amax, scale)
            }
            _ => factors,
        };
        let code = |index: usize| {
            let x = f16::decode(values[index]);
            let (least, greatest) = if index < BLOCK / 2 { factors } else { second };
            Codes::between(self.encoder.encode(x * least, x), self.encoder.encode(x * greatest, x))
        };
        let codes = std::array::from_fn(|index| {
            let (even, odd) = (code(index & !1), code(index | 1));
            let (low, high) = self.order.nibbles(even, odd, Codes::between(0, 0));
            if index % 2 == 0 { low } else { high }
        });
        let vanished = chosen & 0x7f == 0 && amax != 0.0 && self.factor == Factor::Stored;
        Written { scale, place, codes, vanished }
    }

    fn amax(&self, values: &[u16]) -> f32 {
        if self.signed_amax {
            return values.iter().fold(0.0, |amax: f32, &x| amax.max(f16::decode(x)));
        }
        let blocks = values.as_chunks::<BLOCK>();
        let rest = blocks.1.iter().map(|&x| f16::decode(x).abs());
        blocks.0.iter().map(amax).chain(rest).fold(0.0, f32::max)
    }

    fn scale_range(&self, scaling: &Scaling, amax: f32) -> Codes {
        let (least, greatest) = scaling.unrounded_range(amax);
        Codes::between((self.round)(least), (self.round)(greatest))
    }

    fn factor_range(&self, scaling: &Scaling, amax: f32, scale: u8) -> (f32, f32) {
        match self.factor {
            Factor::Stored => scaling.factor_range(amax, scale),
            Factor::Missing => (1.0, 1.0),
            Factor::Unrounded if amax == 0.0 => (0.0, 0.0),
            Factor::Unrounded => {
                // 6 / amax, by whatever way: a few units in the last place around it.
                let factor = e2m1::MAX / amax;
                (factor * (1.0 - 3e-7), factor * (1.0 + 3e-7))
            }
        }
    }

    fn place(&self, tensor: &Tensor, block: usize) -> usize {
        let across = tensor.across();
        let (row, column) = (block / across, block % across);
        match self.layout {
            Layout::Swizzled => swizzle::offset(row, column, across),
            Layout::RowMajor => block,
            Layout::RowMajorPadded => row * swizzle::padded_columns(across) + column,
            Layout::ColumnMajor => column * swizzle::padded_rows(tensor.rows()) + row,
            Layout::RowsInOrder => {
                let tile = (row / 128) * across.div_ceil(4) + column / 4;
                tile * 512 + row % 128 * 4 + column % 4
            }
            Layout::TilesTransposed => {
                let tile = (column / 4) * tensor.rows().div_ceil(128) + row / 128;
                tile * 512 + swizzle::offset(row % 128, column % 4, 4)
            }
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

/// E4M3 by cutting the mantissa off.
fn truncated(x: f32) -> u8 {
    let code = e4m3::encode(x);
    code - u8::from(code > 0 && e4m3::decode(code) > x)
}

/// E4M3 upward.
fn raised(x: f32) -> u8 {
    let code = e4m3::encode(x);
    code + u8::from(code < 0x7e && e4m3::decode(code) < x)
}
