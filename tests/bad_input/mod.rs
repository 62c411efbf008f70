//! Everything that a user, a solution or a machine can do wrong: one clear screen each, the exit
//! code that fits, and the next file still runs.

mod device;
mod files;
mod flags;
mod host;
mod interrupt;
mod leaderboard;
pub mod machine;
mod outputs;
mod problem;
mod source;

use crate::support::{Nibble, program};

/// The check of a program in the folder of `mxfp4_quantize`, on the emulator.
fn check(program: &str) -> Nibble {
    Nibble::new(["check", "--device", "emulator", "--time-limit", "3", "mxfp4_quantize/k.cu"])
        .file("mxfp4_quantize/k.cu", program)
}

/// What the check of that program shows.
#[track_caller]
fn screen_of(name: &str, code: i32) -> String {
    check(&program(name)).run().code(code).screen()
}
