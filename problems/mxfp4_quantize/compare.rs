//! Holding packed codes and scale bytes to the expected ones.
//!
//! What is compared is the dequantized value, code times scale, in units of the expected scale; two
//! different values are at least a quarter of that apart, and a right answer is exact, so the bound
//! is zero. The sign of a zero is part of the value: TorchAO and the hardware conversion keep it.
//!
//! Left open, because the format leaves it open: the codes of a block with NaN (only its scale byte,
//! 255, counts), and whether a block of scale byte 0 divides by 2^-127 (which byte 0
//! stands for) or by 2^-126 (as TorchAO does).

use formats::{e2m1, pack};
use rayon::prelude::*;

use super::{BLOCK, codes, divisor_byte, reciprocal};
use crate::problem::Given;
use crate::{Comparison, Expected, FirstMismatch, Poison, QuantizedElement};

pub(super) fn compare(
    given: &Given,
    expected: &Expected,
    outputs: &[&[u8]],
    poison: &Poison,
) -> Comparison {
    let view = View {
        values: bytemuck::cast_slice(given.inputs[0]),
        columns: given.size("k"),
        expected: (&expected.outputs[0], &expected.outputs[1]),
        given: (outputs[0], outputs[1]),
    };
    let mut comparison = Comparison {
        elements: view.values.len() as u64,
        max_error: Some(0.0),
        ..Comparison::default()
    };
    if view.expected.0 == view.given.0 && view.expected.1 == view.given.1 {
        return comparison;
    }
    let tally = (0..view.expected.1.len())
        .into_par_iter()
        .filter(|&block| view.differs(block))
        .map(|block| view.tally(block))
        .reduce(Tally::default, Tally::add);
    comparison.mismatches = tally.mismatches;
    comparison.non_finite = tally.non_finite;
    comparison.max_error = Some(tally.max_error);
    comparison.first = tally.first.map(|index| view.first_mismatch(index));
    comparison.unwritten = unwritten(view.expected.0, view.given.0, poison)
        + unwritten(view.expected.1, view.given.1, poison);
    comparison
}

struct View<'a> {
    values: &'a [f32],
    columns: usize,
    /// Packed codes and scale bytes.
    expected: (&'a [u8], &'a [u8]),
    given: (&'a [u8], &'a [u8]),
}

#[derive(Default)]
struct Tally {
    mismatches: u64,
    non_finite: u64,
    max_error: f64,
    first: Option<usize>,
}

impl Tally {
    fn add(self, other: Tally) -> Tally {
        Tally {
            mismatches: self.mismatches + other.mismatches,
            non_finite: self.non_finite + other.non_finite,
            max_error: self.max_error.max(other.max_error),
            first: [self.first, other.first].into_iter().flatten().min(),
        }
    }
}

impl View<'_> {
    fn differs(&self, block: usize) -> bool {
        let bytes = block * BLOCK / 2..(block + 1) * BLOCK / 2;
        self.expected.1[block] != self.given.1[block]
            || self.expected.0[bytes.clone()] != self.given.0[bytes]
    }

    fn block(&self, block: usize) -> &[f32; BLOCK] {
        &self.values.as_chunks::<BLOCK>().0[block]
    }

    fn tally(&self, block: usize) -> Tally {
        let mut tally = Tally::default();
        let (expected, given) = (self.expected.1[block], self.given.1[block]);
        if expected == 255 {
            // Only the scale byte counts.
            tally.mismatches = if given == 255 { 0 } else { BLOCK as u64 };
            tally.first = (given != 255).then_some(block * BLOCK);
            return tally;
        }
        // The other reading of scale byte 0.
        let other = (expected == 0).then(|| codes_of_least_scale(self.block(block)));
        for index in block * BLOCK..(block + 1) * BLOCK {
            let code = pack::get(self.given.0, index);
            let value = dequantized(code, given);
            let wanted = dequantized(pack::get(self.expected.0, index), expected);
            let same = |wanted: f64| value.to_bits() == wanted.to_bits();
            let open =
                other.is_some_and(|other| same(dequantized(pack::get(&other, index % BLOCK), 0)));
            if same(wanted) || open {
                continue;
            }
            tally.mismatches += 1;
            tally.first = tally.first.or(Some(index));
            if value.is_nan() {
                tally.non_finite += 1;
            } else {
                let unit = dequantized(2, expected);
                tally.max_error = tally.max_error.max((value - wanted).abs() / unit);
            }
        }
        tally
    }

    fn first_mismatch(&self, index: usize) -> FirstMismatch {
        let block = index / BLOCK;
        let (expected_scale, given_scale) = (self.expected.1[block], self.given.1[block]);
        let (expected_code, given_code) =
            (pack::get(self.expected.0, index), pack::get(self.given.0, index));
        let scaled = self.values[index] * reciprocal(divisor_byte(expected_scale));
        let amax = self.block(block).iter().fold(0f32, |amax, x| amax.max(x.abs()));
        FirstMismatch {
            row: (index / self.columns) as u64,
            column: (index % self.columns) as u64,
            expected: dequantized(expected_code, expected_scale),
            given: dequantized(given_code, given_scale),
            quantized: Some(QuantizedElement {
                block: (index % self.columns / BLOCK) as u64,
                input: f64::from(self.values[index]),
                amax: f64::from(amax),
                scaled: f64::from(scaled),
                midpoints: midpoints(scaled.abs()),
                expected_scale,
                given_scale,
                expected_code,
                given_code,
            }),
        }
    }
}

/// Code times 2^(scale-127); NaN for scale 255. Exact in f64.
fn dequantized(code: u8, scale: u8) -> f64 {
    if scale == 255 {
        return f64::NAN;
    }
    f64::from(e2m1::decode(code)) * 2f64.powi(i32::from(scale) - 127)
}

/// The codes of a block divided by 2^-127, which is the same as doubled and divided by 2^-126.
fn codes_of_least_scale(block: &[f32; BLOCK]) -> [u8; BLOCK / 2] {
    codes(&block.map(|x| x * 2.0), 1)
}

fn midpoints(magnitude: f32) -> (Option<f32>, Option<f32>) {
    let below = e2m1::MIDPOINTS.iter().rfind(|&&m| m <= magnitude).copied();
    let above = e2m1::MIDPOINTS.iter().find(|&&m| m > magnitude).copied();
    (below, above)
}

/// Bytes that are wrong and still hold the pattern; zero where chance explains them (one wrong byte
/// in 256 holds it).
fn unwritten(expected: &[u8], given: &[u8], poison: &Poison) -> u64 {
    let (wrong, untouched) = expected
        .par_iter()
        .zip(given)
        .enumerate()
        .filter(|(_, (expected, given))| expected != given)
        .map(|(index, (_, &given))| (1u64, u64::from(poison.byte(index) == given)))
        .reduce(|| (0, 0), |a, b| (a.0 + b.0, a.1 + b.1));
    if untouched == wrong || untouched > 4 + wrong / 32 { untouched } else { 0 }
}
