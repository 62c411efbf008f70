//! The untrusted side: loads the artifact, runs it, reports claims.

use std::process::ExitCode;

/// The hidden verb `nibble __worker`: call it before anything else is set up, print nothing.
pub fn worker_main() -> ExitCode {
    ExitCode::from(2)
}
