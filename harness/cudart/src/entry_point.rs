//! Driver functions, for which programs ask the runtime by name instead of linking `libcuda`.

use std::ffi::{c_char, c_void};

use super::abi::{In, Out};
use super::driver;
use super::error::Outcome;

/// `cudaDriverEntryPointQueryResult`
const FOUND: u32 = 0;
const NOT_FOUND: u32 = 1;

/// An unknown name is no error: the status says it, and the pointer is null.
pub(super) fn look_up(name: In<c_char>, function: Out<*const c_void>, status: Out<u32>) -> Outcome {
    let found = driver::find(&name.text()?);
    status.set_if_wanted(if found.is_some() { FOUND } else { NOT_FOUND });
    function.set(found.unwrap_or(std::ptr::null()))
}

runtime! {
    fn cudaGetDriverEntryPoint(
        name: In<c_char>, function: Out<*const c_void>, _flags: u64, status: Out<u32>,
    ) + cudaGetDriverEntryPoint_ptsz |_session| {
        look_up(name, function, status)
    }

    fn cudaGetDriverEntryPointByVersion(
        name: In<c_char>, function: Out<*const c_void>, _version: u32, _flags: u64,
        status: Out<u32>,
    ) + cudaGetDriverEntryPointByVersion_ptsz |_session| {
        look_up(name, function, status)
    }
}
