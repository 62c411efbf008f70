//! Ctrl-C at each stage: the exit code is 130, and nothing stays behind.

use std::fs;

use super::{check, machine::path_without};
use crate::support::{Nibble, Run, mock, program};

#[track_caller]
fn interrupted(run: &Run) {
    assert_eq!(run.code, Some(130), "{run:#?}");
    let folder = run.folder.display().to_string();
    let left: Vec<_> = fs::read_dir("/proc")
        .expect("/proc")
        .flatten()
        .filter_map(|entry| fs::read(entry.path().join("cmdline")).ok())
        .map(|line| String::from_utf8_lossy(&line).replace('\0', " "))
        .filter(|line| line.contains(&folder))
        .collect();
    assert!(left.is_empty(), "still running: {left:?}");
}

#[test]
fn ctrl_c_while_it_compiles() {
    // A comment of its own, so that no earlier run has compiled it.
    let unique = format!("// {:?}\n{}", std::time::SystemTime::now(), program("sleeps.cu"));
    interrupted(&check(&unique).run_and_signal("-INT", "cicc"));
}

#[test]
fn ctrl_c_while_it_runs() {
    let run = check(&program("sleeps.cu")).args(["--json"]).run_and_signal("-INT", "__worker");
    interrupted(&run);
    assert_eq!(run.json()[0]["verdict"], "interrupted");
}

#[test]
fn termination_counts_as_ctrl_c() {
    interrupted(&check(&program("sleeps.cu")).run_and_signal("-TERM", "__worker"));
}

/// A scripted device whose calls take no time warms up until it has waited two seconds.
#[test]
fn ctrl_c_while_it_times() {
    let script = "name = \"G\"\narch = \"sm_100a\"\n[[solution]]\ntime_us = 0.001\n";
    for verb in ["bench", "submit", "compare"] {
        let nibble = mock([verb, "fast.cu"]).args((verb == "compare").then_some("slow.cu"));
        let nibble = nibble.file("gpu.toml", script);
        let mut live = nibble.start();
        live.until_it_catches_ctrl_c();
        assert_eq!(live.interrupt(), Some(130), "{verb}");
    }
}

/// An installer that never ends stands for a slow line. Nothing half-installed stays.
#[test]
fn ctrl_c_while_the_compiler_is_installed() {
    let nibble = Nibble::new(["toolchain", "install"]);
    let path = path_without(&nibble, &["nvcc", "python", "pip", "uv"]);
    let nibble = nibble
        .file("bin/python3", "#!/bin/sh\n[ \"$3\" = --version ] && exit\nexec sleep 271828\n")
        .without("CUDA_HOME")
        .without("NIBBLE_NVCC");
    let mut rights = fs::metadata(path.join("python3")).expect("written").permissions();
    std::os::unix::fs::PermissionsExt::set_mode(&mut rights, 0o755);
    fs::set_permissions(path.join("python3"), rights).expect("executable");
    let cache = nibble.path().join("cache");
    let nibble = nibble.env("PATH", path).env("NIBBLE_CACHE", &cache);
    interrupted(&nibble.run_and_signal("-INT", "sleep 271828"));
    let left = fs::read_dir(cache.join("toolchains")).expect("a folder").flatten();
    let left: Vec<_> = left.map(|entry| entry.file_name()).collect();
    assert_eq!(left, ["lock"]);
}
