//! What one run of one case showed.

use emulator::KernelProfile;
use problems::{CaseSpec, Comparison};

use super::worker_exit::WorkerExit;
use crate::device::{DeviceError, Sample};
use crate::report::{CaseReport, Verdict};
use crate::shared::OutOfBoundsWrite;
use timing::{Launch, Transfers};

/// A case's report, and what the device claims of the call.
#[derive(Clone, Debug)]
pub struct Trial {
    pub report: CaseReport,
    pub launches: Vec<Launch>,
    pub transfers: Transfers,
    /// Where the device was asked for them.
    pub profiles: Vec<KernelProfile>,
    /// Where the device has a clock.
    pub sample: Option<Sample>,
    /// What changes no verdict, but should be known.
    pub warnings: Vec<String>,
}

impl Trial {
    pub(crate) fn of(report: CaseReport) -> Self {
        Self {
            report,
            launches: Vec::new(),
            transfers: Transfers::default(),
            profiles: Vec::new(),
            sample: None,
            warnings: Vec::new(),
        }
    }
}

/// A report with nothing in it yet.
pub(crate) fn blank(case: &CaseSpec, verdict: Verdict) -> CaseReport {
    CaseReport {
        name: case.name(),
        sizes: case.sizes.iter().map(|(name, size)| (name.to_owned(), size)).collect(),
        family: case.family.to_string(),
        verdict,
        mismatches: 0,
        max_error: None,
        near_ties: 0,
        explanation: Vec::new(),
        reasons: Vec::new(),
        seconds: 0.0,
        data_seed: None,
        fresh: false,
    }
}

impl CaseReport {
    pub(super) fn record_exit(&mut self, exit: WorkerExit) {
        self.verdict = exit.verdict;
        self.explanation.extend(exit.explanation);
        self.reasons.push(exit.reason.to_owned());
    }

    /// A finding that decides the verdict, unless one before it already did.
    pub(super) fn blame(&mut self, verdict: Verdict, reason: &str, explanation: String) {
        if self.verdict == Verdict::Accepted {
            self.verdict = verdict;
        }
        self.explanation.push(explanation);
        if !self.reasons.iter().any(|known| known == reason) {
            self.reasons.push(reason.to_owned());
        }
    }

    /// A device that refused, or broke.
    pub(super) fn refuse(&mut self, error: &DeviceError) {
        let DeviceError { kind, text } = error;
        self.blame(
            Verdict::RuntimeError,
            kind.reason(),
            match kind.meaning() {
                Some(meaning) => format!("{meaning} ({text})"),
                None => text.clone(),
            },
        );
        if kind.emulator_knows() {
            self.explanation.push(
                "a GPU does not say where: `nibble check --device emulator` names the line"
                    .to_owned(),
            );
        }
    }

    /// A case like it, of a listed size, was right.
    pub(crate) fn only_listed_sizes_are_right(&mut self, like: &CaseSpec) {
        self.reasons.insert(0, "listed_sizes".to_owned());
        let why =
            format!("every listed size was right, {} too, and this one is wrong", like.name());
        self.explanation.insert(0, why);
    }

    pub(super) fn compare(&mut self, comparison: Comparison) {
        self.mismatches = comparison.mismatches;
        self.max_error = comparison.max_error;
        self.near_ties = comparison.near_ties;
        if comparison.accepted() {
            return;
        }
        if self.verdict == Verdict::Accepted {
            self.verdict = Verdict::WrongAnswer;
        }
        self.explanation.extend(comparison.explanation);
        self.explanation.extend(comparison.first.iter().flat_map(|first| first.lines()));
        self.explanation.extend(comparison.picture);
        self.reasons.extend(comparison.reasons);
        let counted = [("unwritten", comparison.unwritten), ("non_finite", comparison.non_finite)];
        for (reason, count) in counted {
            if count > 0 && !self.reasons.iter().any(|known| known == reason) {
                self.reasons.push(reason.to_owned());
            }
        }
    }

    pub(super) fn out_of_bounds_write(&mut self, write: &OutOfBoundsWrite) {
        let OutOfBoundsWrite { buffer, offset, len, bytes } = write;
        let place = match usize::try_from(*offset) {
            Ok(offset) => format!("{} bytes behind its end ({len} bytes)", offset - len),
            Err(_) => format!("{} bytes before its start", offset.unsigned_abs()),
        };
        self.blame(
            Verdict::RuntimeError,
            "out_of_bounds",
            format!("wrote outside of `{buffer}`: {bytes} bytes, the first {place}"),
        );
    }
}
