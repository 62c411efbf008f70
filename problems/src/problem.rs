//! A problem: its folder, read and alive.

use std::fmt;

use serde::Serialize;

use crate::{
    CaseSpec, Comparison, Direction, Element, Expected, Manifest, ManifestError, Mixing, Poison,
    Seed, Sizes,
};

/// One folder of `problems/`.
pub struct Problem {
    pub(crate) name: &'static str,
    pub(crate) manifest: Manifest,
    pub(crate) spec: &'static str,
    pub(crate) starter: &'static str,
    pub(crate) truth: &'static dyn Truth,
}

/// What a problem's folder holds as code. Buffers come as bytes, in the signature's order, inputs
/// and outputs apart; they are aligned for their elements and have the lengths of
/// [`Problem::buffers`].
pub(crate) trait Truth: Sync {
    /// Draws the inputs. Returns the scalars that are not sizes.
    fn fill(&self, case: &CaseSpec, seed: &Seed, inputs: &mut [&mut [u8]]) -> Vec<f32>;

    fn expected(&self, given: &Given) -> Expected;

    fn compare(
        &self,
        given: &Given,
        expected: &Expected,
        outputs: &[&[u8]],
        poison: &Poison,
    ) -> Comparison;
}

/// What a solution was called with.
pub(crate) struct Given<'a> {
    pub sizes: &'a Sizes,
    pub inputs: &'a [&'a [u8]],
    /// The scalars that are not sizes.
    pub scalars: Vec<f32>,
}

impl Given<'_> {
    /// A size that the manifest promises.
    pub fn size(&self, name: &str) -> usize {
        self.sizes.get(name).unwrap_or_default() as usize
    }
}

/// A buffer of a call, in the signature's order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BufferSpec {
    pub name: String,
    pub direction: Direction,
    pub element: Element,
    pub bytes: usize,
}

/// An argument that is not a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub enum ScalarValue {
    F32(f32),
    Size(u64),
}

impl Problem {
    /// The folder's name.
    pub fn name(&self) -> &'static str {
        self.name
    }

    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// The page that states the problem, as Markdown.
    pub fn spec(&self) -> &'static str {
        self.spec
    }

    /// A complete, slow, right solution to begin from.
    pub fn starter(&self) -> &'static str {
        self.starter
    }

    /// What `check` runs, in order.
    pub fn check_cases(&self) -> Vec<CaseSpec> {
        self.manifest.check.iter().flat_map(|group| group.cases()).collect()
    }

    /// What `bench` times.
    pub fn bench_cases(&self) -> Vec<CaseSpec> {
        self.manifest.bench.cases().collect()
    }

    /// These sizes, in the signature's order.
    ///
    /// # Errors
    /// Sizes that the problem does not have, or that its shapes do not fit.
    pub fn sizes(&self, named: &[(String, u64)]) -> Result<Sizes, ManifestError> {
        let named = Sizes::new(named.iter().map(|(name, size)| (name.as_str(), *size)));
        let order = self.manifest.signature.iter().map(|parameter| parameter.name.clone());
        let sizes = named.sorted_by(&order.collect::<Vec<_>>());
        self.manifest.validate(&sizes)?;
        Ok(sizes)
    }

    /// The buffers of a call, in the signature's order.
    ///
    /// # Errors
    /// Sizes that the problem does not have, or that its shapes do not fit.
    pub fn buffers(&self, sizes: &Sizes) -> Result<Vec<BufferSpec>, ManifestError> {
        self.manifest.validate(sizes)?;
        let spec = |parameter: &crate::Parameter| {
            Ok(BufferSpec {
                name: parameter.name.clone(),
                direction: parameter.direction,
                element: parameter.element,
                bytes: parameter.len(sizes)?.saturating_mul(parameter.element.bytes()) as usize,
            })
        };
        self.manifest.buffers().map(spec).collect()
    }

    /// Draws the inputs of a case in place, on all cores; the result depends on case and seed only.
    /// `inputs` are the `In` buffers, in the signature's order, aligned to at least 16 bytes.
    /// Returns every argument that is not a buffer, sizes included, in the signature's order.
    ///
    /// # Panics
    /// If the buffers are not those of [`Problem::buffers`].
    pub fn fill(&self, case: &CaseSpec, seed: &Seed, inputs: &mut [&mut [u8]]) -> Vec<ScalarValue> {
        let mut floats = self.truth.fill(case, seed, inputs).into_iter();
        let scalar = |parameter: &crate::Parameter| match parameter.direction {
            Direction::In | Direction::Out => None,
            Direction::Size => case.sizes.get(&parameter.name).map(ScalarValue::Size),
            Direction::Scalar => floats.next().map(ScalarValue::F32),
        };
        self.manifest.signature.iter().filter_map(scalar).collect()
    }

    /// What a right solution writes.
    ///
    /// # Panics
    /// If the buffers are not those of [`Problem::buffers`].
    pub fn expected(&self, case: &CaseSpec, inputs: &[&[u8]], scalars: &[ScalarValue]) -> Expected {
        self.truth.expected(&given(case, inputs, scalars))
    }

    /// Holds outputs to the expected ones. `poison` is what the outputs were filled with before the
    /// run. Fast where the outputs are right; a mismatch is looked into.
    ///
    /// # Panics
    /// If the buffers are not those of [`Problem::buffers`].
    pub fn compare(
        &self,
        case: &CaseSpec,
        inputs: &[&[u8]],
        scalars: &[ScalarValue],
        expected: &Expected,
        outputs: &[&[u8]],
        poison: &Poison,
    ) -> Comparison {
        self.truth.compare(&given(case, inputs, scalars), expected, outputs, poison)
    }

    /// How contents of these sizes may be mixed; `None` where they may not.
    pub fn mixing(&self, sizes: &Sizes) -> Option<Mixing> {
        self.manifest.mixing.as_ref()?.at(sizes, &self.buffers(sizes).ok()?)
    }

    /// Bytes that any solution must move at these sizes.
    ///
    /// # Errors
    /// Sizes that the formula does not fit.
    pub fn bytes(&self, sizes: &Sizes) -> Result<f64, ManifestError> {
        Ok(self.manifest.speed_of_light.bytes.evaluate(sizes)? as f64)
    }

    /// Arithmetic operations that any solution must do at these sizes.
    ///
    /// # Errors
    /// Sizes that the formula does not fit.
    pub fn flops(&self, sizes: &Sizes) -> Result<f64, ManifestError> {
        Ok(self.manifest.speed_of_light.flops.evaluate(sizes)? as f64)
    }
}

fn given<'a>(case: &'a CaseSpec, inputs: &'a [&'a [u8]], scalars: &[ScalarValue]) -> Given<'a> {
    let float = |scalar: &ScalarValue| match scalar {
        ScalarValue::F32(value) => Some(*value),
        ScalarValue::Size(_) => None,
    };
    Given { sizes: &case.sizes, inputs, scalars: scalars.iter().filter_map(float).collect() }
}

impl fmt::Debug for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Problem").field("name", &self.name).finish_non_exhaustive()
    }
}
