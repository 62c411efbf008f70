//! `nibble problem check FOLDER`: whether a folder is a good problem.

use std::path::Path;

use judge::{Stage, examination::Examination, report::Verdict};
use problems::Problem;
use serde::Serialize;

use crate::{
    command::solve,
    config::Config,
    exit::{Exit, Failure, Result},
    interrupt,
    render::{json, style, words},
};

/// One thing that a good problem has.
#[derive(Serialize)]
struct Finding {
    what: &'static str,
    passed: bool,
    says: String,
}

#[derive(Serialize)]
struct Checked<'a> {
    problem: &'a str,
    passed: bool,
    findings: &'a [Finding],
}

pub fn run(folder: &Path, config: &Config) -> Result<Exit> {
    let problem = find(folder)?;
    let starter = problem.folder().unwrap_or(folder).join("starter.cu");
    let interrupt = interrupt::install();
    let run = judge::Config {
        problem: Some(problem.name().to_owned()),
        ..solve::configured(&starter, Stage::Check, &interrupt, config)
    };
    let progress = config.terminal.progress();
    let examined = judge::examination::examine(&run, problem, &mut |event| progress.event(&event));
    drop(progress);
    let findings = findings(problem, &examined?);
    let passed = findings.iter().all(|finding| finding.passed);
    config.terminal.print(&match config.json {
        true => json::line(&Checked { problem: problem.name(), passed, findings: &findings }),
        false => screen(problem, &findings),
    })?;
    Ok(if passed { Exit::Accepted } else { Exit::Failed })
}

/// The problem of this folder, which need not be among those that are known.
fn find(folder: &Path) -> Result<&'static Problem> {
    let folder = std::path::absolute(folder)?;
    let known = problems::catalog().iter();
    let here = |problem: &&Problem| {
        problem.folder().is_some_and(|of| std::path::absolute(of).is_ok_and(|of| of == folder))
    };
    if let Some(problem) = known.filter(here).collect::<Vec<_>>().first() {
        return Ok(problem);
    }
    match problems::open(&folder) {
        Err(error) => Err(Failure::usage(error)),
        Ok(problem) => Err(Failure::usage(format!(
            "{} is not among the problems that are looked for here",
            problem.name()
        ))
        .next(format!(
            "say where it is: --problems {}",
            folder.parent().unwrap_or(&folder).display()
        ))),
    }
}

fn findings(problem: &Problem, examined: &Examination) -> Vec<Finding> {
    let cases = &examined.cases;
    let named = |wrong: &mut dyn Iterator<Item = String>| wrong.collect::<Vec<_>>().join(", ");
    let finding = |what, wrong: String, good: String| Finding {
        what,
        passed: wrong.is_empty(),
        says: if wrong.is_empty() { good } else { wrong },
    };
    let manifest = problem.manifest();
    let all = words::count(cases.len() as u64, "case");
    let undrawn = named(&mut cases.iter().filter(|one| !one.redrawn).map(|one| one.case.name()));
    let changing = named(&mut cases.iter().filter(|one| !one.repeated).map(|one| one.case.name()));
    // A single value can be equal by chance; of all the cases of a family some must differ.
    let families: Vec<_> = {
        let mut families: Vec<_> = cases.iter().map(|one| one.case.family).collect();
        families.dedup();
        families
    };
    let constant = families.iter().filter(|&&family| {
        let mut of = cases.iter().filter(|one| one.case.family == family);
        !of.any(|one| one.varied)
    });
    let constant = named(&mut constant.map(ToString::to_string));
    let slowest = cases.iter().max_by(|a, b| a.seconds.total_cmp(&b.seconds));
    let slowest = slowest
        .map_or_else(String::new, |one| format!("{:.1} s for {}", one.seconds, one.case.name()));
    let refused = |refuses: &dyn Fn(&judge::examination::CaseExamination) -> bool| {
        cases.iter().filter(|one| refuses(one)).count() as u64
    };
    let (zeros, reversed) =
        (refused(&|one| one.zeros_refused), refused(&|one| one.reversed_refused));
    let starter = &examined.starter;
    vec![
        Finding {
            what: "manifest",
            passed: true,
            says: format!(
                "{}, {all}, {}",
                words::count(manifest.signature.len() as u64, "parameter"),
                words::count(manifest.known_bugs.len() as u64, "known bug")
            ),
        },
        finding(
            "inputs",
            match (undrawn.is_empty(), constant.is_empty()) {
                (false, _) => format!("one seed draws different inputs: {undrawn}"),
                (_, false) => format!("every seed draws the same inputs: {constant}"),
                _ => String::new(),
            },
            format!(
                "{} drawn, the same again from one seed",
                words::count(families.len() as u64, "family")
            ),
        ),
        finding(
            "reference",
            match changing.is_empty() {
                true => String::new(),
                false => format!("two runs write different outputs: {changing}"),
            },
            format!("two runs write the same; the slowest takes {slowest}"),
        ),
        Finding { what: "zeros", passed: zeros > 0, says: format!("refused in {zeros} of {all}") },
        Finding {
            what: "reversed",
            passed: reversed > 0,
            says: format!("outputs in the opposite order are refused in {reversed} of {all}"),
        },
        Finding {
            what: "starter",
            passed: starter.verdict == Verdict::Accepted,
            says: match starter.verdict {
                Verdict::Accepted => "accepted".to_owned(),
                verdict => format!("{}: `nibble check` on it says why", style::words(verdict)),
            },
        },
    ]
}

fn screen(problem: &Problem, findings: &[Finding]) -> String {
    let mut text = format!(
        "{}  {}\n",
        style::paint(style::BOLD, problem.name()),
        style::paint(style::DIM, &problem.manifest().title)
    );
    for Finding { what, passed, says } in findings {
        let mark = match passed {
            true => style::paint(style::GOOD, "✓"),
            false => style::paint(style::BAD, "✗"),
        };
        text.push_str(&words::hanging(&format!("  {mark} {what:<10} {says}"), 15));
        text.push('\n');
    }
    text
}
