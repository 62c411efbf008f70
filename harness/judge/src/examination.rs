//! Whether a problem is a good one: what it draws, what its reference says, what it accepts.

use std::sync::Arc;
use std::time::Instant;

use problems::{
    CaseSpec, Direction, Expected, Poison, Problem, ReferenceKernels, ScalarValue, Seed,
};

use crate::judge::Bytes;
use crate::{Config, Error, Event, Report, reference};

/// What was found of a problem.
#[derive(Debug)]
pub struct Examination {
    pub cases: Vec<CaseExamination>,
    /// Of the starter, checked as any solution.
    pub starter: Report,
}

/// What was found of one case.
#[derive(Clone, Debug)]
pub struct CaseExamination {
    pub case: CaseSpec,
    /// One seed draws the same inputs twice.
    pub redrawn: bool,
    /// Two seeds draw different ones.
    pub varied: bool,
    /// The reference writes the same twice.
    pub repeated: bool,
    pub zeros_refused: bool,
    /// The expected values in the opposite order are refused.
    pub reversed_refused: bool,
    /// What one run of the reference takes, drawing not included.
    pub seconds: f64,
}

/// Inputs of a case.
struct Drawn {
    inputs: Vec<Bytes>,
    scalars: Vec<ScalarValue>,
}

impl Drawn {
    fn new(problem: &Problem, case: &CaseSpec, seed: &Seed) -> Result<Self, Error> {
        let buffers =
            problem.buffers(&case.sizes).map_err(|error| Error::Usage(error.to_string()))?;
        let ins = buffers.iter().filter(|buffer| buffer.direction == Direction::In);
        let mut inputs: Vec<Bytes> = ins.map(|buffer| Bytes::zeroed(buffer.bytes)).collect();
        let mut views: Vec<&mut [u8]> = inputs.iter_mut().map(Bytes::as_mut_slice).collect();
        let scalars = problem.fill(case, seed, &mut views);
        Ok(Self { inputs, scalars })
    }

    fn views(&self) -> Vec<&[u8]> {
        self.inputs.iter().map(Bytes::as_slice).collect()
    }

    fn same(&self, other: &Self) -> bool {
        self.views() == other.views() && self.scalars == other.scalars
    }
}

/// Examines the problem, all its check cases, and the starter in the file of the configuration.
///
/// # Errors
///
/// [`Error`] where the reference gives nothing, or this machine cannot run it.
pub fn examine(
    config: &Config,
    problem: &'static Problem,
    emit: &mut dyn FnMut(Event),
) -> Result<Examination, Error> {
    let kernels = reference(config, problem, emit)?;
    let cases = problem.check_cases();
    let count = cases.len();
    let cases = cases.into_iter().enumerate().map(|(index, case)| {
        emit(Event::CaseStarted { name: case.name(), index, count });
        examine_case(problem, case, &kernels)
    });
    let cases = cases.collect::<Result<_, Error>>()?;
    Ok(Examination { cases, starter: crate::run(config, emit)? })
}

fn examine_case(
    problem: &Problem,
    case: CaseSpec,
    kernels: &Arc<dyn ReferenceKernels>,
) -> Result<CaseExamination, Error> {
    let seeds: [Seed; 2] = [crate::random::bytes(), crate::random::bytes()].map(|seed| {
        // Without a source of seeds the judge does not work either, and says so.
        seed.unwrap_or_default()
    });
    let drawn = Drawn::new(problem, &case, &seeds[0])?;
    let redrawn = drawn.same(&Drawn::new(problem, &case, &seeds[0])?);
    let varied = !drawn.same(&Drawn::new(problem, &case, &seeds[1])?);
    let inputs = drawn.views();
    let run = || {
        let expected = problem.expected(&case, &inputs, &drawn.scalars, &**kernels);
        expected.map_err(|error| Error::Usage(error.to_string()))
    };
    let expected = run()?;
    let started = Instant::now();
    let repeated = run()? == expected;
    let seconds = started.elapsed().as_secs_f64();

    let refused = |expected: &Expected, outputs: Vec<Vec<u8>>| {
        let outputs: Vec<&[u8]> = outputs.iter().map(Vec::as_slice).collect();
        let poison = Poison::new(0);
        let scalars = &drawn.scalars;
        !problem.compare(&case, &inputs, scalars, expected, &outputs, &poison).accepted()
    };
    let zeros = expected.outputs.iter().map(|bytes| vec![0; bytes.len()]).collect();
    let widths = problem.manifest().signature.iter();
    let widths = widths.filter(|parameter| parameter.direction == Direction::Out);
    let reversed = expected.outputs.iter().zip(widths).map(|(bytes, parameter)| {
        let elements = bytes.chunks(parameter.element.bytes() as usize);
        elements.rev().flatten().copied().collect()
    });
    let reversed = reversed.collect();
    Ok(CaseExamination {
        redrawn,
        varied,
        repeated,
        zeros_refused: refused(&expected, zeros),
        reversed_refused: refused(&expected, reversed),
        seconds,
        case,
    })
}
