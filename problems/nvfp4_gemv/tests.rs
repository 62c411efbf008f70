//! The reference against sums computed elsewhere, the bound, and wrong outputs.

use formats::{f16, swizzle};

use super::mutations::MUTATIONS;
use super::*;
use crate::products::{BLOCK, dot};
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

/// Every tail that is looked for is one of these columns.
const M: usize = 256;
const K: usize = 1600;
const L: usize = 2;

fn run(family: Family) -> Run {
    let sizes = [("m", M as u64), ("k", K as u64), ("l", L as u64)];
    Run::new("nvfp4_gemv", family, Sizes::new(sizes))
}

fn operands(run: &Run) -> Operands<'_> {
    Operands {
        a: run.input(0),
        b: run.input(1),
        sfa: run.input(2),
        sfb: run.input(3),
        sfa_blocked: run.input(4),
        sfb_blocked: run.input(5),
        m: M,
        k: K,
        l: L,
    }
}

/// What a solution writes that follows the recipe.
fn written(recipe: &Recipe, run: &Run) -> Vec<u16> {
    let operands = operands(run);
    let store = |output| (recipe.store)(recipe.sum(&operands, output).value);
    (0..operands.outputs()).into_par_iter().map(store).collect()
}

fn compare(run: &Run, c: &[u16]) -> Comparison {
    run.compare(&[bytemuck::cast_slice(c)])
}

/// `ref` is drawn by the competition's generator, `full` has all codes and scales; the sums are
/// NumPy's, in float64, which holds these exactly.
#[test]
fn the_reference_agrees_with_numpy() {
    for data in ["ref", "full"] {
        let golden = |name: &str| npy::golden("nvfp4_gemv", &format!("{data}_{name}")).bytes;
        let [a, b, sfa, sfb, sfa_blocked, sfb_blocked] =
            ["a", "b", "sfa", "sfb", "sfa_blocked", "sfb_blocked"].map(golden);
        let operands = Operands {
            a: &a,
            b: &b,
            sfa: &sfa,
            sfb: &sfb,
            sfa_blocked: &sfa_blocked,
            sfb_blocked: &sfb_blocked,
            m: 128,
            k: 256,
            l: 1,
        };
        let expected = golden("c");
        let expected = expected.as_chunks::<2>().0.iter().map(|&bytes| u16::from_le_bytes(bytes));
        assert!(products(&operands).into_iter().eq(expected), "{data}");

        for (plain, rows, blocked) in [(&sfa, 128, &sfa_blocked), (&sfb, B_ROWS, &sfb_blocked)] {
            let mut written = vec![0; blocked.len()];
            families::block(plain, rows, 256 / BLOCK, &mut written);
            assert_eq!(&written, blocked, "{data}");
        }
    }
}

#[test]
fn a_right_answer_is_accepted_in_every_family() {
    testing::accepts_what_is_expected("nvfp4_gemv");
}

/// Two implementations that share only the tables of the formats.
#[test]
fn exact_integers_and_floats_agree() {
    for family in FAMILIES {
        let run = run(family);
        let c = written(&Recipe::RIGHT, &run);
        assert_eq!(bytemuck::cast_slice::<u16, u8>(&c), run.expected.outputs[0], "{family}");
        assert!(c.iter().all(|&c| f16::decode(c).is_finite()), "{family}");
    }
}

#[test]
fn the_layouts_hold_the_same_scales() {
    for family in FAMILIES {
        let run = run(family);
        let (plain, blocked) = (run.input::<u8>(2), run.input::<u8>(4));
        let columns = K / BLOCK;
        for (index, scale) in plain.iter().enumerate() {
            let (row, column) = (index / columns, index % columns);
            let batch = row / M * swizzle::padded_len(M, columns);
            let place = batch + swizzle::offset(row % M, column, columns);
            assert_eq!(*scale, blocked[place], "{family}");
        }
    }
}

#[test]
fn every_wrong_turn_is_caught_and_called_by_its_name() {
    testing::every_mutation_is_named(&MUTATIONS, &FAMILIES, |mutation, family| {
        let run = run(family);
        compare(&run, &written(&testing::mutated(&Recipe::RIGHT, &[mutation]), &run))
    });
}

/// What the competition's data cannot see, and ours must.
#[test]
fn the_competition_s_data_lets_wrong_decoders_pass() {
    let passing = testing::passing(&MUTATIONS, Family::Uniform, |mutation, family| {
        let run = run(family);
        compare(&run, &written(&testing::mutated(&Recipe::RIGHT, &[mutation]), &run))
    });
    for id in ["odd_elements_missing", "sign_dropped", "codes_0_to_3", "scales_0_1_2"] {
        assert!(passing.contains(&id), "{id}: {passing:?}");
    }
    let passing = testing::passing(&MUTATIONS, Family::Wide, |mutation, family| {
        let run = run(family);
        compare(&run, &written(&testing::mutated(&Recipe::RIGHT, &[mutation]), &run))
    });
    // The largest scales meet in `special` alone.
    assert_eq!(passing, ["scale_product_in_f16"]);
}

#[test]
fn faults_that_only_together_explain_are_found_together() {
    let run = run(Family::Wide);
    for ids in [
        ["nibbles_swapped", "sfa_blocked_as_plain"],
        ["sfa_blocked_as_plain", "sfb_blocked_as_plain"],
        ["b_unpadded", "sfb_unpadded"],
        ["sign_dropped", "lane_31_of_16"],
    ] {
        let mutations = ids.map(|id| testing::mutation(&MUTATIONS, id));
        let c = written(&testing::mutated(&Recipe::RIGHT, &mutations), &run);
        let comparison = compare(&run, &c);
        assert_eq!(comparison.reasons, [ids.join("+")], "{:?}", comparison.explanation);
    }
}

/// Terms of an output in float32: each is exact.
fn terms(operands: &Operands, output: usize) -> Vec<f32> {
    let (a, b) = (operands.a_row(output), operands.b_row(output / operands.m));
    let value = |row: dot::Row, k: usize| {
        let scale = formats::e4m3::decode(row.scales[k / BLOCK]);
        formats::e2m1::decode(formats::pack::get(row.codes, k)) * scale
    };
    (0..operands.k).map(|k| value(a, k) * value(b, k)).collect()
}

/// One after the other, in blocks, in 32 lanes, in pairs, backwards, the largest last.
#[test]
fn every_order_of_summation_is_accepted() {
    type Order = fn(&[f32]) -> f32;
    fn pairwise(terms: &[f32]) -> f32 {
        match terms {
            [term] => *term,
            _ => pairwise(&terms[..terms.len() / 2]) + pairwise(&terms[terms.len() / 2..]),
        }
    }
    let orders: [Order; 5] = [
        |terms| terms.iter().sum(),
        |terms| terms.iter().rev().sum(),
        |terms| (0..32).map(|lane| terms.iter().skip(lane).step_by(32).sum::<f32>()).sum(),
        pairwise,
        |terms| {
            let mut sorted = terms.to_vec();
            sorted.sort_by(|x, y| x.abs().total_cmp(&y.abs()));
            sorted.iter().rev().sum()
        },
    ];
    for family in FAMILIES {
        let run = run(family);
        let operands = operands(&run);
        for order in orders {
            let c: Vec<u16> = (0..operands.outputs())
                .map(|output| f16::encode(order(&terms(&operands, output))))
                .collect();
            let comparison = compare(&run, &c);
            assert!(comparison.accepted(), "{family}: {:?}", comparison.first);
            // The bound is far from a right sum, but not so far that it says nothing.
            assert!(comparison.max_error < Some(1.0), "{family}: {:?}", comparison.max_error);
        }
    }
}

#[test]
fn sums_in_half_precision_are_refused_and_named() {
    let run = run(Family::Wide);
    let operands = operands(&run);
    let c: Vec<u16> = (0..operands.outputs())
        .map(|output| {
            let terms = terms(&operands, output);
            terms.iter().fold(0, |sum, term| f16::encode(f16::decode(sum) + term))
        })
        .collect();
    assert_eq!(compare(&run, &c).reasons, ["sums_in_f16"]);
}

#[test]
fn what_was_added_to_what_c_held_is_recognised() {
    for family in FAMILIES {
        let run = run(family);
        let held = testing::poisoned(2 * M * L);
        let held = held.as_chunks::<2>().0.iter().map(|&bytes| u16::from_le_bytes(bytes));
        let c: Vec<u16> = written(&Recipe::RIGHT, &run)
            .iter()
            .zip(held)
            .map(|(&sum, held)| f16::encode(f16::decode(sum) + f16::decode(held)))
            .collect();
        assert_eq!(compare(&run, &c).reasons, ["output_not_zeroed"], "{family}");
    }
}

#[test]
fn one_last_bit_is_too_much_where_the_sum_is_exact() {
    let run = run(Family::Exact);
    let mut c = written(&Recipe::RIGHT, &run);
    c[M + 44] += 1;
    let comparison = compare(&run, &c);
    assert_eq!(comparison.mismatches, 1);
    let first = comparison.first.expect("a mismatch");
    assert_eq!((first.row, first.column), (44, 1));
}

#[test]
fn rows_that_nobody_wrote_are_counted() {
    let run = run(Family::Wide);
    let mut c = written(&Recipe::RIGHT, &run);
    let poison = testing::poisoned(2 * M * L);
    let poison: Vec<u16> =
        poison.as_chunks::<2>().0.iter().map(|&bytes| u16::from_le_bytes(bytes)).collect();
    for batch in [0, M] {
        let rows = batch + M / 2..batch + M;
        c[rows.clone()].copy_from_slice(&poison[rows]);
    }
    let comparison = compare(&run, &c);
    assert_eq!(comparison.reasons, ["unwritten_c_last_rows"], "{:?}", comparison.explanation);
    assert_eq!(comparison.unwritten, 256);
}
