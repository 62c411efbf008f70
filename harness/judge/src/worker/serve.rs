//! The worker's loop: open one artifact, then call it as often as the judge asks.

use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};

use super::protocol::{self, Outcome, Request};
use super::sandbox;
use crate::device::cuda::{self, Context};
use crate::device::{self, Call, Device, DeviceError, DeviceErrorKind, Lent, host_touch};
use crate::shared::Map;

/// Serves until the judge hangs up. Every error on the private socket means that it did.
pub fn serve(claims: &OwnedFd) {
    let mut gpu: Option<Context> = None;
    let mut device: Option<Box<dyn Device>> = None;
    let mut memory: Option<Map> = None;
    explain_crashes(claims);
    while let Ok(Some((request, descriptor))) = protocol::receive(claims.as_fd()) {
        let outcome = match request {
            Request::Confine { scratch, library, gpu: wanted } => {
                line_buffered();
                // The driver opens its device files and starts its threads before the sandbox
                // closes, and before there is any untrusted code.
                match wanted.map(Context::open).transpose() {
                    Ok(context) => {
                        gpu = context;
                        Outcome::Confined(sandbox::confine(
                            &scratch,
                            library.as_deref(),
                            gpu.is_some(),
                        ))
                    }
                    Err(reason) => Outcome::Refused(reason),
                }
            }
            Request::Open { library, target } => {
                match device::open(&library, &target, gpu.as_ref(), descriptor) {
                    Ok(opened) => {
                        device = Some(opened);
                        Outcome::Opened
                    }
                    Err(reason) => Outcome::Refused(reason),
                }
            }
            Request::Map { len } => {
                // The old memory first: the two need not fit at once.
                drop(memory.take());
                match descriptor.ok_or(std::io::ErrorKind::InvalidInput.into()) {
                    Ok(fd) => match Map::new(fd.as_fd(), len) {
                        Ok(map) => {
                            memory = Some(map);
                            Outcome::Mapped
                        }
                        Err(error) => Outcome::Refused(error.to_string()),
                    },
                    Err::<OwnedFd, std::io::Error>(error) => Outcome::Refused(error.to_string()),
                }
            }
            Request::Call { buffers, arguments, base, limit } => {
                match (&mut device, lent(base, &memory)) {
                    (Some(device), Some(memory)) => {
                        CALLING.store(true, Ordering::SeqCst);
                        let call = device.call(memory, &buffers, &arguments, limit);
                        CALLING.store(false, Ordering::SeqCst);
                        flush();
                        Outcome::Called(call)
                    }
                    _ => {
                        Outcome::Called(Call::Failed(DeviceError::other("nothing is open to call")))
                    }
                }
            }
            Request::Ceilings => {
                let measured = gpu.as_ref().ok_or_else(|| "no GPU is open".to_owned());
                match measured.and_then(cuda::ceilings::measure) {
                    Ok(ceilings) => Outcome::Measured(ceilings),
                    Err(reason) => Outcome::Refused(reason),
                }
            }
            Request::Keep { content } => match &mut device {
                Some(device) => done(device.keep(content)),
                None => out_of_turn(),
            },
            Request::Time(order) => match &mut device {
                Some(device) => {
                    let readings = device.series(&order);
                    flush();
                    readings.map_or_else(Outcome::Failed, Outcome::Timed)
                }
                None => out_of_turn(),
            },
            Request::Fetch { index } => match (&mut device, &memory) {
                (Some(device), Some(memory)) => done(device.fetch(index, memory)),
                _ => out_of_turn(),
            },
        };
        if protocol::send(claims.as_fd(), &outcome, None).is_err() {
            return;
        }
    }
}

/// Where the buffers of a call are.
fn lent(base: Option<u64>, memory: &Option<Map>) -> Option<Lent<'_>> {
    base.map(Lent::Device).or_else(|| memory.as_ref().map(Lent::Shared))
}

/// Whether the judge waits for the outcome of a call.
static CALLING: AtomicBool = AtomicBool::new(false);

/// A call that touches device memory ends the process, but not without an answer.
fn explain_crashes(claims: &OwnedFd) {
    // Where the solution does not find it by counting, as the one it is a copy of.
    let Ok(claims) = rustix::io::fcntl_dupfd_cloexec(claims, 100) else { return };
    host_touch::explain(move |text| {
        flush();
        if CALLING.swap(false, Ordering::SeqCst) {
            let error = DeviceError { kind: DeviceErrorKind::HostTouch, text };
            let _ = protocol::send(claims.as_fd(), &Outcome::Called(Call::Failed(error)), None);
            // SAFETY: ends the process without running anything of it.
            unsafe { libc::_exit(1) }
        }
    });
}

fn done(result: Result<(), DeviceError>) -> Outcome {
    result.map_or_else(Outcome::Failed, |()| Outcome::Done)
}

fn out_of_turn() -> Outcome {
    Outcome::Failed(DeviceError::other("nothing is open to time"))
}

unsafe extern "C" {
    static stdout: *mut libc::FILE;
}

/// C's stdout line by line although it is a pipe: what a solution prints before it crashes is
/// what its author needs. Costs a system call a line.
fn line_buffered() {
    // SAFETY: `stdout` is the C library's, open since the start; no buffer is handed over.
    unsafe { libc::setvbuf(stdout, std::ptr::null_mut(), libc::_IOLBF, 0) };
}

/// What was printed without a line's end becomes part of the log as well.
fn flush() {
    // SAFETY: a null stream means every open output stream (ISO C, 7.21.5.2).
    unsafe { libc::fflush(std::ptr::null_mut()) };
}
