#![no_main]

#[path = "../../harness/emulator/tests/corpus/mod.rs"]
#[expect(dead_code, reason = "it has the checks of all targets")]
mod corpus;

libfuzzer_sys::fuzz_target!(|text: &str| corpus::lower(text));
