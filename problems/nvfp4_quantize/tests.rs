//! The reference against FlashInfer's own kernel text run on a CPU, and wrong outputs.

use super::compare::Tensor;
use super::recipe::{MUTATIONS, Recipe};
use super::*;
use crate::hypothesis::Mutation;
use crate::npy;
use crate::testing::{self, FAMILIES, Run, poisoned};
use crate::{Family, Sizes};

fn golden(name: &str) -> Vec<u8> {
    npy::golden("nvfp4_quantize", name).bytes
}

struct Golden {
    x: Vec<u16>,
    columns: usize,
    global: f32,
    packed: Vec<u8>,
    scale: Vec<u8>,
    /// 1 where a reciprocal that is off by one would move the code, and the scale.
    fragile: Vec<u8>,
    scale_fragile: Vec<u8>,
    /// FlashInfer with IEEE division.
    exact: (Vec<u8>, Vec<u8>),
}

fn goldens() -> [(&'static str, Golden); 4] {
    [("normal", 256), ("16x16", 16), ("gs1", 16), ("gs64", 16)].map(|(name, columns)| {
        let file = |array| golden(&format!("{name}_{array}"));
        let golden = Golden {
            x: halves(&file("x_f16")),
            columns,
            global: f32::from_le_bytes(*file("global_sf").first_chunk().expect("a float")),
            packed: file("packed"),
            scale: file("sf_swizzled"),
            fragile: file("fragile"),
            scale_fragile: file("sf_fragile"),
            exact: (file("packed_te_exact"), file("sf_swizzled_te_exact")),
        };
        (name, golden)
    })
}

fn halves(bytes: &[u8]) -> Vec<u16> {
    bytes.as_chunks::<2>().0.iter().map(|&bytes| u16::from_le_bytes(bytes)).collect()
}

#[test]
fn the_reference_is_flashinfer_bit_for_bit() {
    for (name, golden) in goldens() {
        let (q, scale) = quantize(&golden.x, golden.columns, golden.global);
        assert_eq!(scale, golden.scale, "{name}: scales");
        for (index, (given, expected)) in q.iter().zip(&golden.packed).enumerate() {
            assert_eq!(given, expected, "{name}: byte {index}");
        }
    }
}

#[test]
fn near_ties_are_exactly_the_fragile_ones() {
    for (name, golden) in goldens() {
        let scaling = Scaling::new(golden.global);
        let across = golden.columns / BLOCK;
        for (block, values) in golden.x.as_chunks::<BLOCK>().0.iter().enumerate() {
            let amax = amax(values);
            let (low, high) = scaling.scale_range(amax);
            let position = swizzle::offset(block / across, block % across, across);
            let fragile = golden.scale_fragile[position] == 1;
            assert_eq!(low != high, fragile, "{name}: scale of block {block}");
            // The code moves with the scale, too.
            let least = scaling.factor_range(amax, high).0;
            let greatest = scaling.factor_range(amax, low).1;
            for (index, &x) in values.iter().enumerate() {
                let x = f16::decode(x);
                let moves = e2m1::encode(x * least) != e2m1::encode(x * greatest);
                let fragile = golden.fragile[block * BLOCK + index] == 1;
                assert_eq!(moves, fragile, "{name}: element {index} of block {block}: {x}");
            }
        }
    }
}

fn run(family: Family, m: u64, k: u64) -> Run {
    Run::new("nvfp4_quantize", family, Sizes::new([("m", m), ("k", k)]))
}

#[test]
fn a_right_answer_is_accepted_in_every_family() {
    testing::accepts_what_is_expected("nvfp4_quantize");
}

/// What a recipe writes: q and scale. Of several lawful bytes it takes the greatest.
fn written(recipe: &Recipe, tensor: &Tensor) -> (Vec<u8>, Vec<u8>) {
    let mut q = vec![0; tensor.values.len() / 2];
    let mut scale = vec![0; swizzle::padded_len(tensor.rows(), tensor.across())];
    for block in 0..tensor.values.len() / BLOCK {
        let written = recipe.block(tensor, block, &|_| 255);
        for (index, range) in written.codes.iter().enumerate() {
            let code = if written.vanished { 7 } else { range.greatest };
            pack::set(&mut q, block * BLOCK + index, code);
        }
        if let Some(byte) = scale.get_mut(written.place) {
            *byte = written.scale.greatest;
        }
    }
    (q, scale)
}

fn recipe(ids: &[&str]) -> Recipe {
    let mutations: Vec<_> = ids.iter().map(|id| testing::mutation(&MUTATIONS, id)).collect();
    testing::mutated(&Recipe::RIGHT, &mutations)
}

fn compare_recipe(recipe: &Recipe, family: Family) -> Comparison {
    let run = run(family, 200, 224);
    let tensor = Tensor { values: run.input(0), columns: 224, global: run.float() };
    let (q, scale) = written(recipe, &tensor);
    run.compare(&[&q, &scale])
}

#[test]
fn every_wrong_turn_is_caught_and_called_by_its_name() {
    testing::every_mutation_is_named(&MUTATIONS, &FAMILIES, |mutation, family| {
        compare_recipe(&testing::mutated(&Recipe::RIGHT, &[mutation]), family)
    });
}

#[test]
fn faults_that_only_together_explain_are_found_together() {
    for ids in [
        ["scales_row_major", "nibbles_swapped"],
        ["block_of_32", "odd_elements_missing"],
        ["global_scale_missing", "sign_dropped"],
    ] {
        let comparison = compare_recipe(&recipe(&ids), Family::Ties);
        assert_eq!(comparison.reasons, [ids.join("+")], "{:?}", comparison.explanation);
    }
}

#[test]
fn uniform_input_alone_lets_rejected_files_pass() {
    let compare = |mutation: &Mutation<Recipe>, family| {
        compare_recipe(&testing::mutated(&Recipe::RIGHT, &[mutation]), family)
    };
    let lucky = testing::passing(&MUTATIONS, Family::Uniform, compare);
    let expected = [
        "scale_kept_normal",
        "ties_away_from_zero",
        "ties_toward_zero",
        "ties_to_odd",
        "negative_zero_input_dropped",
    ];
    assert_eq!(lucky, expected);
}

#[test]
fn whatever_the_reciprocals_do_is_accepted() {
    for family in FAMILIES {
        let comparison = compare_recipe(&Recipe::RIGHT, family);
        assert!(comparison.accepted(), "{family}: {:?}", comparison.first);
        assert_eq!(comparison.max_error, Some(0.0));
    }
    assert!(compare_recipe(&Recipe::RIGHT, Family::Uniform).near_ties > 0);
}

/// FlashInfer compiled without approximations is as right as with them.
#[test]
fn ieee_division_is_accepted() {
    for (name, golden) in goldens() {
        let tensor = Tensor { values: &golden.x, columns: golden.columns, global: golden.global };
        let expected = (&golden.packed[..], &golden.scale[..]);
        let given = (&golden.exact.0[..], &golden.exact.1[..]);
        let comparison = compare::compare(tensor, expected, given, &Poison::new(1));
        assert!(comparison.accepted(), "{name}: {:?}", comparison.first);
    }
}

#[test]
fn missing_pads_are_told() {
    let run = run(Family::Normal, 129, 64);
    let mut scale = run.expected.outputs[1].clone();
    let pattern = poisoned(scale.len());
    for place in 0..scale.len() {
        let (row, column) = swizzle::position(place, 4);
        if row >= 129 || column >= 4 {
            scale[place] = pattern[place];
        }
    }
    let comparison = run.compare(&[&run.expected.outputs[0], &scale]);
    assert_eq!(comparison.reasons, ["unwritten_scale_padding"]);
    scale
        .iter_mut()
        .zip(&run.expected.outputs[1])
        .filter(|(a, b)| a != b)
        .for_each(|(a, _)| *a = 1);
    let comparison = run.compare(&[&run.expected.outputs[0], &scale]);
    assert_eq!(comparison.reasons, ["scale_padding_not_zero"]);
}
