//! Holding outputs to the reference's, after dequantizing.

use rayon::prelude::*;

use super::{Declared, ErrorUnit, Output, columns};
use crate::error_map::ErrorMap;
use crate::hypothesis::thousands;
use crate::unwritten::{Untouched, in_order};
use crate::{CaseSpec, Comparison, Expected, FirstMismatch, Parameter, Poison};

pub(super) fn compare(
    declared: &Declared,
    case: &CaseSpec,
    expected: &Expected,
    outputs: &[&[u8]],
    poison: &Poison,
) -> Comparison {
    let mut comparison = Comparison { max_error: Some(0.0), ..Comparison::default() };
    let parameters: Vec<&Parameter> = declared.outputs().collect();
    let place = |name: &str| parameters.iter().position(|parameter| parameter.name == name);
    for (index, parameter) in parameters.iter().enumerate() {
        // Scales are judged with the values they belong to.
        let names = |other: &&Parameter| {
            other.scales.as_ref().is_some_and(|scales| scales.of == parameter.name)
        };
        let scales = parameter.scales.as_ref().and_then(|scales| place(&scales.of));
        let output = Output {
            parameter,
            expected: &expected.outputs[index],
            given: outputs[index],
            scales: scales.map(|at| [&*expected.outputs[at], outputs[at]]),
            allowed: expected.allowed.get(index).map(Vec::as_slice),
            columns: columns(parameter, case),
        };
        if !parameters.iter().any(names) {
            output.judge(declared, &mut comparison);
        }
        if !comparison.accepted() {
            output.unwritten(poison, &mut comparison);
        }
    }
    if !comparison.accepted() && comparison.unwritten == 0 {
        let zero = outputs.iter().all(|bytes| bytes.par_iter().all(|&byte| byte == 0));
        if zero {
            comparison.reasons.push("all_zero".to_owned());
            comparison.explanation.push("every byte that was written is 0".to_owned());
        }
    }
    comparison
}

impl Output<'_> {
    fn len(&self) -> usize {
        let element = self.parameter.element.bytes() as usize;
        self.expected.len() / element * self.parameter.format.values_per_element()
    }

    /// The value, dequantized, of the expected side (0) or of the given one (1).
    fn value(&self, side: usize, index: usize) -> f64 {
        let bytes = [self.expected, self.given][side];
        self.parameter.format.value(bytes, index) * self.scale(side, index)
    }

    fn scale(&self, side: usize, index: usize) -> f64 {
        let (Some(bytes), Some(scales)) = (self.scales, &self.parameter.scales) else { return 1.0 };
        let (row, column) = (index / self.columns, index % self.columns);
        scales.format.value(bytes[side], scales.index(row, column, self.columns))
    }

    /// The largest error that is right.
    fn allowed(&self, declared: &Declared, index: usize) -> f64 {
        let expected = self.value(0, index);
        let unit = match declared.unit {
            ErrorUnit::Value => expected.abs(),
            ErrorUnit::One => 1.0,
            ErrorUnit::Scale => self.scale(0, index).abs(),
            ErrorUnit::Reference => f64::from(self.allowed.map_or(0.0, |allowed| allowed[index])),
            ErrorUnit::Ulp => {
                let scale = self.scale(0, index);
                let code = self.parameter.format.value(self.expected, index);
                self.parameter.format.ulp(code) * scale.abs()
            }
        };
        declared.manifest.tolerance.bound * unit
    }

    fn judge(&self, declared: &Declared, comparison: &mut Comparison) {
        let exact = declared.manifest.tolerance.bound == 0.0 && self.scales.is_none();
        let error = |index: usize| {
            let (expected, given) = (self.value(0, index), self.value(1, index));
            let same = expected == given && !(exact && self.differs(index))
                || expected.is_nan() && given.is_nan();
            let allowed = if same { 0.0 } else { self.allowed(declared, index) };
            let error = (given - expected).abs();
            (same || error <= allowed, error / (allowed / declared.manifest.tolerance.bound))
        };
        // Rows that are equal byte for byte need no second look, unless a scale can differ.
        let width = self.expected.len() / (self.len() / self.columns).max(1);
        let rows = self.expected.par_chunks(width).zip(self.given.par_chunks(width)).enumerate();
        let suspects: Vec<usize> = rows
            .filter(|(_, (expected, given))| self.scales.is_some() || expected != given)
            .map(|(row, _)| row)
            .collect();
        let columns = self.columns;
        let judged = suspects.par_iter().flat_map_iter(|&row| row * columns..(row + 1) * columns);
        let errors: Vec<(usize, bool, f64)> = judged
            .map(|index| (index, error(index)))
            .filter(|(_, (right, error))| !right || *error > 0.0)
            .map(|(index, (right, error))| (index, right, error))
            .collect();
        comparison.elements += self.len() as u64;
        let finite = errors.iter().map(|&(_, _, error)| error).filter(|error| error.is_finite());
        let worst = finite.fold(comparison.max_error.unwrap_or(0.0), f64::max);
        comparison.max_error = Some(worst);
        let wrong: Vec<usize> =
            errors.iter().filter(|(_, right, _)| !right).map(|&(index, ..)| index).collect();
        self.tell(&wrong, comparison);
    }

    /// Whether the bits of a value differ.
    fn differs(&self, index: usize) -> bool {
        let width = self.parameter.element.bytes() as usize;
        let at = index / self.parameter.format.values_per_element() * width;
        self.expected[at..at + width] != self.given[at..at + width]
    }

    fn tell(&self, wrong: &[usize], comparison: &mut Comparison) {
        let Some(&first) = wrong.first() else { return };
        let mut map = ErrorMap::new(self.len() / self.columns, self.columns);
        for &index in wrong {
            map.add(index / self.columns, index % self.columns);
            let finite = self.value(0, index).is_finite();
            comparison.non_finite += u64::from(finite && !self.value(1, index).is_finite());
        }
        comparison.mismatches += wrong.len() as u64;
        if comparison.first.is_some() {
            return;
        }
        comparison.picture = map.picture();
        comparison.first = Some(FirstMismatch {
            row: (first / self.columns) as u64,
            column: (first % self.columns) as u64,
            expected: self.value(0, first),
            given: self.value(1, first),
            quantized: None,
            dequantized: None,
            attended: None,
            summed: None,
        });
        let of = thousands(self.len() as u64);
        let count = thousands(wrong.len() as u64);
        comparison
            .explanation
            .push(format!("{count} of {of} values of {} are wrong", self.parameter.name));
    }

    fn unwritten(&self, poison: &Poison, comparison: &mut Comparison) {
        let width = self.parameter.element.bytes() as usize;
        let columns = self.columns / self.parameter.format.values_per_element();
        let untouched = Untouched {
            name: &self.parameter.name,
            expected: self.expected,
            given: self.given,
            rows: self.expected.len() / width / columns.max(1),
            columns,
            width,
            place: &in_order,
            poison,
        };
        let findings = untouched.find();
        comparison.unwritten += findings.count;
        if let Some((id, sentence)) = findings.said {
            comparison.reasons.push(id);
            comparison.explanation.push(sentence);
        }
    }
}
