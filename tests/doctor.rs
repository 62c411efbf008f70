//! `nibble doctor`, `nibble toolchain`

use crate::bad_input::machine::path_without;
use crate::support::Nibble;

#[test]
fn it_names_what_it_looked_at() {
    let run = Nibble::new(["doctor"]).run().fits().stdout_contains("emulator");
    assert!(matches!(run.code, Some(0 | 3)), "{run:#?}");
}

#[test]
fn an_nvcc_that_is_not_there() {
    let nibble = Nibble::new(["doctor", "--nvcc", "/nowhere/nvcc"]);
    let run = nibble.run().code(3).fits().stdout_contains("✗ compiler");
    assert!(run.stdout.contains("mend it with"), "{}", run.stdout);
}

#[test]
fn a_cache_that_takes_nothing_and_a_machine_that_cannot_install() {
    let doctor = || Nibble::new(["doctor"]).without("CUDA_HOME").without("NIBBLE_NVCC");
    let nibble = doctor();
    let path = path_without(&nibble, &["nvcc"]);
    let run = nibble.env("PATH", path).env("NIBBLE_CACHE", "/proc/cache").run();
    run.code(3).fits().stdout_contains("✗ compiler    /proc/cache");

    let nibble = doctor();
    let path = path_without(&nibble, &["nvcc", "python", "pip", "uv"]);
    let cache = nibble.path().join("cache");
    let run = nibble.env("PATH", path).env("NIBBLE_CACHE", cache).run();
    run.code(3).fits().stdout_contains("✗ compiler    no nvcc, and installing one needs Python 3");
}

#[test]
fn the_toolchain_of_an_empty_cache() {
    let nibble = Nibble::new(["toolchain"]).without("CUDA_HOME").without("NIBBLE_NVCC");
    let cache = nibble.path().join("cache");
    let run = nibble.env("NIBBLE_CACHE", cache).run();
    // A machine with an nvcc in PATH has one all the same.
    assert!(matches!(run.code, Some(0 | 3)), "{run:#?}");
}
