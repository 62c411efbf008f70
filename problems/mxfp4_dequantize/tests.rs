//! The reference against TorchAO's own outputs, and wrong outputs.

use super::*;
use crate::testing::{self, Run, poisoned};
use crate::{Sizes, npy};

const FAMILIES: [Family; 3] = [Family::Uniform, Family::Codes, Family::Special];

fn golden(name: &str) -> Vec<u8> {
    npy::golden("mxfp4_quantize", name).bytes
}

#[test]
fn the_reference_is_torchao_bit_for_bit() {
    for name in ["normal", "adversarial"] {
        let file = |array| golden(&format!("{name}_{array}"));
        let expected = file("dequant_f32");
        let values = dequantize(&file("packed"), &file("scale"));
        for (value, expected) in values.iter().zip(expected.as_chunks::<4>().0) {
            let expected = f32::from_le_bytes(*expected);
            let same = value.to_bits() == expected.to_bits();
            assert!(same || (value.is_nan() && expected.is_nan()), "{value:e} {expected:e}");
        }
    }
}

fn run(family: Family, m: u64, k: u64) -> Run {
    Run::new("mxfp4_dequantize", family, Sizes::new([("m", m), ("k", k)]))
}

#[test]
fn a_right_answer_is_accepted_in_every_family() {
    testing::accepts_what_is_expected("mxfp4_dequantize");
}

fn compare(recipe: &Recipe, family: Family) -> Comparison {
    let run = run(family, 64, 256);
    let input = recipe::Input { q: run.input(0), scale: run.input(1), columns: 256 };
    let out: Vec<f32> = (0..64 * 256).map(|index| recipe.value(&input, index)).collect();
    run.compare(&[bytemuck::cast_slice(&out)])
}

#[test]
fn every_wrong_turn_is_caught_and_called_by_its_name() {
    testing::every_mutation_is_named(&MUTATIONS, &FAMILIES, |mutation, family| {
        compare(&testing::mutated(&Recipe::RIGHT, &[mutation]), family)
    });
}

#[test]
fn faults_that_only_together_explain_are_found_together() {
    for ids in [["nibbles_swapped", "scale_bias_126"], ["sign_dropped", "scales_transposed"]] {
        let mutations = ids.map(|id| testing::mutation(&MUTATIONS, id));
        let comparison = compare(&testing::mutated(&Recipe::RIGHT, &mutations), Family::Codes);
        assert_eq!(comparison.reasons, [ids.join("+")], "{:?}", comparison.explanation);
    }
}

#[test]
fn what_was_not_written_is_told_from_what_is_wrong() {
    let run = run(Family::Codes, 64, 256);
    let mut out = run.expected.outputs[0].clone();
    let pattern = poisoned(out.len());
    for (index, bytes) in out.chunks_mut(4).enumerate().filter(|(index, _)| index % 256 >= 192) {
        bytes.copy_from_slice(&pattern[4 * index..4 * index + 4]);
    }
    let comparison = run.compare(&[&out]);
    assert_eq!(comparison.reasons, ["unwritten_out_last_columns"]);
    assert_eq!(comparison.unwritten, 64 * 64);
    assert!(comparison.picture[0].contains("the last 64 columns of all 64 rows"));
}
