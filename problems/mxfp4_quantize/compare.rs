//! Holding packed codes and scale bytes to the expected ones.
//!
//! What is compared is the dequantized value, code times scale, in units of the expected scale. The
//! values of one scale are at least half a unit apart, and a right answer is exact, so the bound is
//! zero. The sign of a zero is part of the value: TorchAO and the hardware conversion keep it.
//!
//! Left open, because the format leaves it open: the codes of a block with NaN (only its scale byte,
//! 255, counts), the scale of a block of zeros, and whether a block of scale byte 0 divides by
//! 2^-127 (which byte 0 stands for) or by 2^-126 (as TorchAO does).

use formats::{e2m1, pack};
use rayon::prelude::*;

use super::recipe::{Matrix, Recipe};
use super::{BLOCK, divisor_byte, reciprocal};
use crate::error_map::ErrorMap;
use crate::problem::Given;
use crate::unwritten::{Untouched, in_order};
use crate::{Comparison, Expected, FirstMismatch, Poison, QuantizedElement};

pub(super) fn compare(
    given: &Given,
    expected: &Expected,
    outputs: &[&[u8]],
    poison: &Poison,
) -> Comparison {
    let matrix = Matrix { values: bytemuck::cast_slice(given.inputs[0]), columns: given.size("k") };
    let untouched = |name, output: usize, columns| Untouched {
        name,
        expected: &expected.outputs[output],
        given: outputs[output],
        rows: given.size("m"),
        columns,
        width: 1,
        place: &in_order,
        poison,
    };
    let view = View {
        q: untouched("q", 0, matrix.columns / 2),
        scale: untouched("scale", 1, matrix.columns / BLOCK),
        matrix,
    };
    let mut comparison = Comparison {
        elements: view.matrix.values.len() as u64,
        max_error: Some(0.0),
        ..Comparison::default()
    };
    let differing: Vec<usize> =
        (0..view.blocks()).into_par_iter().filter(|&block| view.differs(block)).collect();
    let tally = view.tally(&differing);
    comparison.mismatches = tally.map.total();
    let Some(first) = tally.first else { return comparison };
    comparison.non_finite = tally.non_finite;
    comparison.max_error = Some(tally.max_error);
    comparison.first = Some(view.first_mismatch(first));
    comparison.picture = tally.map.picture();
    view.explain(&differing, &mut comparison);
    comparison
}

/// Input, expected and given outputs side by side.
pub(super) struct View<'a> {
    pub matrix: Matrix<'a>,
    pub q: Untouched<'a>,
    pub scale: Untouched<'a>,
}

struct Tally {
    map: ErrorMap,
    non_finite: u64,
    max_error: f64,
    first: Option<usize>,
}

impl View<'_> {
    pub fn blocks(&self) -> usize {
        self.scale.expected.len()
    }

    fn differs(&self, block: usize) -> bool {
        let bytes = block * BLOCK / 2..(block + 1) * BLOCK / 2;
        self.scale.expected[block] != self.scale.given[block]
            || self.q.expected[bytes.clone()] != self.q.given[bytes]
    }

    fn tally(&self, differing: &[usize]) -> Tally {
        let rows = self.matrix.values.len() / self.matrix.columns;
        let empty = || Tally {
            map: ErrorMap::new(rows, self.matrix.columns),
            non_finite: 0,
            max_error: 0.0,
            first: None,
        };
        let add = |mut tally: Tally, &block: &usize| {
            self.add_block(block, &mut tally);
            tally
        };
        differing.par_iter().fold(empty, add).reduce(empty, |a, b| Tally {
            map: a.map.merge(b.map),
            non_finite: a.non_finite + b.non_finite,
            max_error: a.max_error.max(b.max_error),
            first: [a.first, b.first].into_iter().flatten().min(),
        })
    }

    fn add_block(&self, block: usize, tally: &mut Tally) {
        let (expected, given) = (self.scale.expected[block], self.scale.given[block]);
        // The other reading of scale byte 0.
        let other = (expected == 0).then(|| Recipe::RIGHT.block(&self.matrix, block, true).codes);
        for index in block * BLOCK..(block + 1) * BLOCK {
            let value = dequantized(pack::get(self.q.given, index), given);
            let wanted = dequantized(pack::get(self.q.expected, index), expected);
            let is = |wanted: f64| {
                value.to_bits() == wanted.to_bits() || (value.is_nan() && wanted.is_nan())
            };
            let open =
                |other: [u8; BLOCK / 2]| is(dequantized(pack::get(&other, index % BLOCK), 0));
            if is(wanted) || other.is_some_and(open) {
                continue;
            }
            tally.map.add(index / self.matrix.columns, index % self.matrix.columns);
            tally.first = Some(tally.first.map_or(index, |first| first.min(index)));
            if value.is_nan() {
                tally.non_finite += 1;
            } else if !wanted.is_nan() {
                let unit = dequantized(2, expected);
                tally.max_error = tally.max_error.max((value - wanted).abs() / unit);
            }
        }
    }

    fn first_mismatch(&self, index: usize) -> FirstMismatch {
        let columns = self.matrix.columns;
        let block = index / BLOCK;
        let (expected_scale, given_scale) = (self.scale.expected[block], self.scale.given[block]);
        let (expected_code, given_code) =
            (pack::get(self.q.expected, index), pack::get(self.q.given, index));
        let input = self.matrix.values[index];
        let scaled = input * reciprocal(divisor_byte(expected_scale));
        let amax = self.matrix.block(block).iter().fold(0f32, |amax, x| amax.max(x.abs()));
        FirstMismatch {
            row: (index / columns) as u64,
            column: (index % columns) as u64,
            expected: dequantized(expected_code, expected_scale),
            given: dequantized(given_code, given_scale),
            quantized: Some(QuantizedElement {
                block: (index % columns / BLOCK) as u64,
                input: f64::from(input),
                amax: f64::from(amax),
                scaled: f64::from(scaled),
                midpoints: QuantizedElement::midpoints_around(scaled),
                expected_scale,
                given_scale,
                expected_code,
                given_code,
            }),
            dequantized: None,
            attended: None,
            summed: None,
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
