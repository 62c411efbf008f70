//! Host code that follows a device pointer: on a GPU a segmentation fault, and here.
//!
//! The address says that it was one, and the session what lies there. So the author is told which array
//! it was, where a GPU's driver says nothing.

use std::mem::MaybeUninit;
use std::sync::OnceLock;

use cudart::session;

/// Takes the sentence that says what was touched. It may end the process; if it returns, the fault does.
type Tell = Box<dyn Fn(String) + Send + Sync>;

struct Handler {
    tell: Tell,
    /// What would have happened without this handler.
    before: libc::sigaction,
}

static HANDLER: OnceLock<Handler> = OnceLock::new();

/// From here on `tell` is called, in a signal handler, where this process touches device memory. Only the
/// first call in a process counts.
pub fn explain(tell: impl Fn(String) + Send + Sync + 'static) {
    let mut before = MaybeUninit::<libc::sigaction>::zeroed();
    // SAFETY: asks only; all zeros are a valid `sigaction`.
    let before = unsafe {
        libc::sigaction(libc::SIGSEGV, std::ptr::null(), before.as_mut_ptr());
        before.assume_init()
    };
    let handler = Handler { tell: Box::new(tell), before };
    if HANDLER.set(handler).is_err() {
        return;
    }
    let touched: extern "C" fn(libc::c_int, *const libc::siginfo_t, *const libc::c_void) = touched;
    // SAFETY: all zeros are a valid `sigaction`; the handler has the type that `SA_SIGINFO` asks for. On
    // the alternate stack, as Rust's own handler: a thread without one uses its stack.
    unsafe {
        let mut action = MaybeUninit::<libc::sigaction>::zeroed().assume_init();
        action.sa_sigaction = touched as libc::sighandler_t;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
        libc::sigaction(libc::SIGSEGV, &raw const action, std::ptr::null_mut());
    }
}

/// The process is lost whatever happens here. If the program crashed while it held a lock of the
/// allocator's, this waits for ever, and the judge's deadline ends it.
extern "C" fn touched(
    _signal: libc::c_int,
    info: *const libc::siginfo_t,
    _context: *const libc::c_void,
) {
    let Some(handler) = HANDLER.get() else { return };
    // SAFETY: the kernel hands over the address that could not be reached. With what was there before
    // the handler, the instruction faults again when this one returns.
    let address = unsafe {
        libc::sigaction(libc::SIGSEGV, &raw const handler.before, std::ptr::null_mut());
        (*info).si_addr().expose_provenance() as u64
    };
    if let Some(name) = session::device_memory_at(address) {
        (handler.tell)(format!(
            "the host touched {name}, which is device memory: copy it with cudaMemcpy"
        ));
    }
}
