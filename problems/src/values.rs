//! Holding a matrix of floats to the expected one.

use rayon::prelude::*;

use crate::error_map::ErrorMap;
use crate::unwritten::Untouched;
use crate::{Comparison, Expected, FirstMismatch, Poison};

/// How far a value may be from the expected one, relative to it. With 0, bits decide, except that
/// any NaN equals any other. The sign of a zero counts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Closeness {
    pub relative: f32,
}

impl Closeness {
    #[inline]
    pub fn holds(self, given: f32, expected: f32) -> bool {
        let near = (given - expected).abs() <= self.relative * expected.abs();
        let zero = expected == 0.0 || given == 0.0;
        given.to_bits() == expected.to_bits()
            || (near && !zero)
            || (given.is_nan() && expected.is_nan())
    }
}

/// An output of floats beside what it should be, in units of `unit` elements (blocks) that a
/// diagnosis takes one by one.
pub(crate) struct Values<'a> {
    pub expected: &'a [f32],
    pub given: &'a [f32],
    pub columns: usize,
    pub unit: usize,
    pub closeness: Closeness,
    /// The largest error of each element, where it is not a part of the value itself.
    pub bounds: Option<&'a [f32]>,
}

impl<'a> Values<'a> {
    pub fn new(
        expected: &'a Expected,
        output: &'a [u8],
        columns: usize,
        unit: usize,
        closeness: Closeness,
    ) -> Values<'a> {
        Values {
            expected: bytemuck::cast_slice(&expected.outputs[0]),
            given: bytemuck::cast_slice(output),
            columns,
            unit,
            closeness,
            bounds: None,
        }
    }

    fn holds(&self, index: usize) -> bool {
        let (given, expected) = (self.given[index], self.expected[index]);
        match self.bounds {
            Some(bounds) => (given - expected).abs() <= bounds[index],
            None => self.closeness.holds(given, expected),
        }
    }

    pub fn untouched(&self, name: &'static str, poison: &'a Poison) -> Untouched<'a> {
        Untouched {
            name,
            expected: bytemuck::cast_slice(self.expected),
            given: bytemuck::cast_slice(self.given),
            rows: self.expected.len() / self.columns,
            columns: self.columns,
            width: 4,
            place: &crate::unwritten::in_order,
            poison,
        }
    }

    /// Counts, the largest error in units of `error_unit(index of the element)`, the first mismatch
    /// and the picture; and which units are wrong.
    pub fn compare(&self, error_unit: impl Fn(usize) -> f64 + Sync) -> (Comparison, Vec<usize>) {
        let mut comparison = Comparison {
            elements: self.expected.len() as u64,
            max_error: Some(0.0),
            ..Comparison::default()
        };
        // Rows that are equal byte for byte need no second look.
        let rows = self.expected.len() / self.columns;
        let row = |row: usize| row * self.columns..(row + 1) * self.columns;
        let bits = |values: &'a [f32]| bytemuck::cast_slice::<f32, u32>(values);
        let (expected, given) = (bits(self.expected), bits(self.given));
        let differing: Vec<usize> =
            (0..rows).into_par_iter().filter(|&r| expected[row(r)] != given[row(r)]).collect();

        let worst = differing.par_iter().flat_map_iter(|&r| row(r)).filter_map(|index| {
            let (given, expected) = (f64::from(self.given[index]), f64::from(self.expected[index]));
            let error = (given - expected).abs() / error_unit(index);
            error.is_finite().then_some(error)
        });
        comparison.max_error = worst.max_by(f64::total_cmp).or(Some(0.0));
        let wrong: Vec<usize> = differing
            .par_iter()
            .flat_map_iter(|&r| row(r))
            .filter(|&index| !self.holds(index))
            .collect();
        comparison.mismatches = wrong.len() as u64;
        let Some(&first) = wrong.first() else { return (comparison, Vec::new()) };

        let mut map = ErrorMap::new(rows, self.columns);
        let mut units: Vec<usize> = Vec::new();
        for &index in &wrong {
            map.add(index / self.columns, index % self.columns);
            if units.last() != Some(&(index / self.unit)) {
                units.push(index / self.unit);
            }
            let unexpected = !self.given[index].is_finite() && self.expected[index].is_finite();
            comparison.non_finite += u64::from(unexpected);
        }
        comparison.picture = map.picture();
        comparison.first = Some(FirstMismatch {
            row: (first / self.columns) as u64,
            column: (first % self.columns) as u64,
            expected: f64::from(self.expected[first]),
            given: f64::from(self.given[first]),
            quantized: None,
            dequantized: None,
            attended: None,
            summed: None,
        });
        (comparison, units)
    }

    /// Whether `value(element)` is what the solution wrote, throughout a unit.
    pub fn agree(
        &self,
        unit: usize,
        excused: impl Fn(usize) -> bool,
        value: impl Fn(usize) -> f32,
    ) -> bool {
        (unit * self.unit..(unit + 1) * self.unit)
            .all(|index| self.closeness.holds(self.given[index], value(index)) || excused(index))
    }
}
