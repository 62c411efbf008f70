//! Kernels that end, but leave the wrong things behind.

use super::screen_of;

#[test]
fn output_never_written() {
    insta::assert_snapshot!(screen_of("writes_nothing.cu", 1));
}

#[test]
fn output_half_written() {
    insta::assert_snapshot!(screen_of("writes_half.cu", 1));
}

#[test]
fn nan_written() {
    insta::assert_snapshot!(screen_of("writes_nan.cu", 1));
}

#[test]
fn inputs_overwritten() {
    insta::assert_snapshot!(screen_of("overwrites_inputs.cu", 1));
}
