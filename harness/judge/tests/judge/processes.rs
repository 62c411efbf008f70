//! Nothing outlives its judge.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use judge::report::Verdict;

use crate::court::{Court, Test};

pub const TESTS: &[Test] = &[
    ("a_child_that_outlives_it", a_child_that_outlives_it),
    ("a_daemon", a_daemon),
    ("a_child_that_ended_is_no_crime", a_child_that_ended_is_no_crime),
    ("a_crash_with_a_child_that_holds_the_channel", a_crash_with_a_child_that_holds_the_channel),
    ("a_family_killed_on_time_out", a_family_killed_on_time_out),
    ("no_folder_is_left", no_folder_is_left),
    ("a_judge_killed_leaves_nothing", a_judge_killed_leaves_nothing),
    ("a_worker_started_by_hand_leaves", a_worker_started_by_hand_leaves),
];

/// Forks; the child notes its number and sleeps.
const FORK: &str = r#"
    static void child(bool daemon) {
        if (fork()) return;
        if (daemon) { setsid(); if (fork()) _exit(0); }
        FILE* file = fopen("child", "w"); fprintf(file, "%d\n", getpid()); fclose(file);
        for (;;) sleep(1000);
    }
    static void wait_for_child() {
        for (int i = 0; i < 5000; ++i) {
            FILE* file = fopen("child", "r"); int pid = 0;
            if (file) { int read = fscanf(file, "%d", &pid); fclose(file);
                if (read == 1) { fprintf(stderr, "child %d\n", pid); return; } }
            usleep(1000);
        }
    }
"#;

/// The hidden verb by which this executable becomes a judge that is to be killed.
pub const DOOMED: &str = "__doomed";

/// Whether the process that the solution printed is gone, or becomes so.
fn gone(court: &Court) -> bool {
    let log = court.judge.log();
    let pid = log.split_whitespace().nth(1).unwrap_or_else(|| panic!("no child in `{log}`"));
    comes_true(|| !Path::new("/proc").join(pid).exists())
}

fn comes_true(what: impl Fn() -> bool) -> bool {
    let deadline = Instant::now() + Duration::from_secs(20);
    while !what() {
        if Instant::now() > deadline {
            return false;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    true
}

fn a_child_that_outlives_it() {
    let mut court =
        Court::new(FORK, "quantize(a, q, scale, m, k); child(false); wait_for_child();");
    assert_eq!(court.run_case().report.verdict, Verdict::Accepted);
    let complaint = court.judge.dismiss().expect("a complaint");
    assert!(complaint.contains("left 1 process running"), "{complaint}");
    assert!(gone(&court));
}

fn a_daemon() {
    let mut court = Court::new(FORK, "quantize(a, q, scale, m, k); child(true); wait_for_child();");
    assert_eq!(court.run_case().report.verdict, Verdict::Accepted);
    let complaint = court.judge.dismiss().expect("a complaint");
    assert!(complaint.contains("left 1 process running"), "{complaint}");
    assert!(gone(&court));
}

fn a_child_that_ended_is_no_crime() {
    let body = "quantize(a, q, scale, m, k); if (!fork()) _exit(0);";
    let mut court = Court::new("", body);
    assert_eq!(court.run_case().report.verdict, Verdict::Accepted);
    assert_eq!(court.judge.dismiss(), None);
}

fn a_crash_with_a_child_that_holds_the_channel() {
    let mut court = Court::new(FORK, "child(true); wait_for_child(); abort();");
    let started = Instant::now();
    let report = court.run_case().report;
    assert_eq!(report.verdict, Verdict::RuntimeError);
    let text = report.explanation.join("\n");
    assert!(text.contains("SIGABRT") && text.contains("left 1 process running"), "{text}");
    assert!(started.elapsed() < Duration::from_secs(20));
    assert!(gone(&court));
}

fn a_family_killed_on_time_out() {
    let mut court = Court::new(FORK, "child(true); wait_for_child(); pause();");
    let report = court.hear_for(Duration::from_secs(2)).report;
    assert_eq!(report.verdict, Verdict::TimeLimitExceeded);
    assert!(gone(&court));
}

fn no_folder_is_left() {
    let body = r#"quantize(a, q, scale, m, k); char here[512]; puts(getcwd(here, 512));
                  fclose(fopen("rubbish", "w"));"#;
    let mut court = Court::new("", body);
    assert_eq!(court.run_case().report.verdict, Verdict::Accepted);
    court.judge.dismiss();
    let folder = court.judge.log().trim().to_owned();
    assert!(Path::new(&folder).join("rubbish").exists(), "{folder}");
    drop(court);
    assert!(!Path::new(&folder).exists(), "{folder}");
}

/// Hears a solution that never returns and has a daemon.
pub fn doomed() {
    Court::new(FORK, "child(true); wait_for_child(); pause();").run_case();
}

fn a_judge_killed_leaves_nothing() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut judge = Command::new(std::env::current_exe().expect("this executable"))
        .arg(DOOMED)
        .env("TMPDIR", folder.path())
        .spawn()
        .expect("a process");
    let scratch = || {
        let entries = std::fs::read_dir(folder.path()).expect("a folder").flatten();
        let mut names = entries.map(|entry| entry.path());
        names.find(|path| {
            path.file_name().is_some_and(|n| n.as_encoded_bytes().starts_with(b"nibble-"))
        })
    };
    let daemon = || {
        let pid = std::fs::read_to_string(scratch()?.join("child")).ok()?;
        pid.ends_with('\n').then(|| Path::new("/proc").join(pid.trim()))
    };
    assert!(comes_true(|| daemon().is_some()), "no daemon was started");
    let daemon = daemon().expect("still there");
    judge.kill().expect("a process to kill");
    judge.wait().expect("a process to wait for");
    assert!(comes_true(|| !daemon.exists()), "the daemon lives on");
    assert!(comes_true(|| scratch().is_none()), "the scratch folder is left");
}

fn a_worker_started_by_hand_leaves() {
    let status = Command::new(std::env::current_exe().expect("this executable"))
        .arg(judge::worker::VERB)
        .stdin(Stdio::null())
        .status();
    assert_eq!(status.expect("a process").code(), Some(2));
}
