//! Copies between host and device. The device's memory has addresses of the host, which the machine
//! tells, so each is a `memmove` behind checks: what is called device memory must be inside one allocation, and what is called
//! host memory must not be device memory, although here that would work.

use super::abi::{Address, Copy3D, In, PitchedPointer, StreamHandle};
use super::allocation::MemoryKind;
use super::error::{Code, Failure, Outcome};
use super::graph::Task;
use super::session::Session;

/// `cudaMemcpyKind`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Direction {
    HostToHost,
    HostToDevice,
    DeviceToHost,
    DeviceToDevice,
    /// The pointers say it.
    Default,
}

impl Direction {
    pub fn of(kind: u32) -> Result<Self, Failure> {
        Ok(match kind {
            0 => Self::HostToHost,
            1 => Self::HostToDevice,
            2 => Self::DeviceToHost,
            3 => Self::DeviceToDevice,
            4 => Self::Default,
            _ => return Err(Code::INVALID_COPY_DIRECTION.because(format!("kind {kind}"))),
        })
    }

    fn destination_on_device(self) -> Option<bool> {
        match self {
            Self::Default => None,
            _ => Some(matches!(self, Self::HostToDevice | Self::DeviceToDevice)),
        }
    }

    fn source_on_device(self) -> Option<bool> {
        match self {
            Self::Default => None,
            _ => Some(matches!(self, Self::DeviceToHost | Self::DeviceToDevice)),
        }
    }
}

/// As `cudaMemcpyKind`.
const DEVICE_TO_DEVICE: u32 = 3;
const BY_POINTERS: u32 = 4;

/// Rows of a rectangular copy: `depth` slices of `height` rows of `width` bytes.
struct Shape {
    width: usize,
    height: usize,
    depth: usize,
}

/// One end of a rectangular copy.
struct Grid {
    start: Address,
    /// Bytes from row to row, and from slice to slice.
    pitch: usize,
    slice: usize,
}

impl Shape {
    fn is_empty(&self) -> bool {
        self.width == 0 || self.height == 0 || self.depth == 0
    }

    /// Bytes from the first to the last one touched.
    fn span(&self, grid: &Grid) -> Result<usize, Failure> {
        let slices = (self.depth - 1).checked_mul(grid.slice);
        let rows = (self.height - 1).checked_mul(grid.pitch);
        slices
            .zip(rows)
            .and_then(|(slices, rows)| slices.checked_add(rows)?.checked_add(self.width))
            .ok_or_else(|| Code::INVALID_VALUE.because("the size overflows"))
    }
}

impl Session {
    /// Checks that a range is what the copy calls it: device memory, host memory, or either.
    pub fn check_range(
        &self,
        what: &str,
        address: Address,
        bytes: usize,
        on_device: Option<bool>,
    ) -> Outcome {
        let invalid = |detail: String| Err(Code::INVALID_VALUE.because(detail));
        let found = self.machine.memory().find(address);
        if on_device == Some(false) || (on_device.is_none() && found.is_none()) {
            let kind = self.allocation(address).map(|(_, allocation)| allocation.kind);
            if address == 0 {
                return invalid(format!("{what} is null"));
            }
            if kind == Some(MemoryKind::Device) {
                return invalid(format!("{what} {address:#x} is device memory"));
            }
            return Ok(());
        }
        let Some(info) = found else {
            return invalid(format!("{what} {address:#x} is not device memory"));
        };
        let room = info.base + info.len - address;
        if bytes as u64 > room {
            let (name, past) = (&info.name, bytes as u64 - room);
            return invalid(format!("{what} of {bytes} bytes ends {past} bytes past {name}"));
        }
        Ok(())
    }

    fn copy_rectangle(
        &mut self,
        destination: &Grid,
        source: &Grid,
        shape: &Shape,
        direction: Direction,
    ) -> Outcome {
        if shape.is_empty() {
            return Ok(());
        }
        if shape.width > destination.pitch || shape.width > source.pitch {
            return Err(Code::INVALID_PITCH.because("a row is wider than its pitch"));
        }
        let (to, from) = (direction.destination_on_device(), direction.source_on_device());
        self.check_range("the destination", destination.start, shape.span(destination)?, to)?;
        self.check_range("the source", source.start, shape.span(source)?, from)?;
        let bytes = (shape.width * shape.height * shape.depth) as u64;
        self.count_copy(destination.start, source.start, bytes);
        for slice in 0..shape.depth {
            for row in 0..shape.height {
                let at = |grid: &Grid| grid.start + (slice * grid.slice + row * grid.pitch) as u64;
                // SAFETY: the device's ends were checked; for the host's the program vouches.
                unsafe { self.move_bytes(at(destination), at(source), shape.width) };
            }
        }
        Ok(())
    }

    /// # Safety
    ///
    /// Both ranges must be valid.
    unsafe fn move_bytes(&self, destination: Address, source: Address, bytes: usize) {
        let host = |address| self.machine.memory().host(address) as usize;
        let from = std::ptr::with_exposed_provenance::<u8>(host(source));
        let to = std::ptr::with_exposed_provenance_mut::<u8>(host(destination));
        // SAFETY: the caller's promise; the ranges may overlap.
        unsafe { std::ptr::copy(from, to, bytes) };
        self.machine.memory().define(destination, bytes as u64);
    }

    pub fn copy_3d(&mut self, parameters: &Copy3D) -> Outcome {
        let Copy3D { source_array, source_offset, source, .. } = *parameters;
        let Copy3D { destination_array, destination_offset, destination, extent, kind, .. } =
            *parameters;
        if source_array != 0 || destination_array != 0 {
            return Err(Code::NOT_SUPPORTED.because("CUDA arrays do not exist here"));
        }
        let grid = |end: PitchedPointer, offset: super::abi::Offset3| {
            let slice = end.pitch.checked_mul(end.height)?;
            let start = offset.z.checked_mul(slice)?;
            let start = start.checked_add(offset.y.checked_mul(end.pitch)?)?;
            let start = start.checked_add(offset.x)? as u64;
            Some(Grid { start: end.pointer.checked_add(start)?, pitch: end.pitch, slice })
        };
        let overflow = || Code::INVALID_VALUE.because("the offset overflows");
        let destination = grid(destination, destination_offset).ok_or_else(overflow)?;
        let source = grid(source, source_offset).ok_or_else(overflow)?;
        let shape = Shape { width: extent.width, height: extent.height, depth: extent.depth };
        self.copy_rectangle(&destination, &source, &shape, Direction::of(kind)?)
    }
}

/// A plain copy with its checks.
pub(super) fn copy(
    session: &mut Session,
    destination: Address,
    source: Address,
    bytes: usize,
    direction: Direction,
) -> Outcome {
    if bytes == 0 {
        return Ok(());
    }
    session.check_range(
        "the destination",
        destination,
        bytes,
        direction.destination_on_device(),
    )?;
    session.check_range("the source", source, bytes, direction.source_on_device())?;
    session.count_copy(destination, source, bytes as u64);
    // SAFETY: the device's ends were checked; for the host's the program vouches.
    unsafe { session.move_bytes(destination, source, bytes) };
    Ok(())
}

runtime! {
    fn cudaMemcpy(
        destination: Address, source: Address, bytes: usize, kind: u32,
    ) + cudaMemcpy_ptds |session| {
        copy(session, destination, source, bytes, Direction::of(kind)?)
    }

    fn cudaMemcpyAsync(
        destination: Address, source: Address, bytes: usize, kind: u32, stream: StreamHandle,
    ) + cudaMemcpyAsync_ptsz |session| {
        Direction::of(kind)?;
        session.submit(stream, Task::Copy(Copy3D::flat(destination, source, bytes, kind)))
    }

    /// Copies between flat ranges; the attributes say where the driver may look, and when.
    fn cudaMemcpyBatchAsync(
        destinations: In<Address>, sources: In<Address>, sizes: In<usize>, count: usize,
        _attributes: In<u8>, _indices: In<usize>, _attribute_count: usize, stream: StreamHandle,
    ) + cudaMemcpyBatchAsync_ptsz |session| {
        (0..count).try_for_each(|index| {
            let (to, from) = (destinations.at(index)?, sources.at(index)?);
            let copy = Copy3D::flat(to, from, sizes.at(index)?, BY_POINTERS);
            session.submit(stream, Task::Copy(copy))
        })
    }

    fn cudaMemcpyPeer(
        destination: Address, to: i32, source: Address, from: i32, bytes: usize,
    ) |session| {
        session.device(to)?;
        session.device(from)?;
        copy(session, destination, source, bytes, Direction::DeviceToDevice)
    }

    fn cudaMemcpyPeerAsync(
        destination: Address, to: i32, source: Address, from: i32, bytes: usize,
        stream: StreamHandle,
    ) |session| {
        session.device(to)?;
        session.device(from)?;
        session.submit(stream, Task::Copy(Copy3D::flat(destination, source, bytes, DEVICE_TO_DEVICE)))
    }

    fn cudaMemcpy2D(
        destination: Address, destination_pitch: usize, source: Address, source_pitch: usize,
        width: usize, height: usize, kind: u32,
    ) + cudaMemcpy2D_ptds |session| {
        let (to, from) = ((destination, destination_pitch), (source, source_pitch));
        session.copy_3d(&Copy3D::rows(to, from, (width, height), kind))
    }

    fn cudaMemcpy2DAsync(
        destination: Address, destination_pitch: usize, source: Address, source_pitch: usize,
        width: usize, height: usize, kind: u32, stream: StreamHandle,
    ) + cudaMemcpy2DAsync_ptsz |session| {
        let (to, from) = ((destination, destination_pitch), (source, source_pitch));
        session.submit(stream, Task::Copy(Copy3D::rows(to, from, (width, height), kind)))
    }

    fn cudaMemcpy3D(parameters: In<Copy3D>) + cudaMemcpy3D_ptds |session| {
        session.copy_3d(&parameters.get()?)
    }

    fn cudaMemcpy3DAsync(
        parameters: In<Copy3D>, stream: StreamHandle,
    ) + cudaMemcpy3DAsync_ptsz |session| {
        session.submit(stream, Task::Copy(parameters.get()?))
    }
}
