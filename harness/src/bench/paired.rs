//! Two solutions in turn, so that what the machine does meanwhile happens to both.
//!
//! A *pair* is a block of samples of A and a block of B, one right after the other. Which of them
//! begins is the caller's to say: it draws the order, and makes an effect of the pairs. Everything
//! else is as in [`super::protocol`]: fresh processes, warm clocks, every call checked.

use std::time::{Duration, Instant};

use problems::CaseSpec;

use super::protocol::{BLOCK, FRESH_PROCESSES, block, combine, warm};
use super::{Benched, Setup, measured};
use crate::check::Passed;
use crate::device::Sample;
use crate::report::CaseReport;
use crate::subject::Subject;
use crate::{Error, Event};

/// A block of A's samples and one of B's, microseconds.
pub type Pair = [Vec<f64>; 2];

/// What came of timing two solutions in turn.
#[derive(Debug, Default)]
pub struct Paired {
    /// Each size's name and its pairs.
    pub sizes: Vec<(String, Vec<Pair>)>,
    /// Each solution's own times.
    pub each: [Benched; 2],
}

/// Of one size. Where the judge needs long for a call, blocks get smaller; fewer pairs would tell
/// less.
const WALL: Duration = Duration::from_secs(20);

/// Times every size of the bench, both solutions in turn. `order` says for each pair whether A
/// begins.
///
/// # Errors
///
/// [`Error::Machine`] where this machine cannot.
pub fn paired(
    setup: &Setup<'_>,
    subjects: [Box<dyn Subject>; 2],
    _proofs: [&Passed; 2],
    order: &[bool],
    emit: &mut dyn FnMut(Event),
) -> Result<Paired, Error> {
    let mut paired = Paired::default();
    let mut turns = Turns { setup, subjects };
    let cases = setup.cases;
    for (index, case) in cases.iter().enumerate() {
        let name = case.sizes.to_string();
        emit(Event::BenchStarted { name: name.clone(), index, count: cases.len() });
        let processes = match turns.size(case, order)? {
            Ok(processes) => processes,
            Err((side, failure)) => {
                paired.each[side].failure = Some(*failure);
                break;
            }
        };
        for (side, benched) in paired.each.iter_mut().enumerate() {
            let own = |pairs: &Vec<Pair>| {
                pairs.iter().flat_map(|pair| &pair[side]).map(|us| us * 1e3).collect()
            };
            let samples: Vec<Vec<f64>> = processes.iter().map(own).collect();
            benched.sizes.push(measured(setup, case, combine(&samples, 0.95, None))?);
        }
        paired.sizes.push((name, processes.concat()));
    }
    for mut subject in turns.subjects {
        subject.dismiss();
    }
    Ok(paired)
}

struct Turns<'a> {
    setup: &'a Setup<'a>,
    subjects: [Box<dyn Subject>; 2],
}

/// What was asked for, or whose call went wrong, and how.
type Sampled<T> = Result<T, (usize, Box<CaseReport>)>;

impl Turns<'_> {
    /// The pairs of one size, for each pair of processes.
    fn size(&mut self, case: &CaseSpec, order: &[bool]) -> Result<Sampled<Vec<Vec<Pair>>>, Error> {
        let mut processes = Vec::new();
        for part in order.chunks(order.len().div_ceil(FRESH_PROCESSES).max(1)) {
            for side in 0..2 {
                self.subjects[side].dismiss();
                if let Err(failure) = warm(self.setup, &mut *self.subjects[side], case)? {
                    return Ok(Err((side, failure)));
                }
            }
            let started = Instant::now();
            for side in 0..2 {
                if let Err(failure) = self.block(side, case, 1)? {
                    return Ok(Err(failure));
                }
            }
            let per_pair = WALL.as_secs_f64() / order.len() as f64;
            let fit = per_pair / started.elapsed().as_secs_f64().max(1e-9);
            let length = (fit as usize).clamp(1, BLOCK);
            let mut pairs = Vec::with_capacity(part.len());
            for a_first in part {
                let mut pair = Pair::default();
                for side in if *a_first { [0, 1] } else { [1, 0] } {
                    match self.block(side, case, length)? {
                        Ok(block) => pair[side] = block,
                        Err(failure) => return Ok(Err(failure)),
                    }
                }
                pairs.push(pair);
            }
            processes.push(pairs);
        }
        Ok(Ok(processes))
    }

    /// That many samples of one solution, microseconds.
    fn block(
        &mut self,
        side: usize,
        case: &CaseSpec,
        length: usize,
    ) -> Result<Sampled<Vec<f64>>, Error> {
        let timed = block(self.setup, &mut *self.subjects[side], case, length)?;
        let micros =
            |samples: Vec<Sample>| samples.iter().map(|sample| sample.device_ns * 1e-3).collect();
        Ok(timed.map(micros).map_err(|failure| (side, failure)))
    }
}
