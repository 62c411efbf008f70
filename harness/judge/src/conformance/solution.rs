//! A whole solution on the emulator and on a GPU.

use problems::Problem;

use super::{Conformance, Outcome};
use crate::judge::Judge;
use crate::run::{Placed, judges};
use crate::{Config, DeviceChoice, Error, Event, Limits};

/// One solution on the small cases of its problem's check, with the same inputs on both devices.
/// The outputs, all their bytes, count.
///
/// # Errors
///
/// [`Error`] where it reached no verdict on one of them.
pub fn solution(config: &Config, emit: &mut dyn FnMut(Event)) -> Result<Vec<Conformance>, Error> {
    let card = Config { device: DeviceChoice::Cuda(0), ..config.clone() };
    let Placed { problem, report, judge: real, .. } = judges(&card, emit)?;
    let arch = report.device.arch;
    let emulator = Config { device: DeviceChoice::Emulator, arch: Some(arch), ..config.clone() };
    let Placed { judge: emulated, .. } = judges(&emulator, emit)?;
    let (mut emulated, mut real) = match (emulated, real) {
        (Some(emulated), Some(real)) => (emulated, real),
        _ => return Err(Error::Usage("it does not compile".to_owned())),
    };
    small(problem)
        .map(|case| {
            let name = case.name();
            let outcome = case_on_both(config, &case, [&mut emulated, &mut real])?;
            Ok(Conformance { name, outcome })
        })
        .collect()
}

fn case_on_both(
    config: &Config,
    case: &problems::CaseSpec,
    [emulated, real]: [&mut Judge; 2],
) -> Result<Outcome, Error> {
    let content = emulated.content(case)?;
    let limit = config.limits.check.unwrap_or(Limits::MOST);
    let outputs = [emulated.outputs(case, &content, limit)?, real.outputs(case, &content, limit)?];
    Ok(match outputs {
        [Ok(emulated), Ok(real)] => super::judge(
            &emulated,
            &real,
            |a, b| (u64::from(a != b), format!("{a:02x}, on the card {b:02x}")),
            0,
        ),
        [Err(why), _] => Outcome::Unsupported { why },
        [_, Err(why)] => Outcome::Refused { why },
    })
}

/// The cases that the emulator runs in no time.
fn small(problem: &'static Problem) -> impl Iterator<Item = problems::CaseSpec> {
    let bench = problem.bench_cases();
    let large = move |case: &problems::CaseSpec| bench.iter().any(|one| one.sizes == case.sizes);
    problem.check_cases().into_iter().filter(move |case| !large(case))
}
