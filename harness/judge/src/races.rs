//! A look for races where nobody asked for one: right outputs do not show them.
//!
//! A kernel that lacks a barrier may write what it should on the emulator, and on a GPU most of the
//! time. So a check on the emulator ends with the sanitizer on a small case of each size. What it finds
//! changes no verdict: it is said, and stands in the attempt as that case's reason.
//!
//! Small cases cost about as much with the sanitizer as without (1 to 25 ms for the rungs of five
//! problems; 50 to 115 ms where a launch is cooperative). Large ones cost twenty times as much, and a
//! size is left out that may.

use std::time::{Duration, Instant};

use problems::CaseSpec;

use crate::Error;
use crate::report::{CaseReport, Verdict};
use crate::subject::Subject;

/// When no further size is begun.
const BUDGET: Duration = Duration::from_millis(150);

/// What one case may take, and what it may have taken without the sanitizer.
const LIMIT: Duration = Duration::from_secs(1);
const PLAIN: f64 = 0.05;

/// Runs `cases` that have reports once more with the sanitizer, one of each size. Its first finding goes
/// to the report; a sentence about it.
pub(crate) fn look(
    subject: &dyn Subject,
    cases: &[CaseSpec],
    reports: &mut [CaseReport],
) -> Result<Option<String>, Error> {
    let Some(mut sanitized) = subject.sanitized()? else { return Ok(None) };
    let started = Instant::now();
    let mut sizes = Vec::new();
    for (case, report) in cases.iter().zip(reports) {
        if sizes.contains(&&case.sizes) || report.seconds > PLAIN {
            continue;
        }
        sizes.push(&case.sizes);
        if started.elapsed() > BUDGET {
            break;
        }
        let found = sanitized.hear(case, LIMIT)?.report;
        if found.verdict != Verdict::RuntimeError {
            continue;
        }
        let headline = found.explanation.first().cloned().unwrap_or_default();
        report.reasons.extend(found.reasons);
        report.explanation.extend(found.explanation);
        return Ok(Some(format!(
            "the sanitizer finds in {}: {headline}; `nibble check --sanitize` says where",
            report.name
        )));
    }
    Ok(None)
}
