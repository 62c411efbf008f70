//! `nibble diff A [B]`

use crate::support::{Made, Nibble};

const BEFORE: &str = "one\ntwo\nfloat scale = 1.0f;\nfour\nfive\nsix\nseven\n";
const AFTER: &str = "one\ntwo\nfloat scale = 2.0f;\nfour\nfive\nsix\nseven\neight\n";

#[test]
fn against_its_parent() {
    let nibble = Nibble::new(["diff"]);
    let first = Made::accepted("k.cu", 4.4).source(BEFORE).hours_old(9).record(&nibble.path());
    let second = Made::accepted("k.cu", 4.0).source(AFTER).registers(32).after(&first.id);
    let second = second.hours_old(1).record(&nibble.path());
    let nibble = nibble.args([second.id.as_str()]);
    let run = nibble.run().code(0).stderr_is_empty().fits();
    insta::assert_snapshot!(run.screen());

    let object = &nibble.args(["--json"]).run().code(0).json()[0];
    assert_eq!(object["a"]["id"], first.id.as_str());
    assert!(object["diff"].as_str().expect("text").contains("-float scale = 1.0f;"));
}

#[test]
fn a_modelled_against_a_measured_one() {
    let nibble = Nibble::new(["diff"]);
    let first = Made::accepted("k.cu", 4.4).source(BEFORE).record(&nibble.path());
    let second = Made::accepted("k.cu", 4.0)
        .measured(0.01)
        .source(BEFORE)
        .hours_old(1)
        .record(&nibble.path());
    let run = nibble.args([first.id.as_str(), second.id.as_str()]).run().code(0).fits();
    insta::assert_snapshot!(run.screen());
}

#[test]
fn the_first_one_has_no_parent() {
    let nibble = Nibble::new(["diff"]);
    let first = Made::accepted("k.cu", 4.4).record(&nibble.path());
    let run = nibble.args([first.id.as_str()]).run().code(2).stdout_is_empty().fits();
    insta::assert_snapshot!(run.screen());
}

/// Without a name, the newest attempt beside the one before it at the same problem.
#[test]
fn the_last_two() {
    let nibble = Nibble::new(["diff"]);
    Made::accepted("k.cu", 4.4).source(BEFORE).hours_old(9).record(&nibble.path());
    Made::accepted("k.cu", 4.0).source(AFTER).hours_old(1).record(&nibble.path());
    let run = nibble.run().code(0).stderr_is_empty();
    assert!(run.stdout.contains("-float scale = 1.0f;"), "{}", run.stdout);
    Nibble::new(["diff"]).run().code(2).stderr_contains("no two attempts at one problem yet");
}

/// A file beside the attempt that leads the board of its problem.
#[test]
fn a_file_against_the_leader() {
    let nibble = Nibble::new(["diff", "mxfp4_quantize/mine.cu"])
        .file("mxfp4_quantize/mine.cu", AFTER)
        .file("mxfp4_quantize/no board.cu", AFTER);
    let none = nibble.run().code(2);
    none.stderr_contains("nibble submit mxfp4_quantize/mine.cu");
    Made::accepted("k.cu", 4.4).source(BEFORE).hours_old(9).record(&nibble.path());
    Made::accepted("slow.cu", 9.0).source("slow\n").record(&nibble.path());
    let run = nibble.run().code(0).stderr_is_empty();
    assert!(run.stdout.contains("+++ mxfp4_quantize/mine.cu"), "{}", run.stdout);
    assert!(run.stdout.contains("+float scale = 2.0f;"), "{}", run.stdout);
}
