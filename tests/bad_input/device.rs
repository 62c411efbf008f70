//! Kernels that cannot go on.

use super::{check, screen_of};
use crate::support::program;

#[test]
fn launches_nothing() {
    check(&program("launches_nothing.cu"))
        .run()
        .code(1)
        .fits()
        .stdout_contains("! runtime error")
        .stdout_contains("`solution` launched no kernel");
}

#[test]
fn a_launch_with_2048_threads() {
    check(&program("too_many_threads.cu"))
        .run()
        .code(1)
        .fits()
        .stdout_contains("! runtime error")
        .stdout_contains("cudaErrorInvalidValue (a block of [2048, 1, 1]");
}

#[test]
fn a_read_past_the_end() {
    insta::assert_snapshot!(screen_of("reads_past_the_end.cu", 1));
}

#[test]
fn a_write_past_the_end() {
    insta::assert_snapshot!(screen_of("writes_past_the_end.cu", 1));
}

#[test]
fn device_code_that_never_ends() {
    insta::assert_snapshot!(screen_of("never_ends.cu", 1));
}
