//! Every rung of every ladder is accepted, and every wrong turn gets the verdict and the reason that
//! its `// expect:` line names, on the emulator, for each architecture. A rung that needs another
//! instruction set says so: `// archs: sm_120a`.

use std::fs;
use std::path::{Path, PathBuf};

use crate::support::Nibble;

/// `solutions/*/*.cu`, or `solutions/*/rejected/*.cu`.
fn files(rejected: bool, arch: &str) -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("solutions");
    let entries = |folder: PathBuf| {
        let read = fs::read_dir(&folder).into_iter().flatten();
        read.map(|entry| entry.expect("an entry").path()).collect::<Vec<_>>()
    };
    let mut files = Vec::new();
    for problem in entries(root) {
        let folder = if rejected { problem.join("rejected") } else { problem };
        let runs_here = |path: &PathBuf| {
            path.extension().is_some_and(|extension| extension == "cu")
                && said(path, "archs")
                    .is_none_or(|archs| archs.split_whitespace().any(|a| a == arch))
        };
        files.extend(entries(folder).into_iter().filter(runs_here));
    }
    files.sort();
    assert!(!files.is_empty(), "there are solutions");
    files
}

fn said(path: &Path, key: &str) -> Option<String> {
    let text = fs::read_to_string(path).expect("a solution");
    let line = text.lines().find_map(|line| line.strip_prefix(&format!("// {key}: ")))?;
    Some(line.trim().to_owned())
}

fn check(files: &[PathBuf], arch: &str) -> Vec<serde_json::Value> {
    let arguments = ["check", "--json", "--device", "emulator", "--arch", arch];
    Nibble::new(arguments).args(files).run().json()
}

fn all_rungs_are_accepted(arch: &str) {
    let files = files(false, arch);
    let reports = check(&files, arch);
    assert_eq!(reports.len(), files.len());
    for report in reports {
        assert_eq!(report["verdict"], "accepted", "{report:#}");
    }
}

fn all_wrong_turns_are_recognised(arch: &str) {
    let files = files(true, arch);
    let reports = check(&files, arch);
    assert_eq!(reports.len(), files.len());
    let mut wrong = Vec::new();
    for (file, report) in files.iter().zip(reports) {
        let expected = said(file, "expect").expect("an `// expect:` line");
        let (verdict, reason) = expected.split_once(' ').expect("a verdict and a reason");
        let cases = report["cases"].as_array().expect("cases");
        let reasons = cases.iter().flat_map(|case| case["reasons"].as_array().expect("reasons"));
        let found = reasons.into_iter().any(|given| given == reason);
        if report["verdict"] != verdict || !found {
            wrong.push(format!("{}: not {expected}, but {report:#}", file.display()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn rungs_on_sm_80() {
    all_rungs_are_accepted("sm_80");
}

#[test]
fn rungs_on_sm_90a() {
    all_rungs_are_accepted("sm_90a");
}

#[test]
fn rungs_on_sm_100a() {
    all_rungs_are_accepted("sm_100a");
}

#[test]
fn rungs_on_sm_120a() {
    all_rungs_are_accepted("sm_120a");
}

#[test]
fn wrong_turns_on_sm_80() {
    all_wrong_turns_are_recognised("sm_80");
}

#[test]
fn wrong_turns_on_sm_90a() {
    all_wrong_turns_are_recognised("sm_90a");
}

#[test]
fn wrong_turns_on_sm_100a() {
    all_wrong_turns_are_recognised("sm_100a");
}

#[test]
fn wrong_turns_on_sm_120a() {
    all_wrong_turns_are_recognised("sm_120a");
}
