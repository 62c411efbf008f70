//! A problem: its folder, read and alive.

use std::fmt;
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::declared::{Declared, Reference};
use crate::sizes::{MOST_GROUPS, entry};
use crate::{
    CaseSpec, Comparison, Direction, Element, Expected, Manifest, ManifestError, Mixing, Parameter,
    Poison, ReferenceError, ReferenceKernel, ReferenceKernels, Seed, Sizes,
};

/// One folder of `problems/`.
pub struct Problem {
    pub(crate) name: &'static str,
    pub(crate) manifest: &'static Manifest,
    pub(crate) spec: &'static str,
    pub(crate) starter: &'static str,
    pub(crate) truth: TruthSource,
    /// Where it was opened; absent where it is part of the program.
    pub(crate) folder: Option<PathBuf>,
}

/// Who draws inputs and knows what is right.
pub(crate) enum TruthSource {
    Code(&'static dyn Truth),
    Declared(Declared),
    /// Nobody: the signature of a reference, whose outputs are not judged.
    Nowhere,
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

    pub fn manifest(&self) -> &'static Manifest {
        self.manifest
    }

    /// Where it was opened; absent where it is part of the program.
    pub fn folder(&self) -> Option<&Path> {
        self.folder.as_deref()
    }

    /// The kernel that knows what is right, where one does.
    pub fn reference_kernel(&self) -> Option<&'static ReferenceKernel> {
        match &self.truth {
            TruthSource::Declared(Declared { reference: Reference::Kernel(kernel), .. }) => {
                Some(kernel)
            }
            _ => None,
        }
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

    /// Of sizes that are not listed: these numbers choose them. A recording has none.
    pub fn fresh_cases(&self, seed: &Seed) -> Vec<CaseSpec> {
        match &self.truth {
            TruthSource::Declared(Declared { reference: Reference::Recorded(_), .. }) => Vec::new(),
            _ => self.manifest.fresh_cases(seed),
        }
    }

    /// What `bench` times.
    pub fn bench_cases(&self) -> Vec<CaseSpec> {
        self.manifest.bench.cases().collect()
    }

    /// These sizes, in the signature's order. A number for what each group has one of is every group's.
    ///
    /// # Errors
    /// Sizes that the problem does not have, or that its shapes do not fit.
    pub fn sizes(&self, named: &[(String, u64)]) -> Result<Sizes, ManifestError> {
        let named = Sizes::new(named.iter().cloned());
        let of_each = |(name, size): (&str, u64)| {
            let parameter = self.manifest.signature.iter().find(|known| known.name == name);
            let groups = parameter.filter(|known| known.each.is_some()).map(|p| p.count(&named));
            match groups.filter(|groups| *groups <= MOST_GROUPS) {
                Some(groups) => (0..groups).map(|group| (entry(name, group), size)).collect(),
                None => vec![(name.to_owned(), size)],
            }
        };
        let named = Sizes::new(named.iter().flat_map(of_each).collect::<Vec<_>>());
        let order = self.manifest.signature.iter().map(|parameter| parameter.name.clone());
        let sizes = named.sorted_by(&order.collect::<Vec<_>>());
        self.manifest.validate_own(&sizes)?;
        Ok(sizes)
    }

    /// The buffers of a call, in the signature's order, and where there is one for each group, in the
    /// groups' order.
    ///
    /// # Errors
    /// Sizes that the problem does not have, or that its shapes do not fit.
    pub fn buffers(&self, sizes: &Sizes) -> Result<Vec<BufferSpec>, ManifestError> {
        self.manifest.validate(sizes)?;
        let mut buffers = Vec::new();
        for parameter in self.manifest.buffers() {
            for (group, own) in parameter.sizes_of_each(sizes).iter().enumerate() {
                let name = match parameter.each {
                    None => parameter.name.clone(),
                    Some(_) => format!("{}[{group}]", parameter.name),
                };
                let bytes = parameter.len(own)?.saturating_mul(parameter.element.bytes()) as usize;
                let Parameter { direction, element, .. } = *parameter;
                buffers.push(BufferSpec { name, direction, element, bytes });
            }
        }
        Ok(buffers)
    }

    /// Draws the inputs of a case in place, on all cores; the result depends on case and seed only.
    /// `inputs` are the `In` buffers, in the signature's order, aligned to at least 16 bytes.
    /// Returns every argument that is not a buffer, sizes included, in the signature's order.
    ///
    /// # Panics
    /// If the buffers are not those of [`Problem::buffers`].
    pub fn fill(&self, case: &CaseSpec, seed: &Seed, inputs: &mut [&mut [u8]]) -> Vec<ScalarValue> {
        let floats = match &self.truth {
            TruthSource::Code(truth) => truth.fill(case, seed, inputs),
            TruthSource::Declared(declared) => declared.fill(case, seed, inputs),
            TruthSource::Nowhere => Vec::new(),
        };
        self.arguments(case, floats.into_iter())
    }

    /// Every argument that is not a buffer, from those that are not sizes.
    pub(crate) fn arguments(
        &self,
        case: &CaseSpec,
        mut floats: impl Iterator<Item = f32>,
    ) -> Vec<ScalarValue> {
        let scalars = |parameter: &Parameter| match parameter.direction {
            Direction::In | Direction::Out => Vec::new(),
            Direction::Size => {
                let own = parameter.sizes_of_each(&case.sizes);
                let one = |own: &Sizes| own.get(&parameter.name).map(ScalarValue::Size);
                own.iter().filter_map(one).collect()
            }
            Direction::Scalar => floats.next().map(ScalarValue::F32).into_iter().collect(),
        };
        self.manifest.signature.iter().flat_map(scalars).collect()
    }

    /// What a right solution writes. `kernels` runs the reference if it is a kernel.
    ///
    /// # Errors
    /// Where there is a reference beside the program, why it gave no outputs.
    ///
    /// # Panics
    /// If the buffers are not those of [`Problem::buffers`].
    pub fn expected(
        &self,
        case: &CaseSpec,
        inputs: &[&[u8]],
        scalars: &[ScalarValue],
        kernels: &dyn ReferenceKernels,
    ) -> Result<Expected, ReferenceError> {
        let given = given(case, inputs, scalars);
        match &self.truth {
            TruthSource::Code(truth) => Ok(truth.expected(&given)),
            TruthSource::Declared(declared) => declared.expected(case, &given, kernels),
            TruthSource::Nowhere => Ok(Expected::of(Vec::new())),
        }
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
        match &self.truth {
            TruthSource::Code(truth) => {
                truth.compare(&given(case, inputs, scalars), expected, outputs, poison)
            }
            TruthSource::Declared(declared) => declared.compare(case, expected, outputs, poison),
            TruthSource::Nowhere => Comparison::default(),
        }
    }

    /// Adds to a comparison that was not accepted which known bugs of a reference beside the
    /// program explain it. Problems of the program explain theirs when they compare.
    pub fn explain(
        &self,
        case: &CaseSpec,
        inputs: &[&[u8]],
        scalars: &[ScalarValue],
        outputs: &[&[u8]],
        (kernels, comparison): (&dyn ReferenceKernels, &mut Comparison),
    ) {
        let TruthSource::Declared(declared) = &self.truth else { return };
        if comparison.accepted() || comparison.unwritten > 0 {
            return;
        }
        let bugs = declared.bugs(case, &given(case, inputs, scalars), outputs, kernels);
        for (index, bug) in bugs.iter().enumerate() {
            let says = &bug.says;
            comparison.reasons.push(bug.id.clone());
            comparison.explanation.push(match index {
                0 => format!("all values match if {says}"),
                _ => format!("or if {says}"),
            });
        }
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
        let light = &self.manifest.speed_of_light;
        Ok(light.total(&light.bytes, sizes)? as f64)
    }

    /// Arithmetic operations that any solution must do at these sizes.
    ///
    /// # Errors
    /// Sizes that the formula does not fit.
    pub fn flops(&self, sizes: &Sizes) -> Result<f64, ManifestError> {
        let light = &self.manifest.speed_of_light;
        Ok(light.total(&light.flops, sizes)? as f64)
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
