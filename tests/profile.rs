//! `nibble profile FILE`

use std::{env, fs, os::unix::fs::PermissionsExt as _, process::Command};

use crate::support::{Nibble, mock};

const RUNG: &str = include_str!("../solutions/mxfp4_quantize/01_thread_per_block.cu");
const WRONG: &str = include_str!("../solutions/mxfp4_quantize/rejected/swapped_nibbles.cu");
/// Writes what an H200 has counted to where it is told.
const NCU: &str = r#"#!/bin/sh
while [ $# -gt 0 ]; do
  [ "$1" = --log-file ] && log=$2
  shift
done
cp "$(dirname "$0")/recorded.csv" "$log"
"#;
const SAXPY: &str = include_str!("programs/whole/saxpy.cu");

fn profile(arguments: &[&str], text: &str) -> Nibble {
    Nibble::new(["profile", "--device", "emulator", "mxfp4_quantize/k.cu"])
        .args(arguments)
        .file("mxfp4_quantize/k.cu", text)
}

#[test]
fn the_screen_says_what_bounds_it_and_where() {
    let run = profile(&["--size", "1024x1024"], RUNG).run().code(0).stderr_is_empty().fits();
    insta::assert_snapshot!(run.screen());
    assert!(run.attempts.is_empty(), "a profile is not recorded");
}

#[test]
fn lines_add_up_to_the_kernel() {
    let object = &profile(&["--size", "m=64,k=256", "--json"], RUNG).run().code(0).json()[0];
    assert_eq!(object["size"], "64x256");
    assert_eq!(object["verdict"], "accepted");
    let kernel = &object["kernels"][0];
    let lines = kernel["lines"].as_array().expect("lines");
    let sum = |path: &str| -> u64 {
        lines.iter().map(|line| line.pointer(path).and_then(|n| n.as_u64()).expect("a count")).sum()
    };
    for (line, whole) in [
        ("/counts/warp_instructions", "warp_instructions"),
        ("/counts/traffic/load/sectors", "global_load_sectors"),
        ("/counts/traffic/load/fresh", "dram_read_sectors"),
        ("/counts/traffic/store/bytes", "global_store_bytes"),
    ] {
        assert_eq!(sum(line), kernel["counters"][whole].as_u64().expect("a count"), "{whole}");
    }
    // 64 x 256 floats; 17 bytes for each 32 of them. All of it moves once, and nothing else.
    assert_eq!(sum("/counts/traffic/load/fresh") * 32, 64 * 256 * 4);
    assert_eq!(object["floor"]["bytes"], f64::from(64 * 256 * 4 + 64 * 256 / 32 * 17));
    let dearest = lines[0]["text"].as_str().expect("text");
    assert!(RUNG.lines().any(|line| line.trim() == dearest), "{dearest}");
    let cost: f64 = lines.iter().map(|line| line["cost"].as_f64().expect("a share")).sum();
    assert!((cost - 1.0).abs() < 1e-9, "{cost}");
}

#[test]
fn the_same_call_counts_the_same_at_every_line() {
    let lines = || {
        let object = &profile(&["--size", "64x256", "--json"], RUNG).run().json()[0];
        object["kernels"][0]["lines"].to_string()
    };
    assert_eq!(lines(), lines());
}

#[test]
fn an_unknown_size_is_refused_with_those_there_are() {
    profile(&["--size", "huge"], RUNG)
        .run()
        .code(2)
        .stdout_is_empty()
        .stderr_contains("no size `huge`")
        .stderr_contains("4096x8192")
        .stderr_contains("m=…,k=…");
    profile(&["--size", "m=64"], RUNG).run().code(2).stdout_is_empty();
    profile(&["--size", "m=x,k=1"], RUNG).run().code(2).stderr_contains("m=8192,k=8192");
}

#[test]
fn a_wrong_solution_is_profiled_and_called_wrong() {
    profile(&["--size", "1024x1024"], WRONG)
        .run()
        .code(1)
        .stdout_contains("-bound")
        .stdout_contains("wrong answer at this size")
        .stdout_contains("next: nibble check mxfp4_quantize/k.cu");
}

#[test]
fn what_does_not_compile_or_counts_nothing_has_no_profile() {
    profile(&[], "not C++\n").run().code(1).stdout_contains("compile error");
    mock(["profile", "fast.cu"]).run().code(2).stderr_contains("scripted device");
    Nibble::new(["profile", "gone.cu"]).run().code(2).stderr_contains("there is no file gone.cu");
}

/// The driver is one without a GPU, and `ncu` a script that has seen one.
#[test]
fn on_a_gpu_its_counts_stand_beside() {
    let nibble = Nibble::new(["profile", "--device", "cuda", "mxfp4_quantize/k.cu"])
        .args(["--size", "m=64,k=256"])
        .file("mxfp4_quantize/k.cu", RUNG)
        .file("bin/recorded.csv", include_str!("../harness/judge/src/ncu/recorded.csv"))
        .file("bin/ncu", NCU);
    let bin = nibble.path().join("bin");
    fs::set_permissions(bin.join("ncu"), fs::Permissions::from_mode(0o755)).expect("a script");
    let driver = concat!(env!("CARGO_MANIFEST_DIR"), "/harness/judge/tests/judge/null_driver.cpp");
    let compiled = Command::new("g++")
        .args(["-std=c++17", "-O1", "-fPIC", "-shared", "-Wl,-soname,libcuda.so.1", "-o"])
        .arg(bin.join("libcuda.so"))
        .arg(driver)
        .status();
    assert!(compiled.expect("g++").success());
    let path = format!("{}:{}", bin.display(), env::var("PATH").expect("a PATH"));
    let run = nibble.env("LD_LIBRARY_PATH", &bin).env("PATH", path).run().code(0).fits();
    let beside = run.stdout.split("on NVIDIA H200 (null driver), sm_90a\n").nth(1);
    insta::assert_snapshot!(beside.expect("the card's counts"));
}

#[test]
fn a_program_of_its_own_is_profiled_when_it_ends() {
    Nibble::new(["run", "--profile", "saxpy.cu", "--", "777"])
        .file("saxpy.cu", SAXPY)
        .run()
        .code(0)
        .stdout_contains("777 elements: no error")
        .stderr_contains("through DRAM")
        .stderr_contains("kernel saxpy")
        .stderr_contains("y[i] = ");
}
