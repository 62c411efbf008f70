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
