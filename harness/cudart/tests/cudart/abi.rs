//! The interface as the C headers declare it.

use std::ffi::{c_char, c_void};

#[repr(C)]
#[derive(Clone, Copy)]
pub struct Dim3(pub u32, pub u32, pub u32);

/// `cudaLaunchConfig_t`
#[repr(C)]
pub struct LaunchConfiguration {
    pub grid: Dim3,
    pub block: Dim3,
    pub shared: usize,
    pub stream: usize,
    pub attributes: *const Attribute,
    pub count: u32,
}

/// `cudaLaunchAttribute`
#[repr(C)]
pub struct Attribute {
    pub id: u32,
    pub padding: u32,
    pub value: [u32; 16],
}

pub type Host = extern "C" fn();

unsafe extern "C" {
    pub fn __cudaRegisterFatBinary(wrapper: *const c_void) -> *mut c_void;
    pub fn __cudaRegisterFatBinaryEnd(module: *mut c_void);
    pub fn __cudaUnregisterFatBinary(module: *mut c_void);
    pub fn __cudaRegisterFunction(
        module: *mut c_void,
        stub: Host,
        device: *const c_char,
        name: *const c_char,
        limit: i32,
        thread: *mut c_void,
        block: *mut c_void,
        extent: *mut c_void,
        grid: *mut c_void,
        warp: *mut i32,
    );
    pub fn __cudaRegisterVar(
        module: *mut c_void,
        host: *mut c_void,
        device: *const c_char,
        name: *const c_char,
        external: i32,
        size: usize,
        constant: i32,
        global: i32,
    );
    pub fn __cudaRegisterManagedVar(
        module: *mut c_void,
        host: *mut *mut i32,
        device: *const c_char,
        name: *const c_char,
        external: i32,
        size: usize,
        constant: i32,
        global: i32,
    );
    pub fn __cudaPushCallConfiguration(
        grid: Dim3,
        block: Dim3,
        shared: usize,
        stream: usize,
    ) -> u32;
    pub fn __cudaPopCallConfiguration(
        grid: *mut Dim3,
        block: *mut Dim3,
        shared: *mut usize,
        stream: *mut usize,
    ) -> u32;
    pub fn __cudaGetKernel(kernel: *mut usize, stub: Host) -> u32;
    pub fn __cudaLaunchKernel(
        kernel: usize,
        grid: Dim3,
        block: Dim3,
        arguments: *mut *const c_void,
        shared: usize,
        stream: usize,
    ) -> u32;
    pub fn cudaLaunchKernelExC(
        configuration: *const LaunchConfiguration,
        stub: Host,
        arguments: *mut *const c_void,
    ) -> u32;
    pub fn cudaLaunchCooperativeKernel(
        stub: Host,
        grid: Dim3,
        block: Dim3,
        arguments: *mut *const c_void,
        shared: usize,
        stream: usize,
    ) -> u32;
    pub fn cudaFuncSetAttribute(stub: Host, attribute: u32, value: i32) -> u32;
    pub fn cudaMalloc(pointer: *mut *mut f32, bytes: usize) -> u32;
    pub fn cudaMallocManaged(pointer: *mut *mut f32, bytes: usize, flags: u32) -> u32;
    pub fn cudaMallocPitch(
        pointer: *mut *mut u8,
        pitch: *mut usize,
        width: usize,
        height: usize,
    ) -> u32;
    pub fn cudaFree(pointer: *mut f32) -> u32;
    pub fn cudaHostRegister(pointer: *mut c_void, bytes: usize, flags: u32) -> u32;
    pub fn cudaHostUnregister(pointer: *mut c_void) -> u32;
    pub fn cudaMemcpy(to: *mut c_void, from: *const c_void, bytes: usize, kind: u32) -> u32;
    pub fn cudaMemcpy2D(
        to: *mut u8,
        to_pitch: usize,
        from: *const u8,
        from_pitch: usize,
        width: usize,
        height: usize,
        kind: u32,
    ) -> u32;
    pub fn cudaMemset2D(to: *mut u8, pitch: usize, value: i32, width: usize, height: usize) -> u32;
    pub fn cudaMemcpyToSymbol(
        symbol: *const c_void,
        from: *const c_void,
        bytes: usize,
        offset: usize,
        kind: u32,
    ) -> u32;
    pub fn cudaMemcpyFromSymbol(
        to: *mut c_void,
        symbol: *const c_void,
        bytes: usize,
        offset: usize,
        kind: u32,
    ) -> u32;
    pub fn cudaDeviceSynchronize() -> u32;
    pub fn cudaGetLastError() -> u32;
    pub fn cudaPeekAtLastError() -> u32;
    pub fn cudaGetErrorString(code: u32) -> *const c_char;
    pub fn cudaStreamCreate(stream: *mut usize) -> u32;
    pub fn cudaStreamDestroy(stream: usize) -> u32;
    pub fn cudaStreamSynchronize(stream: usize) -> u32;
    pub fn cudaEventCreate(event: *mut usize) -> u32;
    pub fn cudaEventRecord(event: usize, stream: usize) -> u32;
    pub fn cudaEventElapsedTime(milliseconds: *mut f32, start: usize, end: usize) -> u32;
    pub fn cudaOccupancyMaxActiveBlocksPerMultiprocessor(
        blocks: *mut i32,
        stub: Host,
        threads: i32,
        shared: usize,
    ) -> u32;
    pub fn cudaDeviceGetAttribute(value: *mut i32, attribute: u32, device: i32) -> u32;
    pub fn cudaLaunchHostFunc(
        stream: usize,
        function: Option<unsafe extern "C" fn(*mut c_void)>,
        data: *mut c_void,
    ) -> u32;
    pub fn cudaMallocArray() -> u32;
    pub fn cudaLaunchKernel(
        stub: Host,
        grid: Dim3,
        block: Dim3,
        arguments: *mut *const c_void,
        shared: usize,
        stream: usize,
    ) -> u32;
    pub fn cudaMemsetAsync(to: *mut f32, value: i32, bytes: usize, stream: usize) -> u32;
    pub fn cudaStreamWaitEvent(stream: usize, event: usize, flags: u32) -> u32;
    pub fn cudaStreamBeginCapture(stream: usize, mode: u32) -> u32;
    pub fn cudaStreamIsCapturing(stream: usize, status: *mut u32) -> u32;
    pub fn cudaStreamEndCapture(stream: usize, graph: *mut usize) -> u32;
    pub fn cudaGraphInstantiate(executable: *mut usize, graph: usize, flags: u64) -> u32;
    pub fn cudaGraphDestroy(graph: usize) -> u32;
    pub fn cudaGraphLaunch(executable: usize, stream: usize) -> u32;
    pub fn cudaGraphExecDestroy(executable: usize) -> u32;
}
