//! Memory: allocating, copying, filling.

use crate::abi::{Address, Copy3D, In, Location, Out, PoolHandle, StreamHandle};
use crate::allocation::*;
use crate::copy::*;
use crate::error::{Code, Failure};
use crate::fill::of_elements;
use crate::graph::Task;
use crate::session;

/// As `cudaMemcpyKind`.
const HOST_TO_DEVICE: u32 = 1;
const DEVICE_TO_HOST: u32 = 2;
const DEVICE_TO_DEVICE: u32 = 3;
const WHERE_THE_POINTERS_ARE: u32 = 4;

/// The default stream, which the calls without one use.
const DEFAULT: StreamHandle = 0;

/// One end of a `CUDA_MEMCPY2D`.
#[repr(C)]
#[derive(Clone, Copy)]
struct End {
    x: usize,
    y: usize,
    kind: u32,
    host: Address,
    device: Address,
    array: usize,
    pitch: usize,
}

/// `CUDA_MEMCPY2D`
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct Rectangle {
    source: End,
    destination: End,
    width: usize,
    height: usize,
}

const _: () = assert!(size_of::<Rectangle>() == 128);

impl End {
    /// `CU_MEMORYTYPE_HOST`, and that of an array.
    const HOST: u32 = 1;
    const ARRAY: u32 = 3;

    /// Where its rows begin, and the bytes between them.
    fn rows(&self, width: usize) -> Result<(Address, usize), Failure> {
        let start = match self.kind {
            Self::ARRAY => return Err(Code::NOT_SUPPORTED.because("CUDA arrays do not exist here")),
            Self::HOST => self.host,
            _ => self.device,
        };
        let pitch = if self.pitch == 0 { width } else { self.pitch };
        let skipped = self.y.checked_mul(pitch).and_then(|rows| rows.checked_add(self.x));
        let start = skipped.and_then(|skipped| start.checked_add(skipped as u64));
        let overflow = || Code::INVALID_VALUE.because("the offset overflows");
        Ok((start.ok_or_else(overflow)?, pitch))
    }
}

fn copy_rectangle(rectangle: In<Rectangle>, stream: StreamHandle) -> Code {
    session::call("cuMemcpy2D", |session| {
        let Rectangle { source, destination, width, height } = rectangle.get()?;
        let (to, from) = (destination.rows(width)?, source.rows(width)?);
        let copy = Copy3D::rows(to, from, (width, height), WHERE_THE_POINTERS_ARE);
        session.submit(stream, Task::Copy(copy))
    })
}

fn fill(start: Address, (value, element): (u32, u32), count: usize, stream: StreamHandle) -> Code {
    let pitch = count.saturating_mul(element as usize);
    fill_rows((start, pitch), (value, element), (count, 1), stream)
}

fn fill_rows(
    (start, pitch): (Address, usize),
    value: (u32, u32),
    extent: (usize, usize),
    stream: StreamHandle,
) -> Code {
    session::call("cuMemset", |session| {
        session.submit(stream, Task::Fill(of_elements(start, pitch, value, extent)))
    })
}

driver! {
    fn cuMemAlloc_v2(pointer: Out<Address>, bytes: usize) {
        // The runtime gives null for no bytes, the driver refuses.
        if bytes == 0 { Code::INVALID_VALUE } else { cudaMalloc(pointer, bytes) }
    }

    fn cuMemAllocPitch_v2(
        pointer: Out<Address>, pitch: Out<usize>, width: usize, height: usize, _element: u32,
    ) {
        cudaMallocPitch(pointer, pitch, width, height)
    }

    fn cuMemFree_v2(pointer: Address) { cudaFree(pointer) }

    fn cuMemAllocHost_v2(pointer: Out<Address>, bytes: usize) { cudaMallocHost(pointer, bytes) }

    fn cuMemHostAlloc(pointer: Out<Address>, bytes: usize, flags: u32) {
        cudaHostAlloc(pointer, bytes, flags)
    }

    fn cuMemFreeHost(pointer: Address) { cudaFreeHost(pointer) }

    fn cuMemAllocManaged(pointer: Out<Address>, bytes: usize, flags: u32) {
        cudaMallocManaged(pointer, bytes, flags)
    }

    fn cuMemAllocAsync(pointer: Out<Address>, bytes: usize, stream: StreamHandle) {
        cudaMallocAsync(pointer, bytes, stream)
    }

    fn cuMemAllocFromPoolAsync(
        pointer: Out<Address>, bytes: usize, pool: PoolHandle, stream: StreamHandle,
    ) {
        cudaMallocFromPoolAsync(pointer, bytes, pool, stream)
    }

    fn cuMemFreeAsync(pointer: Address, stream: StreamHandle) { cudaFreeAsync(pointer, stream) }

    fn cuMemHostRegister_v2(pointer: Address, bytes: usize, flags: u32) {
        cudaHostRegister(pointer, bytes, flags)
    }

    fn cuMemHostUnregister(pointer: Address) { cudaHostUnregister(pointer) }

    fn cuMemHostGetDevicePointer_v2(device: Out<Address>, host: Address, flags: u32) {
        cudaHostGetDevicePointer(device, host, flags)
    }

    fn cuMemGetInfo_v2(free: Out<usize>, total: Out<usize>) { cudaMemGetInfo(free, total) }

    fn cuMemGetAddressRange_v2(base: Out<Address>, bytes: Out<usize>, pointer: Address) {
        session::call("cuMemGetAddressRange", |session| {
            let unknown = || Code::NOT_FOUND.because("it is in no allocation");
            let (start, allocation) = session.allocation(pointer).ok_or_else(unknown)?;
            base.set_if_wanted(start);
            bytes.set_if_wanted(allocation.len as usize);
            Ok(())
        })
    }

    fn cuMemPrefetchAsync_v2(
        pointer: Address, bytes: usize, location: Location, flags: u32, stream: StreamHandle,
    ) {
        cudaMemPrefetchAsync(pointer, bytes, location, flags, stream)
    }

    fn cuMemAdvise_v2(pointer: Address, bytes: usize, advice: u32, location: Location) {
        cudaMemAdvise(pointer, bytes, advice, location)
    }

    fn cuMemcpy(to: Address, from: Address, bytes: usize) {
        cudaMemcpy(to, from, bytes, WHERE_THE_POINTERS_ARE)
    }

    fn cuMemcpyHtoD_v2(to: Address, from: Address, bytes: usize) {
        cudaMemcpy(to, from, bytes, HOST_TO_DEVICE)
    }

    fn cuMemcpyDtoH_v2(to: Address, from: Address, bytes: usize) {
        cudaMemcpy(to, from, bytes, DEVICE_TO_HOST)
    }

    fn cuMemcpyDtoD_v2(to: Address, from: Address, bytes: usize) {
        cudaMemcpy(to, from, bytes, DEVICE_TO_DEVICE)
    }

    fn cuMemcpyAsync(to: Address, from: Address, bytes: usize, stream: StreamHandle) {
        cudaMemcpyAsync(to, from, bytes, WHERE_THE_POINTERS_ARE, stream)
    }

    fn cuMemcpyHtoDAsync_v2(to: Address, from: Address, bytes: usize, stream: StreamHandle) {
        cudaMemcpyAsync(to, from, bytes, HOST_TO_DEVICE, stream)
    }

    fn cuMemcpyDtoHAsync_v2(to: Address, from: Address, bytes: usize, stream: StreamHandle) {
        cudaMemcpyAsync(to, from, bytes, DEVICE_TO_HOST, stream)
    }

    fn cuMemcpyDtoDAsync_v2(to: Address, from: Address, bytes: usize, stream: StreamHandle) {
        cudaMemcpyAsync(to, from, bytes, DEVICE_TO_DEVICE, stream)
    }

    fn cuMemcpy2D_v2(rectangle: In<Rectangle>) { copy_rectangle(rectangle, DEFAULT) }

    fn cuMemcpy2DUnaligned_v2(rectangle: In<Rectangle>) { copy_rectangle(rectangle, DEFAULT) }

    fn cuMemcpy2DAsync_v2(rectangle: In<Rectangle>, stream: StreamHandle) {
        copy_rectangle(rectangle, stream)
    }

    fn cuMemsetD8_v2(start: Address, value: u8, count: usize) {
        fill(start, (u32::from(value), 1), count, DEFAULT)
    }

    fn cuMemsetD16_v2(start: Address, value: u16, count: usize) {
        fill(start, (u32::from(value), 2), count, DEFAULT)
    }

    fn cuMemsetD32_v2(start: Address, value: u32, count: usize) {
        fill(start, (value, 4), count, DEFAULT)
    }

    fn cuMemsetD8Async(start: Address, value: u8, count: usize, stream: StreamHandle) {
        fill(start, (u32::from(value), 1), count, stream)
    }

    fn cuMemsetD16Async(start: Address, value: u16, count: usize, stream: StreamHandle) {
        fill(start, (u32::from(value), 2), count, stream)
    }

    fn cuMemsetD32Async(start: Address, value: u32, count: usize, stream: StreamHandle) {
        fill(start, (value, 4), count, stream)
    }

    fn cuMemsetD2D8_v2(start: Address, pitch: usize, value: u8, width: usize, height: usize) {
        fill_rows((start, pitch), (u32::from(value), 1), (width, height), DEFAULT)
    }

    fn cuMemsetD2D32_v2(start: Address, pitch: usize, value: u32, width: usize, height: usize) {
        fill_rows((start, pitch), (value, 4), (width, height), DEFAULT)
    }
}
