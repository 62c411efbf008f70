//! The way into a solution: its library, and the one function that the wrapper adds to it.

use std::ffi::c_void;
use std::path::Path;

use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW, Symbol};

use super::{Argument, Buffer};
use crate::trampoline;

type Call = unsafe extern "C" fn(*const *const c_void);

/// An opened artifact.
pub struct Entry {
    call: Symbol<Call>,
    /// Never closed: what a solution registered (exit handlers, thread-local destructors) may
    /// point into it.
    _library: std::mem::ManuallyDrop<Library>,
}

impl Entry {
    /// Opens `library` with its symbols kept to itself. Runs its constructors: untrusted code.
    ///
    /// # Errors
    ///
    /// What the dynamic linker says: a symbol that nobody defines, for one.
    pub fn open(library: &Path) -> Result<Self, String> {
        // SAFETY: this is the untrusted process, made to run whatever the library contains.
        let library = unsafe { Library::open(Some(library), RTLD_NOW | RTLD_LOCAL) }
            .map_err(|error| chain(&error))?;
        let library = std::mem::ManuallyDrop::new(library);
        // SAFETY: the wrapper declares the function with this very type (see `trampoline`).
        let call = unsafe { library.get::<Call>(trampoline::SYMBOL.as_bytes()) }
            .map_err(|error| chain(&error))?;
        Ok(Self { call, _library: library })
    }

    /// Calls `solution` with its buffers at these addresses.
    pub fn call(&self, addresses: &[u64], arguments: &[Argument]) {
        let values: Vec<u64> = arguments
            .iter()
            .map(|argument| match *argument {
                Argument::Buffer(index) => addresses[index],
                Argument::Size(size) => size,
                // The low half of the little-endian word.
                Argument::Float(float) => u64::from(float.to_bits()),
            })
            .collect();
        let pointers: Vec<*const c_void> =
            values.iter().map(|value| std::ptr::from_ref(value).cast()).collect();
        // SAFETY: one pointer for each parameter, each to eight bytes that hold its value. What
        // `solution` does with them is why this process is not trusted.
        unsafe { (self.call)(pointers.as_ptr()) }
    }
}

/// Addresses of `buffers` in memory mapped at `base`.
pub fn addresses(base: *const u8, buffers: &[Buffer]) -> Vec<u64> {
    buffers.iter().map(|buffer| base.addr() as u64 + buffer.offset as u64).collect()
}

/// libloading says "dlopen failed" and leaves the reason to the source.
fn chain(error: &libloading::Error) -> String {
    use std::error::Error;
    error.source().map_or_else(|| error.to_string(), ToString::to_string)
}
