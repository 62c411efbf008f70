//! Problems without Rust: a folder of `problem.toml`, `spec.md`, `starter.cu` and a reference.
//!
//! ```text
//! signature + family + seed ─► inputs ─┬─► reference.cu · reference.py · recorded/ ─► expected
//!                                      └─► solution ─► outputs ──────────────┐           │
//!                                        formats, scales, tolerance ─► Comparison ◄──────┘
//! ```
//!
//! What other problems say in code is declared: the format of each buffer says how its inputs are
//! drawn and what its outputs mean, and the tolerance's unit says what an error is measured in.
//! Outputs are compared after dequantizing, so a code and its scale are judged together.
//!
//! A reference may know bugs. It is then given their number as a last argument, 0 for none, and
//! what a wrong solution wrote is held to what each of them would have written.

mod compare;
mod draw;
mod folder;
mod format;
mod kernel;
mod python;
mod recorded;

use std::path::PathBuf;

use serde::Deserialize;
use thiserror::Error;

pub(crate) use self::draw::FAMILIES;
pub use self::folder::{FolderError, is_name, open};
pub(crate) use self::folder::{Found, Texts, declare};
pub use self::format::{Format, Layout, Scales};
pub use self::kernel::{NoKernels, ReferenceCall, ReferenceKernel, ReferenceKernels};
use crate::problem::Given;
use crate::{CaseSpec, Comparison, Direction, Expected, Manifest, Parameter, Poison, Seed};

/// Why there are no expected outputs.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{problem}: {why}")]
pub struct ReferenceError {
    pub problem: &'static str,
    pub why: String,
}

/// A mistake that the reference can make on demand.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KnownBug {
    /// Stable identifier.
    pub id: String,
    /// "all values match if …": a clause.
    pub says: String,
}

/// What an error of a problem without Rust is measured in, as `[tolerance]` names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ErrorUnit {
    /// Relative to the expected value.
    Value,
    /// A step of the output's format at the expected value.
    Ulp,
    /// Absolute.
    One,
    /// The scale of the expected value's block.
    Scale,
    /// What the reference writes for each element, beside it.
    Reference,
}

impl ErrorUnit {
    const ALL: [(&'static str, ErrorUnit); 5] = [
        ("the value", ErrorUnit::Value),
        ("an ulp", ErrorUnit::Ulp),
        ("one", ErrorUnit::One),
        ("the block's scale", ErrorUnit::Scale),
        ("the error that the reference allows", ErrorUnit::Reference),
    ];

    pub fn find(phrase: &str) -> Option<ErrorUnit> {
        Self::ALL.into_iter().find(|(known, _)| *known == phrase).map(|(_, unit)| unit)
    }

    /// "`the value`, `an ulp`, …"
    pub fn phrases() -> String {
        Self::ALL.map(|(phrase, _)| format!("`{phrase}`")).join(", ")
    }
}

/// Where the expected outputs come from.
#[derive(Debug)]
pub(crate) enum Reference {
    Kernel(kernel::Kernel),
    Python(PathBuf),
    Recorded(PathBuf),
}

/// What stands in the place of a problem's code.
#[derive(Debug)]
pub(crate) struct Declared {
    pub name: &'static str,
    pub manifest: &'static Manifest,
    pub unit: ErrorUnit,
    pub reference: Reference,
}

/// One output of a problem without Rust, as it is compared.
struct Output<'a> {
    parameter: &'a Parameter,
    expected: &'a [u8],
    given: &'a [u8],
    /// The scales of either side, where the parameter has scales.
    scales: Option<[&'a [u8]; 2]>,
    allowed: Option<&'a [f32]>,
    /// Values in a row.
    columns: usize,
}

impl Declared {
    pub fn fill(&self, case: &CaseSpec, seed: &Seed, inputs: &mut [&mut [u8]]) -> Vec<f32> {
        if let Reference::Recorded(folder) = &self.reference {
            return recorded::fill(folder, self.manifest, case, inputs);
        }
        let mut inputs = inputs.iter_mut();
        let mut scalars = Vec::new();
        for (number, parameter) in self.manifest.signature.iter().enumerate() {
            match parameter.direction {
                Direction::In => {
                    let Some(bytes) = inputs.next() else { break };
                    let what = (case.family, parameter.format);
                    draw::fill(what, seed, number as u32, columns(parameter, case), bytes);
                }
                Direction::Scalar => scalars.push(draw::scalar(case.family, seed, number as u32)),
                Direction::Out | Direction::Size => {}
            }
        }
        scalars
    }

    pub fn expected(
        &self,
        case: &CaseSpec,
        given: &Given,
        kernels: &dyn ReferenceKernels,
    ) -> Result<Expected, ReferenceError> {
        self.written(case, given, kernels, 0)
    }

    /// What the reference writes that makes this known bug; 0 is none.
    fn written(
        &self,
        case: &CaseSpec,
        given: &Given,
        kernels: &dyn ReferenceKernels,
        bug: u64,
    ) -> Result<Expected, ReferenceError> {
        let outputs = match &self.reference {
            Reference::Kernel(kernel) => kernel.run(case, given, kernels, bug),
            Reference::Python(file) => python::run(file, self, case, given, bug),
            Reference::Recorded(folder) => recorded::outputs(folder, self.manifest, case),
        };
        let failed = |why| ReferenceError { problem: self.name, why };
        let mut outputs = outputs.map_err(failed)?.into_iter();
        let mut expected = Expected::of(Vec::new());
        for parameter in self.outputs() {
            let len = parameter.len(&case.sizes).map_err(|error| failed(error.to_string()))?;
            let mut next = |bytes: u64| match outputs.next() {
                Some(output) if output.len() as u64 == bytes => Ok(output),
                Some(output) => Err(failed(format!(
                    "the reference wrote {} bytes of `{}`, which has {bytes}",
                    output.len(),
                    parameter.name
                ))),
                None => Err(failed(format!("the reference wrote no `{}`", parameter.name))),
            };
            expected.outputs.push(next(len * parameter.element.bytes())?);
            if self.unit == ErrorUnit::Reference {
                let bytes = next(len * 4)?;
                let floats =
                    bytes.as_chunks::<4>().0.iter().map(|&float| f32::from_le_bytes(float));
                expected.allowed.push(floats.collect());
            }
        }
        Ok(expected)
    }

    pub fn compare(
        &self,
        case: &CaseSpec,
        expected: &Expected,
        outputs: &[&[u8]],
        poison: &Poison,
    ) -> Comparison {
        compare::compare(self, case, expected, outputs, poison)
    }

    /// Which of the known bugs write what a wrong solution wrote: numbers from 1.
    pub fn bugs(
        &self,
        case: &CaseSpec,
        given: &Given,
        outputs: &[&[u8]],
        kernels: &dyn ReferenceKernels,
    ) -> Vec<&'static KnownBug> {
        let poison = Poison::new(0);
        let makes = |number: u64| {
            let written = self.written(case, given, kernels, number);
            written.is_ok_and(|written| self.compare(case, &written, outputs, &poison).accepted())
        };
        let bugs = self.manifest.known_bugs.iter().zip(1..);
        bugs.filter(|(_, number)| makes(*number)).map(|(bug, _)| bug).collect()
    }

    fn outputs(&self) -> impl Iterator<Item = &'static Parameter> {
        self.manifest.signature.iter().filter(|parameter| parameter.direction == Direction::Out)
    }
}

/// Values in a row of a buffer.
fn columns(parameter: &Parameter, case: &CaseSpec) -> usize {
    let last = parameter.shape.last().and_then(|extent| extent.evaluate(&case.sizes).ok());
    last.unwrap_or(1).max(1) as usize * parameter.format.values_per_element()
}
