//! The driver's interface (`cuda.h`), as far as programs use it beside the runtime or instead of it.
//!
//! Most of it is the runtime's under other names: handles, streams, attributes and nearly all codes
//! mean the same. So a function here is a call of its counterpart, whose code is translated, and which
//! leaves nothing for `cudaGetLastError`. What only the driver has are contexts, of which there is one
//! (`context`), and modules (`super::library`).
//!
//! `cuda.h` renames what changed since it was first published: `cuMemAlloc` is `cuMemAlloc_v2` to the
//! linker. Programs that ask for a function by name say `cuMemAlloc` and get the newest.
//!
//! Not checked: whether `cuInit` was called, and whether a context is current. Functions that are not
//! here fail when the program is loaded, by name.

use std::ffi::c_void;

use super::error::{Code, unremembered};
use super::tensor_map::{cuTensorMapEncodeIm2col, cuTensorMapEncodeTiled};

/// Defines exported functions of the driver and the table of their names: `fn name(arguments) { … }`,
/// where the body gives the runtime's code.
macro_rules! driver {
    ($($(#[$meta:meta])* fn $name:ident ($($arg:ident: $ty:ty),* $(,)?) $body:block)*) => {
        $(
            $(#[$meta])*
            #[unsafe(no_mangle)]
            pub(crate) extern "C" fn $name($($arg: $ty),*) -> $crate::error::Code {
                $crate::driver::ended(|| $body)
            }
        )*

        pub(super) const NAMES: &[(&str, fn() -> *const std::ffi::c_void)] =
            &[$((stringify!($name), || $name as *const std::ffi::c_void),)*];
    };
}

mod context;
mod error;
mod launch;
mod memory;
mod module;
mod stream;

/// What later versions of a function end in, the newest first.
const VERSIONS: [&str; 4] = ["_v4", "_v3", "_v2", ""];

/// Runs a function's body, and translates its code.
fn ended(body: impl FnOnce() -> Code) -> Code {
    error::driver_code(unremembered(body))
}

type Table = &'static [(&'static str, fn() -> *const c_void)];

/// All that `driver!` has defined.
const TABLES: [Table; 6] =
    [context::NAMES, error::NAMES, launch::NAMES, memory::NAMES, module::NAMES, stream::NAMES];

/// Names of the driver's functions that exist here.
pub fn driver_names() -> impl Iterator<Item = &'static str> {
    let tables = TABLES.into_iter().flatten().map(|&(name, _)| name);
    tables.chain(["cuTensorMapEncodeIm2col", "cuTensorMapEncodeTiled"])
}

/// The function that a program means by a name, with its version or without.
pub(super) fn find(name: &str) -> Option<*const c_void> {
    let exact = |wanted: &str| match wanted {
        "cuTensorMapEncodeIm2col" => Some(cuTensorMapEncodeIm2col as *const c_void),
        "cuTensorMapEncodeTiled" => Some(cuTensorMapEncodeTiled as *const c_void),
        _ => {
            let mut all = TABLES.into_iter().flatten();
            all.find(|(name, _)| *name == wanted).map(|(_, address)| address())
        }
    };
    VERSIONS.iter().find_map(|version| exact(&format!("{name}{version}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_means_its_newest_version() {
        assert_eq!(find("cuMemAlloc"), find("cuMemAlloc_v2"));
        assert!(find("cuMemAlloc").is_some() && find("cuCtxSynchronize").is_some());
        assert_eq!(find("cuCtxCreate"), find("cuCtxCreate_v4"));
        assert_eq!(find("cuMemAlloc_v9"), None);
    }
}
