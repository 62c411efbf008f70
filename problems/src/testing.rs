//! What the tests of all problems need: a case drawn, and outputs held to it.

use std::collections::BTreeSet;
use std::fmt::Debug;

use crate::hypothesis::Mutation;
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

pub(crate) fn mutated<R: Clone>(right: &R, mutations: &[&Mutation<R>]) -> R {
    let mut recipe = right.clone();
    mutations.iter().for_each(|mutation| (mutation.apply)(&mut recipe));
    recipe
}

pub(crate) fn mutation<'t, R>(mutations: &'t [Mutation<R>], id: &str) -> &'t Mutation<R> {
    mutations.iter().find(|mutation| mutation.id == id).expect(id)
}

/// Every mutation is rejected by at least one family, and wherever it is rejected it is named.
/// `compare(mutation, family)` holds what the mutation writes to the family's case.
pub(crate) fn every_mutation_is_named<R: Debug>(
    mutations: &[Mutation<R>],
    families: &[Family],
    compare: impl Fn(&Mutation<R>, Family) -> Comparison,
) {
    for mutation in mutations {
        let mut caught = 0;
        for &family in families {
            let comparison = compare(mutation, family);
            if !comparison.accepted() {
                caught += 1;
                let named = comparison.reasons.iter().any(|reason| reason == mutation.id);
                assert!(named, "{} on {family}: {:?}", mutation.id, comparison.explanation);
            }
        }
        assert!(caught > 0, "{} passes every family", mutation.id);
    }
}

/// The mutations that pass this family.
pub(crate) fn passing<R>(
    mutations: &[Mutation<R>],
    family: Family,
    compare: impl Fn(&Mutation<R>, Family) -> Comparison,
) -> Vec<&'static str> {
    mutations
        .iter()
        .filter(|mutation| compare(mutation, family).accepted())
        .map(|mutation| mutation.id)
        .collect()
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
