//! Timed calls, each judged.

use std::time::Duration;

use problems::{CaseSpec, Mixing, Poison};

use super::bytes::Bytes;
use super::content::Content;
use super::link::Failure;
use super::mixture::Mixture;
use super::summon::out_of_turn;
use super::trial::blank;
use super::worker_exit::Phase;
use super::{Examined, Judge, JudgeInput, fresh, no_memory};
use crate::Error;
use crate::device::{Reading, Sample, Span, Target, Temperature};
use crate::report::{CaseReport, Verdict};
use crate::subject::{Manner, Timed};
use crate::worker::protocol::{Outcome, Request};
use timing::stats::median;

/// Calls of each kind that find unfinished work.
const CALLS: usize = 5;
/// Nanoseconds by which two such medians may differ, beside a quarter.
const SLACK: f64 = 1e3;

/// Stops a series: a report that says why, or a machine that cannot.
enum Stop {
    Judged(Box<CaseReport>),
    Broken(Error),
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Self::Broken(error)
    }
}

impl Judge {
    /// Times `manner.count` calls, each with inputs that the solution has not seen, and judges
    /// every one. Where the device keeps contents and the problem lets them be mixed, that costs a
    /// fraction of a millisecond a call; else as much as a case of the check.
    pub(crate) fn time(
        &mut self,
        case: &CaseSpec,
        manner: Manner,
        limit: Duration,
    ) -> Result<Timed, Error> {
        let on_gpu = matches!(self.input.target, Target::Cuda { .. });
        let mixing = self.input.problem.mixing(&case.sizes).filter(|_| on_gpu);
        let mut samples = Vec::new();
        // A case of the check brings its inputs along: its caches are cold.
        if mixing.is_none() && manner.temperature == Temperature::Hot {
            return Ok(Ok(samples));
        }
        while samples.len() < manner.count {
            let more = match &mixing {
                Some(mixing) => self.series(case, mixing, manner.but(samples.len()), limit),
                None => self.single(case, limit).map(|sample| vec![sample]),
            };
            match more {
                Ok(more) => samples.extend(more),
                Err(Stop::Broken(error)) => return Err(error),
                Err(Stop::Judged(mut report)) => {
                    report.name.push_str(" (timed)");
                    return Ok(Err(report));
                }
            }
        }
        Ok(Ok(samples))
    }

    /// One call, as the check does it.
    fn single(&mut self, case: &CaseSpec, limit: Duration) -> Result<Sample, Stop> {
        let trial = self.case(case, limit)?;
        if trial.report.verdict != Verdict::Accepted {
            return Err(Stop::Judged(Box::new(trial.report)));
        }
        let clockless =
            || Error::machine("this device has no clock", "time on another: --device emulator");
        Ok(trial.sample.ok_or_else(clockless)?)
    }

    /// As many calls as the worker has memory for, at least one.
    fn series(
        &mut self,
        case: &CaseSpec,
        mixing: &Mixing,
        manner: Manner,
        limit: Duration,
    ) -> Result<Vec<Sample>, Stop> {
        if self.mixture.as_ref().is_none_or(|mixture| mixture.case != *case) {
            self.mix(case, mixing, limit)?;
            if self.finished.as_ref() != Some(case) {
                self.finished = Some(case.clone());
                self.finish(case, mixing, limit)?;
            }
        }
        let Some(mut mixture) = self.mixture.take() else { return Ok(Vec::new()) };
        let order = mixture.order(manner.count, manner.temperature, manner.span)?;
        if order.keys.is_empty() {
            // Every mixture has been seen; the next call draws other contents.
            return Ok(Vec::new());
        }
        let keys = order.keys.clone();
        let readings = match self.ask(case, &Request::Time(order), limit)? {
            Outcome::Timed(readings) if (1..=keys.len()).contains(&readings.len()) => readings,
            other => return Err(self.nonsense(case, &other)),
        };
        // One call is looked at in full whatever its fingerprint: which, nobody can know before.
        let spot = usize::from_le_bytes(fresh()?) % readings.len();
        for (index, (reading, key)) in readings.iter().zip(keys).enumerate() {
            let right = reading.fingerprints == mixture.expected(key) && index != spot;
            if !right && manner.span != Span::Nothing {
                self.inspect(&mixture, index, key, reading, limit)?;
            }
        }
        self.mixture = Some(mixture);
        Ok(readings.into_iter().map(|reading| reading.sample).collect())
    }

    /// Proves the solution on two contents that the worker keeps.
    fn mix(&mut self, case: &CaseSpec, mixing: &Mixing, limit: Duration) -> Result<(), Stop> {
        let buffers = self.buffers(case)?;
        if let Some(trial) = self.unopened(case, limit)? {
            return Err(Stop::Judged(Box::new(trial.report)));
        }
        let JudgeInput { problem, kernels, .. } = &self.input;
        let a = Content::draw(problem, case, &buffers, self.seed()?, None, &**kernels)?;
        let like = Some((&a, mixing.shared.as_slice()));
        let b = Content::draw(problem, case, &buffers, self.seed()?, like, &**kernels)?;
        let mut outputs = Vec::new();
        let mut last = None;
        for (index, content) in [&a, &b].into_iter().enumerate() {
            let Examined { trial, outputs: written, shared } =
                self.examine(case, &buffers, content, limit)?;
            if trial.report.verdict != Verdict::Accepted {
                return Err(Stop::Judged(Box::new(trial.report)));
            }
            match self.ask(case, &Request::Keep { content: index }, limit)? {
                Outcome::Done => {}
                other => return Err(self.nonsense(case, &other)),
            }
            outputs.push(written);
            last = Some(shared);
        }
        if let (Ok(outputs), Some(shared)) = (<[Vec<Bytes>; 2]>::try_from(outputs), last) {
            let contents = [a, b];
            let mixture = Mixture::new(case, buffers, mixing, contents, outputs, shared)?;
            self.mixture = Some(mixture);
        }
        Ok(())
    }

    /// Whether a call is over when its end is recorded. Then it takes no less than a kernel that
    /// does nothing, and no longer where the end waits for all streams: calls that are shorter than
    /// they seem show in the first, and longer ones in the second.
    fn finish(&mut self, case: &CaseSpec, mixing: &Mixing, limit: Duration) -> Result<(), Stop> {
        let mut series =
            |span| self.series(case, mixing, Manner { span, ..Manner::cold(CALLS) }, limit);
        let (empty, whole) = (series(Span::Nothing)?, series(Span::Everything)?);
        let of = |samples: &[Sample], ns: fn(&Sample) -> f64| {
            median(&samples.iter().map(ns).collect::<Vec<_>>()).unwrap_or_default()
        };
        let nothing = of(&empty, |sample| sample.device_ns);
        let call = of(&whole, |sample| sample.device_ns);
        let behind = of(&whole, |sample| sample.behind_ns);
        let against = if call < 0.75 * nothing {
            format!("a kernel that does nothing takes {:.1} µs", nothing * 1e-3)
        } else if behind > 0.25 * call + SLACK {
            format!("the GPU is busy with it for {:.1} µs", (call + behind) * 1e-3)
        } else {
            return Ok(());
        };
        let mut report = blank(case, Verdict::Accepted);
        report.blame(
            Verdict::RuntimeError,
            "unfinished_work",
            format!(
                "the call seems to take {:.1} µs, but {against}: work on a stream that the default \
                 stream does not wait for; wait for it before `solution` returns",
                call * 1e-3
            ),
        );
        Err(Stop::Judged(Box::new(report)))
    }

    /// Fetches what call `index` left, and compares it in full.
    fn inspect(
        &mut self,
        mixture: &Mixture,
        index: usize,
        key: u64,
        reading: &Reading,
        limit: Duration,
    ) -> Result<(), Stop> {
        let case = &mixture.case;
        match self.ask(case, &Request::Fetch { index }, limit)? {
            Outcome::Done => {}
            other => return Err(self.nonsense(case, &other)),
        }
        let outputs = mixture.fetched().map_err(|error| no_memory(&error))?;
        let found = mixture.found(&outputs);
        let mut report = blank(case, Verdict::Accepted);
        if found != reading.fingerprints {
            report.blame(
                Verdict::RuntimeError,
                "late_writes",
                "outputs were written after the call was over: work on a stream that the default \
                 stream does not wait for, or on a thread; wait for it before `solution` returns"
                    .to_owned(),
            );
        } else if found != mixture.expected(key) {
            let JudgeInput { problem, kernels, .. } = &self.input;
            let content = mixture.content(problem, key, &**kernels)?;
            let views: Vec<_> = outputs.iter().map(Bytes::as_slice).collect();
            let Content { scalars, expected, .. } = &content;
            let poison = Poison::new(key);
            report.compare(problem.compare(
                case,
                &content.views(),
                scalars,
                expected,
                &views,
                &poison,
            ));
        }
        match report.verdict {
            Verdict::Accepted => Ok(()),
            _ => Err(Stop::Judged(Box::new(report))),
        }
    }

    /// Asks the worker; where it is gone, or the device refused, the report says so.
    fn ask(
        &mut self,
        case: &CaseSpec,
        request: &Request,
        limit: Duration,
    ) -> Result<Outcome, Stop> {
        let Some(link) = &mut self.link else {
            return Err(self.buried(case, &Failure::Nonsense("no worker".to_owned())));
        };
        match link.ask(request, None, limit) {
            Ok(Outcome::Failed(error)) => {
                self.dismiss();
                let mut report = blank(case, Verdict::Accepted);
                report.refuse(&error);
                Err(Stop::Judged(Box::new(report)))
            }
            Ok(outcome) => Ok(outcome),
            Err(failure) => Err(self.buried(case, &failure)),
        }
    }

    fn nonsense(&mut self, case: &CaseSpec, outcome: &Outcome) -> Stop {
        self.buried(case, &out_of_turn(outcome))
    }

    fn buried(&mut self, case: &CaseSpec, failure: &Failure) -> Stop {
        let mut report = blank(case, Verdict::Accepted);
        report.record_exit(self.worker_exit(failure, Phase::Calling));
        Stop::Judged(Box::new(report))
    }
}
