//! Truth from outside: outputs in f64 over codes of TorchAO itself; and what each known bug does.

use formats::{bf16, f16};

use super::recipe::{Head, MUTATIONS, Recipe};
use super::*;
use crate::testing::{self, Run};
use crate::{Family, NoKernels, Sizes, npy};

const FAMILIES: [Family; 8] = [
    Family::Uniform,
    Family::Normal,
    Family::Wide,
    Family::Ties,
    Family::Zeros,
    Family::Outliers,
    Family::Identity,
    Family::Overflow,
];

fn sizes([batch, heads, seq_q, seq_k, head_dim]: [u64; 5]) -> Sizes {
    let names = ["batch", "heads", "seq_q", "seq_k", "head_dim"];
    Sizes::new(names.into_iter().zip([batch, heads, seq_q, seq_k, head_dim]))
}

/// Of most tests: two heads, two tiles of queries, tiles of keys that are not full, and rows that are
/// as long as no tile.
const SIZES: [u64; 5] = [1, 2, 20, 70, 96];

fn run(family: Family) -> Run {
    Run::new("fp4_attention", family, sizes(SIZES))
}

fn golden(name: &str) -> Vec<f32> {
    floats(&npy::golden("fp4_attention", name).bytes)
}

fn floats(bytes: &[u8]) -> Vec<f32> {
    bytes.as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect()
}

/// What the golden files are: one head, 64 queries, 64 keys, 64 columns.
const SHAPE: Shape = Shape { heads: 1, seq_q: 64, seq_k: 64, head_dim: 64 };

/// The inputs of a golden file; Q and K of the identity are 16 times it.
fn inputs(name: &str) -> [Vec<f32>; 3] {
    ["q", "k", "v"].map(|part| {
        if name == "identity" && part != "v" {
            (0..64 * 64).map(|index| if index % 65 == 0 { 16.0 } else { 0.0 }).collect()
        } else {
            golden(&format!("{name}_{part}"))
        }
    })
}

/// Equal but for the last bit of an f32, in which two ways to add up in f64 may differ.
fn assert_equal(given: impl Iterator<Item = f64>, expected: &[f32], what: &str) {
    let mut count = 0;
    for (given, &expected) in given.zip(expected) {
        let expected = f64::from(expected);
        assert!((given - expected).abs() <= 1.2e-7 * expected.abs(), "{what}: {given} {expected}");
        count += 1;
    }
    assert_eq!(count, 64 * 64);
}

#[test]
fn outputs_are_those_of_torchao_s_codes_in_f64() {
    let problem = crate::find("fp4_attention").expect("it is in the catalogue");
    for name in ["normal", "ties", "identity"] {
        let inputs = inputs(name);
        let inputs: Vec<&[u8]> = inputs.iter().map(|input| bytemuck::cast_slice(input)).collect();
        let case = CaseSpec { sizes: sizes([1, 1, 64, 64, 64]), family: Family::Normal };
        let expected = problem.expected(&case, &inputs, &[], &NoKernels).expect("it is code");
        let out: &[f32] = bytemuck::cast_slice(&expected.outputs[0]);
        assert_equal(out.iter().map(|&x| x.into()), &golden(&format!("{name}_out")), name);
    }
}

fn recipe(ids: &[&str]) -> Recipe {
    let mutations: Vec<_> = ids.iter().map(|id| testing::mutation(&MUTATIONS, id)).collect();
    testing::mutated(&Recipe::RIGHT, &mutations)
}

/// What a recipe writes.
fn written(recipe: &Recipe, shape: Shape, [q, k, v]: [&[f32]; 3]) -> Vec<f64> {
    let (queries, keys) = (shape.seq_q * shape.head_dim, shape.seq_k * shape.head_dim);
    let head = |head: usize| {
        let head = Head {
            shape,
            q: &q[head * queries..][..queries],
            k: &k[head * keys..][..keys],
            v: &v[head * keys..][..keys],
        };
        let prepared = recipe.prepare(&head);
        (0..shape.seq_q)
            .flat_map(|row| prepared.row(row))
            .map(|(value, _)| value)
            .collect::<Vec<_>>()
    };
    (0..shape.heads).flat_map(head).collect()
}

/// The recipe's quantizer is the reference's, and two others that were published are what the
/// hypotheses of their names say: the scale of the blog's kernel, with its encoder and with ties to
/// even, and no quantization at all.
#[test]
fn rejected_files_are_those_that_were_published() {
    for name in ["normal", "ties"] {
        let inputs = inputs(name);
        let inputs = [0, 1, 2].map(|index: usize| inputs[index].as_slice());
        for (mutations, file) in [
            (&[][..], "out"),
            (&["ceil_scale_emax_not_subtracted"], "ceil_even"),
            (&["ceil_scale_emax_not_subtracted", "ties_away_from_zero"], "ceil_away"),
            (&["quantization_skipped"], "unquantized"),
        ] {
            let file = format!("{name}_{file}");
            let out = written(&recipe(mutations), SHAPE, inputs);
            assert_equal(out.into_iter(), &golden(&file), &file);
        }
    }
}

#[test]
fn a_right_answer_is_accepted_in_every_family() {
    testing::accepts_what_is_expected("fp4_attention");
}

/// What a recipe writes in a run of [`run`]'s shape.
fn answer(recipe: &Recipe, run: &Run) -> Vec<f32> {
    let shape = Shape { heads: 2, seq_q: 20, seq_k: 70, head_dim: 96 };
    let out = written(recipe, shape, [0, 1, 2].map(|index| run.input(index)));
    out.into_iter().map(|x| x as f32).collect()
}

fn compare(mutation: &crate::hypothesis::Mutation<Recipe>, family: Family) -> Comparison {
    let run = run(family);
    run.compare(&[bytemuck::cast_slice(&answer(
        &testing::mutated(&Recipe::RIGHT, &[mutation]),
        &run,
    ))])
}

#[test]
fn every_wrong_turn_is_caught_and_called_by_its_name() {
    testing::every_mutation_is_named(&MUTATIONS, &FAMILIES, compare);
}

/// Zeros are what an uninitialized output often holds. No case may take them for an answer.
#[test]
fn an_output_of_zeros_passes_no_case() {
    let problem = crate::find("fp4_attention").expect("it is in the catalogue");
    for case in problem.check_cases() {
        let run = Run::new("fp4_attention", case.family, case.sizes.clone());
        let zeros = vec![0; run.expected.outputs[0].len()];
        let comparison = run.compare(&[&zeros]);
        assert!(comparison.mismatches * 10 > comparison.elements * 9, "{}", case.name());
        assert_eq!(comparison.reasons, ["all_zero"], "{}", case.name());
    }
}

/// An output with weights and values rounded on their way into the product, as tensor cores take
/// them.
fn rounded(run: &Run, round: fn(f32) -> f32) -> Vec<f32> {
    let inputs = [0, 1, 2].map(|index| bytemuck::cast_slice(run.input::<f32>(index)));
    let sizes = sizes(SIZES);
    let attention = Attention::new(&Given { sizes: &sizes, inputs: &inputs, scalars: Vec::new() });
    let rounded = |x: f64| f64::from(round(x as f32));
    attention.average(|weight, value| rounded(weight) * rounded(value), |sum| sum)
}

#[test]
fn half_precision_is_near_enough_and_bf16_is_not() {
    for family in FAMILIES {
        let run = run(family);
        let half = rounded(&run, |x| f16::decode(f16::encode(x)));
        let comparison = run.compare(&[bytemuck::cast_slice(&half)]);
        assert!(comparison.accepted(), "{family}: {:?}", comparison.max_error);
    }
    let run = run(Family::Normal);
    let bf16 = rounded(&run, |x| bf16::decode(bf16::encode(x)));
    assert!(!run.compare(&[bytemuck::cast_slice(&bf16)]).accepted());
}

#[test]
fn faults_that_only_together_explain_are_found_together() {
    for ids in [
        ["ceil_scale", "scale_factor_missing"],
        ["ties_away_from_zero", "v_quantized"],
        ["block_of_16", "causal"],
    ] {
        let run = run(Family::Ties);
        let comparison = run.compare(&[bytemuck::cast_slice(&answer(&recipe(&ids), &run))]);
        assert_eq!(comparison.reasons, [ids.join("+")], "{:?}", comparison.explanation);
    }
}

#[test]
fn nothing_is_explained_that_is_not_understood() {
    let run = run(Family::Normal);
    let mut out = floats(&run.expected.outputs[0]);
    out[23 * 96 + 17] += 1.0;
    let comparison = run.compare(&[bytemuck::cast_slice(&out)]);
    assert_eq!((comparison.mismatches, comparison.reasons.len()), (1, 0));
    let first = comparison.first.expect("a first mismatch");
    assert_eq!((first.row, first.column), (23, 17));
    let attended = first.attended.expect("an attention's element");
    assert_eq!((attended.head, attended.query), (1, 3));
}
