//! MXFP4 dequantization with every choice left open that people are known to get wrong.

use formats::{e8m0, f16};

use crate::decoder::{self, Decoder, Decodes};
use crate::folders::mxfp4_quantize::BLOCK;
use crate::hypothesis::{Mutation, joined};
use crate::reciprocal::flush;

/// The choices. [`Recipe::RIGHT`] is the reference.
#[derive(Clone, Copy, Debug)]
pub(super) struct Recipe {
    /// Which scale belongs to an element: row, column, columns of the matrix, rows.
    scale_of: fn(usize, usize, usize, usize) -> usize,
    scale: fn(u8) -> f32,
    decoder: Decoder,
    combine: fn(f32, f32) -> f32,
    store: fn(f32) -> f32,
}

pub(super) struct Input<'a> {
    pub q: &'a [u8],
    pub scale: &'a [u8],
    pub columns: usize,
}

impl Recipe {
    pub const RIGHT: Recipe = Recipe {
        scale_of: |row, column, columns, _| row * (columns / BLOCK) + column / BLOCK,
        scale: e8m0::decode,
        decoder: Decoder::RIGHT,
        combine: |code, scale| code * scale,
        store: |value| value,
    };

    /// Value of element `index`; NaN where a scale would be read out of bounds.
    pub fn value(&self, input: &Input, index: usize) -> f32 {
        let (row, column) = (index / input.columns, index % input.columns);
        let rows = input.q.len() * 2 / input.columns;
        let place = (self.scale_of)(row, column, input.columns, rows);
        let scale = input.scale.get(place).map_or(f32::NAN, |&byte| (self.scale)(byte));
        (self.store)((self.combine)(self.decoder.decode(input.q, index), scale))
    }
}

impl Decodes for Recipe {
    fn decoder(&mut self) -> &mut Decoder {
        &mut self.decoder
    }
}

/// The known bugs that the field knows. Those named first are the likelier.
pub(super) const MUTATIONS: [Mutation<Recipe>; 22] =
    joined(&[&decoder::rejected_files(0), &SCALING]);

const SCALING: [Mutation<Recipe>; 15] = [
    Mutation {
        id: "scale_missing",
        says: "the codes are not multiplied by the scale",
        axis: 2,
        apply: |r| r.combine = |code, _| code,
    },
    Mutation {
        id: "scale_inverted",
        says: "the codes are divided by the scale; they must be multiplied by it",
        axis: 2,
        apply: |r| r.combine = |code, scale| code / scale,
    },
    Mutation {
        id: "scale_bias_126",
        says: "the scale's bias is taken for 126; it is 127",
        axis: 3,
        apply: |r| r.scale = |byte| e8m0::decode(byte) * 2.0,
    },
    Mutation {
        id: "scale_bias_128",
        says: "the scale's bias is taken for 128; it is 127",
        axis: 3,
        apply: |r| r.scale = |byte| e8m0::decode(byte) * 0.5,
    },
    Mutation {
        id: "scale_as_number",
        says: "the scale byte itself is the factor; it is the exponent of a power of two",
        axis: 3,
        apply: |r| r.scale = f32::from,
    },
    Mutation {
        id: "scale_shifted_only",
        says: "the scale is its byte shifted into an exponent field, which makes byte 0 zero and \
               byte 255 infinite; they are 2^-127 and NaN",
        axis: 3,
        apply: |r| r.scale = |byte| f32::from_bits(u32::from(byte) << 23),
    },
    Mutation {
        id: "least_scale_as_zero",
        says: "scale byte 0 is read as zero; it is 2^-127",
        axis: 3,
        apply: |r| r.scale = |byte| if byte == 0 { 0.0 } else { e8m0::decode(byte) },
    },
    Mutation {
        id: "nan_scale_as_infinity",
        says: "scale byte 255 is read as 2^128, infinity; it is NaN",
        axis: 3,
        apply: |r| r.scale = |byte| if byte == 255 { f32::INFINITY } else { e8m0::decode(byte) },
    },
    Mutation {
        id: "block_of_16",
        says: "a scale is used for 16 elements; MXFP4 blocks have 32",
        axis: 4,
        apply: |r| r.scale_of = |row, column, columns, _| (row * columns + column) / 16,
    },
    Mutation {
        id: "block_of_64",
        says: "a scale is used for 64 elements; MXFP4 blocks have 32",
        axis: 4,
        apply: |r| r.scale_of = |row, column, columns, _| (row * columns + column) / 64,
    },
    Mutation {
        id: "scale_of_row",
        says: "the first scale of the row is used for the whole row",
        axis: 4,
        apply: |r| r.scale_of = |row, _, columns, _| row * (columns / BLOCK),
    },
    Mutation {
        id: "scale_of_first_row",
        says: "the scales of row 0 are used for every row",
        axis: 4,
        apply: |r| r.scale_of = |_, column, _, _| column / BLOCK,
    },
    Mutation {
        id: "scales_transposed",
        says: "the scales are read column by column; they lie beside each other along a row",
        axis: 4,
        apply: |r| r.scale_of = |row, column, _, rows| column / BLOCK * rows + row,
    },
    Mutation {
        id: "subnormals_flushed",
        says: "results below 2^-126 are zero, as under --use_fast_math or -ftz=true",
        axis: 5,
        apply: |r| {
            // Flushing takes the inputs of the product, too: the scale 2^-127 is one.
            r.scale = |byte| flush(e8m0::decode(byte));
            r.store = flush;
        },
    },
    Mutation {
        id: "rounded_to_f16",
        says: "the results went through f16, which has neither the range nor the smallest values",
        axis: 5,
        apply: |r| r.store = |value| f16::decode(f16::encode(value)),
    },
];
