//! The reference against FlashInfer's own function run on a CPU, and wrong outputs.

use super::*;
use crate::testing::{self, Run};
use crate::{Sizes, npy};

const FAMILIES: [Family; 3] = [Family::Uniform, Family::Codes, Family::Special];

#[test]
fn the_reference_is_flashinfer_bit_for_bit() {
    let golden = |name: &str| npy::golden("nvfp4_dequantize", name).bytes;
    for inverse in [0x3f80_0000u32, 0x3eaa_aaab, 0x3a83_126f, 0x7149_f2ca] {
        let expected = golden(&format!("dequant_gsinv_{inverse:x}"));
        let inverse = f32::from_bits(inverse);
        let values = dequantize(&golden("packed"), &golden("scale_swizzled"), 16, inverse);
        for (value, expected) in values.iter().zip(expected.as_chunks::<4>().0) {
            let expected = f32::from_le_bytes(*expected);
            let same = value.to_bits() == expected.to_bits();
            assert!(same || (value.is_nan() && expected.is_nan()), "{value:e} {expected:e}");
        }
    }
}

#[test]
fn a_right_answer_is_accepted_in_every_family() {
    testing::accepts_what_is_expected("nvfp4_dequantize");
}

fn run(family: Family) -> Run {
    Run::new("nvfp4_dequantize", family, Sizes::new([("m", 200), ("k", 224)]))
}

fn input(run: &Run) -> Input<'_> {
    Input { q: run.input(0), scale: run.input(1), global: run.float(), columns: 224 }
}

fn compare(recipe: &Recipe, family: Family) -> Comparison {
    let run = run(family);
    let out: Vec<f32> = (0..200 * 224).map(|index| recipe.value(&input(&run), index)).collect();
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
    for ids in [["nibbles_swapped", "scales_row_major"], ["sign_dropped", "global_scale_missing"]] {
        let mutations = ids.map(|id| testing::mutation(&MUTATIONS, id));
        let comparison = compare(&testing::mutated(&Recipe::RIGHT, &mutations), Family::Codes);
        assert_eq!(comparison.reasons, [ids.join("+")], "{:?}", comparison.explanation);
    }
}

/// Whatever the order of the operations and whoever divides.
#[test]
fn every_lawful_order_of_the_operations_is_accepted() {
    type Order = fn(f32, f32, f32) -> f32;
    let orders: [Order; 5] = [
        |code, scale, global| code * scale / global,
        |code, scale, global| code * (scale / global),
        |code, scale, global| (code / global) * scale,
        // A reciprocal that is off by as much as the hardware's may be, either way.
        |code, scale, global| code * (scale * (1.0 / global).next_up().next_up()),
        |code, scale, global| code * scale * (1.0 / global).next_down().next_down(),
    ];
    let run = run(Family::Codes);
    let Input { q, scale, global, columns } = input(&run);
    for order in orders {
        let value = |index: usize| {
            let (row, column) = (index / columns, index % columns);
            let byte = scale[swizzle::offset(row, column / BLOCK, columns / BLOCK)];
            order(e2m1::decode(pack::get(q, index)), e4m3::decode(byte), global)
        };
        let out: Vec<f32> = (0..200 * columns).map(value).collect();
        let comparison = run.compare(&[bytemuck::cast_slice(&out)]);
        assert!(comparison.accepted(), "{:?}", comparison.first);
        assert!(comparison.max_error <= Some(9.0), "{:?}", comparison.max_error);
    }
}
