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
    Nibble::new(["check", "k.cu", "--problem", "mxfp4_quantise"])
        .file("k.cu", "int x;\n")
        .run()
        .code(2)
        .stdout_is_empty()
        .fits()
        .stderr_contains("error: no problem is called `mxfp4_quantise`\n next: did you mean")
        .stderr_contains("`mxfp4_quantize`");
}
