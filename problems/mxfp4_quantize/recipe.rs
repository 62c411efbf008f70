//! MXFP4 quantization with every choice left open that people are known to get wrong.

use formats::{bf16, e2m1, f16, pack, swizzle};

use super::{BLOCK, divisor_byte, reciprocal};
use crate::encoder::{Encoder, Sign};
use crate::hypothesis::Twist;

/// The choices. [`Recipe::RIGHT`] is the reference.
#[derive(Clone, Copy, Debug)]
pub(super) struct Recipe {
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

#[derive(Clone, Copy, Debug, PartialEq)]
enum Order {
    EvenLow,
    EvenHigh,
    /// The high nibble stays 0.
    EvenOnly,
    /// The low nibble stays 0.
    OddOnly,
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
pub(super) struct Matrix<'a> {
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
pub(super) struct Written {
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
            match self.order {
                Order::EvenLow => pack::pair(even, odd),
                Order::EvenHigh => pack::pair(odd, even),
                Order::EvenOnly => pack::pair(even, 0),
                Order::OddOnly => pack::pair(0, odd),
            }
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

fn flushed(x: f32) -> f32 {
    if x.abs() < f32::MIN_POSITIVE { 0.0f32.copysign(x) } else { x }
}

/// The wrong turns that the field knows. Those named first are the likelier.
pub(super) const TWISTS: [Twist<Recipe>; 37] = [
    Twist {
        id: "ceil_scale",
        says: "the scale's exponent is ceil(log2(amax)) - 2; FLOOR rounds the logarithm down",
        axis: 0,
        apply: |r| r.scale = |amax| amax.floor() + i32::from(amax.fraction),
    },
    Twist {
        id: "scale_bumped",
        says: "the scale is doubled where amax / scale exceeds 6; FLOOR lets those values clip",
        axis: 0,
        apply: |r| {
            r.scale = |amax| {
                let (sixth, inexact) = amax.sixth();
                (sixth + i32::from(inexact)).max(0)
            }
        },
    },
    Twist {
        id: "scale_off_by_one_up",
        says: "every scale is twice what it should be: its exponent is one too large, as with \
               frexp, whose mantissa is below 1",
        axis: 0,
        apply: |r| r.scale = |amax| amax.floor() + 1,
    },
    Twist {
        id: "scale_off_by_one_down",
        says: "every scale is half of what it should be: its exponent is one too small",
        axis: 0,
        apply: |r| r.scale = |amax| (amax.exponent - 3).max(0),
    },
    Twist {
        id: "round_half_scale",
        says: "the scale is rounded to the nearest power of two (amax from 1.75 up counts as 2, \
               TorchAO's EVEN)",
        axis: 0,
        apply: |r| {
            r.scale = |amax| {
                let rounded = f32::from_bits(amax.value.to_bits().saturating_add(1 << 21));
                Amax::of(rounded).floor()
            }
        },
    },
    Twist {
        id: "nearest_power_of_two_scale",
        says: "the scale is the power of two nearest to amax / 6 by its logarithm",
        axis: 0,
        apply: |r| {
            r.scale = |amax| {
                let exponent = (f64::from(amax.value) / 6.0).log2().round();
                (exponent as i32).saturating_add(127).max(0)
            }
        },
    },
    Twist {
        id: "floor_of_amax_over_six",
        says: "the scale's exponent is floor(log2(amax / 6)), which is one less than FLOOR where \
               amax is below 1.5 times a power of two",
        axis: 0,
        apply: |r| r.scale = |amax| amax.sixth().0.max(0),
    },
    Twist {
        id: "emax_not_subtracted",
        says: "the scale's exponent is floor(log2(amax)): the 2 binades that E2M1 itself reaches \
               are not subtracted",
        axis: 0,
        apply: |r| r.scale = |amax| amax.exponent,
    },
    Twist {
        id: "ceil_scale_emax_not_subtracted",
        says: "the scale's exponent is ceil(log2(amax)), so that every scaled value is at most 1",
        axis: 0,
        apply: |r| r.scale = |amax| amax.exponent + i32::from(amax.fraction),
    },
    Twist {
        id: "scale_not_clamped",
        says: "the scale byte is not kept at 0 or above: a small block wraps to 254 or 255",
        axis: 0,
        apply: |r| r.scale = |amax| amax.exponent - 2,
    },
    Twist {
        id: "constant_scale",
        says: "every scale byte is 124, right only for blocks whose amax lies in [0.5, 1)",
        axis: 0,
        apply: |r| r.scale = |_| 124,
    },
    Twist {
        id: "signed_amax",
        says: "amax is the largest value, not the largest magnitude",
        axis: 1,
        apply: |r| r.size = |x| x,
    },
    Twist {
        id: "amax_of_half_block",
        says: "amax is taken of the first 16 elements of the block only",
        axis: 2,
        apply: |r| r.scope = Scope::FirstHalf,
    },
    Twist {
        id: "block_of_16",
        says: "each half of a block is divided by the scale of its own 16 elements, and only the \
               first half's is stored: MXFP4 blocks have 32",
        axis: 2,
        apply: |r| r.scope = Scope::EachHalf,
    },
    Twist {
        id: "block_of_64",
        says: "amax is taken of two blocks together",
        axis: 2,
        apply: |r| r.scope = Scope::TwoBlocks,
    },
    Twist {
        id: "amax_of_row",
        says: "amax is taken of the whole row",
        axis: 2,
        apply: |r| r.scope = Scope::Row,
    },
    Twist {
        id: "scale_byte_off_by_one_up",
        says: "the stored scale byte is one more than the scale that was divided by",
        axis: 3,
        apply: |r| r.stored = |byte| byte + 1,
    },
    Twist {
        id: "scale_byte_off_by_one_down",
        says: "the stored scale byte is one less than the scale that was divided by",
        axis: 3,
        apply: |r| r.stored = |byte| byte - 1,
    },
    Twist {
        id: "scale_bias_missing",
        says: "the stored scale byte is the exponent without the bias of 127",
        axis: 3,
        apply: |r| r.stored = |byte| byte - 127,
    },
    Twist {
        id: "scales_transposed",
        says: "the scales are stored column by column; they belong beside each other along a row",
        axis: 4,
        apply: |r| r.layout = Layout::ColumnMajor,
    },
    Twist {
        id: "scales_swizzled",
        says: "the scales are stored in the 128x4 layout; this problem wants them row-major",
        axis: 4,
        apply: |r| r.layout = Layout::Swizzled,
    },
    Twist {
        id: "not_scaled",
        says: "the values are encoded without being divided by the scale",
        axis: 5,
        apply: |r| r.divide = Divide::Not,
    },
    Twist {
        id: "scale_inverted",
        says: "the values are multiplied by the scale; they must be divided by it",
        axis: 5,
        apply: |r| r.divide = Divide::Inverted,
    },
    Twist {
        id: "scale_not_rounded",
        says: "the values are divided by amax / 6 itself; they must be divided by the power of two \
               that is stored",
        axis: 5,
        apply: |r| r.divide = Divide::BySixth,
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
    Twist {
        id: "subnormals_flushed",
        says: "subnormal inputs count as zero, as under --use_fast_math or -ftz=true",
        axis: 9,
        apply: |r| r.read = flushed,
    },
    Twist {
        id: "read_as_f16",
        says: "the inputs are rounded to f16 first",
        axis: 9,
        apply: |r| r.read = |x| f16::decode(f16::encode(x)),
    },
    Twist {
        id: "read_as_bf16",
        says: "the inputs are rounded to bf16 first",
        axis: 9,
        apply: |r| r.read = |x| bf16::decode(bf16::encode(x)),
    },
];
