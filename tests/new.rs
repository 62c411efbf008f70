//! `nibble new PROBLEM [NAME]`

use std::fs;

use crate::support::{Made, Nibble};

#[test]
fn it_numbers_after_the_last_one() {
    let nibble = Nibble::new(["new", "mxfp4_quantize"])
        .file("solutions/mxfp4_quantize/07_clever.cu", "")
        .file("solutions/mxfp4_quantize/notes.txt", "");
    let run = nibble.run().code(0).fits();
    insta::assert_snapshot!(run.screen());
    let written = nibble.path().join("solutions/mxfp4_quantize/08_solution.cu");
    let starter = problems::find("mxfp4_quantize").expect("known").starter();
    assert_eq!(fs::read_to_string(written).expect("written"), starter);
}

#[test]
fn it_never_overwrites() {
    let nibble = Nibble::new(["new", "mxfp4_quantize", "mine"]).file("mxfp4_quantize/mine.cu", "x");
    let run = nibble.run().code(2).fits();
    insta::assert_snapshot!(run.screen());
    let kept = fs::read_to_string(nibble.path().join("mxfp4_quantize/mine.cu")).expect("there");
    assert_eq!(kept, "x");
}

/// Where the folder's name does not say which problem it is, the file does.
#[test]
fn a_path_elsewhere_gets_a_directive() {
    let nibble = Nibble::new(["new", "mxfp4_quantize", "kernels/k.cu", "--json"]);
    let object = &nibble.run().code(0).json()[0];
    assert_eq!(object["file"], "kernels/k.cu");
    let text = fs::read_to_string(nibble.path().join("kernels/k.cu")).expect("written");
    assert!(text.starts_with("//! problem = \"mxfp4_quantize\"\n"), "{text}");
}

#[test]
fn it_begins_with_a_rung_or_an_attempt() {
    let nibble = Nibble::new(["new", "mxfp4_quantize", "mine", "--from", "03"]);
    let run = nibble.run().code(0).stderr_is_empty().fits();
    insta::assert_snapshot!("from_a_rung", run.screen());
    let rungs = concat!(env!("CARGO_MANIFEST_DIR"), "/solutions/mxfp4_quantize/");
    let rung = fs::read_to_string(format!("{rungs}03_four_lanes_vectorized.cu")).expect("a rung");
    let written = fs::read_to_string(nibble.path().join("mxfp4_quantize/mine.cu"));
    assert_eq!(written.expect("written"), rung);

    let source = "//! problem = \"mxfp4_quantize\"\n// mine\n";
    let attempt = Made::accepted("k.cu", 4.0).source(source).record(&nibble.path());
    let nibble = nibble.again(["new", "mxfp4_quantize", "else/k.cu", "--from", attempt.id.tail()]);
    nibble.run().code(0).stderr_is_empty();
    let written = fs::read_to_string(nibble.path().join("else/k.cu"));
    assert_eq!(written.expect("written"), source, "the directive is there once");

    let nibble = nibble.again(["new", "mxfp4_dequantize", "k", "--from", attempt.id.tail()]);
    nibble.run().code(2).stderr_contains("is one at mxfp4_quantize, not at");
}

#[test]
fn nothing_to_begin_with() {
    let run = Nibble::new(["new", "mxfp4_quantize", "k", "--from", "99"]).run().code(2).fits();
    insta::assert_snapshot!(run.screen());
}
