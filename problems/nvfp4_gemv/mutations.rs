//! The bugs that the field knows. Those named first are the likelier.

use formats::{Round, bf16, e4m3, e8m0, f16, f64_to_f32_odd};

use crate::decoder::{self, Order};
use crate::hypothesis::Mutation;
use crate::products::recipe::{Place, Recipe};

/// The end of each row is left out: loops that take so many elements at once, and no rest.
macro_rules! tail {
    ($elements:literal) => {
        Mutation {
            id: concat!("k_tail_of_", $elements),
            says: concat!(
                "what is behind the last multiple of ",
                $elements,
                " elements of a row is left out"
            ),
            axis: 12,
            apply: |r| r.summed = |first, k| first < k - k % $elements,
        }
    };
}

/// A row is split, and one part's sum replaces the others.
macro_rules! part {
    ($which:literal, $index:literal, $parts:literal) => {
        Mutation {
            id: concat!($which, "_of_", $parts, "_parts"),
            says: concat!(
                "of ",
                $parts,
                " equal parts of each row only the ",
                $which,
                " is in the result: their sums were not added"
            ),
            axis: 12,
            apply: |r| r.summed = |first, k| first / (k / $parts) == $index,
        }
    };
}

/// A warp takes a row, and one lane's sum replaces the others.
macro_rules! lane {
    ($lane:literal, $elements:literal) => {
        Mutation {
            id: concat!("lane_", $lane, "_of_", $elements),
            says: concat!(
                "only the sum of lane ",
                $lane,
                " is in the result, where 32 lanes take ",
                $elements,
                " elements each in turn: their sums were not added"
            ),
            axis: 12,
            apply: |r| r.summed = |first, _| first / $elements % 32 == $lane,
        }
    };
}

pub(super) const MUTATIONS: [Mutation<Recipe>; 59] = [
    Mutation {
        id: "nibbles_swapped",
        says: "the nibbles of one operand are swapped: the even element is in the low nibble of \
               both",
        axis: 0,
        apply: |r| r.order = Order::EvenHigh,
    },
    Mutation {
        id: "odd_elements_missing",
        says: "the odd elements are left out: the high nibble is not decoded",
        axis: 0,
        apply: |r| r.order = Order::LowOnly,
    },
    Mutation {
        id: "low_nibble_twice",
        says: "both elements of a byte are taken from its low nibble",
        axis: 0,
        apply: |r| r.order = Order::LowTwice,
    },
    Mutation {
        id: "sign_dropped",
        says: "the sign bit, bit 3 of the code, is ignored",
        axis: 1,
        apply: |r| (r.a_code, r.b_code) = (decoder::unsigned, decoder::unsigned),
    },
    Mutation {
        id: "a_sign_dropped",
        says: "the sign bit of a's codes, bit 3, is ignored",
        axis: 1,
        apply: |r| r.a_code = decoder::unsigned,
    },
    Mutation {
        id: "b_sign_dropped",
        says: "the sign bit of b's codes, bit 3, is ignored",
        axis: 1,
        apply: |r| r.b_code = decoder::unsigned,
    },
    Mutation {
        id: "codes_0_to_3",
        says: "only the two low bits of a code are decoded, to 0, 0.5, 1 and 1.5: what the \
               competition's data holds",
        axis: 1,
        apply: |r| (r.a_code, r.b_code) = (two_bits, two_bits),
    },
    Mutation {
        id: "code_subnormal_missing",
        says: "codes 0 and 1 are read as 0.5 and 0.75: with exponent 0 there is no hidden bit",
        axis: 1,
        apply: |r| {
            (r.a_code, r.b_code) = (decoder::without_subnormal, decoder::without_subnormal);
        },
    },
    Mutation {
        id: "code_as_integer",
        says: "the codes are read as whole numbers from -8 to 7; they are E2M1",
        axis: 1,
        apply: |r| {
            (r.a_code, r.b_code) = (decoder::two_s_complement, decoder::two_s_complement);
        },
    },
    Mutation {
        id: "scales_missing",
        says: "the scales are not used",
        axis: 2,
        apply: |r| r.factor = |_, _| 1.0,
    },
    Mutation {
        id: "sfa_missing",
        says: "the scales of a are not used",
        axis: 2,
        apply: |r| r.factor = |_, b| b,
    },
    Mutation {
        id: "sfb_missing",
        says: "the scales of b are not used",
        axis: 2,
        apply: |r| r.factor = |a, _| a,
    },
    Mutation {
        id: "scale_product_in_f16",
        says: "the scales of a and b are multiplied in f16, where 448 * 448 is infinite",
        axis: 2,
        apply: |r| r.factor = |a, b| f16::decode(f16::encode(a * b)),
    },
    Mutation {
        id: "scales_0_1_2",
        says: "only the scales 1 and 2 are known and all others are 0: what the competition's data \
               holds",
        axis: 3,
        apply: |r| {
            r.scale = |byte| match byte {
                0x38 => 1.0,
                0x40 => 2.0,
                _ => 0.0,
            };
        },
    },
    Mutation {
        id: "scale_mantissa_dropped",
        says: "of the scales only the exponent is used: E4M3 has three bits of mantissa",
        axis: 3,
        apply: |r| {
            r.scale = |byte| if byte < 8 { 0.0 } else { e4m3::decode_scale(byte & 0x78) };
        },
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
        apply: |r| r.scale = |byte| if byte < 8 { 0.0 } else { e4m3::decode_scale(byte) },
    },
    Mutation {
        id: "scale_as_e8m0",
        says: "the scales are read as E8M0, powers of two, as in MXFP4; they are E4M3",
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
        id: "block_of_32",
        says: "a scale is used for 32 elements, as in MXFP4; NVFP4 blocks have 16",
        axis: 4,
        apply: |r| r.block = 32,
    },
    Mutation {
        id: "sfa_blocked_as_plain",
        says: "sfa_blocked is read row by row; it lies in the 128x4 layout",
        axis: 5,
        apply: |r| r.sfa_place = Place::BlockedAsPlain,
    },
    Mutation {
        id: "sfa_plain_as_blocked",
        says: "sfa is read in the 128x4 layout; it lies row by row",
        axis: 5,
        apply: |r| r.sfa_place = Place::PlainAsBlocked,
    },
    Mutation {
        id: "sfa_rows_in_order",
        says: "within a tile of sfa_blocked the rows are taken to follow each other; rows 32 apart \
               are side by side",
        axis: 5,
        apply: |r| r.sfa_place = Place::RowsInOrder,
    },
    Mutation {
        id: "sfa_tiles_transposed",
        says: "the tiles of sfa_blocked are taken to follow each other down the rows; they go along \
               k first",
        axis: 5,
        apply: |r| r.sfa_place = Place::TilesTransposed,
    },
    Mutation {
        id: "sfa_column_major",
        says: "sfa is read column by column; a row's scales follow each other",
        axis: 5,
        apply: |r| r.sfa_place = Place::ColumnMajor,
    },
    Mutation {
        id: "sfa_stride_of_32",
        says: "the rows of sfa are taken to be k/32 bytes apart, as in MXFP4; they are k/16",
        axis: 5,
        apply: |r| r.sfa_place = Place::HalfStride,
    },
    Mutation {
        id: "sfb_blocked_as_plain",
        says: "sfb_blocked is read row by row; it lies in the 128x4 layout",
        axis: 6,
        apply: |r| r.sfb_place = Place::BlockedAsPlain,
    },
    Mutation {
        id: "sfb_plain_as_blocked",
        says: "sfb is read in the 128x4 layout; it lies row by row",
        axis: 6,
        apply: |r| r.sfb_place = Place::PlainAsBlocked,
    },
    Mutation {
        id: "batch_0_for_all",
        says: "every batch is given what belongs to batch 0",
        axis: 7,
        apply: |r| {
            (r.b_row, r.sfb_row) = (|_| 0, |_| 0);
            (r.a_batch, r.sfa_batch) = (|_| 0, |_| 0);
        },
    },
    Mutation {
        id: "b_of_batch_0",
        says: "every batch is multiplied by b of batch 0",
        axis: 7,
        apply: |r| r.b_row = |_| 0,
    },
    Mutation {
        id: "b_unpadded",
        says: "the batches of b are taken to be one row apart; they are 128 rows apart",
        axis: 7,
        apply: |r| r.b_row = |batch| batch,
    },
    Mutation {
        id: "sfb_of_batch_0",
        says: "every batch is given the sfb of batch 0",
        axis: 8,
        apply: |r| r.sfb_row = |_| 0,
    },
    Mutation {
        id: "sfb_unpadded",
        says: "the batches of sfb are taken to be one row apart; they are 128 rows apart",
        axis: 8,
        apply: |r| r.sfb_row = |batch| batch,
    },
    Mutation {
        id: "a_of_batch_0",
        says: "every batch is given the a of batch 0",
        axis: 9,
        apply: |r| r.a_batch = |_| 0,
    },
    Mutation {
        id: "sfa_of_batch_0",
        says: "every batch is given the sfa of batch 0",
        axis: 10,
        apply: |r| r.sfa_batch = |_| 0,
    },
    Mutation {
        id: "a_column_major",
        says: "a is read column by column; a row's bytes follow each other",
        axis: 11,
        apply: |r| r.a_place = Place::ColumnMajor,
    },
    Mutation {
        id: "a_half_stride",
        says: "the rows of a are taken to be k/4 bytes apart; two elements share a byte, so they \
               are k/2",
        axis: 11,
        apply: |r| r.a_place = Place::HalfStride,
    },
    Mutation {
        id: "half_of_k",
        says: "only the first half of each row is summed: k counts elements, and k/2 bytes hold \
               them",
        axis: 12,
        apply: |r| r.summed = |first, k| first < k / 2,
    },
    Mutation {
        id: "half_of_each_block",
        says: "only the first 8 of each 16 elements are summed",
        axis: 12,
        apply: |r| r.summed = |first, _| first % 16 == 0,
    },
    Mutation {
        id: "last_block_missing",
        says: "the last block of each row is left out",
        axis: 12,
        apply: |r| r.summed = |first, k| first < k - 16,
    },
    tail!(512),
    tail!(1024),
    tail!(2048),
    tail!(4096),
    part!("last", 1, 2),
    part!("last", 3, 4),
    part!("last", 7, 8),
    part!("first", 0, 4),
    part!("first", 0, 8),
    lane!(31, 8),
    lane!(31, 16),
    lane!(31, 32),
    lane!(31, 64),
    lane!(0, 8),
    lane!(0, 16),
    lane!(0, 32),
    lane!(0, 64),
    Mutation {
        id: "truncated_to_f16",
        says: "the sum is rounded toward zero; it is rounded to nearest",
        axis: 13,
        apply: |r| r.store = toward_zero,
    },
    Mutation {
        id: "rounded_to_bf16",
        says: "the sum went through bf16",
        axis: 13,
        apply: |r| r.store = through_bf16,
    },
];

/// What is left of a code without its two high bits.
fn two_bits(code: u8) -> f32 {
    f32::from(code & 3) / 2.0
}

fn toward_zero(value: f64) -> u16 {
    f16::encode_with(f64_to_f32_odd(value), Round::TowardZero)
}

fn through_bf16(value: f64) -> u16 {
    f16::encode(bf16::decode(bf16::encode(f64_to_f32_odd(value))))
}
