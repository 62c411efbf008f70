//! The reference against TorchAO's own outputs, and the comparison against wrong ones.

use super::recipe::{MUTATIONS, Matrix, Recipe};
use super::*;
use crate::hypothesis::Mutation;
use crate::npy;
use crate::testing::{self, FAMILIES, Run, poisoned};
use crate::{Family, Sizes};

fn golden(name: &str) -> Vec<u8> {
    npy::golden("mxfp4_quantize", name).bytes
}

fn floats(bytes: &[u8]) -> Vec<f32> {
    bytes.as_chunks::<4>().0.iter().map(|&bytes| f32::from_le_bytes(bytes)).collect()
}

/// Equal, but for the codes of blocks whose scale is NaN.
fn assert_equal(given: (&[u8], &[u8]), expected: (&[u8], &[u8])) {
    assert_eq!(given.1, expected.1, "scale bytes");
    let blocks = given.0.chunks(BLOCK / 2).zip(expected.0.chunks(BLOCK / 2)).zip(expected.1);
    for (block, ((given, expected), &scale)) in blocks.enumerate() {
        assert!(scale == 255 || given == expected, "block {block}: {given:x?}, {expected:x?}");
    }
}

#[test]
fn the_reference_is_torchao_bit_for_bit() {
    let (q, scale) = quantize(&floats(&golden("normal_x")));
    assert_equal((&q, &scale), (&golden("normal_packed"), &golden("normal_scale")));
    let (q, scale) = quantize(&floats(&golden("adversarial_x")));
    assert_equal((&q, &scale), (&golden("adversarial_packed"), &golden("adversarial_scale")));
}

fn run(family: Family, m: u64, k: u64) -> Run {
    Run::new("mxfp4_quantize", family, Sizes::new([("m", m), ("k", k)]))
}

#[test]
fn a_right_answer_is_accepted_in_every_family() {
    testing::accepts_what_is_expected("mxfp4_quantize");
}

/// What a recipe writes: q and scale.
fn written(recipe: &Recipe, values: &[f32], columns: usize) -> (Vec<u8>, Vec<u8>) {
    let matrix = Matrix { values, columns };
    let (mut q, mut scale) = (Vec::new(), vec![0; values.len() / BLOCK]);
    for block in 0..scale.len() {
        let written = recipe.block(&matrix, block, false);
        q.extend(written.codes);
        // A layout that does not fit would write out of bounds.
        if let Some(byte) = scale.get_mut(written.position) {
            *byte = written.scale;
        }
    }
    (q, scale)
}

fn recipe(ids: &[&str]) -> Recipe {
    let mutations: Vec<_> = ids.iter().map(|id| testing::mutation(&MUTATIONS, id)).collect();
    testing::mutated(&Recipe::RIGHT, &mutations)
}

/// What a mutation writes in a case of 64 rows, held to it.
fn compare(mutation: &Mutation<Recipe>, family: Family) -> Comparison {
    let run = run(family, 64, 256);
    let (q, scale) = written(&testing::mutated(&Recipe::RIGHT, &[mutation]), run.input(0), 256);
    run.compare(&[&q, &scale])
}

/// TorchAO has the other scaling rules too: what is called a known bug here is exactly that one.
#[test]
fn the_other_scaling_rules_are_torchao_s() {
    let normal = floats(&golden("normal_x"));
    let adversarial = floats(&golden("adversarial_x"));
    let ceil = recipe(&["ceil_scale"]);
    let even = recipe(&["round_half_scale"]);
    let raised = recipe(&["scale_bumped"]);
    assert_eq!(
        written(&ceil, &normal, 256),
        (golden("normal_ceil_packed"), golden("normal_ceil_scale"))
    );
    assert_eq!(
        written(&even, &normal, 256),
        (golden("normal_even_packed"), golden("normal_even_scale"))
    );
    assert_eq!(
        written(&raised, &normal, 256),
        (golden("normal_rceil_packed"), golden("normal_rceil_scale"))
    );
    // Where no value is infinite or NaN, nor any scale at an end of its range.
    let golden = [
        (ceil, golden("adversarial_ceil_packed"), golden("adversarial_ceil_scale")),
        (even, golden("adversarial_even_packed"), golden("adversarial_even_scale")),
        (raised, golden("adversarial_rceil_packed"), golden("adversarial_rceil_scale")),
    ];
    for (recipe, packed, scale) in golden {
        let given = written(&recipe, &adversarial, BLOCK);
        for (row, &byte) in scale.iter().enumerate().filter(|(_, byte)| (2..252).contains(*byte)) {
            let bytes = row * BLOCK / 2..(row + 1) * BLOCK / 2;
            assert_eq!((given.1[row], &given.0[bytes.clone()]), (byte, &packed[bytes]), "{row}");
        }
    }
}

#[test]
fn every_wrong_turn_is_caught_and_called_by_its_name() {
    testing::every_mutation_is_named(&MUTATIONS, &FAMILIES, compare);
}

#[test]
fn faults_that_only_together_explain_are_found_together() {
    for ids in [
        ["ceil_scale", "ties_away_from_zero"],
        ["scale_bumped", "nibbles_swapped"],
        ["ties_toward_zero", "negative_zero_dropped"],
        ["amax_of_half_block", "sign_dropped"],
    ] {
        let run = run(Family::Ties, 64, 256);
        let (q, scale) = written(&recipe(&ids), run.input(0), 256);
        let comparison = run.compare(&[&q, &scale]);
        assert_eq!(comparison.reasons, [ids.join("+")], "{:?}", comparison.explanation);
    }
}

/// The search tries pairs on any block. In a debug build an addition that overflows is a panic, and
/// an infinite amax once went through two of them.
#[test]
fn no_two_rejected_files_overflow_together() {
    let extremes = [f32::INFINITY, f32::NAN, f32::MAX, f32::MIN_POSITIVE, f32::from_bits(1), 0.0];
    let values = extremes.map(|x| [x; BLOCK]).concat();
    let matrix = Matrix { values: &values, columns: BLOCK };
    for (index, first) in MUTATIONS.iter().enumerate() {
        for second in MUTATIONS[index..].iter().filter(|second| second.axis > first.axis) {
            let recipe = testing::mutated(&Recipe::RIGHT, &[first, second]);
            for block in 0..extremes.len() {
                let written = recipe.block(&matrix, block, false);
                assert!(written.position < 512, "{} with {}", first.id, second.id);
            }
        }
    }
}

/// The competition draws uniform numbers only. These known bugs then pass, or pass as often as no
/// midpoint happens to be drawn; every one of them fails another family.
#[test]
fn uniform_input_alone_lets_rejected_files_pass() {
    let expected = [
        "nearest_power_of_two_scale",
        "floor_of_amax_over_six",
        "scale_not_clamped",
        "constant_scale",
        "signed_amax",
        "amax_of_half_block",
        "block_of_16",
        "block_of_64",
        "amax_of_row",
        "scales_transposed",
        "ties_away_from_zero",
        "ties_toward_zero",
        "ties_to_odd",
        "negative_zero_input_dropped",
        "subnormals_flushed",
    ];
    assert_eq!(testing::passing(&MUTATIONS, Family::Uniform, compare), expected);
}

#[test]
fn what_was_not_written_is_told_from_what_is_wrong() {
    let run = run(Family::Normal, 64, 256);
    let right = &run.expected.outputs;
    let nothing = run.compare(&[&poisoned(64 * 128), &poisoned(64 * 8)]);
    assert_eq!(nothing.reasons, ["unwritten_q", "unwritten_scale", "nothing_written"]);
    assert!(nothing.unwritten > 64 * 130, "{}", nothing.unwritten);

    let mut tail = right[0].clone();
    tail[60 * 128..].copy_from_slice(&poisoned(64 * 128)[60 * 128..]);
    let comparison = run.compare(&[&tail, &right[1]]);
    assert_eq!(comparison.reasons, ["unwritten_q_last_rows"]);
    assert_eq!(comparison.explanation.last().unwrap(), "what was written is right");

    // A wrong encoder that also stops early: both are said.
    let (mut q, scale) = written(&recipe(&["sign_dropped"]), run.input(0), 256);
    q[60 * 128..].copy_from_slice(&poisoned(64 * 128)[60 * 128..]);
    let comparison = run.compare(&[&q, &scale]);
    assert_eq!(comparison.reasons, ["unwritten_q_last_rows", "sign_dropped"]);
}

#[test]
fn nothing_is_explained_that_is_not_understood() {
    let run = run(Family::Normal, 64, 256);
    let mut q = run.expected.outputs[0].clone();
    q[5000] ^= 0x10;
    let comparison = run.compare(&[&q, &run.expected.outputs[1]]);
    assert_eq!((comparison.mismatches, comparison.reasons.len()), (1, 0));
    let first = comparison.first.expect("a first mismatch");
    assert_eq!((first.row, first.column), (39, 17));
    assert!(comparison.picture[0].contains("column 17 of row 39"), "{:?}", comparison.picture);
    let zeros = run.compare(&[&[0; 64 * 128], &[0; 64 * 8]]);
    assert_eq!(zeros.reasons, ["all_zero"]);
}

#[test]
fn a_wrong_nan_is_counted() {
    let run = run(Family::Normal, 1, 64);
    let comparison = run.compare(&[&run.expected.outputs[0], &[run.expected.outputs[1][0], 255]]);
    assert_eq!((comparison.non_finite, comparison.mismatches), (32, 32));
}
