//! The way into a solution: its library, and the one function that the wrapper adds to it.

use std::ffi::{CStr, c_char, c_void};
use std::path::Path;

use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW, Symbol};

use super::{Argument, Buffer};
use toolchain::trampoline;

type Call = unsafe extern "C" fn(*const *const c_void);
type LastError = unsafe extern "C" fn(*mut *const c_char, *mut *const c_char);

/// An opened artifact.
#[derive(Debug)]
pub struct Entry {
    call: Symbol<Call>,
    /// In libraries that bring their own CUDA runtime.
    last_error: Option<Symbol<LastError>>,
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
        // SAFETY: as above.
        let last_error =
            unsafe { library.get::<LastError>(trampoline::LAST_ERROR.as_bytes()) }.ok();
        Ok(Self { call, last_error, _library: library })
    }

    /// The error that the solution's CUDA runtime remembers, which it then forgets: a launch that
    /// asked for too much, most of all, of which nothing else tells.
    pub fn cuda_error(&self) -> Option<String> {
        let (mut name, mut text) = (std::ptr::null(), std::ptr::null());
        // SAFETY: the wrapper declares the function with this very type; it writes nothing, or two
        // texts that live as long as the library.
        unsafe {
            self.last_error.as_ref()?(&raw mut name, &raw mut text);
            if name.is_null() || text.is_null() {
                return None;
            }
            let word = |text| CStr::from_ptr(text).to_string_lossy();
            Some(format!("{}: {}", word(name), word(text)))
        }
    }

    /// Calls `solution` with its buffers at these addresses.
    pub fn call(&self, addresses: &[u64], arguments: &[Argument]) {
        // What the arguments that are arrays point to.
        let arrays: Vec<Vec<u64>> = arguments
            .iter()
            .map(|argument| match argument {
                Argument::Buffers(indices) => indices.iter().map(|&at| addresses[at]).collect(),
                Argument::Sizes(sizes) => sizes.clone(),
                Argument::Buffer(_) | Argument::Size(_) | Argument::Float(_) => Vec::new(),
            })
            .collect();
        let values: Vec<u64> = arguments
            .iter()
            .zip(&arrays)
            .map(|(argument, array)| match *argument {
                Argument::Buffer(index) => addresses[index],
                Argument::Size(size) => size,
                // The low half of the little-endian word.
                Argument::Float(float) => u64::from(float.to_bits()),
                Argument::Buffers(_) | Argument::Sizes(_) => {
                    array.as_ptr().expose_provenance() as u64
                }
            })
            .collect();
        let pointers: Vec<*const c_void> =
            values.iter().map(|value| std::ptr::from_ref(value).cast()).collect();
        // SAFETY: one pointer for each parameter, each to eight bytes that hold its value. What
        // `solution` does with them is why this process is not trusted.
        unsafe { (self.call)(pointers.as_ptr()) }
    }
}

/// Addresses of `buffers` in memory that begins at `base`.
pub fn offsets(base: u64, buffers: &[Buffer]) -> Vec<u64> {
    buffers.iter().map(|buffer| base + buffer.offset as u64).collect()
}

/// libloading says "dlopen failed" and leaves the reason to the source.
fn chain(error: &libloading::Error) -> String {
    use std::error::Error;
    error.source().map_or_else(|| error.to_string(), ToString::to_string)
}
