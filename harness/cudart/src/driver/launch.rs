//! Launches, and what is known of kernels.

use std::ffi::c_char;

use crate::abi::{Dim3, FunctionAttributes, FunctionHandle, In, LaunchAttribute};
use crate::abi::{LaunchConfiguration, Out, StreamHandle};
use crate::error::{Code, Failure};
use crate::function::*;
use crate::launch::{Arguments, Request};
use crate::occupancy::*;
use crate::session::{self, Session};

/// `CUlaunchConfig`; its shared memory has 32 bits, and the runtime's has 64.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct DriverConfiguration {
    grid: Dim3,
    block: Dim3,
    dynamic_shared: u32,
    stream: StreamHandle,
    attributes: In<LaunchAttribute>,
    attribute_count: u32,
}

const _: () = assert!(std::mem::offset_of!(DriverConfiguration, stream) == 32);

impl DriverConfiguration {
    fn for_runtime(self) -> LaunchConfiguration {
        let Self { grid, block, dynamic_shared, stream, attributes, attribute_count } = self;
        let dynamic_shared = dynamic_shared as usize;
        LaunchConfiguration { grid, block, dynamic_shared, stream, attributes, attribute_count }
    }
}

/// What the words of `extra` are: ended by the first of them, each other before its value.
mod extra {
    pub const END: usize = 0;
    pub const BUFFER: usize = 1;
    pub const BUFFER_BYTES: usize = 2;
}

/// Where each argument stands, for a kernel that gets them in one buffer.
fn unpacked(
    session: &Session,
    function: FunctionHandle,
    words: In<usize>,
) -> Result<Vec<usize>, Failure> {
    let invalid = |detail: &str| Code::INVALID_VALUE.because(detail);
    let (mut buffer, mut bytes) = (0, 0);
    for pair in 0.. {
        match words.at(2 * pair)? {
            extra::END => break,
            extra::BUFFER => buffer = words.at(2 * pair + 1)?,
            extra::BUFFER_BYTES => {
                let place = words.at(2 * pair + 1)?;
                bytes = In::<usize>::to_address(place).get()?;
            }
            _ => return Err(invalid("`extra` holds what is no CU_LAUNCH_PARAM")),
        }
    }
    let (_, kernel) = session.kernel(function)?;
    let needed =
        kernel.params.iter().map(|(offset, size)| offset + size).max().unwrap_or(0) as usize;
    if bytes < needed || buffer == 0 && needed > 0 {
        return Err(invalid("the buffer of `extra` does not hold all parameters"));
    }
    Ok(kernel.params.iter().map(|(offset, _)| buffer + *offset as usize).collect())
}

fn launch(request: Request, arguments: Arguments, extra: In<usize>) -> Code {
    session::call("cuLaunchKernel", |session| {
        if extra.is_null() {
            return session.launch(request, arguments);
        }
        if !arguments.is_null() {
            return Err(Code::INVALID_VALUE.because("parameters and `extra` are given, both"));
        }
        let places = unpacked(session, request.function, extra)?;
        session.launch(request, In::to_array(&places))
    })
}

/// `CUfunction_attribute`
fn attribute(attributes: &FunctionAttributes, id: u32) -> Option<i32> {
    Some(match id {
        0 => attributes.max_threads_per_block,
        1 => attributes.shared_bytes as i32,
        2 => attributes.constant_bytes as i32,
        3 => attributes.local_bytes as i32,
        4 => attributes.registers,
        5 => attributes.ptx_version,
        6 => attributes.binary_version,
        7 => attributes.cache_mode,
        8 => attributes.max_dynamic_shared_bytes,
        9 => attributes.preferred_carveout,
        10 => attributes.cluster_must_be_set,
        11..=13 => attributes.required_cluster[id as usize - 11],
        14 => attributes.non_portable_cluster_allowed,
        15 => attributes.cluster_scheduling,
        _ => return None,
    })
}

fn get_attribute(value: Out<i32>, id: u32, function: FunctionHandle) -> Code {
    session::call("cuFuncGetAttribute", |session| {
        let attributes = session.function_attributes(function)?;
        let unknown = || Code::INVALID_VALUE.because(format!("no attribute {id}"));
        value.set(attribute(&attributes, id).ok_or_else(unknown)?)
    })
}

driver! {
    fn cuLaunchKernel(
        function: FunctionHandle, grid_x: u32, grid_y: u32, grid_z: u32, block_x: u32, block_y: u32,
        block_z: u32, dynamic_shared: u32, stream: StreamHandle, arguments: Arguments,
        extra: In<usize>,
    ) {
        let (grid, block) = (
            Dim3 { x: grid_x, y: grid_y, z: grid_z },
            Dim3 { x: block_x, y: block_y, z: block_z },
        );
        let request = Request::new(function, (grid, block), dynamic_shared as usize, stream);
        launch(request, arguments, extra)
    }

    fn cuLaunchCooperativeKernel(
        function: FunctionHandle, grid_x: u32, grid_y: u32, grid_z: u32, block_x: u32, block_y: u32,
        block_z: u32, dynamic_shared: u32, stream: StreamHandle, arguments: Arguments,
    ) {
        let (grid, block) = (
            Dim3 { x: grid_x, y: grid_y, z: grid_z },
            Dim3 { x: block_x, y: block_y, z: block_z },
        );
        let request = Request::new(function, (grid, block), dynamic_shared as usize, stream);
        launch(request.cooperative(), arguments, In::none())
    }

    fn cuLaunchKernelEx(
        configuration: In<DriverConfiguration>, function: FunctionHandle, arguments: Arguments,
        extra: In<usize>,
    ) {
        let request = configuration
            .get()
            .and_then(|configuration| Request::of(&configuration.for_runtime(), function));
        match request {
            Ok(request) => launch(request, arguments, extra),
            Err(failure) => failure.code,
        }
    }

    fn cuFuncGetAttribute(value: Out<i32>, id: u32, function: FunctionHandle) {
        get_attribute(value, id, function)
    }

    fn cuKernelGetAttribute(value: Out<i32>, id: u32, function: FunctionHandle, _device: i32) {
        get_attribute(value, id, function)
    }

    fn cuFuncSetAttribute(function: FunctionHandle, id: u32, value: i32) {
        cudaFuncSetAttribute(function, id, value)
    }

    fn cuKernelSetAttribute(id: u32, value: i32, function: FunctionHandle, device: i32) {
        cudaKernelSetAttributeForDevice(function, id, value, device)
    }

    fn cuFuncSetCacheConfig(function: FunctionHandle, preference: u32) {
        cudaFuncSetCacheConfig(function, preference)
    }

    fn cuFuncGetName(name: Out<*const c_char>, function: FunctionHandle) {
        cudaFuncGetName(name, function)
    }

    fn cuFuncGetParamInfo(
        function: FunctionHandle, index: usize, offset: Out<usize>, size: Out<usize>,
    ) {
        cudaFuncGetParamInfo(function, index, offset, size)
    }

    fn cuOccupancyMaxActiveBlocksPerMultiprocessor(
        blocks: Out<i32>, function: FunctionHandle, threads: i32, dynamic_shared: usize,
    ) {
        cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, function, threads, dynamic_shared)
    }

    fn cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
        blocks: Out<i32>, function: FunctionHandle, threads: i32, dynamic_shared: usize, _flags: u32,
    ) {
        cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, function, threads, dynamic_shared)
    }

    fn cuOccupancyAvailableDynamicSMemPerBlock(
        bytes: Out<usize>, function: FunctionHandle, blocks: i32, threads: i32,
    ) {
        cudaOccupancyAvailableDynamicSMemPerBlock(bytes, function, blocks, threads)
    }
}
