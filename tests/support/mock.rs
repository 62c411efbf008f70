//! Scripted devices: verdicts and times without a compiler or a kernel.

use super::Nibble;

/// A GPU on which `fast.cu` takes 20 µs, `slow.cu` 30 µs and the others go wrong,
/// each in its own way. Without noise unless a test asks for it.
const SCRIPT: &str = r#"
name = "Scripted GPU"
arch = "sm_100a"
seed = 7

[[solution]]
file = "fast.cu"
time_us = 20.0
sizes = { "1024x1024" = 8.0 }

[[solution]]
file = "slow.cu"
time_us = 30.0

[[solution]]
file = "wrong.cu"
verdict = "wrong_answer"
message = "ties are rounded away from zero"
time_us = 1.0

[[solution]]
file = "crash.cu"
verdict = "runtime_error"
message = "an illegal memory access"
time_us = 1.0

[[solution]]
file = "broken.cu"
verdict = "compile_error"
message = "k.cu(3): error: expected a ;"
time_us = 1.0
"#;

/// What puts a command onto the scripted device.
pub const ON_MOCK: [&str; 4] = ["--device", "mock:gpu.toml", "--problem", "mxfp4_quantize"];

/// Runs on the scripted device; the files that the script names are there.
pub fn mock<'a>(arguments: impl IntoIterator<Item = &'a str>) -> Nibble {
    let mut nibble = Nibble::new(arguments).args(ON_MOCK).file("gpu.toml", SCRIPT);
    for name in ["fast.cu", "slow.cu", "wrong.cu", "crash.cu", "broken.cu"] {
        nibble = nibble.file(name, format!("// {name}\n"));
    }
    nibble
}
