//! The reference against sums computed elsewhere, the bound, and wrong outputs.

use formats::{e2m1, e4m3, f16, pack, swizzle};

use super::groups::Grouped;
use super::mutations::MUTATIONS;
use super::*;
use crate::Family;
use crate::products::compare::Product;
use crate::testing::{self, Run};

const FAMILIES: [Family; 7] = [
    Family::Uniform,
    Family::Wide,
    Family::Exact,
    Family::OneHot,
    Family::Outliers,
    Family::Zeros,
    Family::Special,
];

/// Two groups of different sizes: neither fills its tile of rows.
const UNEQUAL: [[usize; 3]; 2] = [[24, 128, 256], [130, 128, 512]];

/// Three of the same size: one can be taken for another.
const EQUAL: [[usize; 3]; 3] = [[32, 128, 256]; 3];

fn run(family: Family, shapes: &[[usize; 3]]) -> Run {
    let entries = ["m", "n", "k"].into_iter().enumerate().flat_map(|(which, name)| {
        shapes
            .iter()
            .enumerate()
            .map(move |(group, shape)| (format!("{name}.{group}"), shape[which]))
    });
    let all = entries.chain([("g".to_owned(), shapes.len())]);
    let sizes = Sizes::new(all.map(|(name, size)| (name, size as u64)));
    Run::new("nvfp4_group_gemm", family, sizes)
}

/// What a solution writes that follows the recipe.
fn written(recipe: &Grouped, run: &Run, shapes: &[[usize; 3]]) -> Vec<Vec<u8>> {
    let inputs: Vec<&[u8]> = (0..4 * shapes.len()).map(|index| run.input(index)).collect();
    let groups = Groups::new(&inputs, shapes);
    let of_group = |own| {
        let group = Group { groups: &groups, own };
        let store = |output| (recipe.product.store)(group.range(recipe, output).value);
        let c: Vec<u16> = (0..group.outputs()).map(store).collect();
        bytemuck::cast_slice(&c).to_vec()
    };
    (0..shapes.len()).map(of_group).collect()
}

fn compare(run: &Run, c: &[Vec<u8>]) -> Comparison {
    run.compare(&c.iter().map(Vec::as_slice).collect::<Vec<_>>())
}

/// Values decoded one by one from the bytes, by the formats' tables and the layout alone, and summed
/// in float32.
fn in_f32(run: &Run, shapes: &[[usize; 3]], narrow: bool) -> Vec<Vec<u8>> {
    let count = shapes.len();
    let decode = |group: usize, which: usize, rows: usize, k: usize| -> Vec<f32> {
        let codes: &[u8] = run.input(which * count + group);
        let scales: &[u8] = run.input((2 + which) * count + group);
        let value = |at: usize| {
            let scale = scales[swizzle::offset(at / k, at % k / 16, k / 16)];
            e2m1::decode(pack::get(codes, at)) * e4m3::decode_scale(scale)
        };
        (0..rows * k).map(value).collect()
    };
    let c = |(group, &[m, n, k]): (usize, &[usize; 3])| {
        let (a, b) = (decode(group, 0, m, k), decode(group, 1, n, k));
        let one = |at: usize| {
            let pairs = a[at / n * k..][..k].iter().zip(&b[at % n * k..][..k]);
            f16::encode(pairs.fold(0.0, |sum, (x, y)| match narrow {
                true => f16::decode(f16::encode(sum + x * y)),
                false => sum + x * y,
            }))
        };
        let c: Vec<u16> = (0..m * n).map(one).collect();
        bytemuck::cast_slice(&c).to_vec()
    };
    shapes.iter().enumerate().map(c).collect()
}

#[test]
fn both_references_agree_and_plain_float32_is_accepted_in_every_family() {
    for family in FAMILIES {
        let run = run(family, &UNEQUAL);
        assert_eq!(run.expected.outputs, written(&Grouped::RIGHT, &run, &UNEQUAL), "{family}");
        let comparison = compare(&run, &in_f32(&run, &UNEQUAL, false));
        assert!(comparison.accepted(), "{family}: {:?}", comparison.first);
    }
}

#[test]
fn a_right_answer_is_accepted_in_every_family() {
    testing::accepts_what_is_expected("nvfp4_group_gemm");
}

#[test]
fn sums_in_f16_are_named() {
    let run = run(Family::Wide, &UNEQUAL);
    assert_eq!(compare(&run, &in_f32(&run, &UNEQUAL, true)).reasons, ["sums_in_f16"]);
}

#[test]
fn groups_taken_for_others_are_recognised() {
    let run = run(Family::Wide, &EQUAL);
    let ids =
        ["group_0_for_all", "a_of_group_0", "b_of_group_0", "groups_in_reverse", "next_group"];
    for id in ids {
        let recipe = testing::mutated(&Grouped::RIGHT, &[testing::mutation(&MUTATIONS, id)]);
        let comparison = compare(&run, &written(&recipe, &run, &EQUAL));
        assert_eq!(comparison.reasons[0], id, "{:?}", comparison.explanation);
    }
}

#[test]
fn the_sizes_of_another_group_are_recognised() {
    let run = run(Family::Wide, &UNEQUAL);
    let recipe =
        testing::mutated(&Grouped::RIGHT, &[testing::mutation(&MUTATIONS, "k_of_group_0")]);
    let comparison = compare(&run, &written(&recipe, &run, &UNEQUAL));
    assert!(comparison.reasons.iter().any(|reason| reason == "k_of_group_0"));
    assert!(comparison.explanation[0].starts_with("in group 1: "), "{:?}", comparison.explanation);
}

#[test]
fn one_group_that_was_never_written_is_told() {
    let run = run(Family::Wide, &UNEQUAL);
    let mut c = run.expected.outputs.clone();
    c[1] = testing::poisoned(c[1].len());
    let comparison = compare(&run, &c);
    assert!(comparison.reasons.iter().any(|reason| reason == "unwritten_c"));
}
