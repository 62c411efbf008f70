//! All sums of products of the rows of two NVFP4 matrices.
//!
//! A block of 16 is summed in whole numbers: codes in halves are at most 12, so its 16 products are
//! at most 2304 quarters. Times the two scales, which have 4 bits each, that is exact in f64; so is
//! the sum of blocks, wherever a float32 sum can be exact, and else it is right to 2⁻⁵³, where the
//! bound is 2⁻²².
//!
//! Sixteen 16-bit products are two instructions of any x86-64 (`pmaddwd`), so the largest contest
//! case, 1.5 · 10¹⁰ products, takes seconds. Rows are decoded once for each four rows of the other
//! matrix; of the larger one only those in work are held decoded.

use formats::{e2m1, e4m3, pack};
use rayon::prelude::*;

use super::BLOCK;
use super::operands::Operands;

/// Rows of the matrix that are in work together: each element of a vector is loaded once for them.
const TOGETHER: usize = 4;

/// A decoded row.
struct Row {
    /// In halves.
    codes: Vec<[i16; BLOCK]>,
    scales: Vec<f64>,
}

impl Row {
    fn new(codes: &[u8], scales: &[u8]) -> Row {
        let halves = |code: u8| (e2m1::decode(code) * 2.0) as i16;
        let table: [i16; 16] = std::array::from_fn(|code| halves(code as u8));
        let block = |bytes: &[u8; BLOCK / 2]| {
            let mut values = [0; BLOCK];
            for (pair, &byte) in values.as_chunks_mut::<2>().0.iter_mut().zip(bytes) {
                let (even, odd) = pack::split(byte);
                *pair = [table[usize::from(even)], table[usize::from(odd)]];
            }
            values
        };
        let codes = codes.as_chunks().0.iter().map(block).collect();
        let scales = scales.iter().map(|&byte| f64::from(e4m3::decode_scale(byte))).collect();
        Row { codes, scales }
    }

    /// The exact product, in quarters.
    fn dot(&self, other: &Row) -> f64 {
        let codes = self.codes.iter().zip(&other.codes);
        let scales = self.scales.iter().zip(&other.scales);
        let mut sum = 0.0;
        for ((x, y), (s, t)) in codes.zip(scales) {
            let block: i32 = x.iter().zip(y).map(|(&x, &y)| i32::from(x) * i32::from(y)).sum();
            sum += f64::from(block) * (s * t);
        }
        sum
    }
}

/// All sums, vector by vector. From the plain scales; the blocked ones are the same.
pub(crate) fn sums(operands: &Operands) -> Vec<f64> {
    let Operands { m, k, l, .. } = *operands;
    let row = |codes: &[u8], scales: &[u8], row: usize| {
        let (bytes, blocks) = (k / 2, k / BLOCK);
        Row::new(&codes[row * bytes..][..bytes], &scales[row * blocks..][..blocks])
    };
    let vectors: Vec<Row> =
        (0..l).into_par_iter().map(|at| row(operands.b, operands.sfb, at)).collect();
    // By rows of the matrix, since those are worked on in turn; then turned.
    let mut turned = vec![0.0; m * l];
    turned.par_chunks_mut(TOGETHER * l).enumerate().for_each(|(chunk, sums)| {
        let first = chunk * TOGETHER;
        let rows: Vec<Row> =
            (first..m.min(first + TOGETHER)).map(|at| row(operands.a, operands.sfa, at)).collect();
        for (index, vector) in vectors.iter().enumerate() {
            for (of, row) in rows.iter().enumerate() {
                sums[of * l + index] = row.dot(vector) / 4.0;
            }
        }
    });
    let mut sums = vec![0.0; m * l];
    sums.par_chunks_mut(m).enumerate().for_each(|(vector, sums)| {
        sums.iter_mut().enumerate().for_each(|(row, sum)| *sum = turned[row * l + vector]);
    });
    sums
}
