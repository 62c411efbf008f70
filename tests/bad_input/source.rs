//! Solutions that do not become a library.

use super::screen_of;
use crate::support::Nibble;

#[test]
fn an_empty_file() {
    let nibble = Nibble::new(["check", "mxfp4_quantize/k.cu"]).file("mxfp4_quantize/k.cu", "");
    insta::assert_snapshot!(nibble.run().code(2).stdout_is_empty().fits().screen());
}

#[test]
fn binary_junk() {
    let junk: Vec<u8> = (0..4096u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    let nibble = Nibble::new(["check", "mxfp4_quantize/k.cu"]).file("mxfp4_quantize/k.cu", junk);
    insta::assert_snapshot!(nibble.run().code(2).stdout_is_empty().fits().screen());
}

#[test]
fn no_solution() {
    insta::assert_snapshot!(screen_of("no_solution.cu", 1));
}

#[test]
fn parameters_in_another_order() {
    insta::assert_snapshot!(screen_of("wrong_order.cu", 1));
}

#[test]
fn parameters_of_another_type() {
    insta::assert_snapshot!(screen_of("wrong_type.cu", 1));
}

#[test]
fn does_not_compile() {
    let screen = screen_of("does_not_compile.cu", 1);
    assert!(screen.contains("k.cu"), "the user's own file is not named:\n{screen}");
    insta::assert_snapshot!(screen);
}

#[test]
fn unknown_directive() {
    insta::assert_snapshot!(screen_of("unknown_directive.cu", 2));
}

#[test]
fn forbidden_flag() {
    insta::assert_snapshot!(screen_of("forbidden_flag.cu", 2));
}
