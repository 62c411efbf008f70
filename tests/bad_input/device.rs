//! Kernels that cannot go on.

use super::screen_of;

#[test]
fn launches_nothing() {
    insta::assert_snapshot!(screen_of("launches_nothing.cu", 1));
}

#[test]
fn a_launch_with_2048_threads() {
    insta::assert_snapshot!(screen_of("too_many_threads.cu", 1));
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
