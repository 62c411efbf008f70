//! Two solutions, built and run now, on one device, so that their times can be compared.

use crate::bench::{Round, Setup, cases, paired};
use crate::check::Passed;
use crate::report::Verdict;
use crate::run::{Prepared, prepare, prove, time, turn};
use crate::{Config, Error, Event, Report};

/// What came of it. The reports hold each solution's own times; they are not accepted, both, where
/// there is nothing to compare.
#[derive(Clone, Debug)]
pub struct Compared {
    pub a: Report,
    pub b: Report,
    /// Each size's name and its rounds; empty where times are modelled, and so have no chance in
    /// them.
    pub sizes: Vec<(String, Vec<Round>)>,
}

/// Compiles, checks and times two solutions in turn. `order` says for each pair of blocks whether
/// A begins.
///
/// # Errors
///
/// [`Error`] where either reached no verdict, or they are not for one problem and one device.
pub fn compare(
    configs: [&Config; 2],
    order: &[bool],
    emit: &mut dyn FnMut(Event),
) -> Result<Compared, Error> {
    let mut a = prepare(configs[0], None, emit)?;
    let mut b = prepare(configs[1], a.clock.clone(), emit)?;
    comparable(&a, &b)?;
    let proofs = (proof(configs[0], &mut a, emit)?, proof(configs[1], &mut b, emit)?);
    let mut sizes = Vec::new();
    if let (Some(of_a), Some(of_b)) = &proofs
        && let (Some(mut one), Some(mut two)) = (a.subject, b.subject)
    {
        let place = (a.problem, &a.gpu);
        if a.report.modelled {
            time(configs[0], place, &mut *one, of_a, &mut a.report, emit)?;
            time(configs[1], place, &mut *two, of_b, &mut b.report, emit)?;
        } else {
            let Config { stage, limits, .. } = configs[0];
            let cases = cases(a.problem, &configs[0].sizes)?;
            let setup = Setup {
                problem: a.problem,
                cases: &cases,
                gpu: &a.gpu,
                kernels: &[],
                stage: *stage,
                limits,
                ceilings: None,
            };
            let Some(_turn) = turn(configs[0], a.uuid.as_deref(), &mut a.report, emit)? else {
                a.report.verdict = Verdict::Interrupted;
                return Ok(Compared { a: a.report, b: b.report, sizes });
            };
            let paired = paired(&setup, [one, two], [of_a, of_b], order, emit)?;
            sizes = paired.sizes;
            let [of_a, of_b] = paired.each;
            a.report.settle(of_a);
            b.report.settle(of_b);
        }
    }
    Ok(Compared { a: a.report, b: b.report, sizes })
}

fn comparable(a: &Prepared, b: &Prepared) -> Result<(), Error> {
    let (one, two) = (&a.report, &b.report);
    if one.problem != two.problem {
        return Err(Error::Usage(format!(
            "A solves {} and B solves {}; compare solutions of one problem",
            one.problem, two.problem
        )));
    }
    if one.device != two.device {
        return Err(Error::Usage(format!(
            "A is built for {} and B for {}; say which with --arch",
            one.device.arch, two.device.arch
        )));
    }
    Ok(())
}

fn proof(
    config: &Config,
    prepared: &mut Prepared,
    emit: &mut dyn FnMut(Event),
) -> Result<Option<Passed>, Error> {
    let Prepared { problem, subject, report, .. } = prepared;
    match subject {
        Some(subject) => prove(config, problem, &mut **subject, report, emit),
        None => Ok(None),
    }
}
