//! Whether a recipe gives what the solution wrote, head by head.

use rayon::prelude::*;

use super::Attention;
use super::compare::{BOUND, loudest, unit};
use super::recipe::{Head, MUTATIONS, Recipe};
use crate::diagnosis::Diagnosis;
use crate::hypothesis::thousands;
use crate::problem::Given;
use crate::values::Values;
use crate::{Comparison, Poison};

/// Faults together, at most: each combination quantizes a head and attends to it.
const DEEPEST: usize = 2;

impl Attention<'_> {
    pub(super) fn explain(
        &self,
        given: &Given,
        values: &Values,
        differing: &[usize],
        poison: &Poison,
        comparison: &mut Comparison,
    ) {
        let [q, k, v] = [0, 1, 2].map(|index| bytemuck::cast_slice::<u8, f32>(given.inputs[index]));
        let shape = self.shape;
        let loudest = loudest(v, shape);
        let out = values.untouched("out", poison);
        let agrees = |recipe: &Recipe, head: usize, excuse: bool| {
            let keys =
                head * shape.seq_k * shape.head_dim..(head + 1) * shape.seq_k * shape.head_dim;
            let queries = head * values.unit..(head + 1) * values.unit;
            let inputs = Head { shape, q: &q[queries], k: &k[keys.clone()], v: &v[keys] };
            let prepared = recipe.prepare(&inputs);
            (0..shape.seq_q).all(|row| {
                let start = head * values.unit + row * shape.head_dim;
                prepared.row(row).into_iter().enumerate().all(|(column, (value, length))| {
                    let given = f64::from(values.given[start + column]);
                    let bound = BOUND * unit(length, value, loudest[head]);
                    (given - value).abs() <= bound
                        || given.is_nan() && value.is_nan()
                        || excuse && out.at(start + column)
                })
            })
        };
        let diagnosis = Diagnosis {
            right: Recipe::RIGHT,
            mutations: &MUTATIONS,
            units: shape.heads,
            agrees: &agrees,
            what: format!("{} values", thousands(comparison.elements)),
            outputs: &[&out],
            otherwise: &|| "neither quantization, softmax nor layout alone gives it".to_owned(),
        };
        // No recipe gives zeros for inputs that are not.
        if values.given.par_iter().all(|&value| value == 0.0) {
            diagnosis.give_up(comparison);
        } else {
            diagnosis.explain_by(DEEPEST, differing, comparison);
        }
    }
}
