//! The bugs that the field knows. Those named first are the likelier.

use super::{BLOCK, Operand, Place, Recipe, exponentials};
use crate::folders::mxfp4_quantize::recipe::MUTATIONS as OF_QUANTIZER;
use crate::hypothesis::Mutation;

/// A known bug of the quantizer, taken with Q and with K.
fn both(recipe: &mut Recipe, id: &str) {
    quantizer(&mut recipe.q, id);
    quantizer(&mut recipe.k, id);
}

fn quantizer(operand: &mut Operand, id: &str) {
    for mutation in OF_QUANTIZER.iter().filter(|mutation| mutation.id == id) {
        (mutation.apply)(&mut operand.quantizer);
    }
}

/// Keys in the whole tiles of `TILE`.
fn whole<const TILE: usize>(keys: usize, _: usize) -> usize {
    keys / TILE * TILE
}

fn filled_up<const TILE: usize>(keys: usize) -> usize {
    keys.next_multiple_of(TILE)
}

/// Elements `at` of a tile that is `TILE` long in memory but read with rows of `TILE` elements.
fn by_tile<const TILE: usize>(place: Place) -> (usize, usize) {
    let Place { row, column, columns } = place;
    let offset = row % TILE * TILE + column;
    (row / TILE * TILE + offset / columns, offset % columns)
}

/// The element that a lane puts into fragment A if it takes row `lane % 16` and column group
/// `lane / 16`, where the hardware has row `lane / 4` and group `lane % 4`. `WIDE` elements make a
/// register: 2 in f16 `m16n8k16`, 4 in the 8-bit containers of `m16n8k32`.
fn half_warps<const WIDE: usize>(place: Place) -> (usize, usize) {
    let (row, column) = (place.row % 16, place.column % (8 * WIDE));
    let (upper, right) = (row / 8, column / (4 * WIDE));
    let lane = row % 8 * 4 + column % (4 * WIDE) / WIDE;
    let taken_row = (lane % 16 + 8 * upper) % 16;
    let taken_column = lane / 16 * WIDE + column % WIDE + 4 * WIDE * right;
    (place.row - row + taken_row, place.column - column + taken_column)
}

fn swapped(place: Place) -> (usize, usize) {
    (place.row, place.column ^ 1)
}

pub(in super::super) const MUTATIONS: [Mutation<Recipe>; 44] = [
    Mutation {
        id: "ceil_scale",
        says: "the scales' exponent is ceil(log2(amax)) - 2; FLOOR rounds the logarithm down",
        axis: 0,
        apply: |r| both(r, "ceil_scale"),
    },
    Mutation {
        id: "ceil_scale_emax_not_subtracted",
        says: "the scales' exponent is ceil(log2(amax)), so that every scaled value is at most 1",
        axis: 0,
        apply: |r| both(r, "ceil_scale_emax_not_subtracted"),
    },
    Mutation {
        id: "emax_not_subtracted",
        says: "the scales' exponent is floor(log2(amax)): the 2 binades that E2M1 itself reaches \
               are not subtracted",
        axis: 0,
        apply: |r| both(r, "emax_not_subtracted"),
    },
    Mutation {
        id: "scale_bumped",
        says: "a scale is doubled where amax / scale exceeds 6; FLOOR lets those values clip",
        axis: 0,
        apply: |r| both(r, "scale_bumped"),
    },
    Mutation {
        id: "round_half_scale",
        says: "the scales are rounded to the nearest power of two",
        axis: 0,
        apply: |r| both(r, "round_half_scale"),
    },
    Mutation {
        id: "signed_amax",
        says: "amax is the largest value, not the largest magnitude",
        axis: 1,
        apply: |r| both(r, "signed_amax"),
    },
    Mutation {
        id: "block_of_16",
        says: "16 elements share a scale; MXFP4 blocks have 32",
        axis: 2,
        apply: |r| (r.q.block, r.k.block) = (16, 16),
    },
    Mutation {
        id: "block_of_64",
        says: "amax is taken of two blocks together",
        axis: 2,
        apply: |r| both(r, "block_of_64"),
    },
    Mutation {
        id: "amax_of_half_block",
        says: "amax is taken of the first 16 elements of a block only",
        axis: 2,
        apply: |r| both(r, "amax_of_half_block"),
    },
    Mutation {
        id: "amax_of_row",
        says: "amax is taken of the whole row",
        axis: 2,
        apply: |r| both(r, "amax_of_row"),
    },
    Mutation {
        id: "ties_away_from_zero",
        says: "ties round away from zero: the encoder uses >= at every midpoint",
        axis: 3,
        apply: |r| both(r, "ties_away_from_zero"),
    },
    Mutation {
        id: "ties_toward_zero",
        says: "ties round toward zero: the encoder uses > at every midpoint, or picks the nearest \
               of a table with a strict <",
        axis: 3,
        apply: |r| both(r, "ties_toward_zero"),
    },
    Mutation {
        id: "truncated",
        says: "values are cut to the next magnitude below; they must be rounded to the nearest",
        axis: 3,
        apply: |r| both(r, "truncated"),
    },
    Mutation {
        id: "sign_dropped",
        says: "the sign bit of the codes, bit 3, is always 0",
        axis: 4,
        apply: |r| both(r, "sign_dropped"),
    },
    Mutation {
        id: "sign_dropped_in_q",
        says: "the sign bit of Q's codes is always 0",
        axis: 4,
        apply: |r| quantizer(&mut r.q, "sign_dropped"),
    },
    Mutation {
        id: "sign_dropped_in_k",
        says: "the sign bit of K's codes is always 0",
        axis: 4,
        apply: |r| quantizer(&mut r.k, "sign_dropped"),
    },
    Mutation {
        id: "staged_as_f16",
        says: "Q and K are rounded to f16 before they are quantized: rounding twice moves ties",
        axis: 5,
        apply: |r| both(r, "read_as_f16"),
    },
    Mutation {
        id: "k_staged_as_f16",
        says: "K is rounded to f16 before it is quantized: rounding twice moves ties",
        axis: 5,
        apply: |r| quantizer(&mut r.k, "read_as_f16"),
    },
    Mutation {
        id: "staged_as_bf16",
        says: "Q and K are rounded to bf16 before they are quantized: rounding twice moves ties",
        axis: 5,
        apply: |r| both(r, "read_as_bf16"),
    },
    Mutation {
        id: "quantization_skipped",
        says: "Q and K are multiplied as they are; they must go through MXFP4",
        axis: 6,
        apply: |r| (r.q.block, r.k.block) = (0, 0),
    },
    Mutation {
        id: "q_not_quantized",
        says: "Q is multiplied as it is; it must go through MXFP4",
        axis: 6,
        apply: |r| r.q.block = 0,
    },
    Mutation {
        id: "k_not_quantized",
        says: "K is multiplied as it is; it must go through MXFP4",
        axis: 6,
        apply: |r| r.k.block = 0,
    },
    Mutation {
        id: "v_quantized",
        says: "V goes through MXFP4, too; only Q and K do",
        axis: 7,
        apply: |r| r.v.block = BLOCK,
    },
    Mutation {
        id: "nibbles_swapped",
        says: "the nibbles of one of Q and K are swapped: the even element belongs in the low \
               nibble of both",
        axis: 8,
        apply: |r| r.k.code_at = swapped,
    },
    Mutation {
        id: "a_fragment_by_half_warps",
        says: "a lane fills its part of fragment A from row lane % 16 and columns of lane / 16; \
               m16n8k16 has row lane / 4 and columns of lane % 4 there",
        axis: 8,
        apply: |r| r.q.code_at = half_warps::<2>,
    },
    Mutation {
        id: "a_fragment_by_half_warps_k32",
        says: "a lane fills its part of fragment A from row lane % 16 and columns of lane / 16; \
               m16n8k32 has row lane / 4 and columns of lane % 4 there",
        axis: 8,
        apply: |r| r.q.code_at = half_warps::<4>,
    },
    Mutation {
        id: "k_stride_is_tile_of_32",
        says: "rows of the staged K are taken to be 32 elements apart, the length of the tile; \
               they are head_dim apart",
        axis: 8,
        apply: |r| (r.k.code_at, r.k.scale_at) = (by_tile::<32>, by_tile::<32>),
    },
    Mutation {
        id: "k_stride_is_tile_of_64",
        says: "rows of the staged K are taken to be 64 elements apart, the length of the tile; \
               they are head_dim apart",
        axis: 8,
        apply: |r| (r.k.code_at, r.k.scale_at) = (by_tile::<64>, by_tile::<64>),
    },
    Mutation {
        id: "scale_factor_missing",
        says: "the scores are not divided by sqrt(head_dim)",
        axis: 9,
        apply: |r| r.temperature = |_| 1.0,
    },
    Mutation {
        id: "scale_factor_squared",
        says: "the scores are divided by head_dim; it is its square root",
        axis: 9,
        apply: |r| r.temperature = f64::recip,
    },
    Mutation {
        id: "base_two",
        says: "the weights are powers of 2 of the scores, not of e: log2(e) is missing",
        axis: 9,
        apply: |r| r.temperature = |head_dim| head_dim.sqrt().recip() * std::f64::consts::LN_2,
    },
    Mutation {
        id: "softmax_without_maximum",
        says: "the largest score is not subtracted before the exponential, which then is infinite",
        axis: 10,
        apply: |r| {
            r.softmax = |scores| exponentials(scores, |score| f64::from((score as f32).exp()));
        },
    },
    Mutation {
        id: "softmax_not_normalized",
        says: "the weighted sum is not divided by the sum of the weights",
        axis: 10,
        apply: |r| {
            r.softmax = |scores| {
                (Recipe::RIGHT.softmax)(scores);
                1.0
            };
        },
    },
    Mutation {
        id: "partial_tile_of_32_ignored",
        says: "keys after the last whole tile of 32 are left out",
        axis: 11,
        apply: |r| r.keys = whole::<32>,
    },
    Mutation {
        id: "partial_tile_of_64_ignored",
        says: "keys after the last whole tile of 64 are left out",
        axis: 11,
        apply: |r| r.keys = whole::<64>,
    },
    Mutation {
        id: "padding_of_32_counted",
        says: "the zeros that fill up the last tile of 32 keys count as keys with a score of 0; \
               their score is -infinity",
        axis: 11,
        apply: |r| r.counted = filled_up::<32>,
    },
    Mutation {
        id: "padding_of_64_counted",
        says: "the zeros that fill up the last tile of 64 keys count as keys with a score of 0; \
               their score is -infinity",
        axis: 11,
        apply: |r| r.counted = filled_up::<64>,
    },
    Mutation {
        id: "first_tile_of_32_only",
        says: "only the first 32 keys are looked at",
        axis: 11,
        apply: |r| r.keys = |keys, _| keys.min(32),
    },
    Mutation {
        id: "first_tile_of_64_only",
        says: "only the first 64 keys are looked at",
        axis: 11,
        apply: |r| r.keys = |keys, _| keys.min(64),
    },
    Mutation {
        id: "causal",
        says: "a query looks at no key after its own position; this attention is not causal",
        axis: 11,
        apply: |r| r.keys = |_, row| row + 1,
    },
    Mutation {
        id: "value_tile_offset_missing_32",
        says: "every tile of 32 keys is averaged with the first 32 rows of V",
        axis: 12,
        apply: |r| r.value_row = |key| key % 32,
    },
    Mutation {
        id: "value_tile_offset_missing_64",
        says: "every tile of 64 keys is averaged with the first 64 rows of V",
        axis: 12,
        apply: |r| r.value_row = |key| key % 64,
    },
    Mutation {
        id: "barrier_missing_after_staging",
        says: "a tile of 32 keys is read before the warps that come later have staged theirs, 8 \
               each: the key of the tile before is found; a barrier belongs between filling and \
               reading",
        axis: 12,
        apply: |r| {
            r.found = |row, key| {
                let staged_later = key % 32 / 8 > row % 32 / 8;
                if staged_later { key.checked_sub(32) } else { Some(key) }
            };
        },
    },
    Mutation {
        id: "lanes_write_same_row",
        says: "lanes store to row lane % 16, so that all that they hold meets in few places and \
               the last one wins; in an mma's result a lane holds rows lane / 4 and lane / 4 + 8",
        axis: 13,
        apply: |r| r.written = |row, _| row / 16 * 16 + 12 + row % 16 / 4,
    },
];
