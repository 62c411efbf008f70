//! Whether a recipe gives what the solution wrote, block by block.

use super::BLOCK;
use super::compare::View;
use super::recipe::{MUTATIONS, Recipe};
use crate::Comparison;
use crate::diagnosis::Diagnosis;
use crate::hypothesis::thousands;
use crate::unwritten::Untouched;

impl View<'_> {
    pub(super) fn explain(&self, differing: &[usize], comparison: &mut Comparison) {
        let (codes, scales) = (comparison.elements, self.blocks() as u64);
        let diagnosis = Diagnosis {
            right: Recipe::RIGHT,
            mutations: &MUTATIONS,
            units: self.blocks(),
            agrees: &|recipe, block, excuse| self.agrees(recipe, block, excuse),
            what: format!("{} codes and {} scale bytes", thousands(codes), thousands(scales)),
            outputs: &[&self.q, &self.scale],
            otherwise: &|| self.scales_in_words(),
        };
        diagnosis.explain(differing, comparison);
    }

    fn scales_in_words(&self) -> String {
        let pairs = self.scale.expected.iter().zip(self.scale.given);
        match pairs.filter(|(expected, given)| expected != given).count() {
            0 => "all scale bytes are right, so the encoder or the packing is wrong".to_owned(),
            wrong => format!(
                "{} of {} scale bytes are wrong",
                thousands(wrong as u64),
                thousands(self.blocks() as u64)
            ),
        }
    }

    fn agrees(&self, recipe: &Recipe, block: usize, excuse: bool) -> bool {
        let View { matrix, q, scale } = self;
        let excused = |output: &Untouched, index: usize| excuse && output.at(index);
        let written = recipe.block(matrix, block, false);
        let zeros = || matrix.block(block).iter().all(|&x| x == 0.0);
        // A layout with pads reaches past the end, where nothing can be compared.
        let wrong_scale = scale.given.get(written.position).is_some_and(|&given| {
            given != written.scale && !excused(scale, written.position) && !zeros()
        });
        let first = block * BLOCK / 2;
        let agree = |codes: &[u8; BLOCK / 2]| {
            let mut bytes = codes.iter().enumerate().map(|(index, &byte)| (first + index, byte));
            bytes.all(|(index, byte)| byte == q.given[index] || excused(q, index))
        };
        // The codes of a NaN block are open, and so is what a block of scale byte 0 is divided by.
        !wrong_scale
            && (scale.expected[block] == 255
                || agree(&written.codes)
                || (written.scale == 0 && agree(&recipe.block(matrix, block, true).codes)))
    }
}
