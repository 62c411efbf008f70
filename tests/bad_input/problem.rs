//! Solutions of no problem.

use crate::support::Nibble;

#[test]
fn nothing_says_which_problem_it_solves() {
    let run = Nibble::new(["check", "k.cu"])
        .file("k.cu", "int x;\n")
        .run()
        .code(2)
        .stdout_is_empty()
        .fits();
    insta::assert_snapshot!(run.screen());
}

#[test]
fn no_such_problem() {
    let nibble =
        Nibble::new(["check", "k.cu", "--problem", "mxfp4_quantise"]).file("k.cu", "int x;\n");
    let run = nibble.run().code(2).stdout_is_empty().fits().stderr_contains("mxfp4_quantize");
    insta::assert_snapshot!(run.screen());
}
