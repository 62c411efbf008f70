//! From a wrong output to sentences: what was never written, and which known bugs give the rest.

use rayon::prelude::*;

use crate::Comparison;
use crate::hypothesis::{DEEPEST, Mutation, clauses, identifier, search};
use crate::unwritten::Untouched;

/// A wrong output, ready to be looked into. It falls into units (blocks, rows) that a recipe can be
/// tried on one by one.
pub(crate) struct Diagnosis<'a, R: 'static> {
    pub right: R,
    pub mutations: &'static [Mutation<R>],
    pub units: usize,
    /// Whether the recipe gives what the solution wrote for this unit. With `true`, bytes that still
    /// hold the judge's pattern are excused.
    pub agrees: &'a (dyn Fn(&R, usize, bool) -> bool + Sync),
    /// "16,384 codes and 512 scale bytes"
    pub what: String,
    pub outputs: &'a [&'a Untouched<'a>],
    /// What to say if nothing explains it: a clause.
    pub otherwise: &'a dyn Fn() -> String,
}

/// Units of each kind, differing and not, that a combination of mutations is first tried on.
const SAMPLE: usize = 48;

impl<R: Clone + Sync> Diagnosis<'_, R> {
    /// Adds unwritten counts, reasons and sentences. `differing` are the units that are wrong.
    pub fn explain(&self, differing: &[usize], comparison: &mut Comparison) {
        self.explain_by(DEEPEST, differing, comparison);
    }

    /// The same by at most `deepest` faults together, where a unit is costly to try.
    pub fn explain_by(&self, deepest: usize, differing: &[usize], comparison: &mut Comparison) {
        let mut nothing = true;
        for output in self.outputs {
            let findings = output.find();
            comparison.unwritten += findings.count;
            nothing &= findings.everything;
            if let Some((id, sentence)) = findings.said {
                comparison.reasons.push(id);
                comparison.explanation.push(sentence);
            }
        }
        if nothing && !self.outputs.is_empty() {
            comparison.reasons.push("nothing_written".to_owned());
            comparison.explanation.push("so nothing was written at all".to_owned());
            return;
        }
        let excused = comparison.unwritten > 0;
        let proves =
            |recipe: &R| (0..self.units).into_par_iter().all(|u| (self.agrees)(recipe, u, excused));
        if excused && proves(&self.right) {
            comparison.explanation.push("what was written is right".to_owned());
            return;
        }

        let mut sample: Vec<usize> = spread(differing.len()).map(|i| differing[i]).collect();
        sample.extend(spread(self.units));
        let agrees = |recipe: &R| sample.iter().all(|&unit| (self.agrees)(recipe, unit, excused));
        let found = search(&self.right, self.mutations, deepest, agrees, proves);
        let written = if excused { " that were written" } else { "" };
        for (index, combination) in found.iter().enumerate() {
            comparison.reasons.push(identifier(combination));
            let clauses = clauses(combination);
            comparison.explanation.push(if index == 0 {
                format!("all {}{written} match if {clauses}", self.what)
            } else {
                format!("or if {clauses}")
            });
        }
        if found.is_empty() {
            self.give_up(comparison);
        }
    }

    /// Says that nothing explains it.
    pub fn give_up(&self, comparison: &mut Comparison) {
        let zero = |output: &&Untouched| output.given.par_iter().all(|&byte| byte == 0);
        comparison.explanation.push(if self.outputs.iter().all(zero) {
            comparison.reasons.push("all_zero".to_owned());
            "every byte that was written is 0".to_owned()
        } else {
            format!("no known known bug gives this output; {}", (self.otherwise)())
        });
    }
}

/// Up to [`SAMPLE`] indices, spread evenly over `len`.
fn spread(len: usize) -> impl Iterator<Item = usize> {
    let count = SAMPLE.min(len);
    (0..count).map(move |index| index * len / count)
}
