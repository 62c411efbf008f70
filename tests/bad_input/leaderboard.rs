//! Leaderboards that cannot be read or written.

use crate::support::Nibble;

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
