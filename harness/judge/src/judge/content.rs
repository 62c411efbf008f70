//! What one call is given, and what a right solution makes of it.

use problems::{
    BufferSpec, CaseSpec, Direction, Expected, Problem, ReferenceKernels, ScalarValue, Seed,
};

use super::bytes::Bytes;
use crate::Error;

/// Inputs and scalars of a case, in the judge's own memory.
#[derive(Debug)]
pub struct Content {
    pub inputs: Vec<Bytes>,
    pub scalars: Vec<ScalarValue>,
    pub expected: Expected,
}

/// The indices of a problem's buffers, inputs and outputs apart.
pub fn sides(buffers: &[BufferSpec]) -> (Vec<usize>, Vec<usize>) {
    (0..buffers.len()).partition(|index| buffers[*index].direction == Direction::In)
}

impl Content {
    /// Draws the inputs of a case from a seed, and computes what is expected.
    /// With `like`, scalars and the inputs that are marked are that content's.
    pub fn draw(
        problem: &Problem,
        case: &CaseSpec,
        buffers: &[BufferSpec],
        seed: u64,
        like: Option<(&Self, &[bool])>,
        kernels: &dyn ReferenceKernels,
    ) -> Result<Self, Error> {
        let (ins, _) = sides(buffers);
        let mut inputs: Vec<_> =
            ins.iter().map(|index| Bytes::zeroed(buffers[*index].bytes)).collect();
        let mut key = Seed::default();
        key[..8].copy_from_slice(&seed.to_le_bytes());
        let mut scalars = {
            let mut views: Vec<_> = inputs.iter_mut().map(Bytes::as_mut_slice).collect();
            problem.fill(case, &key, &mut views)
        };
        if let Some((other, common)) = like {
            scalars.clone_from(&other.scalars);
            for ((index, own), theirs) in ins.iter().zip(&mut inputs).zip(&other.inputs) {
                if common[*index] {
                    own.as_mut_slice().copy_from_slice(theirs.as_slice());
                }
            }
        }
        Self::of(problem, case, inputs, scalars, kernels)
    }

    /// These inputs and scalars.
    pub fn of(
        problem: &Problem,
        case: &CaseSpec,
        inputs: Vec<Bytes>,
        scalars: Vec<ScalarValue>,
        kernels: &dyn ReferenceKernels,
    ) -> Result<Self, Error> {
        let views: Vec<_> = inputs.iter().map(Bytes::as_slice).collect();
        let expected = problem
            .expected(case, &views, &scalars, kernels)
            .map_err(|error| Error::Usage(error.to_string()))?;
        Ok(Self { inputs, scalars, expected })
    }

    pub fn views(&self) -> Vec<&[u8]> {
        self.inputs.iter().map(Bytes::as_slice).collect()
    }
}
