//! Ctrl-C at each stage: the exit code is 130, and nothing stays behind.

use super::check;
use crate::support::{Run, program};

#[track_caller]
fn interrupted(run: &Run) {
    assert_eq!(run.code, Some(130), "{run:#?}");
    let folder = run.folder.display().to_string();
    let left: Vec<_> = std::fs::read_dir("/proc")
        .expect("/proc")
        .flatten()
        .filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok())
        .map(|line| String::from_utf8_lossy(&line).replace('\0', " "))
        .filter(|line| line.contains(&folder))
        .collect();
    assert!(left.is_empty(), "still running: {left:?}");
}

#[test]
fn ctrl_c_while_it_compiles() {
    // A comment of its own, so that no earlier run has compiled it.
    let unique = format!("// {:?}\n{}", std::time::SystemTime::now(), program("sleeps.cu"));
    interrupted(&check(&unique).run_and_signal("-INT", "cicc"));
}

#[test]
fn ctrl_c_while_it_runs() {
    let run = check(&program("sleeps.cu")).args(["--json"]).run_and_signal("-INT", "__worker");
    interrupted(&run);
    assert_eq!(run.json()[0]["verdict"], "interrupted");
}

#[test]
fn termination_counts_as_ctrl_c() {
    interrupted(&check(&program("sleeps.cu")).run_and_signal("-TERM", "__worker"));
}
