//! Host code that leaves the road.

use std::{fs, thread, time::Duration};

use super::{check, screen_of};
use crate::support::program;

#[test]
fn a_segmentation_fault() {
    insta::assert_snapshot!(screen_of("segfaults.cu", 1));
}

#[test]
fn exit_0() {
    insta::assert_snapshot!(screen_of("exits.cu", 1));
}

#[test]
fn abort() {
    insta::assert_snapshot!(screen_of("aborts.cu", 1));
}

/// What the kernel did, not that the host has aborted.
#[test]
fn an_exception_for_a_cuda_error() {
    insta::assert_snapshot!(screen_of("throws_for_a_cuda_error.cu", 1));
}

/// Nothing of CUDA is to blame: the log says what was thrown.
#[test]
fn an_exception_of_its_own() {
    let thrown = program("throws_for_a_cuda_error.cu")
        .replace("check(cudaDeviceSynchronize());", "throw std::runtime_error(\"no luck\");")
        .replace("(1 << 20) + threadIdx.x", "threadIdx.x");
    let screen = check(&thrown).run().code(1).screen();
    for said in ["aborted (SIGABRT)", "instance of 'std::runtime_error'", "what():  no luck"] {
        assert!(screen.contains(said), "{said}:\n{screen}");
    }
}

#[test]
fn sleeps_for_ever() {
    insta::assert_snapshot!(screen_of("sleeps.cu", 1));
}

#[test]
fn prints_a_gigabyte() {
    let screen = screen_of("prints_without_end.cu", 1);
    assert!(screen.len() < 16 << 10, "{} bytes of screen", screen.len());
}

/// The child has its own session and sleeps for a quarter of an hour; it ends with nibble anyway.
#[test]
fn a_child_that_outlives_it() {
    let run = check(&program("forks.cu")).run();
    let log = run.stdout.split("child ").nth(1).unwrap_or_else(|| panic!("{run:#?}"));
    let child: u32 = log.split_whitespace().next().expect("its id").parse().expect("a number");
    // The kernel may still be at its burial.
    let gone = (0..50).any(|_| {
        thread::sleep(Duration::from_millis(20));
        let state = fs::read_to_string(format!("/proc/{child}/stat")).unwrap_or_default();
        state.is_empty() || state.contains(") Z ")
    });
    assert!(gone, "process {child} lives on");
}

/// What one solution does is over when the next one runs.
#[test]
fn the_next_one_runs() {
    let nibble = check(&program("segfaults.cu"))
        .file("mxfp4_quantize/next.cu", program("exits.cu"))
        .args(["mxfp4_quantize/next.cu", "--json"]);
    let verdicts: Vec<_> =
        nibble.run().code(1).json().iter().map(|object| object["verdict"].clone()).collect();
    assert_eq!(verdicts, ["runtime_error", "runtime_error"]);
}
