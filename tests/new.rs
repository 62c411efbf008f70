//! `nibble new PROBLEM [NAME]`

use std::fs;

use crate::support::Nibble;

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
