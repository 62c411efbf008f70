//! Leaderboards that cannot be read or written.

use std::process::Command;

use crate::support::{Made, Nibble, mock};

const ATTEMPT: &str = "leaderboard/attempts/mxfp4_quantize/20260812-143015-k7f2qa/attempt.toml";

/// It is named and skipped; the others are shown.
#[test]
fn a_damaged_attempt() {
    for verb in ["leaderboard", "history"] {
        let run = Nibble::new([verb]).file(ATTEMPT, "format = 1\nid = \"2026").run().code(0).fits();
        insta::assert_snapshot!(format!("damaged_{verb}"), run.screen());
    }
}

#[test]
fn an_attempt_of_a_newer_nibble() {
    let run = Nibble::new(["history"]).file(ATTEMPT, "format = 99\n").run().code(0).fits();
    insta::assert_snapshot!(run.screen());
}

#[test]
fn no_such_attempt() {
    let run = Nibble::new(["attempt", "k7"]).run().code(2).stdout_is_empty().fits();
    insta::assert_snapshot!(run.screen());
}

#[test]
fn a_leaderboard_that_is_a_file() {
    Nibble::new(["history"])
        .file("leaderboard", "")
        .run()
        .code(3)
        .stdout_is_empty()
        .stderr_contains("error: cannot read")
        .stderr_contains("Not a directory");
}

/// File systems of one's own need a namespace, which some machines forbid.
#[expect(clippy::print_stderr, reason = "a test that proves nothing here must say so")]
fn may_mount() -> bool {
    let unshare = ["--user", "--map-root-user", "--mount", "mount", "-t", "tmpfs", "none", "/tmp"];
    let may = Command::new("unshare").args(unshare).output();
    let may = may.is_ok_and(|output| output.status.success());
    if !may {
        eprintln!("skipped: this machine allows no mount namespaces");
    }
    may
}

/// The result is shown, though it cannot be kept.
#[test]
fn a_full_disk() {
    if !may_mount() {
        return;
    }
    let nibble = mock(["submit", "fast.cu"]).file("leaderboard/attempts/x", "");
    let nibble = nibble.mounted("mount -t tmpfs -o size=4k none leaderboard");
    let run = nibble.run().code(3).fits();
    insta::assert_snapshot!(run.screen());
    assert!(run.attempts.is_empty());
    let object = &nibble.args(["--json"]).run().code(3).stderr_is_empty().json()[0];
    assert_eq!(object["verdict"], "accepted");
    assert!(object["attempt"].is_null());
    assert!(object["not_recorded"].as_str().is_some_and(|why| why.starts_with("no room left")));
}

/// It is shown like any other, and says what to do when it is to be written.
#[test]
fn a_read_only_leaderboard() {
    if !may_mount() {
        return;
    }
    let nibble = mock(["submit", "fast.cu"]);
    Made::accepted("k.cu", 4.0).hours_old(1).record(&nibble.path());
    let read_only = "mount --bind leaderboard leaderboard && mount -o remount,bind,ro leaderboard";
    let nibble = nibble.mounted(read_only);
    let run = nibble.run().code(3).fits().stdout_contains("✓ accepted");
    assert_eq!(run.attempts.len(), 1);
    let said = run.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("is read-only for you next: make it writable, or give"), "{said}");
    for verb in ["leaderboard", "history"] {
        let nibble = Nibble::new([verb]).mounted(read_only);
        Made::accepted("k.cu", 4.0).hours_old(1).record(&nibble.path());
        nibble.run().code(0).stderr_is_empty().stdout_contains("k.cu");
    }
}
