//! A program's `main` on a stack without a frame of Rust that catches.
//!
//! The C++ runtime looks for a handler before it unwinds, and calls `std::terminate` where there is none:
//! that says what was thrown and aborts, as people know it. But every stack that Rust's library has made,
//! the first one too, ends in a frame that catches whatever comes, to find that it is no panic and to abort
//! with a text of its own. So `main` gets a thread of the C library's, on which nothing is in between:
//!
//! ```text
//! throw ─► main ─► call ─► start_thread (C)     no handler: terminate called after throwing an instance of …
//! ```

use std::ffi::{c_char, c_int, c_void};

/// `main` as C and C++ have it; it may throw.
pub type Main =
    unsafe extern "C-unwind" fn(c_int, *const *const c_char, *const *const c_char) -> c_int;

/// What a call of `main` takes and gives.
pub struct Call {
    pub main: Main,
    pub count: c_int,
    pub arguments: *const *const c_char,
    pub environment: *const *const c_char,
    pub code: c_int,
}

/// Nothing here has a destructor: a frame that has to clean up would do so, then abort.
unsafe extern "C-unwind" fn call(data: *mut c_void) -> *mut c_void {
    let call = data.cast::<Call>();
    // SAFETY: `run` hands over a `Call`, and waits until this thread has ended.
    unsafe {
        (*call).code = ((*call).main)((*call).count, (*call).arguments, (*call).environment);
    }
    std::ptr::null_mut()
}

/// Bytes of a first thread's stack, where no limit says otherwise: what programs are written for.
const USUAL_STACK: usize = 8 << 20;

fn stack_bytes() -> usize {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: it writes one `rlimit`.
    let known = unsafe { libc::getrlimit(libc::RLIMIT_STACK, &raw mut limit) } == 0;
    match usize::try_from(limit.rlim_cur) {
        Ok(bytes) if known && limit.rlim_cur != libc::RLIM_INFINITY => bytes.max(USUAL_STACK),
        _ => USUAL_STACK,
    }
}

/// Calls `main` on a thread of its own; what it returns.
///
/// # Errors
///
/// Where the machine has no thread to give.
///
/// # Safety
///
/// `count` and the two vectors must be as C has them, and live until this returns.
pub unsafe fn run(call_of_main: &mut Call) -> std::io::Result<c_int> {
    // SAFETY: the same function: what may unwind is called as what may not, and nobody it returns to is
    // in Rust.
    let start = unsafe {
        std::mem::transmute::<
            unsafe extern "C-unwind" fn(*mut c_void) -> *mut c_void,
            extern "C" fn(*mut c_void) -> *mut c_void,
        >(call)
    };
    // SAFETY: a `pthread_attr_t` is made by `pthread_attr_init`; the thread is joined, so that what it is
    // given outlives it.
    unsafe {
        let mut attributes = std::mem::zeroed::<libc::pthread_attr_t>();
        failed(libc::pthread_attr_init(&raw mut attributes))?;
        failed(libc::pthread_attr_setstacksize(&raw mut attributes, stack_bytes()))?;
        let mut thread = std::mem::zeroed::<libc::pthread_t>();
        let data = std::ptr::from_mut(call_of_main).cast();
        let made = libc::pthread_create(&raw mut thread, &raw const attributes, start, data);
        libc::pthread_attr_destroy(&raw mut attributes);
        failed(made)?;
        failed(libc::pthread_join(thread, std::ptr::null_mut()))?;
    }
    Ok(call_of_main.code)
}

fn failed(code: c_int) -> std::io::Result<()> {
    if code == 0 { Ok(()) } else { Err(std::io::Error::from_raw_os_error(code)) }
}
