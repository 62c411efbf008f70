//! The emulated GPU as a process of its own: what is trusted of it.
//!
//! ```text
//! judge ── Order ──► device: memory, kernels, counters ◄══ requests ══ worker: solution()
//!       ◄─ Answer ──   `nibble __device`                               `nibble __worker`
//! ```
//!
//! The judge lends it the memory of each call, and asks it what happened; the worker can only speak CUDA to
//! it, through a segment of memory that both have (`cudart::protocol`). It lives for one worker, and ends
//! when the judge's end of the socket is closed, however suddenly.

pub(crate) mod link;
pub mod protocol;
mod serve;

use std::process::ExitCode;

use rustix::net::SocketType;
use rustix::process::{DumpableBehavior, Resource, Rlimit};

pub use self::link::{Emulated, Lost};

/// The hidden verb's name.
pub const VERB: &str = "__device";

/// The hidden verb: call it before any thread exists or anything is printed.
///
/// Returns 2 where it was not started by a judge, else when that is gone.
pub fn device_main() -> ExitCode {
    // Typed by hand, descriptor 0 is a terminal or a file.
    let socket = rustix::net::sockopt::socket_type(rustix::stdio::stdin());
    if socket != Ok(SocketType::STREAM) {
        return ExitCode::from(2);
    }
    let none = Rlimit { current: Some(0), maximum: Some(0) };
    let _ = rustix::process::setrlimit(Resource::Core, none);
    // A kernel that takes all memory is to end this process, not the user's editor.
    let _ = std::fs::write("/proc/self/oom_score_adj", "1000");
    // Nobody looks into it (prctl(2), PR_SET_DUMPABLE).
    let _ = rustix::process::set_dumpable_behavior(DumpableBehavior::NotDumpable);
    match serve::serve() {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::from(2),
    }
}
