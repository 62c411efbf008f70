//! What people are known to get wrong in matrix products. Those named first are the likelier.
//!
//! In the recipe's words the matrix, its `a`, is b here, and the vectors, its `b`, are rows of a.

use formats::{Round, bf16, e4m3, e8m0, f16, f64_to_f32_odd};

use super::recipe::{Choices, Place};
use crate::decoder::{self, Order};
use crate::hypothesis::Mutation;

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
            apply: |r| r.product().summed = |first, k| first < k - k % $elements,
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
            apply: |r| r.product().summed = |first, k| first / (k / $parts) == $index,
        }
    };
}

/// How many there are.
pub(crate) const COUNT: usize = 43;

pub(crate) const fn mutations<R: Choices>() -> [Mutation<R>; COUNT] {
    [
        Mutation {
            id: "nibbles_swapped",
            says: "the nibbles of one operand are swapped: the even element is in the low nibble of both",
            axis: 0,
            apply: |r| r.product().order = Order::EvenHigh,
        },
        Mutation {
            id: "odd_elements_missing",
            says: "the odd elements are left out: the high nibble is not decoded",
            axis: 0,
            apply: |r| r.product().order = Order::LowOnly,
        },
        Mutation {
            id: "low_nibble_twice",
            says: "both elements of a byte are taken from its low nibble",
            axis: 0,
            apply: |r| r.product().order = Order::LowTwice,
        },
        Mutation {
            id: "sign_dropped",
            says: "the sign bit, bit 3 of the code, is ignored",
            axis: 1,
            apply: |r| r.product().set_codes(decoder::unsigned),
        },
        Mutation {
            id: "a_sign_dropped",
            says: "the sign bit of a's codes, bit 3, is ignored",
            axis: 1,
            apply: |r| r.product().b_code = decoder::unsigned,
        },
        Mutation {
            id: "b_sign_dropped",
            says: "the sign bit of b's codes, bit 3, is ignored",
            axis: 1,
            apply: |r| r.product().a_code = decoder::unsigned,
        },
        Mutation {
            id: "code_subnormal_missing",
            says: "codes 0 and 1 are read as 0.5 and 0.75: with exponent 0 there is no hidden bit",
            axis: 1,
            apply: |r| r.product().set_codes(decoder::without_subnormal),
        },
        Mutation {
            id: "code_as_integer",
            says: "the codes are read as whole numbers from -8 to 7; they are E2M1",
            axis: 1,
            apply: |r| r.product().set_codes(decoder::two_s_complement),
        },
        Mutation {
            id: "scales_missing",
            says: "the scales are not used",
            axis: 2,
            apply: |r| r.product().factor = |_, _| 1.0,
        },
        Mutation {
            id: "sfa_missing",
            says: "the scales of a are not used",
            axis: 2,
            apply: |r| r.product().factor = |b, _| b,
        },
        Mutation {
            id: "sfb_missing",
            says: "the scales of b are not used",
            axis: 2,
            apply: |r| r.product().factor = |_, a| a,
        },
        Mutation {
            id: "scale_product_in_f16",
            says: "the scales of a and b are multiplied in f16, where 448 * 448 is infinite",
            axis: 2,
            apply: |r| r.product().factor = |b, a| f16::decode(f16::encode(a * b)),
        },
        Mutation {
            id: "scales_0_to_3",
            says: "only the scales 1, 2 and 3 are known and all others are 0: what the competition's data holds",
            axis: 3,
            apply: |r| {
                r.product().scale = |byte| match byte {
                    0x38 => 1.0,
                    0x40 => 2.0,
                    0x44 => 3.0,
                    _ => 0.0,
                }
            },
        },
        Mutation {
            id: "scale_mantissa_dropped",
            says: "of the scales only the exponent is used: E4M3 has three bits of mantissa",
            axis: 3,
            apply: |r| {
                r.product().scale =
                    |byte| if byte < 8 { 0.0 } else { e4m3::decode_scale(byte & 0x78) }
            },
        },
        Mutation {
            id: "scale_subnormal_missing",
            says: "scales below 2^-6 are read with a hidden bit; they are subnormal",
            axis: 3,
            apply: |r| r.product().scale = decoder::scale_without_subnormal,
        },
        Mutation {
            id: "scale_subnormals_flushed",
            says: "scales below 2^-6 are read as zero; they are subnormal",
            axis: 3,
            apply: |r| {
                r.product().scale = |byte| if byte < 8 { 0.0 } else { e4m3::decode_scale(byte) }
            },
        },
        Mutation {
            id: "scale_as_e8m0",
            says: "the scales are read as E8M0, powers of two, as in MXFP4; they are E4M3",
            axis: 3,
            apply: |r| r.product().scale = e8m0::decode,
        },
        Mutation {
            id: "scale_as_number",
            says: "the scale byte itself is the factor; it is an E4M3 number",
            axis: 3,
            apply: |r| r.product().scale = f32::from,
        },
        Mutation {
            id: "block_of_32",
            says: "a scale is used for 32 elements, as in MXFP4; NVFP4 blocks have 16",
            axis: 4,
            apply: |r| r.product().block = 32,
        },
        Mutation {
            id: "sfa_blocked_as_plain",
            says: "sfa_blocked is read row by row; it lies in the 128x4 layout",
            axis: 5,
            apply: |r| r.product().sfb_place = Place::BlockedAsPlain,
        },
        Mutation {
            id: "sfa_plain_as_blocked",
            says: "sfa is read in the 128x4 layout; it lies row by row",
            axis: 5,
            apply: |r| r.product().sfb_place = Place::PlainAsBlocked,
        },
        Mutation {
            id: "sfa_rows_in_order",
            says: "within a tile of sfa_blocked the rows are taken to follow each other; rows 32 apart are side by side",
            axis: 5,
            apply: |r| r.product().sfb_place = Place::RowsInOrder,
        },
        Mutation {
            id: "sfb_blocked_as_plain",
            says: "sfb_blocked is read row by row; it lies in the 128x4 layout",
            axis: 6,
            apply: |r| r.product().sfa_place = Place::BlockedAsPlain,
        },
        Mutation {
            id: "sfb_plain_as_blocked",
            says: "sfb is read in the 128x4 layout; it lies row by row",
            axis: 6,
            apply: |r| r.product().sfa_place = Place::PlainAsBlocked,
        },
        Mutation {
            id: "sfb_rows_in_order",
            says: "within a tile of sfb_blocked the rows are taken to follow each other; rows 32 apart are side by side",
            axis: 6,
            apply: |r| r.product().sfa_place = Place::RowsInOrder,
        },
        Mutation {
            id: "sfb_tiles_transposed",
            says: "the tiles of sfb_blocked are taken to follow each other down the rows; they go along k first",
            axis: 6,
            apply: |r| r.product().sfa_place = Place::TilesTransposed,
        },
        Mutation {
            id: "sfb_column_major",
            says: "sfb is read column by column; a row's scales follow each other",
            axis: 6,
            apply: |r| r.product().sfa_place = Place::ColumnMajor,
        },
        Mutation {
            id: "scale_of_row_0",
            says: "every row of a is given the scales of its row 0",
            axis: 7,
            apply: |r| r.product().sfb_row = |_| 0,
        },
        Mutation {
            id: "scale_of_tile_0",
            says: "every row of a is given the scales of the first tile of 128 rows",
            axis: 7,
            apply: |r| r.product().sfb_row = |row| row % 128,
        },
        Mutation {
            id: "a_tile_0",
            says: "every tile of 128 rows of a is taken to be the first",
            axis: 8,
            apply: |r| r.product().b_row = |row| row % 128,
        },
        Mutation {
            id: "b_column_major",
            says: "b is read column by column; a row's bytes follow each other",
            axis: 9,
            apply: |r| r.product().a_place = Place::ColumnMajor,
        },
        Mutation {
            id: "c_transposed",
            says: "c is written column by column; it is row-major",
            axis: 10,
            apply: |r| {
                r.product().output = |output, rows, columns| output % rows * columns + output / rows
            },
        },
        Mutation {
            id: "half_of_k",
            says: "only the first half of each row is summed: k counts elements, and k/2 bytes hold them",
            axis: 12,
            apply: |r| r.product().summed = |first, k| first < k / 2,
        },
        Mutation {
            id: "half_of_each_block",
            says: "only the first 8 of each 16 elements are summed",
            axis: 12,
            apply: |r| r.product().summed = |first, _| first % 16 == 0,
        },
        Mutation {
            id: "last_block_missing",
            says: "the last block of each row is left out",
            axis: 12,
            apply: |r| r.product().summed = |first, k| first < k - 16,
        },
        tail!(512),
        tail!(1024),
        tail!(2048),
        part!("last", 1, 2),
        part!("last", 3, 4),
        part!("first", 0, 4),
        Mutation {
            id: "truncated_to_f16",
            says: "the sum is rounded toward zero; it is rounded to nearest",
            axis: 13,
            apply: |r| r.product().store = toward_zero,
        },
        Mutation {
            id: "rounded_to_bf16",
            says: "the sum went through bf16",
            axis: 13,
            apply: |r| r.product().store = through_bf16,
        },
    ]
}

fn toward_zero(value: f64) -> u16 {
    f16::encode_with(f64_to_f32_odd(value), Round::TowardZero)
}

fn through_bf16(value: f64) -> u16 {
    f16::encode(bf16::decode(bf16::encode(f64_to_f32_odd(value))))
}
