//! Holding c to the exact products, and saying why it is wrong.
//!
//! A value is right if it is what rounding to f16 makes of some number within [`Sum::slack`] of the
//! exact sum: what a float32 sum may come to. Where float32 holds every partial sum exactly, there
//! is no slack and bits decide.

use formats::f16;
use rayon::prelude::*;

use super::operands::Operands;
use super::recipe::{Recipe, Sum};
use crate::diagnosis::Diagnosis;
use crate::error_map::ErrorMap;
use crate::hypothesis::{Twist, thousands};
use crate::unwritten::Untouched;
use crate::{Comparison, Expected, FirstMismatch, Poison, SummedElement};

/// What a problem of dot products says of its outputs.
pub(crate) struct Products {
    pub right: Recipe,
    pub twists: &'static [Twist<Recipe>],
    /// Row and column of an output in a report.
    pub shape: fn(&Operands, usize) -> (usize, usize),
    /// Whether sums may be what block-scaled `mma` makes of them.
    pub block_scaled: bool,
}

/// Where an output of a report's matrix lies in memory.
type Place<'a> = dyn Fn(usize) -> usize + Sync + 'a;

/// One output and what it was made from.
pub(crate) struct View<'a> {
    operands: Operands<'a>,
    products: &'static Products,
    expected: &'a [u16],
    given: &'a [u16],
    /// c as the matrix of a report.
    c: Untouched<'a>,
    poison: &'a Poison,
}

impl<'a> View<'a> {
    pub fn new(
        operands: Operands<'a>,
        products: &'static Products,
        expected: &'a Expected,
        output: &'a [u8],
        (poison, place): (&'a Poison, &'a Place<'a>),
    ) -> View<'a> {
        let (rows, columns) = (products.shape)(&operands, operands.outputs() - 1);
        let c = Untouched {
            name: "c",
            expected: &expected.outputs[0],
            given: output,
            rows: rows + 1,
            columns: columns + 1,
            width: 2,
            place,
            poison,
        };
        let expected = bytemuck::cast_slice(&expected.outputs[0]);
        View { operands, products, expected, given: bytemuck::cast_slice(output), c, poison }
    }

    pub fn compare(&self) -> Comparison {
        let mut comparison = Comparison {
            elements: self.expected.len() as u64,
            max_error: Some(0.0),
            ..Comparison::default()
        };
        let unequal = (0..self.given.len()).into_par_iter();
        let unequal = unequal.filter(|&index| self.given[index] != self.expected[index]);
        let judged: Vec<Judged> = unequal.map(|index| self.judge(index)).collect();
        let errors = judged.iter().map(|judged| judged.error).filter(|error| error.is_finite());
        comparison.max_error = errors.max_by(f64::total_cmp).or(Some(0.0));

        let wrong: Vec<&Judged> = judged.iter().filter(|judged| !judged.right).collect();
        comparison.mismatches = wrong.len() as u64;
        if let Some(first) = wrong.iter().min_by_key(|judged| self.position(judged.index)) {
            let indices: Vec<usize> = wrong.iter().map(|judged| judged.index).collect();
            self.draw(&indices, &mut comparison);
            comparison.first = Some(self.mismatch(first));
            self.explain(&indices, &mut comparison);
        }
        comparison
    }

    /// Row and column of an output.
    fn position(&self, index: usize) -> (usize, usize) {
        (self.products.shape)(&self.operands, index)
    }

    fn judge(&self, index: usize) -> Judged {
        let sum = self.products.right.sum(&self.operands, index);
        let allowed = self.allowed(&self.products.right, sum);
        let (given, expected) = (self.value(index), f16::decode(self.expected[index]));
        let slack = self.slack(sum);
        // Half the distance to the next f16: what rounding alone may cost.
        let half_step = (f64::from(expected.abs()) * 2f64.powi(-11)).max(2f64.powi(-25));
        Judged {
            index,
            right: within(given, allowed),
            error: (f64::from(given) - sum.value).abs() / (slack + half_step),
            sum,
            allowed,
        }
    }

    fn value(&self, index: usize) -> f32 {
        f16::decode(self.given[index])
    }

    /// How far a right sum may be from the exact one.
    fn slack(&self, sum: Sum) -> f64 {
        let terms = self.operands.k;
        sum.slack(terms) + if self.products.block_scaled { sum.cut_off(terms) } else { 0.0 }
    }

    /// The least and the largest right value.
    fn allowed(&self, recipe: &Recipe, sum: Sum) -> (f32, f32) {
        // What is infinite is infinite everywhere.
        let slack = if sum.value.is_finite() { self.slack(sum) } else { 0.0 };
        let store = |value| f16::decode((recipe.store)(value));
        (store(sum.value - slack), store(sum.value + slack))
    }

    fn draw(&self, wrong: &[usize], comparison: &mut Comparison) {
        let mut map = ErrorMap::new(self.c.rows, self.c.columns);
        for &index in wrong {
            let (row, column) = self.position(index);
            map.add(row, column);
            let finite = f16::decode(self.expected[index]).is_finite();
            comparison.non_finite += u64::from(finite && !self.value(index).is_finite());
        }
        comparison.picture = map.picture();
    }

    fn mismatch(&self, judged: &Judged) -> FirstMismatch {
        let (row, column) = self.position(judged.index);
        FirstMismatch {
            row: row as u64,
            column: column as u64,
            expected: f64::from(f16::decode(self.expected[judged.index])),
            given: f64::from(self.value(judged.index)),
            quantized: None,
            dequantized: None,
            attended: None,
            summed: Some(SummedElement {
                sum: judged.sum.value,
                magnitude: judged.sum.magnitude,
                allowed: (judged.allowed.0.into(), judged.allowed.1.into()),
            }),
        }
    }

    fn explain(&self, wrong: &[usize], comparison: &mut Comparison) {
        let values = thousands(comparison.elements);
        if (0..self.given.len()).into_par_iter().all(|index| self.was_added(index)) {
            comparison.reasons.push("output_not_zeroed".to_owned());
            comparison.explanation.push(format!(
                "all {values} values match if what c held before is added: it holds anything at \
                 the start"
            ));
            return;
        }
        let diagnosis = Diagnosis {
            right: self.products.right,
            twists: self.products.twists,
            units: self.given.len(),
            agrees: &|recipe: &Recipe, index, excuse| {
                (excuse && self.c.at(index))
                    || within(
                        self.value(index),
                        self.allowed(recipe, recipe.sum(&self.operands, index)),
                    )
            },
            what: format!("{values} values"),
            outputs: &[&self.c],
            otherwise: &|| "the sums, their parts and their scales were tried".to_owned(),
        };
        diagnosis.explain(wrong, comparison);
        if comparison.reasons.is_empty() && self.is_half_precision(wrong) {
            comparison.reasons.push("sums_in_f16".to_owned());
            comparison.explanation = vec![
                "nearly every value is near the right one, as near as sums in f16 come; sums need float32"
                    .to_owned(),
            ];
        }
    }

    /// Whether the value is the right one plus the judge's pattern, added in f16 in a few steps.
    fn was_added(&self, index: usize) -> bool {
        let held = f16::decode(u16::from_le_bytes(
            [0, 1].map(|offset| self.poison.byte(2 * index + offset)),
        ));
        let given = self.value(index);
        let sum = f64::from(held) + f64::from(f16::decode(self.expected[index]));
        if !given.is_finite() || !held.is_finite() {
            return !given.is_finite() && (!held.is_finite() || sum.abs() > 65_000.0);
        }
        // Steps of the size of what was held, and of the parts of the sum.
        let parts = self.products.right.sum(&self.operands, index).magnitude;
        let slack = f64::from(held.abs()) * 2f64.powi(-8) + parts * 2f64.powi(-11);
        (f64::from(given) - sum).abs() <= slack
    }

    /// Whether sums whose every step is rounded to f16 come this near. Steps that lose what is small
    /// beside a large sum can lose more, in one sum of hundreds.
    fn is_half_precision(&self, wrong: &[usize]) -> bool {
        let near = wrong.par_iter().filter(|&&index| {
            let sum = self.products.right.sum(&self.operands, index);
            let error = (f64::from(self.value(index)) - sum.value).abs();
            error <= sum.magnitude * 2f64.powi(-9) + 2f64.powi(-24)
        });
        near.count() * 100 >= wrong.len() * 99
    }
}

/// A value that is not the expected one.
struct Judged {
    index: usize,
    right: bool,
    /// In units of what a right sum may have.
    error: f64,
    sum: Sum,
    allowed: (f32, f32),
}

/// Zeros are equal whatever their sign. Infinities and NaN are not told apart: which of them an
/// overflow becomes depends on the order of the sum.
fn within(given: f32, (least, largest): (f32, f32)) -> bool {
    (least <= given && given <= largest) || (!given.is_finite() && !least.is_finite())
}
