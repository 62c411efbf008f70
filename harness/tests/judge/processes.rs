//! Nothing outlives its judge.

use std::path::Path;
use std::time::{Duration, Instant};

use harness::report::Verdict;

use crate::court::{Court, Test};

pub const TESTS: &[Test] = &[
    ("a_child_that_outlives_it", a_child_that_outlives_it),
    ("a_daemon", a_daemon),
    ("a_child_that_ended_is_no_crime", a_child_that_ended_is_no_crime),
    ("a_crash_with_a_child_that_holds_the_channel", a_crash_with_a_child_that_holds_the_channel),
    ("a_family_killed_on_time_out", a_family_killed_on_time_out),
    ("no_folder_is_left", no_folder_is_left),
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

/// Whether the process that the solution printed is gone, or becomes so.
fn gone(court: &Court) -> bool {
    let log = court.judge.log();
    let pid = log.split_whitespace().nth(1).unwrap_or_else(|| panic!("no child in `{log}`"));
    let deadline = Instant::now() + Duration::from_secs(5);
    while Path::new("/proc").join(pid).exists() {
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
    assert_eq!(court.hear().report.verdict, Verdict::Accepted);
    let complaint = court.judge.dismiss().expect("a complaint");
    assert!(complaint.contains("left 1 process running"), "{complaint}");
    assert!(gone(&court));
}

fn a_daemon() {
    let mut court = Court::new(FORK, "quantize(a, q, scale, m, k); child(true); wait_for_child();");
    assert_eq!(court.hear().report.verdict, Verdict::Accepted);
    let complaint = court.judge.dismiss().expect("a complaint");
    assert!(complaint.contains("left 1 process running"), "{complaint}");
    assert!(gone(&court));
}

fn a_child_that_ended_is_no_crime() {
    let body = "quantize(a, q, scale, m, k); if (!fork()) _exit(0);";
    let mut court = Court::new("", body);
    assert_eq!(court.hear().report.verdict, Verdict::Accepted);
    assert_eq!(court.judge.dismiss(), None);
}

fn a_crash_with_a_child_that_holds_the_channel() {
    let mut court = Court::new(FORK, "child(true); wait_for_child(); abort();");
    let started = Instant::now();
    let report = court.hear().report;
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
    assert_eq!(court.hear().report.verdict, Verdict::Accepted);
    court.judge.dismiss();
    let folder = court.judge.log().trim().to_owned();
    assert!(Path::new(&folder).join("rubbish").exists(), "{folder}");
    drop(court);
    assert!(!Path::new(&folder).exists(), "{folder}");
}
