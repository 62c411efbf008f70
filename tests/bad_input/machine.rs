//! Machines that lack something: exit code 3, and the one command that mends it.

use std::fs;

use crate::support::{Nibble, mock, program};

/// A folder of links to all programs of the machine but those that begin with one of `without`.
pub fn path_without(nibble: &Nibble, without: &[&str]) -> std::path::PathBuf {
    let folder = nibble.path().join("bin");
    fs::create_dir(&folder).expect("a folder");
    let path = std::env::var_os("PATH").expect("PATH");
    for entry in std::env::split_paths(&path).filter_map(|dir| fs::read_dir(dir).ok()).flatten() {
        let entry = entry.expect("an entry");
        let name = entry.file_name();
        let lacks = without.iter().any(|start| name.to_string_lossy().starts_with(start));
        if !lacks {
            // The first of a name wins, as in PATH.
            let _ = std::os::unix::fs::symlink(entry.path(), folder.join(name));
        }
    }
    folder
}

#[test]
fn no_host_compiler() {
    let nibble = Nibble::new(["check", "--device", "emulator", "mxfp4_quantize/k.cu"])
        .file("mxfp4_quantize/k.cu", program("launches_nothing.cu"));
    let path = path_without(&nibble, &["g++", "c++", "clang"]);
    let cache = nibble.path().join("cache");
    let run = nibble.env("PATH", path).env("NIBBLE_CACHE", cache).without("NVCC_CCBIN").run();
    insta::assert_snapshot!(run.code(3).stdout_is_empty().fits().screen());
}

/// An index that refuses connections stands for a machine without a network.
#[test]
fn no_network_at_the_first_install() {
    let nibble = Nibble::new(["check", "--device", "emulator", "mxfp4_quantize/k.cu"])
        .file("mxfp4_quantize/k.cu", program("launches_nothing.cu"));
    let path = path_without(&nibble, &["nvcc"]);
    let cache = nibble.path().join("cache");
    let run = nibble
        .env("PATH", path)
        .env("NIBBLE_CACHE", cache)
        .env("PIP_INDEX_URL", "http://127.0.0.1:9/simple")
        .env("UV_INDEX_URL", "http://127.0.0.1:9/simple")
        .env("UV_DEFAULT_INDEX", "http://127.0.0.1:9/simple")
        .env("PIP_RETRIES", "0")
        .without("PIP_EXTRA_INDEX_URL")
        .without("CUDA_HOME")
        .without("NIBBLE_NVCC")
        .run();
    // What pip says between these lines is pip's.
    run.code(3)
        .stdout_is_empty()
        .fits()
        .stderr_contains("error: no nvcc, and the package index cannot be reached to install one")
        .stderr_contains("\n next: nibble toolchain install\n");
}

/// What records nothing needs no place for records.
#[test]
fn no_home() {
    let nibble = mock(["check", "fast.cu"]).without("HOME").without("XDG_DATA_HOME");
    nibble.without("NIBBLE_LEADERBOARD").run().code(0).stderr_is_empty();
}
