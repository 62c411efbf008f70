//! Kernels that end, but leave the wrong things behind. Inputs differ from run to run, so the
//! screens are looked at for what they must say.

use super::check;
use crate::support::{Run, program};

#[track_caller]
fn wrong(name: &str) -> Run {
    check(&program(name)).run().code(1).stderr_is_empty().fits().stdout_contains("✗ wrong answer")
}

#[test]
fn output_never_written() {
    wrong("writes_nothing.cu").stdout_contains("q was never written");
}

#[test]
fn output_half_written() {
    wrong("writes_half.cu").stdout_contains("never written");
}

#[test]
fn nan_written() {
    wrong("writes_nan.cu").stdout_contains("NaN");
}

#[test]
fn inputs_overwritten() {
    check(&program("overwrites_inputs.cu")).run().code(1).fits().stdout_contains("input");
}
