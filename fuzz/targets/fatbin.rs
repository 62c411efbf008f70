//! The container reader refuses or reads any bytes.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(images) = emulator::fatbin::read(bytes) {
        assert!(emulator::fatbin::select(&images, (10, 0)).is_some());
    }
});
