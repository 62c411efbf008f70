//! Every rung of every ladder is accepted on the emulator, for each architecture, and every rejected file
//! gets the verdict and the reason that its `// expect:` line names, for one architecture without
//! instructions for FP4 and one with them. A file that needs another instruction set says so:
//! `// archs: sm_120a`. One that takes minutes for the bench's sizes, as a scalar matrix product does, says
//! `// check: quick`, and is held to the smallest case of each input family.

use std::fs;
use std::path::{Path, PathBuf};

use crate::support::{Nibble, said, wants};

/// Where a rejected file is tried that does not say it. It is as wrong everywhere, and there are many.
const REJECTED_ON: [&str; 2] = ["sm_80", "sm_100a"];

/// `solutions/*/*.cu`, or `solutions/*/rejected/*.cu`, as far as they run on `arch`.
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
                && wants(path, arch).unwrap_or(!rejected || REJECTED_ON.contains(&arch))
        };
        files.extend(entries(folder).into_iter().filter(runs_here));
    }
    files.sort();
    files
}

/// A command for each problem: all of them at once would take longer than a test may.
fn check(files: &[PathBuf], arch: &str) -> Vec<serde_json::Value> {
    let arguments = ["check", "--json", "--device", "emulator", "--arch", arch];
    let how = |file: &PathBuf| said(file, "check");
    let folders = files.chunk_by(|a, b| a.parent() == b.parent() && how(a) == how(b));
    let run = |files: &[PathBuf]| {
        let quick = how(&files[0]).map(|how| format!("--{how}"));
        Nibble::new(arguments).args(quick).args(files).run().json()
    };
    folders.flat_map(run).collect()
}

fn all_rungs_are_accepted(arch: &str) {
    let files = files(false, arch);
    assert!(!files.is_empty(), "there are rungs");
    let reports = check(&files, arch);
    assert_eq!(reports.len(), files.len());
    for report in reports {
        assert_eq!(report["verdict"], "accepted", "{report:#}");
    }
}

fn all_rejected_files_are_recognised(arch: &str) {
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
fn rejected_files_on_sm_80() {
    all_rejected_files_are_recognised("sm_80");
}

#[test]
fn rejected_files_on_sm_100a() {
    all_rejected_files_are_recognised("sm_100a");
}

/// Those that name one of these.
#[test]
fn rejected_files_on_other_architectures() {
    for arch in ["sm_90a", "sm_120a"] {
        if !files(true, arch).is_empty() {
            all_rejected_files_are_recognised(arch);
        }
    }
}
