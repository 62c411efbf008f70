//! References that are kernels: `reference.cu`, run by whoever can compile.
//!
//! A reference has the parameters of `solution`; where the tolerance is what it allows, a `float*`
//! behind each output, for the errors; and where it knows bugs, a last `size_t known_bug`. So its
//! call is the call of a problem with a longer signature, and that problem is made here.

use std::fmt;

use crate::problem::{Given, Problem, TruthSource};
use crate::{CaseSpec, Direction, Element, Format, Manifest, Parameter, ScalarValue, Sizes};

/// A plain kernel that writes what is expected.
pub struct ReferenceKernel {
    /// The file's text, whose `solution` has the parameters of [`ReferenceKernel::problem`].
    pub text: &'static str,
    /// What compilers' messages call the file.
    pub file: &'static str,
    /// The problem whose solution it is: the signature of the call.
    pub problem: &'static Problem,
}

/// One call of a reference.
pub struct ReferenceCall<'a> {
    pub kernel: &'static ReferenceKernel,
    pub case: &'a CaseSpec,
    pub inputs: &'a [&'a [u8]],
    /// Every argument that is not a buffer.
    pub scalars: Vec<ScalarValue>,
}

/// Runs references that are kernels.
pub trait ReferenceKernels: Sync + Send + fmt::Debug {
    /// The bytes of each output.
    ///
    /// # Errors
    /// Why there are none: it does not compile, it faults, it takes too long.
    fn run(&self, call: &ReferenceCall) -> Result<Vec<Vec<u8>>, String>;
}

/// For problems whose reference is no kernel.
#[derive(Debug)]
pub struct NoKernels;

impl ReferenceKernels for NoKernels {
    fn run(&self, _: &ReferenceCall) -> Result<Vec<Vec<u8>>, String> {
        Err("its reference is a kernel, and nothing here runs kernels".to_owned())
    }
}

pub(crate) type Kernel = &'static ReferenceKernel;

/// The name of the last parameter of a reference that knows bugs.
pub(crate) const KNOWN_BUG: &str = "known_bug";

impl ReferenceKernel {
    pub(crate) fn new(
        name: &'static str,
        manifest: &Manifest,
        with_errors: bool,
        (file, text): (&'static str, &'static str),
    ) -> Kernel {
        let mut longer = manifest.clone();
        longer.signature = Vec::new();
        for parameter in &manifest.signature {
            longer.signature.push(parameter.clone());
            if with_errors && parameter.direction == Direction::Out {
                longer.signature.push(Parameter {
                    name: format!("{}_error", parameter.name),
                    element: Element::F32,
                    format: Format::F32,
                    scales: None,
                    ..parameter.clone()
                });
            }
        }
        if !manifest.known_bugs.is_empty() {
            longer.signature.push(Parameter {
                name: KNOWN_BUG.to_owned(),
                direction: Direction::Size,
                element: Element::Usize,
                shape: Vec::new(),
                format: Format::U8,
                scales: None,
                each: None,
            });
        }
        let manifest: &'static Manifest = Box::leak(Box::new(longer));
        let problem = Problem {
            name,
            manifest,
            spec: "",
            starter: "",
            truth: TruthSource::Nowhere,
            folder: None,
        };
        let problem = Box::leak(Box::new(problem));
        Box::leak(Box::new(ReferenceKernel { text, file, problem }))
    }

    pub(super) fn run(
        &'static self,
        case: &CaseSpec,
        given: &Given,
        kernels: &dyn ReferenceKernels,
        bug: u64,
    ) -> Result<Vec<Vec<u8>>, String> {
        let sizes = case.sizes.iter().map(|(name, size)| (name.to_owned(), size));
        let signature = &self.problem.manifest().signature;
        let knows = signature.last().is_some_and(|last| last.name == KNOWN_BUG);
        let bug = knows.then(|| (KNOWN_BUG.to_owned(), bug));
        let case = CaseSpec { sizes: Sizes::new(sizes.chain(bug)), family: case.family };
        let scalars = self.problem.arguments(&case, given.scalars.iter().copied());
        kernels.run(&ReferenceCall { kernel: self, case: &case, inputs: given.inputs, scalars })
    }
}

impl fmt::Debug for ReferenceKernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReferenceKernel").field("file", &self.file).finish_non_exhaustive()
    }
}
