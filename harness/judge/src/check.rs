//! Proving a solution: every case of the check, one of sizes that are drawn anew each time, then every size
//! that the bench would time.

use problems::{CaseSpec, Problem};

use crate::report::{CaseReport, Verdict};
use crate::subject::Subject;
use crate::{Error, Event, Limits, Selection};
use timing::{Launch, Transfers};

/// Proof that a solution was accepted in every case. Only [`check`] makes one, and `bench` demands
/// it: timing a wrong kernel does not compile.
#[derive(Debug)]
pub struct Passed {
    /// What the emulator counted at each size of the bench.
    counted: Vec<(CaseSpec, Vec<Launch>, Transfers)>,
}

impl Passed {
    /// The launches of a case of the bench; empty where the device does not count.
    pub fn launches(&self, case: &CaseSpec) -> &[Launch] {
        self.of(case).map_or(&[], |(_, launches, _)| launches)
    }

    /// What it did besides them.
    pub fn transfers(&self, case: &CaseSpec) -> Transfers {
        self.of(case).map_or_else(Transfers::default, |(_, _, transfers)| *transfers)
    }

    fn of(&self, case: &CaseSpec) -> Option<&(CaseSpec, Vec<Launch>, Transfers)> {
        self.counted.iter().find(|(counted, ..)| counted == case)
    }
}

/// What the check found.
#[derive(Debug)]
pub struct Checked {
    pub cases: Vec<CaseReport>,
    /// Of the first case that was not accepted.
    pub verdict: Verdict,
    /// What is wrong beyond single cases.
    pub message: Option<String>,
    pub warnings: Vec<String>,
    /// Present if and only if the verdict is accepted.
    pub passed: Option<Passed>,
}

/// All cases of a check, those of the `bench` last; how many come before them.
pub fn cases(problem: &Problem, bench: &[CaseSpec]) -> (Vec<CaseSpec>, usize) {
    let mut cases = problem.check_cases();
    cases.retain(|case| !bench.contains(case));
    let small = cases.len();
    cases.extend_from_slice(bench);
    (cases, small)
}

/// Runs the check. A wrong answer does not end it: the families that fail tell what is wrong. The
/// cases of the `bench` come last and wait for the others to pass, and a crash or a time-out ends it,
/// since the next case would cost as much and say the same. With a selection that leaves cases out
/// there is no proof.
///
/// # Errors
///
/// [`Error::Machine`] where this machine cannot run it; [`Error::Usage`] where the selection names a
/// case that there is not.
pub fn check(
    problem: &Problem,
    bench: &[CaseSpec],
    selection: &Selection,
    subject: &mut dyn Subject,
    limits: &Limits,
    emit: &mut dyn FnMut(Event),
) -> Result<Checked, Error> {
    let (cases, small) = cases(problem, bench);
    let all = cases.len();
    let mut cases = selection.choose(problem, cases, small)?;
    let listed = cases.iter().position(|case| bench.contains(case)).unwrap_or(cases.len());
    let unlisted =
        if selection.is_partial() { Vec::new() } else { fresh_cases(problem, selection)? };
    let small = listed + unlisted.len();
    let no_fresh =
        unlisted.is_empty() && !selection.is_partial() && problem.manifest().fresh.is_some();
    cases.splice(listed..listed, unlisted);

    let mut checked = Checked {
        cases: Vec::new(),
        verdict: Verdict::Accepted,
        message: None,
        warnings: Vec::new(),
        passed: None,
    };
    let mut counted = Vec::new();
    for (index, case) in cases.iter().enumerate() {
        if index == small && checked.verdict != Verdict::Accepted {
            break;
        }
        emit(Event::CaseStarted { name: case.name(), index, count: cases.len() });
        let mut trial = subject.run_case(case, limits.case(problem, case))?;
        trial.report.fresh = (listed..small).contains(&index);
        let alone = trial.report.fresh && checked.verdict == Verdict::Accepted;
        let like = cases[..listed].last().filter(|_| alone);
        if let (Some(like), Verdict::WrongAnswer) = (like, trial.report.verdict) {
            // The family may be one that no listed size was checked with.
            let like = CaseSpec { family: case.family, ..like.clone() };
            if subject.run_case(&like, limits.case(problem, &like))?.report.verdict
                == Verdict::Accepted
            {
                trial.report.only_listed_sizes_are_right(&like);
            }
        }
        emit(Event::CaseFinished(Box::new(trial.report.clone())));
        let verdict = trial.report.verdict;
        if checked.verdict == Verdict::Accepted {
            checked.verdict = verdict;
        }
        checked.cases.push(trial.report);
        note(&mut checked.warnings, trial.warnings);
        if index >= small {
            counted.push((case.clone(), trial.launches, trial.transfers));
        }
        if !matches!(verdict, Verdict::Accepted | Verdict::WrongAnswer) {
            break;
        }
    }
    if let Some(complaint) = subject.dismiss()
        && checked.verdict == Verdict::Accepted
    {
        checked.verdict = Verdict::RuntimeError;
        checked.message = Some(complaint);
    }
    if no_fresh {
        checked.warnings.push("no sizes but the listed ones were checked".to_owned());
    }
    if selection.is_partial() {
        checked.warnings.push(format!("{} of {all} cases were run: this is no proof", cases.len()));
    }
    checked.passed = (checked.verdict == Verdict::Accepted && !selection.is_partial())
        .then_some(Passed { counted });
    Ok(checked)
}

/// The cases of sizes that the problem does not list.
fn fresh_cases(problem: &Problem, selection: &Selection) -> Result<Vec<CaseSpec>, Error> {
    let mut seed = problems::Seed::default();
    match selection.data_seed {
        Some(data_seed) => seed[..8].copy_from_slice(&data_seed.to_le_bytes()),
        None => seed = crate::judge::fresh()?,
    }
    Ok(problem.fresh_cases(&seed))
}

/// Adds what was not said before.
pub(crate) fn note(warnings: &mut Vec<String>, new: Vec<String>) {
    for warning in new {
        if !warnings.contains(&warning) {
            warnings.push(warning);
        }
    }
}
