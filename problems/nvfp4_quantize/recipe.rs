//! NVFP4 quantization with every choice left open that people are known to get wrong.

use formats::{e2m1, e4m3, f16, swizzle};

use super::compare::{Codes, Tensor};
use super::{BLOCK, Scaling, amax};
use crate::encoder::{Encoder, Sign};
use crate::hypothesis::Twist;

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

#[derive(Clone, Copy, Debug, PartialEq)]
enum Order {
    EvenLow,
    EvenHigh,
    EvenOnly,
    OddOnly,
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
        let zero = Codes::between(0, 0);
        let codes = std::array::from_fn(|index| match self.order {
            Order::EvenLow => code(index),
            Order::EvenHigh => code(index ^ 1),
            Order::EvenOnly => {
                if index % 2 == 0 {
                    code(index)
                } else {
                    zero
                }
            }
            Order::OddOnly => {
                if index % 2 == 1 {
                    code(index)
                } else {
                    zero
                }
            }
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

/// The wrong turns that the field knows. Those named first are the likelier. (Which way ties of the
/// scale go is not among them: the reciprocal of 6 is never exact, so no scale lies on a tie.)
pub(super) const TWISTS: [Twist<Recipe>; 30] = [
    Twist {
        id: "amax_of_half_block",
        says: "amax is taken of the first 8 elements of the block only",
        axis: 0,
        apply: |r| r.scope = Scope::FirstHalf,
    },
    Twist {
        id: "block_of_8",
        says: "each half of a block is scaled by its own 8 elements, and only the first half's \
               scale is stored",
        axis: 0,
        apply: |r| r.scope = Scope::EachHalf,
    },
    Twist {
        id: "block_of_32",
        says: "amax is taken of 32 elements, as in MXFP4: NVFP4 blocks have 16",
        axis: 0,
        apply: |r| r.scope = Scope::TwoBlocks,
    },
    Twist {
        id: "amax_of_row",
        says: "amax is taken of the whole row",
        axis: 0,
        apply: |r| r.scope = Scope::Row,
    },
    Twist {
        id: "signed_amax",
        says: "amax is the largest value, not the largest magnitude",
        axis: 1,
        apply: |r| r.signed_amax = true,
    },
    Twist {
        id: "global_scale_missing",
        says: "the global scale is not used at all",
        axis: 2,
        apply: |r| r.global = |_| (1.0, 1.0),
    },
    Twist {
        id: "global_scale_missing_in_scale",
        says: "the block's scale is not multiplied by the global scale",
        axis: 2,
        apply: |r| r.global = |global| (1.0, global),
    },
    Twist {
        id: "global_scale_missing_in_codes",
        says: "the elements' factor is 1 / scale; it must be global scale / scale",
        axis: 2,
        apply: |r| r.global = |global| (global, 1.0),
    },
    Twist {
        id: "global_scale_inverted",
        says: "the global scale is divided by where it must multiply: sf_g encodes, 1 / sf_g decodes",
        axis: 2,
        apply: |r| r.global = |global| (1.0 / global, 1.0 / global),
    },
    Twist {
        id: "scale_truncated",
        says: "the E4M3 scale is cut, not rounded to nearest",
        axis: 3,
        apply: |r| r.round = truncated,
    },
    Twist {
        id: "scale_rounded_up",
        says: "the E4M3 scale is rounded up, so that nothing clips; it is rounded to nearest",
        axis: 3,
        apply: |r| r.round = raised,
    },
    Twist {
        id: "scale_kept_normal",
        says: "the scale is kept at 2^-6 or above, as TorchAO does; subnormal scales are meant",
        axis: 3,
        apply: |r| r.round = |x| e4m3::encode(x.max(0.015625)),
    },
    Twist {
        id: "scale_not_saturated",
        says: "a scale above 448 becomes NaN; it saturates",
        axis: 3,
        apply: |r| r.round = |x| if x > e4m3::MAX { e4m3::NAN } else { e4m3::encode(x) },
    },
    Twist {
        id: "scale_not_requantized",
        says: "the elements are multiplied by 6 / amax; the factor comes from the scale as stored, \
               after its rounding to E4M3",
        axis: 4,
        apply: |r| r.factor = Factor::Unrounded,
    },
    Twist {
        id: "not_scaled",
        says: "the elements are encoded without being scaled",
        axis: 4,
        apply: |r| r.factor = Factor::Missing,
    },
    Twist {
        id: "scales_row_major",
        says: "the scales are stored row by row; they belong in the 128x4 layout",
        axis: 5,
        apply: |r| r.layout = Layout::RowMajor,
    },
    Twist {
        id: "scales_row_major_padded",
        says: "the scales are stored row by row, columns padded to 4; they belong in the 128x4 \
               layout",
        axis: 5,
        apply: |r| r.layout = Layout::RowMajorPadded,
    },
    Twist {
        id: "scales_column_major",
        says: "the scales are stored column by column; they belong in the 128x4 layout",
        axis: 5,
        apply: |r| r.layout = Layout::ColumnMajor,
    },
    Twist {
        id: "scale_rows_in_order",
        says: "within a tile of scales the rows follow each other; rows 32 apart belong side by side",
        axis: 5,
        apply: |r| r.layout = Layout::RowsInOrder,
    },
    Twist {
        id: "scale_tiles_transposed",
        says: "the tiles of scales follow each other down the rows; they go along the columns first",
        axis: 5,
        apply: |r| r.layout = Layout::TilesTransposed,
    },
    Twist {
        id: "ties_away_from_zero",
        says: "ties round away from zero: the encoder uses >= at every midpoint",
        axis: 6,
        apply: |r| r.encoder.round_like(Encoder::TIES_AWAY),
    },
    Twist {
        id: "ties_toward_zero",
        says: "ties round toward zero: the encoder uses > at every midpoint, or picks the nearest \
               of a table with a strict <",
        axis: 6,
        apply: |r| r.encoder.round_like(Encoder::TIES_TOWARD_ZERO),
    },
    Twist {
        id: "ties_to_odd",
        says: "ties round to the odd code: > and >= are exchanged",
        axis: 6,
        apply: |r| r.encoder.round_like(Encoder::TIES_TO_ODD),
    },
    Twist {
        id: "truncated",
        says: "values are cut to the next magnitude below; they must be rounded to the nearest",
        axis: 6,
        apply: |r| r.encoder.round_like(Encoder::TRUNCATING),
    },
    Twist {
        id: "sign_dropped",
        says: "the sign bit, bit 3 of the code, is always 0",
        axis: 7,
        apply: |r| r.encoder.treat_sign(Sign::Dropped),
    },
    Twist {
        id: "negative_zero_dropped",
        says: "a negative value that rounds to zero gives code 0; its sign is kept: code 8",
        axis: 7,
        apply: |r| r.encoder.treat_sign(Sign::PositiveZero),
    },
    Twist {
        id: "negative_zero_input_dropped",
        says: "an input of -0 gives code 0 (as x < 0 would decide); its sign bit is kept: code 8",
        axis: 7,
        apply: |r| r.encoder.treat_sign(Sign::ByComparison),
    },
    Twist {
        id: "nibbles_swapped",
        says: "the nibbles are swapped: the even element belongs in the low nibble",
        axis: 8,
        apply: |r| r.order = Order::EvenHigh,
    },
    Twist {
        id: "odd_elements_missing",
        says: "the high nibbles are 0: the odd elements are not packed",
        axis: 8,
        apply: |r| r.order = Order::EvenOnly,
    },
    Twist {
        id: "even_elements_missing",
        says: "the low nibbles are 0: the even elements are not packed",
        axis: 8,
        apply: |r| r.order = Order::OddOnly,
    },
];
