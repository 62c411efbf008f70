//! The untrusted side: loads the artifact, runs it, reports claims.
//!
//! `nibble __worker` is the same executable run again. It starts with three descriptors instead
//! of the standard streams: 0 is the socket of claims, 1 the log, 2 the warden's line to the
//! judge. It forks at once: the parent becomes the [`warden`], the child [`serve`]s.

pub mod protocol;
pub mod sandbox;
mod serve;
mod syscalls;
mod warden;

use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::process::ExitCode;

use rustix::net::SocketType;
use rustix::process::Pid;

/// The hidden verb's name.
pub const VERB: &str = "__worker";

/// How the name of a scratch folder begins.
pub(crate) const SCRATCH: &str = "nibble-";

/// The hidden verb: call it before any thread exists or anything is printed.
///
/// Returns 2 where it was not started by a judge, else when the worker is gone.
pub fn worker_main() -> ExitCode {
    match start() {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::from(2),
    }
}

fn start() -> io::Result<()> {
    // Typed by hand, descriptor 0 is a terminal or a file.
    if rustix::net::sockopt::socket_type(rustix::stdio::stdin())? != SocketType::STREAM {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?;
    // Moved out of the solution's sight: `read(0)` and `write(2)` must not find them.
    let claims = rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stdin(), 100)?;
    let report = rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stderr(), 100)?;
    rustix::stdio::dup2_stdin(File::open("/dev/null")?)?;
    rustix::stdio::dup2_stderr(rustix::stdio::stdout())?;
    // SAFETY: no other thread exists yet, so the child may go on in Rust as if it were new.
    match unsafe { libc::fork() } {
        -1 => Err(io::Error::last_os_error()),
        0 => {
            drop(report);
            work(&claims)
        }
        worker => {
            drop(claims);
            forget_log()?;
            warden::watch(Pid::from_raw(worker).ok_or(io::ErrorKind::NotFound)?, &report);
            Ok(())
        }
    }
}

/// The child. Never returns: the exit handlers that a solution may have installed are not for
/// the judge to wait for.
fn work(claims: &OwnedFd) -> ! {
    if sandbox::detach().is_ok() {
        serve::serve(claims);
    }
    // SAFETY: ends the process without running anything of it.
    unsafe { libc::_exit(0) }
}

/// The log ends when the worker's processes end, not when the warden does.
fn forget_log() -> io::Result<()> {
    let null = File::options().write(true).open("/dev/null")?;
    rustix::stdio::dup2_stdout(&null)?;
    rustix::stdio::dup2_stderr(&null)?;
    Ok(())
}
