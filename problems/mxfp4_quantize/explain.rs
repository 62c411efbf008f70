//! Saying why an output is wrong: what was left unwritten, and which wrong turns of
//! [`super::recipe`] give exactly the rest.

use rayon::prelude::*;

use super::BLOCK;
use super::compare::View;
use super::recipe::{Recipe, TWISTS};
use crate::Comparison;
use crate::hypothesis::{clauses, identifier, search, thousands};

/// Blocks of each kind, differing and not, that a combination of twists is first tried on.
const SAMPLE: usize = 48;

pub(super) fn explain(view: &View, differing: &[usize], comparison: &mut Comparison) {
    let (q, scale) = (view.q.find(), view.scale.find());
    comparison.unwritten = q.count + scale.count;
    let unwritten = comparison.unwritten > 0;
    for (id, sentence) in [q.said, scale.said].into_iter().flatten() {
        comparison.reasons.push(id);
        comparison.explanation.push(sentence);
    }

    let check = Check { view, unwritten };
    if unwritten && check.all(&Recipe::RIGHT) {
        comparison.explanation.push("what was written is right".to_owned());
        return;
    }
    let spread =
        |from: usize, to: usize| (0..SAMPLE.min(to)).map(move |i| from + i * to / SAMPLE.min(to));
    let mut sample: Vec<usize> = spread(0, differing.len()).map(|i| differing[i]).collect();
    sample.extend(spread(0, view.blocks()));
    let agrees = |recipe: &Recipe| sample.iter().all(|&block| check.block(recipe, block));
    let found = search(&Recipe::RIGHT, &TWISTS, agrees, |recipe| check.all(recipe));
    let all = format!(
        "all {} codes and {} scale bytes{} match if",
        thousands(comparison.elements),
        thousands(view.blocks() as u64),
        if unwritten { " that were written" } else { "" }
    );
    for (index, combination) in found.iter().enumerate() {
        comparison.reasons.push(identifier(combination));
        let lead = if index == 0 { all.as_str() } else { "or if" };
        comparison.explanation.push(format!("{lead} {}", clauses(combination)));
    }
    if found.is_empty() {
        unexplained(view, comparison);
    }
}

fn unexplained(view: &View, comparison: &mut Comparison) {
    if view.q.given.par_iter().chain(view.scale.given).all(|&byte| byte == 0) {
        comparison.reasons.push("all_zero".to_owned());
        comparison.explanation.push("every byte of both outputs is 0".to_owned());
        return;
    }
    let wrong = view.scale.expected.iter().zip(view.scale.given).filter(|(a, b)| a != b).count();
    let scales = match wrong {
        0 => "all scale bytes are right, so the encoder or the packing is wrong".to_owned(),
        _ => format!(
            "{} of {} scale bytes are wrong",
            thousands(wrong as u64),
            thousands(view.blocks() as u64)
        ),
    };
    comparison.explanation.push(format!("no known wrong turn gives this output; {scales}"));
}

/// Whether a recipe gives what the solution wrote.
struct Check<'a> {
    view: &'a View<'a>,
    /// Whether bytes that still hold the pattern are excused.
    unwritten: bool,
}

impl Check<'_> {
    fn all(&self, recipe: &Recipe) -> bool {
        (0..self.view.blocks()).into_par_iter().all(|block| self.block(recipe, block))
    }

    fn block(&self, recipe: &Recipe, block: usize) -> bool {
        let View { matrix, q, scale } = self.view;
        let excused =
            |output: &crate::unwritten::Untouched, index: usize| self.unwritten && output.is(index);
        let written = recipe.block(matrix, block, false);
        let zeros = || matrix.block(block).iter().all(|&x| x == 0.0);
        // A layout with pads reaches past the end, where nothing can be compared.
        let wrong_scale = scale.given.get(written.position).is_some_and(|&given| {
            given != written.scale && !excused(scale, written.position) && !zeros()
        });
        if wrong_scale {
            return false;
        }
        let first = block * BLOCK / 2;
        let agree = |codes: &[u8; BLOCK / 2]| {
            codes
                .iter()
                .enumerate()
                .all(|(index, &byte)| byte == q.given[first + index] || excused(q, first + index))
        };
        // The codes of a NaN block are open, and so is what a block of scale byte 0 is divided by.
        scale.expected[block] == 255
            || agree(&written.codes)
            || (written.scale == 0 && agree(&recipe.block(matrix, block, true).codes))
    }
}
