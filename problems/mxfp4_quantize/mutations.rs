//! The bugs that the field knows. Those named first are the likelier.

use formats::{bf16, f16};

use super::{Amax, Divide, Layout, Recipe, Scope, flushed};
use crate::encoder;
use crate::hypothesis::{Mutation, joined};

pub(crate) const MUTATIONS: [Mutation<Recipe>; 37] =
    joined(&[&SCALING, &encoder::rejected_files(6), &READING]);

const SCALING: [Mutation<Recipe>; 24] = [
    Mutation {
        id: "ceil_scale",
        says: "the scale's exponent is ceil(log2(amax)) - 2; FLOOR rounds the logarithm down",
        axis: 0,
        apply: |r| r.scale = |amax| amax.floor() + i32::from(amax.fraction),
    },
    Mutation {
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
    Mutation {
        id: "scale_off_by_one_up",
        says: "every scale is twice what it should be: its exponent is one too large, as with \
               frexp, whose mantissa is below 1",
        axis: 0,
        apply: |r| r.scale = |amax| amax.floor() + 1,
    },
    Mutation {
        id: "scale_off_by_one_down",
        says: "every scale is half of what it should be: its exponent is one too small",
        axis: 0,
        apply: |r| r.scale = |amax| (amax.exponent - 3).max(0),
    },
    Mutation {
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
    Mutation {
        id: "nearest_power_of_two_scale",
        says: "the scale is the power of two nearest to amax / 6 by its logarithm",
        axis: 0,
        apply: |r| {
            r.scale = |amax| {
                let exponent = (f64::from(amax.value) / 6.0).log2().round();
                // Of zero it is -inf, of infinity inf.
                exponent.clamp(-127.0, 128.0) as i32 + 127
            }
        },
    },
    Mutation {
        id: "floor_of_amax_over_six",
        says: "the scale's exponent is floor(log2(amax / 6)), which is one less than FLOOR where \
               amax is below 1.5 times a power of two",
        axis: 0,
        apply: |r| r.scale = |amax| amax.sixth().0.max(0),
    },
    Mutation {
        id: "emax_not_subtracted",
        says: "the scale's exponent is floor(log2(amax)): the 2 binades that E2M1 itself reaches \
               are not subtracted",
        axis: 0,
        apply: |r| r.scale = |amax| amax.exponent,
    },
    Mutation {
        id: "ceil_scale_emax_not_subtracted",
        says: "the scale's exponent is ceil(log2(amax)), so that every scaled value is at most 1",
        axis: 0,
        apply: |r| r.scale = |amax| amax.exponent + i32::from(amax.fraction),
    },
    Mutation {
        id: "scale_not_clamped",
        says: "the scale byte is not kept at 0 or above: a small block wraps to 254 or 255",
        axis: 0,
        apply: |r| r.scale = |amax| amax.exponent - 2,
    },
    Mutation {
        id: "constant_scale",
        says: "every scale byte is 124, right only for blocks whose amax lies in [0.5, 1)",
        axis: 0,
        apply: |r| r.scale = |_| 124,
    },
    Mutation {
        id: "signed_amax",
        says: "amax is the largest value, not the largest magnitude",
        axis: 1,
        apply: |r| r.size = |x| x,
    },
    Mutation {
        id: "amax_of_half_block",
        says: "amax is taken of the first 16 elements of the block only",
        axis: 2,
        apply: |r| r.scope = Scope::FirstHalf,
    },
    Mutation {
        id: "block_of_16",
        says: "each half of a block is divided by the scale of its own 16 elements, and only the \
               first half's is stored: MXFP4 blocks have 32",
        axis: 2,
        apply: |r| r.scope = Scope::EachHalf,
    },
    Mutation {
        id: "block_of_64",
        says: "amax is taken of two blocks together",
        axis: 2,
        apply: |r| r.scope = Scope::TwoBlocks,
    },
    Mutation {
        id: "amax_of_row",
        says: "amax is taken of the whole row",
        axis: 2,
        apply: |r| r.scope = Scope::Row,
    },
    Mutation {
        id: "scale_byte_off_by_one_up",
        says: "the stored scale byte is one more than the scale that was divided by",
        axis: 3,
        apply: |r| r.stored = |byte| byte + 1,
    },
    Mutation {
        id: "scale_byte_off_by_one_down",
        says: "the stored scale byte is one less than the scale that was divided by",
        axis: 3,
        apply: |r| r.stored = |byte| byte - 1,
    },
    Mutation {
        id: "scale_bias_missing",
        says: "the stored scale byte is the exponent without the bias of 127",
        axis: 3,
        apply: |r| r.stored = |byte| byte - 127,
    },
    Mutation {
        id: "scales_transposed",
        says: "the scales are stored column by column; they belong beside each other along a row",
        axis: 4,
        apply: |r| r.layout = Layout::ColumnMajor,
    },
    Mutation {
        id: "scales_swizzled",
        says: "the scales are stored in the 128x4 layout; this problem wants them row-major",
        axis: 4,
        apply: |r| r.layout = Layout::Swizzled,
    },
    Mutation {
        id: "not_scaled",
        says: "the values are encoded without being divided by the scale",
        axis: 5,
        apply: |r| r.divide = Divide::Not,
    },
    Mutation {
        id: "scale_inverted",
        says: "the values are multiplied by the scale; they must be divided by it",
        axis: 5,
        apply: |r| r.divide = Divide::Inverted,
    },
    Mutation {
        id: "scale_not_rounded",
        says: "the values are divided by amax / 6 itself; they must be divided by the power of two \
               that is stored",
        axis: 5,
        apply: |r| r.divide = Divide::BySixth,
    },
];

const READING: [Mutation<Recipe>; 3] = [
    Mutation {
        id: "subnormals_flushed",
        says: "subnormal inputs count as zero, as under --use_fast_math or -ftz=true",
        axis: 9,
        apply: |r| r.read = flushed,
    },
    Mutation {
        id: "read_as_f16",
        says: "the inputs are rounded to f16 first",
        axis: 9,
        apply: |r| r.read = |x| f16::decode(f16::encode(x)),
    },
    Mutation {
        id: "read_as_bf16",
        says: "the inputs are rounded to bf16 first",
        axis: 9,
        apply: |r| r.read = |x| bf16::decode(bf16::encode(x)),
    },
];
