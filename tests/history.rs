//! `nibble history [PROBLEM|FILE]`

use std::path::Path;

use crate::support::{Made, Nibble};

fn a_day_of_work(folder: &Path) {
    let first = Made::accepted("k.cu", 40.0).hours_old(9).record(folder);
    let wrong = Made::wrong("k.cu").hours_old(8).after(&first.id).record(folder);
    let better = Made::accepted("k.cu", 4.0).registers(64).hours_old(7).after(&wrong.id);
    let better = better.message("128-bit loads").record(folder);
    let worse = Made::accepted("k.cu", 4.4).hours_old(6).after(&better.id).record(folder);
    let back = Made::accepted("k.cu", 4.0).registers(64).hours_old(5).after(&worse.id);
    back.record(folder);
    Made::accepted("other.cu", 30.0).by("bob").hours_old(1).record(folder);
}

#[test]
fn a_day() {
    let nibble = Nibble::new(["history"]);
    a_day_of_work(&nibble.path());
    let run = nibble.run().code(0).stderr_is_empty().fits();
    insta::assert_snapshot!(run.screen());
}

#[test]
fn of_one_file_and_only_the_last_ones() {
    let nibble = Nibble::new(["history", "some/where/k.cu", "-n", "2"]);
    a_day_of_work(&nibble.path());
    let run = nibble.run().code(0).stderr_is_empty().fits();
    insta::assert_snapshot!(run.screen());
}

#[test]
fn of_something_that_is_neither_problem_nor_file() {
    Nibble::new(["history", "mxfp"]).run().code(2).stderr_contains("no problem is called `mxfp`");
}

#[test]
fn a_data_set_has_a_line_for_each_attempt() {
    let nibble = Nibble::new(["history", "--json", "--source"]);
    a_day_of_work(&nibble.path());
    let rows = nibble.run().code(0).stderr_is_empty().json();
    assert_eq!(rows.len(), 6);
    assert!(rows[0]["source"].as_str().expect("text").starts_with("// k.cu"));
    assert_eq!(rows[1]["outcome"]["verdict"], "wrong_answer");
    Nibble::new(["history", "--source"]).run().code(2).stderr_contains("--json");
}
