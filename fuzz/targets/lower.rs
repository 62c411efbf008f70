//! Whatever parses is lowered, or refused: every kernel of the text, for both compilations of the
//! handlers. Nothing is run.
#![no_main]

use emulator::{Config, Level, Machine};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    for level in [Level::Plain, Level::detect()] {
        let machine = Machine::new(Config { threads: 1, level, ..Config::default() });
        let Ok(module) = machine.load(text) else { return };
        for name in module.kernels() {
            assert!(module.kernel(name).is_some(), "{name} is there");
        }
    }
});
