//! Global scales, right and wrong; codes are tested with `nvfp4_quantize`.

use super::*;
use crate::testing::{self, Run, poisoned};
use crate::{Family, Sizes};

fn run(family: Family) -> Run {
    Run::new("nvfp4_quantize_amax", family, Sizes::new([("m", 129), ("k", 64)]))
}

/// What a solution with this global scale writes, all else being right.
fn with_global(run: &Run, global: f32) -> Comparison {
    let (q, scale) = quantize(run.input(0), 64, global);
    run.compare(&[&q, &scale, &global.to_le_bytes()])
}

#[test]
fn a_right_answer_is_accepted_in_every_family() {
    testing::accepts_what_is_expected("nvfp4_quantize_amax");
}

#[test]
fn any_lawful_quotient_is_accepted_with_its_own_codes() {
    let run = run(Family::Normal);
    let global = float(&run.expected.outputs[2]);
    for near in [global, global.next_up(), global.next_down().next_down()] {
        assert!(with_global(&run, near).accepted());
    }
    assert!(!with_global(&run, global * 1.000_01).accepted());
}

#[test]
fn wrong_global_scales_are_called_by_their_names() {
    let run = run(Family::Normal);
    let global = float(&run.expected.outputs[2]);
    let amax = 2688.0 / global;
    for (id, wrong) in [
        ("global_scale_inverted", amax / 2688.0),
        ("global_scale_is_amax", amax),
        ("global_scale_without_e2m1", 448.0 / amax),
        ("global_scale_without_e4m3", 6.0 / amax),
        // No value of the tensor is that large, so none was mistaken for the largest.
        ("global_scale_wrong", 2688.0 / (amax * 0.751)),
        ("amax_not_reset", global * 0.9),
    ] {
        let comparison = with_global(&run, wrong);
        assert_eq!(comparison.reasons, [id]);
        assert_eq!(comparison.mismatches, 1, "{id}: {:?}", comparison.explanation);
    }
    let [q, scale, _] = &run.expected.outputs[..] else { panic!("three outputs") };
    assert_eq!(run.compare(&[q, scale, &poisoned(4)]).reasons, ["unwritten_sf_g"]);
    let negative = (-global).to_le_bytes();
    assert_eq!(run.compare(&[q, scale, &negative]).reasons, ["global_scale_wrong"]);
    let zeros = Run::new("nvfp4_quantize_amax", Family::Zeros, Sizes::new([("m", 1), ("k", 16)]));
    if float(&zeros.expected.outputs[2]) == 1.0 {
        let [q, scale, _] = &zeros.expected.outputs[..] else { panic!("three outputs") };
        let comparison = zeros.compare(&[q, scale, &f32::INFINITY.to_le_bytes()]);
        assert_eq!(comparison.reasons, ["global_scale_of_zeros"]);
    }
}

#[test]
fn all_that_one_case_leaves_possible_is_said() {
    let values = [0.5, 1.0, 1.5, -2.0].map(f16::encode);
    let said = |amax: f32| explain(&values, 2, 2688.0 / amax, 2688.0 / 2.0);
    let ids = |amax: f32| said(amax).into_iter().map(|(id, _)| id).collect::<Vec<_>>();
    assert_eq!(ids(1.5), ["signed_amax", "amax_of_part"]);
    assert_eq!(ids(1.25), ["amax_is_mean"]);
    assert_eq!(ids(1.0), ["amax_of_part"]);
    assert!(said(1.0)[0].1.contains("an amax of 1, but amax is 2 at row 1, column 1"));

    // Who saw nothing but zeros writes 1, and where amax is 1 that is amax, too.
    for (last, expected) in [
        (1.0, &["global_scale_is_amax", "amax_of_part"][..]),
        (-1.0, &["global_scale_is_amax", "signed_amax", "amax_of_part"]),
    ] {
        let values = [0.0, 0.0, 0.0, last].map(f16::encode);
        let said = explain(&values, 2, 1.0, 2688.0);
        assert_eq!(said.into_iter().map(|(id, _)| id).collect::<Vec<_>>(), expected);
    }
}

#[test]
fn wrong_codes_are_explained_beside_a_right_global_scale() {
    let run = run(Family::Normal);
    let [q, scale, global] = &run.expected.outputs[..] else { panic!("three outputs") };
    let swapped: Vec<u8> = q.iter().map(|byte| byte.rotate_left(4)).collect();
    assert_eq!(run.compare(&[&swapped, scale, global]).reasons, ["nibbles_swapped"]);
    let inverted = (1.0 / float(global)).to_le_bytes();
    assert_eq!(run.compare(&[&swapped, scale, &inverted]).reasons[0], "global_scale_inverted");
}
