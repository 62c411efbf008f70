//! Whether a recipe may give what the solution wrote, block by block.

use formats::pack;

use super::BLOCK;
use super::compare::View;
use super::recipe::{MUTATIONS, Recipe};
use crate::Comparison;
use crate::diagnosis::Diagnosis;
use crate::hypothesis::thousands;
use crate::unwritten::Untouched;

impl View<'_> {
    pub(super) fn explain(&self, differing: &[usize], comparison: &mut Comparison) {
        let (codes, blocks) = (comparison.elements, self.tensor.values.len() / BLOCK);
        let diagnosis = Diagnosis {
            right: Recipe::RIGHT,
            mutations: &MUTATIONS,
            units: blocks,
            agrees: &|recipe, block, excuse| self.agrees(recipe, block, excuse),
            what: format!(
                "{} codes and {} scale bytes",
                thousands(codes),
                thousands(blocks as u64)
            ),
            outputs: &[&self.q, &self.scale],
            otherwise: &|| self.scales_in_words(blocks),
        };
        diagnosis.explain(differing, comparison);
    }

    fn scales_in_words(&self, blocks: usize) -> String {
        let differs = |block: &usize| {
            let place = self.tensor.place(*block);
            self.scale.expected[place] != self.scale.given[place]
        };
        match (0..blocks).filter(differs).count() {
            0 => "all scale bytes are right, so the encoder or the packing is wrong".to_owned(),
            wrong => format!(
                "{} of {} scale bytes are not the expected ones",
                thousands(wrong as u64),
                thousands(blocks as u64)
            ),
        }
    }

    fn agrees(&self, recipe: &Recipe, block: usize, excuse: bool) -> bool {
        let excused = |output: &Untouched, place: usize| excuse && output.at(place);
        let scale_at = |place: usize| self.scale.given.get(place).copied();
        let written = recipe.block(self.tensor, block, &|place| scale_at(place).unwrap_or(0));
        let zeros = || self.tensor.block(block).iter().all(|&x| x & 0x7fff == 0);
        // A layout may reach past the end, where nothing can be compared.
        let wrong_scale = scale_at(written.place).is_some_and(|given| {
            !written.scale.contains(given) && !excused(&self.scale, written.place) && !zeros()
        });
        if wrong_scale {
            return false;
        }
        written.codes.iter().enumerate().all(|(index, range)| {
            let element = block * BLOCK + index;
            let code = pack::get(self.q.given, element);
            // Over a scale of zero the factor is infinite, or guarded against.
            let right = match written.vanished {
                true => matches!(code & 7, 0 | 7),
                false => range.contains(code),
            };
            right || excused(&self.q, element / 2)
        })
    }
}
