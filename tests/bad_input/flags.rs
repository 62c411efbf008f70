//! Flags that mean nothing.

use crate::support::Nibble;

#[test]
fn no_such_device() {
    let run = Nibble::new(["check", "k.cu", "--device", "tpu"]).file("k.cu", "").run();
    insta::assert_snapshot!(run.code(2).stdout_is_empty().fits().screen());
}

#[test]
fn no_such_architecture() {
    let run = Nibble::new(["check", "k.cu", "--arch", "hopper"]).file("k.cu", "").run();
    insta::assert_snapshot!(run.code(2).stdout_is_empty().fits().screen());
}

/// A reader that has seen enough is no failure: `nibble list | head -1`.
#[test]
fn a_closed_pipe_is_a_quiet_success() {
    let nibble = env!("CARGO_BIN_EXE_nibble");
    let script = format!("'{nibble}' completions bash | true; echo ${{PIPESTATUS[0]}}");
    let output = std::process::Command::new("bash").args(["-c", &script]).output().expect("bash");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "0\n");
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}

/// A size that no machine has the memory for is refused before it is taken.
#[test]
fn a_size_beyond_memory() {
    for size in ["m=1000000,k=1000000", "m=4294967296,k=4294967296"] {
        let run = Nibble::new(["bench", "k.cu", "--problem", "mxfp4_quantize", "--size", size])
            .args(["--device", "emulator"])
            .file("k.cu", include_str!("../../solutions/mxfp4_quantize/rejected/ties_away.cu"))
            .run();
        let screen = run.code(2).stdout_is_empty().fits().screen();
        assert!(screen.lines().count() <= 5 && screen.contains("\nerror: "), "{screen}");
    }
}

#[test]
fn a_time_limit_of_nothing() {
    let run = Nibble::new(["check", "k.cu", "--time-limit", "0"]).file("k.cu", "").run();
    run.code(2).stdout_is_empty().stderr_contains("1..");
}

#[test]
fn a_case_that_there_is_not() {
    let run = Nibble::new(["check", "k.cu", "--problem", "mxfp4_quantize", "--case", "7x7/ties"])
        .args(["--device", "mock:gpu.toml"])
        .file("gpu.toml", "name = \"Scripted GPU\"\narch = \"sm_100a\"\nseed = 7\n[[solution]]\nfile = \"k.cu\"\ntime_us = 1.0\n")
        .file("k.cu", "// k\n")
        .run();
    insta::assert_snapshot!(run.code(2).stdout_is_empty().fits().screen());
}
