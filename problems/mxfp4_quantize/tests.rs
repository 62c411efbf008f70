//! The reference against TorchAO's own outputs, and the comparison against wrong ones.

use std::time::Instant;

use super::*;
use crate::npy;
use crate::{Family, Poison, Problem, Sizes};

fn problem() -> &'static Problem {
    crate::find("mxfp4_quantize").expect("it is in the catalogue")
}

macro_rules! golden {
    ($name:literal) => {
        npy::read(include_bytes!(concat!("golden/", $name, ".npy"))).expect($name).bytes
    };
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
    let (q, scale) = quantize(&floats(&golden!("normal_x")));
    assert_equal((&q, &scale), (&golden!("normal_packed"), &golden!("normal_scale")));
    let (q, scale) = quantize(&floats(&golden!("adversarial_x")));
    assert_equal((&q, &scale), (&golden!("adversarial_packed"), &golden!("adversarial_scale")));
}

struct Run {
    case: CaseSpec,
    input: Vec<f32>,
    expected: Expected,
}

fn run(family: Family, m: u64, k: u64) -> Run {
    let case = CaseSpec { sizes: Sizes::new([("m", m), ("k", k)]), family };
    let mut input = vec![0f32; (m * k) as usize];
    let scalars = problem().fill(&case, &[7; 32], &mut [bytemuck::cast_slice_mut(&mut input)]);
    let expected = problem().expected(&case, &[bytemuck::cast_slice(&input)], &scalars);
    Run { case, input, expected }
}

impl Run {
    fn compare(&self, q: &[u8], scale: &[u8]) -> Comparison {
        let poison = Poison::new(1);
        let inputs: [&[u8]; 1] = [bytemuck::cast_slice(&self.input)];
        problem().compare(&self.case, &inputs, &[], &self.expected, &[q, scale], &poison)
    }
}

#[test]
fn a_right_answer_is_accepted_in_every_family() {
    for case in problem().check_cases().iter().filter(|case| case.sizes.get("m") < Some(1024)) {
        let run = run(case.family, case.sizes.get("m").unwrap(), case.sizes.get("k").unwrap());
        let [q, scale] = &run.expected.outputs[..] else { panic!("two outputs") };
        assert!(run.compare(q, scale).accepted(), "{}", case.name());
        assert!(run.input.iter().all(|x| x.is_finite()), "{}", case.name());
    }
}

#[test]
#[ignore = "figures, not a test"]
fn figures() {
    let start = Instant::now();
    let run = run(Family::Uniform, 8192, 4096);
    let made = start.elapsed();
    let comparison =
        run.compare(&run.expected.outputs[0].clone(), &run.expected.outputs[1].clone());
    assert!(comparison.accepted());
    panic!("fill and expected {made:?}, with comparison {:?}", start.elapsed());
}
