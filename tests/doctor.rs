//! `nibble doctor`, `nibble toolchain`

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
fn the_toolchain_of_an_empty_cache() {
    let nibble = Nibble::new(["toolchain"]).without("CUDA_HOME").without("NIBBLE_NVCC");
    let cache = nibble.path().join("cache");
    let run = nibble.env("NIBBLE_CACHE", cache).run();
    // A machine with an nvcc in PATH has one all the same.
    assert!(matches!(run.code, Some(0 | 3)), "{run:#?}");
}
