//! What the tests of all problems need: a case drawn, and outputs held to it.

use std::collections::BTreeSet;
use std::fmt::Debug;

use crate::hypothesis::Twist;
use crate::{
    CaseSpec, Comparison, Direction, Expected, Family, NoKernels, Poison, Problem, ScalarValue,
    Sizes,
};

/// A case with its inputs and what is expected.
pub(crate) struct Run {
    problem: &'static Problem,
    case: CaseSpec,
    inputs: Vec<Vec<u64>>,
    pub scalars: Vec<ScalarValue>,
    pub expected: Expected,
}

impl Run {
    pub fn new(problem: &str, family: Family, sizes: Sizes) -> Run {
        let problem = crate::find(problem).expect("it is in the catalogue");
        let case = CaseSpec { sizes, family };
        let buffers = problem.buffers(&case.sizes).expect("sizes that fit");
        let mut inputs: Vec<Vec<u64>> = buffers
            .iter()
            .filter(|buffer| buffer.direction == Direction::In)
            .map(|buffer| vec![0; buffer.bytes.div_ceil(8)])
            .collect();
        let lens: Vec<usize> = buffers
            .iter()
            .filter(|buffer| buffer.direction == Direction::In)
            .map(|buffer| buffer.bytes)
            .collect();
        let mut bytes: Vec<&mut [u8]> = inputs
            .iter_mut()
            .zip(&lens)
            .map(|(input, &len)| &mut bytemuck::cast_slice_mut(input)[..len])
            .collect();
        let scalars = problem.fill(&case, &[7; 32], &mut bytes);
        let bytes: Vec<&[u8]> = bytes.iter().map(|bytes| &**bytes).collect();
        let expected = problem.expected(&case, &bytes, &scalars, &NoKernels).expect("it is code");
        Run { problem, case, inputs, scalars, expected }
    }

    /// The input buffer, cast.
    pub fn input<T: bytemuck::Pod>(&self, index: usize) -> &[T] {
        let buffers = self.problem.buffers(&self.case.sizes).expect("sizes that fit");
        let buffer = buffers.iter().filter(|buffer| buffer.direction == Direction::In).nth(index);
        let len = buffer.expect("an input").bytes;
        bytemuck::cast_slice(&bytemuck::cast_slice::<u64, u8>(&self.inputs[index])[..len])
    }

    pub fn float(&self) -> f32 {
        let float = |scalar: &ScalarValue| match scalar {
            ScalarValue::F32(value) => Some(*value),
            ScalarValue::Size(_) => None,
        };
        self.scalars.iter().find_map(float).expect("a scalar")
    }

    pub fn compare(&self, outputs: &[&[u8]]) -> Comparison {
        let inputs: Vec<&[u8]> = (0..self.inputs.len()).map(|index| self.input(index)).collect();
        let poison = Poison::new(1);
        let scalars = &self.scalars;
        self.problem.compare(&self.case, &inputs, scalars, &self.expected, outputs, &poison)
    }
}

/// The pattern that [`Run::compare`] takes for unwritten.
pub(crate) fn poisoned(len: usize) -> Vec<u8> {
    let mut bytes = vec![0; len];
    Poison::new(1).fill(&mut bytes);
    bytes
}

/// A right output passes every small case, and the inputs differ from family to family.
pub(crate) fn accepts_what_is_expected(problem: &str) {
    let mut seen = BTreeSet::new();
    for case in crate::find(problem).expect("it is there").check_cases() {
        if case.sizes.iter().all(|(_, size)| size < 1024) {
            let run = Run::new(problem, case.family, case.sizes.clone());
            let outputs: Vec<&[u8]> = run.expected.outputs.iter().map(Vec::as_slice).collect();
            let comparison = run.compare(&outputs);
            assert!(comparison.accepted() && comparison.near_ties == 0, "{}", case.name());
            let small = run.inputs.iter().all(|input| input.len() < 64);
            assert!(seen.insert(run.inputs.clone()) || small, "{}", case.name());
        }
    }
}

pub(crate) fn twisted<R: Clone>(right: &R, twists: &[&Twist<R>]) -> R {
    let mut recipe = right.clone();
    twists.iter().for_each(|twist| (twist.apply)(&mut recipe));
    recipe
}

pub(crate) fn twist<'t, R>(twists: &'t [Twist<R>], id: &str) -> &'t Twist<R> {
    twists.iter().find(|twist| twist.id == id).expect(id)
}

/// Every twist is rejected by at least one family, and wherever it is rejected it is named.
/// `compare(twist, family)` holds what the twist writes to the family's case.
pub(crate) fn every_twist_is_named<R: Debug>(
    twists: &[Twist<R>],
    families: &[Family],
    compare: impl Fn(&Twist<R>, Family) -> Comparison,
) {
    for twist in twists {
        let mut caught = 0;
        for &family in families {
            let comparison = compare(twist, family);
            if !comparison.accepted() {
                caught += 1;
                let named = comparison.reasons.iter().any(|reason| reason == twist.id);
                assert!(named, "{} on {family}: {:?}", twist.id, comparison.explanation);
            }
        }
        assert!(caught > 0, "{} passes every family", twist.id);
    }
}

/// The twists that pass this family.
pub(crate) fn passing<R>(
    twists: &[Twist<R>],
    family: Family,
    compare: impl Fn(&Twist<R>, Family) -> Comparison,
) -> Vec<&'static str> {
    twists.iter().filter(|twist| compare(twist, family).accepted()).map(|twist| twist.id).collect()
}

/// The families that every quantizer has.
pub(crate) const FAMILIES: [Family; 7] = [
    Family::Uniform,
    Family::Normal,
    Family::Wide,
    Family::Ties,
    Family::Zeros,
    Family::Outliers,
    Family::Special,
];
