//! The reference against sums computed elsewhere, the bound, and wrong outputs.

use formats::f16;
use rayon::prelude::*;

use super::*;
use crate::hypothesis::Mutation;
use crate::testing::{self, Run};
use crate::{Family, Sizes, npy};

const FAMILIES: [Family; 7] = [
    Family::Uniform,
    Family::Wide,
    Family::Exact,
    Family::OneHot,
    Family::Outliers,
    Family::Zeros,
    Family::Special,
];

/// Every tail that is looked for is one of these columns. A tile is the least of rows.
const M: usize = 128;
const N: usize = 128;
const K: usize = 2304;

fn run(family: Family) -> Run {
    run_of(family, [M, N, K])
}

fn run_of(family: Family, sizes: [usize; 3]) -> Run {
    let sizes = ["m", "n", "k"].into_iter().zip(sizes.map(|size| size as u64));
    Run::new("nvfp4_gemm", family, Sizes::new(sizes))
}

fn operands_of(run: &Run) -> Operands<'_> {
    operands_in(run, [M, N, K])
}

fn operands_in(run: &Run, sizes: [usize; 3]) -> Operands<'_> {
    let inputs: [&[u8]; 6] = std::array::from_fn(|index| run.input(index));
    operands(&inputs, sizes)
}

/// What a solution writes that follows the recipe.
fn written(recipe: &Recipe, run: &Run) -> Vec<u16> {
    written_from(recipe, operands_of(run))
}

fn written_from(recipe: &Recipe, operands: Operands) -> Vec<u16> {
    let store = |output| (recipe.store)(recipe.sum(&operands, output).value);
    (0..operands.outputs()).into_par_iter().map(store).collect()
}

fn compare(run: &Run, c: &[u16]) -> Comparison {
    run.compare(&[bytemuck::cast_slice(c)])
}

/// The golden vectors are of a product with one vector; here it is the first row of b, and the rows
/// of a are the matrix. The sums are NumPy's, in float64, which holds these exactly.
#[test]
fn the_reference_agrees_with_numpy() {
    for data in ["ref", "full"] {
        let read = |name: &str| npy::golden("nvfp4_gemv", &format!("{data}_{name}"));
        let names = ["a", "b", "sfa", "sfb", "sfa_blocked", "sfb_blocked"];
        let arrays = names.map(read);
        let inputs = arrays.each_ref().map(|array| array.bytes.as_slice());
        let sizes = Sizes::new([("m", 128), ("n", 128), ("k", 256)]);
        let given = Given { sizes: &sizes, inputs: &inputs, scalars: Vec::new() };
        let found = Reference.expected(&given).outputs;
        let column: Vec<u8> = found[0].chunks(2 * 128).flat_map(|row| row[..2].to_vec()).collect();
        assert_eq!(column, read("c").bytes, "{data}");
    }
}

/// The fast product in whole numbers and the slow sum of the recipe know nothing of each other.
#[test]
fn both_references_agree_in_every_family() {
    for family in FAMILIES {
        let run = run(family);
        let c: &[u16] = bytemuck::cast_slice(&run.expected.outputs[0]);
        assert_eq!(c, written(&Recipe::OF_ROWS, &run), "{family}");
    }
}

#[test]
fn a_right_answer_is_accepted_in_every_family() {
    testing::accepts_what_is_expected("nvfp4_gemm");
}

#[test]
fn every_mutation_is_caught_and_called_by_its_name() {
    let families = [Family::Wide, Family::Special];
    let runs = families.map(run);
    testing::every_mutation_is_named(&in_one_tile(), &families, |mutation, family| {
        let run = &runs[families.iter().position(|&one| one == family).expect("drawn")];
        compare(run, &written(&testing::mutated(&Recipe::OF_ROWS, &[mutation]), run))
    });
}

/// Those that take one tile of rows for another need two.
const OF_TILES: [&str; 3] = ["scale_of_tile_0", "a_tile_0", "sfb_tiles_transposed"];

fn in_one_tile() -> Vec<Mutation<Recipe>> {
    MUTATIONS.into_iter().filter(|mutation| !OF_TILES.contains(&mutation.id)).collect()
}

#[test]
fn tiles_that_are_taken_for_others_are_recognised() {
    let sizes = [256, 256, 256];
    let run = run_of(Family::Wide, sizes);
    for id in OF_TILES {
        let recipe = testing::mutated(&Recipe::OF_ROWS, &[testing::mutation(&MUTATIONS, id)]);
        let comparison = compare(&run, &written_from(&recipe, operands_in(&run, sizes)));
        assert_eq!(comparison.reasons, [id], "{:?}", comparison.explanation);
    }
}

#[test]
fn a_kernel_that_writes_nothing_is_told_so() {
    let run = run(Family::Wide);
    let held = testing::poisoned(2 * M * N);
    let held = held.as_chunks::<2>().0.iter().map(|&bytes| u16::from_le_bytes(bytes));
    let comparison = compare(&run, &held.collect::<Vec<u16>>());
    assert!(comparison.reasons.iter().any(|reason| reason == "nothing_written"));
    assert!(!comparison.explanation.iter().any(|said| said.contains("is right")));
}

/// What the competition's own data does not see.
#[test]
fn the_competition_s_data_lets_mistakes_pass() {
    let run = run(Family::Uniform);
    let passing = testing::passing(&MUTATIONS, Family::Uniform, |mutation, _| {
        compare(&run, &written(&testing::mutated(&Recipe::OF_ROWS, &[mutation]), &run))
    });
    for id in ["scales_0_to_3", "scale_subnormals_flushed", "scale_product_in_f16"] {
        assert!(passing.contains(&id), "{id}: {passing:?}");
    }
}

#[test]
fn sums_in_float32_are_accepted_in_any_order_and_sums_in_f16_are_named() {
    let run = run(Family::Wide);
    let operands = operands_of(&run);
    let terms = |output: usize| -> Vec<f32> {
        let value = |codes: &[u8], scales: &[u8], row: usize, at: usize| {
            let code = formats::pack::get(&codes[row * K / 2..], at);
            let scale = formats::e4m3::decode_scale(scales[row * K / 16 + at / 16]);
            formats::e2m1::decode(code) * scale
        };
        let (i, j) = (output / N, output % N);
        (0..K)
            .map(|at| {
                value(operands.b, operands.sfb, i, at) * value(operands.a, operands.sfa, j, at)
            })
            .collect()
    };
    let all = |sum: fn(&[f32]) -> u16| -> Vec<u16> {
        (0..M * N).into_par_iter().map(|output| sum(&terms(output))).collect()
    };
    for sum in [
        |terms: &[f32]| f16::encode(terms.iter().sum()),
        |terms: &[f32]| f16::encode(terms.iter().rev().sum()),
    ] {
        let comparison = compare(&run, &all(sum));
        assert!(comparison.accepted(), "{:?}", comparison.first);
    }
    let narrow =
        |terms: &[f32]| terms.iter().fold(0, |sum, term| f16::encode(f16::decode(sum) + term));
    assert_eq!(compare(&run, &all(narrow)).reasons, ["sums_in_f16"]);
}
