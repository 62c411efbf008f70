//! Files that are no solutions.

use crate::support::Nibble;

#[test]
fn no_such_file() {
    let run = Nibble::new(["check", "kernel.cu"]).run().code(2).stdout_is_empty().fits();
    insta::assert_snapshot!(run.screen());
}

#[test]
fn a_folder() {
    let nibble = Nibble::new(["submit", "mxfp4_quantize/"]).file("mxfp4_quantize/k.cu", "");
    let run = nibble.run().code(2).stdout_is_empty().fits();
    insta::assert_snapshot!(run.screen());
}

/// All files are looked at before the first one runs: a typing error costs no minute.
#[test]
fn one_of_several_is_missing() {
    let nibble = Nibble::new(["check", "mxfp4_quantize/k.cu", "missing.cu"]);
    let run = nibble.file("mxfp4_quantize/k.cu", "").run().code(2).stdout_is_empty();
    insta::assert_snapshot!(run.screen());
}

#[test]
fn programs_get_an_object_for_every_file() {
    let nibble = Nibble::new(["check", "--json", "mxfp4_quantize/k.cu", "missing.cu"]);
    let run = nibble.file("mxfp4_quantize/k.cu", "").run().code(2).stderr_is_empty();
    let objects = run.json();
    assert_eq!(objects.len(), 2);
    assert_eq!(objects[0]["file"], "mxfp4_quantize/k.cu");
    assert_eq!(objects[1]["file"], "missing.cu");
    assert_eq!(objects[1]["error"]["kind"], "usage");
    assert!(objects[1]["verdict"].is_null());
}

/// Opening one would wait for ever.
#[test]
fn a_pipe_instead_of_a_file() {
    let nibble = Nibble::new(["check", "pipe.cu"]);
    let status = std::process::Command::new("mkfifo").arg(nibble.path().join("pipe.cu")).status();
    assert!(status.expect("mkfifo").success());
    nibble.run().code(2).stdout_is_empty().stderr_contains("is a pipe or a device, not a file");
}
