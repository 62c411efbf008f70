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
use crate::hypothesis::{Mutation, thousands};
use crate::unwritten::Untouched;
use crate::{Comparison, Expected, FirstMismatch, Poison, SummedElement};

/// What a problem makes of its sums.
pub(crate) trait Product: Sync {
    type Recipe: Copy + Sync + 'static;

    /// How many values there are.
    fn outputs(&self) -> usize;

    /// Row and column of a value in a report.
    fn position(&self, output: usize) -> (usize, usize);

    fn right(&self) -> Self::Recipe;

    fn mutations(&self) -> &'static [Mutation<Self::Recipe>];

    /// What the recipe makes of an output.
    fn range(&self, recipe: &Self::Recipe, output: usize) -> Range;

    /// Arithmetic that is too coarse, the finest first: what is said where no mutation explains the
    /// output and nearly all errors are as small as these.
    fn coarse(&self) -> Vec<Coarse<Self>>;
}

/// A value before it is stored, and what it may be instead.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Range {
    pub value: f64,
    /// What the value's parts amount to.
    pub magnitude: f64,
    pub least: f64,
    pub largest: f64,
    pub store: fn(f64) -> u16,
}

/// A way to compute that is not exact enough.
pub(crate) struct Coarse<P: ?Sized> {
    pub id: &'static str,
    pub says: &'static str,
    /// The error of a value that it explains.
    pub error: fn(&P, usize, Range) -> f64,
}

impl Range {
    /// A sum that may be off by `slack`, stored by the recipe's rounding.
    pub fn around(sum: Sum, slack: f64, store: fn(f64) -> u16) -> Range {
        // What is infinite is infinite everywhere.
        let slack = if sum.value.is_finite() { slack } else { 0.0 };
        Range {
            value: sum.value,
            magnitude: sum.magnitude,
            least: sum.value - slack,
            largest: sum.value + slack,
            store,
        }
    }

    /// The least and the largest right value.
    fn allowed(&self) -> (f32, f32) {
        let store = |value| f16::decode((self.store)(value));
        (store(self.least), store(self.largest))
    }
}

/// Sums whose every step is rounded to f16. Steps that lose what is small beside a large sum can lose
/// more, in one sum of hundreds.
pub(crate) fn sums_in_f16<P: Product>() -> Coarse<P> {
    Coarse {
        id: "sums_in_f16",
        says: "nearly every value is near the right one, as near as sums in f16 come; sums need \
               float32",
        error: |_, _, range| range.magnitude * 2f64.powi(-9) + 2f64.powi(-24),
    }
}

/// What a problem of sums says of its outputs.
pub(crate) struct Sums {
    pub mutations: &'static [Mutation<Recipe>],
    /// Row and column of an output in a report.
    pub shape: fn(&Operands, usize) -> (usize, usize),
    /// Whether sums may be what block-scaled `mma` makes of them.
    pub block_scaled: bool,
    pub right: Recipe,
}

/// The sums themselves.
pub(crate) struct Plain<'a> {
    pub operands: Operands<'a>,
    pub sums: &'static Sums,
}

impl Product for Plain<'_> {
    type Recipe = Recipe;

    fn outputs(&self) -> usize {
        self.operands.outputs()
    }

    fn position(&self, output: usize) -> (usize, usize) {
        (self.sums.shape)(&self.operands, output)
    }

    fn right(&self) -> Recipe {
        self.sums.right
    }

    fn mutations(&self) -> &'static [Mutation<Recipe>] {
        self.sums.mutations
    }

    fn range(&self, recipe: &Recipe, output: usize) -> Range {
        let sum = recipe.sum(&self.operands, output);
        let slack = sum.allowance(self.operands.k, self.sums.block_scaled);
        Range::around(sum, slack, recipe.store)
    }

    fn coarse(&self) -> Vec<Coarse<Self>> {
        vec![sums_in_f16()]
    }
}

/// Where an output of a report's matrix lies in memory.
type Place<'a> = dyn Fn(usize) -> usize + Sync + 'a;

/// One output and what it was made from.
pub(crate) struct View<'a, P> {
    product: P,
    expected: &'a [u16],
    given: &'a [u16],
    /// c as the matrix of a report.
    c: Untouched<'a>,
    poison: &'a Poison,
}

impl<'a, P: Product> View<'a, P> {
    pub fn new(
        product: P,
        expected: &'a Expected,
        output: &'a [u8],
        (poison, place): (&'a Poison, &'a Place<'a>),
    ) -> View<'a, P> {
        let (rows, columns) = product.position(product.outputs() - 1);
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
        View { product, expected, given: bytemuck::cast_slice(output), c, poison }
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
        self.product.position(index)
    }

    fn range(&self, index: usize) -> Range {
        self.product.range(&self.product.right(), index)
    }

    fn judge(&self, index: usize) -> Judged {
        let range = self.range(index);
        let allowed = range.allowed();
        let (given, expected) = (self.value(index), f16::decode(self.expected[index]));
        let slack = (range.largest - range.value).max(range.value - range.least);
        // Half the distance to the next f16: what rounding alone may cost.
        let half_step = (f64::from(expected.abs()) * 2f64.powi(-11)).max(2f64.powi(-25));
        Judged {
            index,
            right: within(given, allowed),
            error: (f64::from(given) - range.value).abs() / (slack + half_step),
            range,
        }
    }

    fn value(&self, index: usize) -> f32 {
        f16::decode(self.given[index])
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
        let allowed = judged.range.allowed();
        FirstMismatch {
            row: row as u64,
            column: column as u64,
            expected: f64::from(f16::decode(self.expected[judged.index])),
            given: f64::from(self.value(judged.index)),
            quantized: None,
            dequantized: None,
            attended: None,
            summed: Some(SummedElement {
                sum: judged.range.value,
                magnitude: judged.range.magnitude,
                allowed: (allowed.0.into(), allowed.1.into()),
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
            right: self.product.right(),
            mutations: self.product.mutations(),
            units: self.given.len(),
            agrees: &|recipe: &P::Recipe, index, excuse| {
                (excuse && self.c.at(index))
                    || within(self.value(index), self.product.range(recipe, index).allowed())
            },
            what: format!("{values} values"),
            outputs: &[&self.c],
            otherwise: &|| "the sums, their parts and their scales were tried".to_owned(),
        };
        diagnosis.explain(wrong, comparison);
        if comparison.reasons.is_empty()
            && let Some(coarse) = self.product.coarse().into_iter().find(|one| self.is(one, wrong))
        {
            comparison.reasons.push(coarse.id.to_owned());
            comparison.explanation = vec![coarse.says.to_owned()];
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
        let parts = self.range(index).magnitude;
        let slack = f64::from(held.abs()) * 2f64.powi(-8) + parts * 2f64.powi(-11);
        (f64::from(given) - sum).abs() <= slack
    }

    /// Whether nearly all errors are as small as this arithmetic makes them.
    fn is(&self, coarse: &Coarse<P>, wrong: &[usize]) -> bool {
        let near = wrong.par_iter().filter(|&&index| {
            let range = self.range(index);
            let error = (f64::from(self.value(index)) - range.value).abs();
            error <= (coarse.error)(&self.product, index, range)
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
    range: Range,
}

/// Zeros are equal whatever their sign. Infinities and NaN are not told apart: which of them an
/// overflow becomes depends on the order of the sum.
fn within(given: f32, (least, largest): (f32, f32)) -> bool {
    (least <= given && given <= largest) || (!given.is_finite() && !least.is_finite())
}
