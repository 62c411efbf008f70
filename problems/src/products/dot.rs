//! Exact dot products of NVFP4 rows.
//!
//! All values are integers in disguise: an E2M1 code is a multiple of 1/2, an E4M3 scale one of
//! 2⁻⁹, so every product of two elements and their two scales is a multiple of 2⁻²⁰. Counted in that
//! unit, a block of 16 gives at most 16 · 12² · (448 · 2⁹)² < 2⁴⁸, and rows of any length fit 128
//! bits: the sum needs no rounding, in whatever order.
//!
//! By hand: codes 3 and c are 1.5 and -2, in halves 3 and -4; scale bytes 38 and 30 are 1 and 0.5,
//! in units of 2⁻⁹ 512 and 256. The product is 3 · -4 · 512 · 256 = -1,572,864 units: -1.5.

use std::sync::LazyLock;

use formats::{e2m1, e4m3, f16, f64_to_f32_odd, pack};

use super::BLOCK;

/// What a sum counts in.
const UNIT: f64 = 1.0 / (1 << 20) as f64;

/// The values of both codes of a byte, in halves.
static PAIRS: LazyLock<[[i32; 2]; 256]> = LazyLock::new(|| {
    let halves = |code: u8| (e2m1::decode(code) * 2.0) as i32;
    std::array::from_fn(|byte| pack::split(byte as u8).into())
        .map(|[low, high]: [u8; 2]| [halves(low), halves(high)])
});

/// The value of a scale byte in units of 2⁻⁹. The sign bit is not looked at.
static SCALES: LazyLock<[i64; 256]> =
    LazyLock::new(|| std::array::from_fn(|byte| (e4m3::decode_scale(byte as u8) * 512.0) as i64));

/// A row of codes and of scales.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row<'a> {
    pub codes: &'a [u8],
    pub scales: &'a [u8],
}

/// A vector that many rows are multiplied by.
pub(crate) struct Vector {
    /// Halves.
    elements: Vec<[i32; BLOCK]>,
    /// Units of 2⁻⁹.
    scales: Vec<i64>,
    /// Whether a scale is NaN.
    nan: bool,
}

impl Vector {
    pub fn new(row: Row) -> Vector {
        let pairs = row.codes.iter().flat_map(|&byte| PAIRS[usize::from(byte)]);
        let elements: Vec<i32> = pairs.collect();
        Vector {
            elements: elements.as_chunks().0.to_vec(),
            scales: row.scales.iter().map(|&byte| SCALES[usize::from(byte)]).collect(),
            nan: has_nan(row.scales),
        }
    }

    /// The product with a row, rounded once.
    pub fn product(&self, row: Row) -> u16 {
        if self.nan || has_nan(row.scales) {
            return f16::NAN;
        }
        let mut sum = 0i128;
        let blocks = row.codes.as_chunks::<{ BLOCK / 2 }>().0.iter().zip(row.scales);
        for ((codes, &scale), (elements, b_scale)) in
            blocks.zip(self.elements.iter().zip(&self.scales))
        {
            let mut block = 0;
            for (&byte, b) in codes.iter().zip(elements.as_chunks::<2>().0) {
                let [even, odd] = PAIRS[usize::from(byte)];
                block += even * b[0] + odd * b[1];
            }
            sum += i128::from(i64::from(block) * SCALES[usize::from(scale)] * b_scale);
        }
        // Beyond 2⁵³ the conversion rounds, and f16 ends long before.
        round(sum as f64 * UNIT)
    }
}

fn has_nan(scales: &[u8]) -> bool {
    scales.iter().any(|byte| byte & 0x7f == e4m3::NAN)
}

/// To f16, nearest even. Rounding to odd first keeps what decides a tie.
pub(crate) fn round(value: f64) -> u16 {
    f16::encode(f64_to_f32_odd(value))
}
