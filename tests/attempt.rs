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

/// Where a program reads, it reads why as well.
#[test]
fn programs_read_what_went_wrong() {
    let run = Nibble::new(["attempt", "k7", "--json"]).run().code(2).stderr_is_empty();
    let error = &run.json()[0]["error"];
    assert_eq!(error["kind"], "usage");
    assert_eq!(error["message"], "no attempt begins with `k7`");
}
