//! The bugs that the field knows. Those named first are the likelier. (Which way ties of the
//! scale go is not among them: the reciprocal of 6 is never exact, so no scale lies on a tie.)

use formats::e4m3;

use super::{Factor, Layout, Recipe, Scope, raised, truncated};
use crate::encoder;
use crate::hypothesis::{Mutation, joined};

pub(in super::super) const MUTATIONS: [Mutation<Recipe>; 30] =
    joined(&[&SCALING, &encoder::rejected_files(6)]);

const SCALING: [Mutation<Recipe>; 20] = [
    Mutation {
        id: "amax_of_half_block",
        says: "amax is taken of the first 8 elements of the block only",
        axis: 0,
        apply: |r| r.scope = Scope::FirstHalf,
    },
    Mutation {
        id: "block_of_8",
        says: "each half of a block is scaled by its own 8 elements, and only the first half's \
               scale is stored",
        axis: 0,
        apply: |r| r.scope = Scope::EachHalf,
    },
    Mutation {
        id: "block_of_32",
        says: "amax is taken of 32 elements, as in MXFP4: NVFP4 blocks have 16",
        axis: 0,
        apply: |r| r.scope = Scope::TwoBlocks,
    },
    Mutation {
        id: "amax_of_row",
        says: "amax is taken of the whole row",
        axis: 0,
        apply: |r| r.scope = Scope::Row,
    },
    Mutation {
        id: "signed_amax",
        says: "amax is the largest value, not the largest magnitude",
        axis: 1,
        apply: |r| r.signed_amax = true,
    },
    Mutation {
        id: "global_scale_missing",
        says: "the global scale is not used at all",
        axis: 2,
        apply: |r| r.global = |_| (1.0, 1.0),
    },
    Mutation {
        id: "global_scale_missing_in_scale",
        says: "the block's scale is not multiplied by the global scale",
        axis: 2,
        apply: |r| r.global = |global| (1.0, global),
    },
    Mutation {
        id: "global_scale_missing_in_codes",
        says: "the elements' factor is 1 / scale; it must be global scale / scale",
        axis: 2,
        apply: |r| r.global = |global| (global, 1.0),
    },
    Mutation {
        id: "global_scale_inverted",
        says: "the global scale is divided by where it must multiply: sf_g encodes, 1 / sf_g decodes",
        axis: 2,
        apply: |r| r.global = |global| (1.0 / global, 1.0 / global),
    },
    Mutation {
        id: "scale_truncated",
        says: "the E4M3 scale is cut, not rounded to nearest",
        axis: 3,
        apply: |r| r.round = truncated,
    },
    Mutation {
        id: "scale_rounded_up",
        says: "the E4M3 scale is rounded up, so that nothing clips; it is rounded to nearest",
        axis: 3,
        apply: |r| r.round = raised,
    },
    Mutation {
        id: "scale_kept_normal",
        says: "the scale is kept at 2^-6 or above, as TorchAO does; subnormal scales are meant",
        axis: 3,
        apply: |r| r.round = |x| e4m3::encode(x.max(0.015625)),
    },
    Mutation {
        id: "scale_not_saturated",
        says: "a scale above 448 becomes NaN; it saturates",
        axis: 3,
        apply: |r| r.round = |x| if x > e4m3::MAX { e4m3::NAN } else { e4m3::encode(x) },
    },
    Mutation {
        id: "scale_not_requantized",
        says: "the elements are multiplied by 6 / amax; the factor comes from the scale as stored, \
               after its rounding to E4M3",
        axis: 4,
        apply: |r| r.factor = Factor::Unrounded,
    },
    Mutation {
        id: "not_scaled",
        says: "the elements are encoded without being scaled",
        axis: 4,
        apply: |r| r.factor = Factor::Missing,
    },
    Mutation {
        id: "scales_row_major",
        says: "the scales are stored row by row; they belong in the 128x4 layout",
        axis: 5,
        apply: |r| r.layout = Layout::RowMajor,
    },
    Mutation {
        id: "scales_row_major_padded",
        says: "the scales are stored row by row, columns padded to 4; they belong in the 128x4 \
               layout",
        axis: 5,
        apply: |r| r.layout = Layout::RowMajorPadded,
    },
    Mutation {
        id: "scales_column_major",
        says: "the scales are stored column by column; they belong in the 128x4 layout",
        axis: 5,
        apply: |r| r.layout = Layout::ColumnMajor,
    },
    Mutation {
        id: "scale_rows_in_order",
        says: "within a tile of scales the rows follow each other; rows 32 apart belong side by side",
        axis: 5,
        apply: |r| r.layout = Layout::RowsInOrder,
    },
    Mutation {
        id: "scale_tiles_transposed",
        says: "the tiles of scales follow each other down the rows; they go along the columns first",
        axis: 5,
        apply: |r| r.layout = Layout::TilesTransposed,
    },
];
