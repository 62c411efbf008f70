//! `nibble attempt ID`

use crate::support::{Made, Nibble};

#[test]
fn an_accepted_one() {
    let nibble = Nibble::new(["attempt"]);
    let first = Made::accepted("k.cu", 40.0).hours_old(9).record(&nibble.path());
    let second = Made::accepted("k.cu", 4.0).after(&first.id).message("128-bit loads");
    let second = second.hours_old(2).record(&nibble.path());
    let run = nibble.args([&second.id.tail()[..4]]).run().code(0).stderr_is_empty().fits();
    insta::assert_snapshot!(run.screen());
}

#[test]
fn a_failed_one() {
    let nibble = Nibble::new(["attempt"]);
    let attempt = Made::wrong("k.cu").record(&nibble.path());
    let run = nibble.args([attempt.id.as_str()]).run().code(0).stderr_is_empty().fits();
    insta::assert_snapshot!(run.screen());
}

#[test]
fn its_source_comes_out_as_it_went_in() {
    let nibble = Nibble::new(["attempt", "--source"]);
    let source = "// µ\r\nvoid f() {}";
    let attempt = Made::accepted("k.cu", 40.0).source(source).record(&nibble.path());
    let run = nibble.args([attempt.id.as_str()]).run().code(0).stderr_is_empty();
    assert_eq!(run.stdout, source);
}

/// A board can be a stranger's, and a report would publish what a link in it leads to.
#[test]
fn links_are_not_followed_out_of_a_board() {
    let nibble = Nibble::new(["attempt", "--source"]);
    let folder = nibble.path();
    let attempt = Made::accepted("k.cu", 40.0).record(&folder);
    let source = folder.join("leaderboard/attempts/mxfp4_quantize").join(attempt.id.as_str());
    let source = source.join("solution.cu");
    std::fs::write(folder.join("secret"), "mine").expect("a file");
    std::fs::remove_file(&source).expect("a source");
    std::os::unix::fs::symlink("../../../../secret", &source).expect("a link");
    let run = nibble.args([attempt.id.as_str()]).run();
    assert_ne!(run.code, Some(0));
    assert_eq!(run.stdout, "");
    assert!(run.stderr.contains("is a link"), "{}", run.stderr);
}

#[test]
fn what_people_write_does_nothing_to_a_terminal() {
    let nibble = Nibble::new(["--color", "always", "attempt"]);
    let attempt = Made::accepted("k.cu", 40.0);
    let attempt = attempt.message("\u{1b}]0;mine\u{7} \u{202e}backwards\u{1b}[2J");
    let attempt = attempt.record(&nibble.path());
    let run = nibble.args([attempt.id.as_str()]).run().code(0);
    for sequence in ["\u{1b}]", "\u{7}", "\u{202e}", "\u{1b}[2J"] {
        assert!(!run.stdout.contains(sequence), "{:?}", run.stdout);
    }
    assert!(run.stdout.contains("backwards"), "{:?}", run.stdout);
}

/// Where a program reads, it reads why as well.
#[test]
fn programs_read_what_went_wrong() {
    let run = Nibble::new(["attempt", "k7", "--json"]).run().code(2).stderr_is_empty();
    let error = &run.json()[0]["error"];
    assert_eq!(error["kind"], "usage");
    assert_eq!(error["message"], "no attempt begins with `k7`");
}
