//! Two solutions in turn, so that what the machine does meanwhile happens to both.
//!
//! A *pair* is a block of samples of A and a block of B, one right after the other. Which of them
//! begins is the caller's to say: it draws the order, and makes an effect of the pairs. Everything
//! else is as in [`super::protocol`]: fresh processes, warm clocks, every call checked.
//!
//! A *round* is one fresh process of each, and a few pairs of every size. On one H200 the medians of
//! fresh processes of one solution scattered by 1.2 % at 5 µs and by 0.3 % at 36 µs, more than the
//! samples of one process tell; so rounds are many and short.

use std::time::{Duration, Instant};

use problems::CaseSpec;

use super::protocol::{BLOCK, WARM_WALL, block, combine, warm};
use super::{Benched, Setup, measured};
use crate::check::Passed;
use crate::device::Sample;
use crate::report::CaseReport;
use crate::subject::Subject;
use crate::{Error, Event};

/// A block of A's samples and one of B's, microseconds.
pub type Pair = [Vec<f64>; 2];

/// What one pair of fresh processes gave at one size.
pub type Round = Vec<Pair>;

/// What came of timing two solutions in turn.
#[derive(Debug, Default)]
pub struct Paired {
    /// Each size's name and its rounds.
    pub sizes: Vec<(String, Vec<Round>)>,
    /// Each solution's own times.
    pub each: [Benched; 2],
}

/// Rounds that there are at least; an interval of fewer would be too wide to tell anything.
pub const ROUNDS: usize = 6;
/// More pairs of one process tell little more of it.
const PAIRS_A_ROUND: usize = 3;
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
    let per_pair = WALL / order.len().max(1) as u32;
    let mut turns = Turns { setup, subjects, per_pair };
    let cases = setup.cases;
    let per_round = (order.len() / ROUNDS).clamp(1, PAIRS_A_ROUND);
    let rounds: Vec<&[bool]> = order.chunks(per_round).collect();
    let mut found = vec![Vec::new(); cases.len()];
    for (round, part) in rounds.iter().enumerate() {
        turns.renew();
        for (index, case) in cases.iter().enumerate() {
            emit(Event::BenchStarted {
                name: case.sizes.to_string(),
                index: round * cases.len() + index,
                count: rounds.len() * cases.len(),
            });
            // The sizes before it have warmed up the GPU for the next.
            let long = if index == 0 { WARM_WALL } else { Duration::ZERO };
            match turns.round(case, long, part)? {
                Ok(pairs) => found[index].push(pairs),
                Err((side, failure)) => {
                    turns.renew();
                    paired.each[side].failure = Some(*failure);
                    return Ok(paired);
                }
            }
        }
    }
    turns.renew();
    for (case, rounds) in cases.iter().zip(found) {
        for (side, benched) in paired.each.iter_mut().enumerate() {
            let own = |round: &Round| {
                round.iter().flat_map(|pair| &pair[side]).map(|us| us * 1e3).collect()
            };
            let samples: Vec<Vec<f64>> = rounds.iter().map(own).collect();
            benched.sizes.push(measured(setup, case, combine(&samples, 0.95, None))?);
        }
        paired.sizes.push((case.sizes.to_string(), rounds));
    }
    Ok(paired)
}

struct Turns<'a> {
    setup: &'a Setup<'a>,
    subjects: [Box<dyn Subject>; 2],
    per_pair: Duration,
}

/// What was asked for, or whose call went wrong, and how.
type Sampled<T> = Result<T, (usize, Box<CaseReport>)>;

impl Turns<'_> {
    /// The next calls are those of fresh processes.
    fn renew(&mut self) {
        for subject in &mut self.subjects {
            subject.dismiss();
        }
    }

    /// The pairs of one size in the processes that there are.
    fn round(
        &mut self,
        case: &CaseSpec,
        long: Duration,
        order: &[bool],
    ) -> Result<Sampled<Round>, Error> {
        for side in 0..2 {
            if let Err(failure) = warm(self.setup, &mut *self.subjects[side], case, long)? {
                return Ok(Err((side, failure)));
            }
        }
        let started = Instant::now();
        for side in 0..2 {
            if let Err(failure) = self.block(side, case, 1)? {
                return Ok(Err(failure));
            }
        }
        let fit = self.per_pair.as_secs_f64() / started.elapsed().as_secs_f64().max(1e-9);
        let length = (fit as usize).clamp(1, BLOCK);
        let mut pairs = Vec::with_capacity(order.len());
        for a_first in order {
            let mut pair = Pair::default();
            for side in if *a_first { [0, 1] } else { [1, 0] } {
                match self.block(side, case, length)? {
                    Ok(block) => pair[side] = block,
                    Err(failure) => return Ok(Err(failure)),
                }
            }
            pairs.push(pair);
        }
        Ok(Ok(pairs))
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
