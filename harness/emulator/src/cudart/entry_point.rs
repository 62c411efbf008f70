//! Driver functions, for which programs ask the runtime by name instead of linking `libcuda`.

use std::ffi::{c_char, c_void};

use super::abi::{In, Out};
use super::error::{Code, Outcome};
use super::tensor_map::{cuTensorMapEncodeIm2col, cuTensorMapEncodeTiled};

/// `cudaDriverEntryPointQueryResult`
const FOUND: u32 = 0;
const NOT_FOUND: u32 = 1;

const DRIVER_VERSION: i32 = 13000;

#[unsafe(no_mangle)]
pub(super) extern "C" fn cuInit(_flags: u32) -> Code {
    Code::SUCCESS
}

#[unsafe(no_mangle)]
pub(super) extern "C" fn cuDriverGetVersion(version: Out<i32>) -> Code {
    version.set(DRIVER_VERSION).map_or(Code::INVALID_VALUE, |()| Code::SUCCESS)
}

/// The runtime's codes and texts, which agree with the driver's where both have them.
#[unsafe(no_mangle)]
pub(super) extern "C" fn cuGetErrorString(code: Code, text: Out<*const c_char>) -> Code {
    text.set(code.text().as_ptr()).map_or(Code::INVALID_VALUE, |()| Code::SUCCESS)
}

fn find(name: &str) -> Option<*const c_void> {
    Some(match name {
        "cuInit" => cuInit as *const c_void,
        "cuDriverGetVersion" => cuDriverGetVersion as *const c_void,
        "cuGetErrorString" => cuGetErrorString as *const c_void,
        "cuTensorMapEncodeIm2col" => cuTensorMapEncodeIm2col as *const c_void,
        "cuTensorMapEncodeTiled" => cuTensorMapEncodeTiled as *const c_void,
        _ => return None,
    })
}

/// An unknown name is no error: the status says it, and the pointer is null.
fn look_up(name: In<c_char>, function: Out<*const c_void>, status: Out<u32>) -> Outcome {
    let found = find(&name.text()?);
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
