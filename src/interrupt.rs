//! Ctrl-C: the first asks the harness to stop, the second stops at once.

use std::process;

use judge::Interrupt;

use crate::exit::Exit;

/// Installs the handler and yields the flag that it raises; called once, before the first run.
/// SIGTERM and SIGHUP count as Ctrl-C, so that no worker outlives a closed terminal.
pub fn install() -> Interrupt {
    let interrupt = Interrupt::default();
    let seen = interrupt.clone();
    // Failing to install it leaves the system's default: Ctrl-C ends the process at once.
    let _ = ctrlc::set_handler(move || {
        if seen.raised() {
            process::exit(Exit::Interrupted as i32);
        }
        seen.raise();
    });
    interrupt
}
