//! The reference against sums computed elsewhere, the bound, and wrong outputs.

use rayon::prelude::*;

use super::gate::Gate;
use super::mutations::MUTATIONS;
use super::*;
use crate::hypothesis::Mutation;
use crate::products::compare::Product;
use crate::testing::{self, Run};
use crate::{Family, Sizes};

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
const SIZES: [usize; 3] = [128, 128, 2304];

fn run(family: Family) -> Run {
    run_of(family, SIZES)
}

fn run_of(family: Family, sizes: [usize; 3]) -> Run {
    let sizes = ["m", "n", "k"].into_iter().zip(sizes.map(|size| size as u64));
    Run::new("nvfp4_dual_gemm", family, Sizes::new(sizes))
}

fn gated(run: &Run, sizes: [usize; 3]) -> Gated<'_> {
    let inputs: [&[u8]; 9] = std::array::from_fn(|index| run.input(index));
    Gated(operands(&inputs, sizes))
}

/// What a solution writes that follows the recipe.
fn written(recipe: &Gate, run: &Run, sizes: [usize; 3]) -> Vec<u16> {
    let gated = gated(run, sizes);
    let store = |output| (recipe.product.store)(gated.range(recipe, output).value);
    (0..gated.outputs()).into_par_iter().map(store).collect()
}

fn compare(run: &Run, c: &[u16]) -> Comparison {
    run.compare(&[bytemuck::cast_slice(c)])
}

/// One value of the matrix, decoded from the tables of the formats alone.
fn value(run: &Run, codes: usize, scales: usize, row: usize, at: usize) -> f32 {
    let k = SIZES[2];
    let code = formats::pack::get(&run.input::<u8>(codes)[row * k / 2..], at);
    let scale = formats::e4m3::decode_scale(run.input::<u8>(scales)[row * k / 16 + at / 16]);
    formats::e2m1::decode(code) * scale
}

/// Sums of values that were decoded one by one, made by `sum`.
fn computed(run: &Run, sum: impl Fn(&[f32]) -> f32 + Sync, join: fn(f32, f32) -> f32) -> Vec<u16> {
    let [m, n, k] = SIZES;
    let decode = |codes, scales, rows: usize| -> Vec<f32> {
        (0..rows * k).into_par_iter().map(|at| value(run, codes, scales, at / k, at % k)).collect()
    };
    let (a, b1, b2) = (decode(0, 3, m), decode(1, 4, n), decode(2, 5, n));
    let dot = |b: &[f32], i: usize, j: usize| {
        let pairs = a[i * k..][..k].iter().zip(&b[j * k..][..k]);
        sum(&pairs.map(|(x, y)| x * y).collect::<Vec<f32>>())
    };
    let one = |at: usize| join(dot(&b1, at / n, at % n), dot(&b2, at / n, at % n));
    (0..m * n).into_par_iter().map(|at| formats::f16::encode(one(at))).collect()
}

fn in_f32(first: f32, second: f32) -> f32 {
    first / (1.0 + (-first).exp()) * second
}

/// The fast sums in whole numbers and the slow ones of the recipe know nothing of each other.
#[test]
fn both_references_agree_in_every_family() {
    for family in FAMILIES {
        let run = run(family);
        let c: &[u16] = bytemuck::cast_slice(&run.expected.outputs[0]);
        assert_eq!(c, written(&Gate::RIGHT, &run, SIZES), "{family}");
    }
}

/// Plain float32 code, which shares nothing with the reference but the formats' tables.
#[test]
fn plain_float32_is_accepted_in_every_family() {
    for family in FAMILIES {
        let run = run(family);
        for sum in [|terms: &[f32]| terms.iter().sum(), |terms: &[f32]| terms.iter().rev().sum()] {
            let comparison = compare(&run, &computed(&run, sum, in_f32));
            assert!(comparison.accepted(), "{family}: {:?}", comparison.first);
        }
    }
}

#[test]
fn a_right_answer_is_accepted_in_every_family() {
    testing::accepts_what_is_expected("nvfp4_dual_gemm");
}

/// By hand: silu(1) is 1 / (1 + 1/e).
#[test]
fn silu_is_what_the_page_says() {
    assert!((gate::silu(1.0) - 0.731_058_578_630_004_9).abs() < 1e-15);
    assert!((gate::silu(-1.278_464_542_761_074) + 0.278_464_542_761_074).abs() < 1e-15);
    assert_eq!(gate::silu(-50_176.0), 0.0);
    assert_eq!(gate::silu(50_176.0), 50_176.0);
}

/// A family that never sees a gate at work would test nothing but the products.
#[test]
fn sums_lie_where_silu_is_curved_and_c_is_finite() {
    for family in [Family::Uniform, Family::Wide, Family::Exact, Family::Outliers] {
        let run = run(family);
        let gated = gated(&run, SIZES);
        let sums = sums(&gated.0[0]);
        let curved = sums.iter().filter(|sum| (-8.0..-0.1).contains(*sum)).count();
        assert!(curved * 20 > sums.len(), "{family}: {curved} of {}", sums.len());
        let c: &[u16] = bytemuck::cast_slice(&run.expected.outputs[0]);
        let finite = c.iter().filter(|&&bits| formats::f16::decode(bits).is_finite()).count();
        assert!(finite * 100 > c.len() * 99, "{family}: {finite} of {}", c.len());
    }
}

/// Those that take one tile of rows for another need two.
const OF_TILES: [&str; 3] = ["scale_of_tile_0", "a_tile_0", "sfb_tiles_transposed"];

#[test]
fn every_mutation_is_caught_and_called_by_its_name() {
    let families = [Family::Wide, Family::Special];
    // Only what leaves a part of a row out needs long ones.
    for (sizes, long) in [(SIZES, true), ([128, 128, 256], false)] {
        let runs = families.map(|family| run_of(family, sizes));
        let (parts, others): (Vec<Mutation<Gate>>, Vec<Mutation<Gate>>) = MUTATIONS
            .into_iter()
            .filter(|mutation| !OF_TILES.contains(&mutation.id))
            .partition(|mutation| mutation.axis == 12);
        testing::every_mutation_is_named(
            if long { &parts } else { &others },
            &families,
            |mutation, family| {
                let run = &runs[families.iter().position(|&one| one == family).expect("drawn")];
                compare(run, &written(&testing::mutated(&Gate::RIGHT, &[mutation]), run, sizes))
            },
        );
    }
}

#[test]
fn tiles_that_are_taken_for_others_are_recognised() {
    let sizes = [256, 256, 256];
    let run = run_of(Family::Wide, sizes);
    for id in OF_TILES {
        let recipe = testing::mutated(&Gate::RIGHT, &[testing::mutation(&MUTATIONS, id)]);
        let comparison = compare(&run, &written(&recipe, &run, sizes));
        assert_eq!(comparison.reasons, [id], "{:?}", comparison.explanation);
    }
}

#[test]
fn a_kernel_that_writes_nothing_is_told_so() {
    let run = run(Family::Wide);
    let held = testing::poisoned(2 * SIZES[0] * SIZES[1]);
    let held = held.as_chunks::<2>().0.iter().map(|&bytes| u16::from_le_bytes(bytes));
    let comparison = compare(&run, &held.collect::<Vec<u16>>());
    assert!(comparison.reasons.iter().any(|reason| reason == "nothing_written"));
}

#[test]
fn sums_in_f16_are_named() {
    use formats::f16;
    let run = run(Family::Wide);
    let narrow = |terms: &[f32]| {
        f16::decode(terms.iter().fold(0, |sum, term| f16::encode(f16::decode(sum) + term)))
    };
    assert_eq!(compare(&run, &computed(&run, narrow, in_f32)).reasons, ["sums_in_f16"]);
}

/// `tanh.approx.f32` has an error of up to 2^-11: here of either sign, by the bits of its argument.
#[test]
fn silu_by_an_approximate_tanh_is_named() {
    let run = run(Family::Wide);
    let join = |first: f32, second: f32| {
        let tanh = (first / 2.0).tanh();
        let sign = if first.to_bits().count_ones().is_multiple_of(2) { 1.0 } else { -1.0 };
        let approximate = (tanh * (1.0 + sign * 2f32.powi(-11))).clamp(-1.0, 1.0);
        first / 2.0 * (1.0 + approximate) * second
    };
    let comparison = compare(&run, &computed(&run, |terms| terms.iter().sum(), join));
    assert_eq!(comparison.reasons, ["silu_by_tanh"]);
}
