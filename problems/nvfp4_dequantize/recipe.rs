//! NVFP4 dequantization with every choice left open that people are known to get wrong.

use formats::{bf16, e4m3, e8m0, f16, swizzle};

use crate::decoder::{self, Decoder, Decodes};
use crate::folders::nvfp4_quantize::BLOCK;
use crate::hypothesis::{Mutation, joined};

/// The choices. [`Recipe::RIGHT`] is the reference.
#[derive(Clone, Copy, Debug)]
pub(super) struct Recipe {
    /// Elements that share a scale.
    block: usize,
    /// Where the scale of a row and block lies, with so many blocks in a row and so many rows.
    place: fn(usize, usize, usize, usize) -> usize,
    scale: fn(u8) -> f32,
    decoder: Decoder,
    /// From the block's scale and the global one to the factor.
    factor: fn(f32, f32) -> f32,
    store: fn(f32) -> f32,
}

pub(super) struct Input<'a> {
    pub q: &'a [u8],
    pub scale: &'a [u8],
    pub global: f32,
    pub columns: usize,
}

impl Recipe {
    pub const RIGHT: Recipe = Recipe {
        block: BLOCK,
        place: |row, block, across, _| swizzle::offset(row, block, across),
        scale: e4m3::decode,
        decoder: Decoder::RIGHT,
        factor: |scale, global| scale * (1.0 / global),
        store: |value| value,
    };

    /// Value of element `index`; NaN where a scale would be read out of bounds.
    pub fn value(&self, input: &Input, index: usize) -> f32 {
        let (row, column) = (index / input.columns, index % input.columns);
        let rows = input.q.len() * 2 / input.columns;
        let place = (self.place)(row, column / self.block, input.columns / BLOCK, rows);
        let scale = input.scale.get(place).map_or(f32::NAN, |&byte| (self.scale)(byte));
        (self.store)(self.decoder.decode(input.q, index) * (self.factor)(scale, input.global))
    }
}

impl Decodes for Recipe {
    fn decoder(&mut self) -> &mut Decoder {
        &mut self.decoder
    }
}

/// The known bugs that the field knows. Those named first are the likelier.
pub(super) const MUTATIONS: [Mutation<Recipe>; 24] =
    joined(&[&decoder::rejected_files(0), &SCALING]);

const SCALING: [Mutation<Recipe>; 17] = [
    Mutation {
        id: "global_scale_missing",
        says: "the results are not divided by the global scale",
        axis: 2,
        apply: |r| r.factor = |scale, _| scale,
    },
    Mutation {
        id: "global_scale_inverted",
        says: "the results are multiplied by the global scale: sf_g encodes, 1 / sf_g decodes",
        axis: 2,
        apply: |r| r.factor = |scale, global| scale * global,
    },
    Mutation {
        id: "scale_missing",
        says: "the block's scale is not used",
        axis: 2,
        apply: |r| r.factor = |_, global| 1.0 / global,
    },
    Mutation {
        id: "scale_inverted",
        says: "the codes are divided by the block's scale; they must be multiplied by it",
        axis: 2,
        apply: |r| r.factor = |scale, global| 1.0 / (scale * global),
    },
    Mutation {
        id: "scale_subnormal_missing",
        says: "scales below 2^-6 are read with a hidden bit; they are subnormal",
        axis: 3,
        apply: |r| r.scale = decoder::scale_without_subnormal,
    },
    Mutation {
        id: "scale_subnormals_flushed",
        says: "scales below 2^-6 are read as zero; they are subnormal",
        axis: 3,
        apply: |r| r.scale = |byte| if byte < 8 { 0.0 } else { e4m3::decode(byte) },
    },
    Mutation {
        id: "nan_scale_as_480",
        says: "scale byte 0x7f is read as 480; it is NaN",
        axis: 3,
        apply: |r| {
            r.scale = |byte| if byte == e4m3::NAN { 480.0 } else { e4m3::decode(byte) };
        },
    },
    Mutation {
        id: "scale_as_e8m0",
        says: "the scale is read as E8M0, a power of two, as in MXFP4; it is E4M3",
        axis: 3,
        apply: |r| r.scale = e8m0::decode,
    },
    Mutation {
        id: "scale_as_number",
        says: "the scale byte itself is the factor; it is an E4M3 number",
        axis: 3,
        apply: |r| r.scale = f32::from,
    },
    Mutation {
        id: "block_of_8",
        says: "a scale is used for 8 elements; NVFP4 blocks have 16",
        axis: 4,
        apply: |r| r.block = 8,
    },
    Mutation {
        id: "block_of_32",
        says: "a scale is used for 32 elements, as in MXFP4; NVFP4 blocks have 16",
        axis: 4,
        apply: |r| r.block = 32,
    },
    Mutation {
        id: "scales_row_major",
        says: "the scales are read row by row; they lie in the 128x4 layout",
        axis: 5,
        apply: |r| r.place = |row, block, across, _| row * across + block,
    },
    Mutation {
        id: "scales_row_major_padded",
        says: "the scales are read row by row, columns padded to 4; they lie in the 128x4 layout",
        axis: 5,
        apply: |r| {
            r.place = |row, block, across, _| row * swizzle::padded_columns(across) + block;
        },
    },
    Mutation {
        id: "scale_rows_in_order",
        says: "within a tile of scales the rows are taken to follow each other; rows 32 apart are \
               side by side",
        axis: 5,
        apply: |r| {
            r.place = |row, block, across, _| {
                let tile = (row / 128) * across.div_ceil(4) + block / 4;
                tile * 512 + row % 128 * 4 + block % 4
            };
        },
    },
    Mutation {
        id: "scale_tiles_transposed",
        says: "the tiles of scales are taken to follow each other down the rows; they go along the \
               columns first",
        axis: 5,
        apply: |r| {
            r.place = |row, block, _, rows| {
                let tile = (block / 4) * rows.div_ceil(128) + row / 128;
                tile * 512 + swizzle::offset(row % 128, block % 4, 4)
            };
        },
    },
    Mutation {
        id: "rounded_to_f16",
        says: "the results went through f16; they are float32",
        axis: 6,
        apply: |r| r.store = |value| f16::decode(f16::encode(value)),
    },
    Mutation {
        id: "rounded_to_bf16",
        says: "the results went through bf16; they are float32",
        axis: 6,
        apply: |r| r.store = |value| bf16::decode(bf16::encode(value)),
    },
];
