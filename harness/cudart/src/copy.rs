//! Copies between host and device. What is called device memory must be inside one allocation, and what is
//! called host memory must not be device memory.

use super::abi::{Address, Copy3D, In, PitchedPointer, StreamHandle};
use super::allocation::MemoryKind;
use super::error::{Code, Failure, Outcome};
use super::graph::Task;
use super::session::Session;
use crate::protocol::geometry::{Grid, Shape};
use emulator::DeviceWindow;

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

/// Where one end of a copy is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    /// Where the device reaches it, and checks it.
    Device,
    /// In memory of the program's that only the host has.
    Host,
}

impl Session {
    /// Which of the two an end is, which the copy may call device memory, host memory, or either.
    fn end(
        &self,
        what: &str,
        address: Address,
        bytes: usize,
        on_device: Option<bool>,
    ) -> Result<End, Failure> {
        let of_device = DeviceWindow::holds(address);
        let known = self.allocation(address);
        if on_device == Some(true) || on_device.is_none() && (of_device || known.is_some()) {
            return Ok(End::Device);
        }
        let invalid = |detail: String| Err(Code::INVALID_VALUE.because(detail));
        if address == 0 {
            return invalid(format!("{what} is null"));
        }
        if of_device {
            return invalid(format!("{what} {address:#x} is device memory"));
        }
        // The device saves the program the way through the staging area.
        let whole = known.is_some_and(|(base, allocation)| {
            allocation.kind != MemoryKind::Device && address - base + bytes as u64 <= allocation.len
        });
        Ok(if whole { End::Device } else { End::Host })
    }

    fn copy_rectangle(&self, to: Grid, from: Grid, shape: Shape, direction: Direction) -> Outcome {
        if shape.is_empty() {
            return Ok(());
        }
        if shape.width > to.pitch || shape.width > from.pitch {
            return Err(Code::INVALID_PITCH.because("a row is wider than its pitch"));
        }
        let on_device = (direction.destination_on_device(), direction.source_on_device());
        let ends = (
            self.end("the destination", to.start, shape.span(&to)?, on_device.0)?,
            self.end("the source", from.start, shape.span(&from)?, on_device.1)?,
        );
        // SAFETY: the device looks at its ends; for the host's the program vouches.
        unsafe {
            match ends {
                (End::Device, End::Device) => self.connection.copy(to, from, shape),
                (End::Device, End::Host) => self.connection.upload(to, from, shape),
                (End::Host, End::Device) => self.connection.download(to, from, shape),
                (End::Host, End::Host) => {
                    move_bytes(to, from, shape);
                    Ok(())
                }
            }
        }
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
        self.copy_rectangle(destination, source, shape, Direction::of(kind)?)
    }
}

/// Within the host's memory.
///
/// # Safety
///
/// Both must be valid.
unsafe fn move_bytes(to: Grid, from: Grid, shape: Shape) {
    for row in 0..shape.height * shape.depth {
        let range = row * shape.width..(row + 1) * shape.width;
        let source = from.runs(shape, range.clone()).next();
        if let (Some((source, _)), Some((to, _))) = (source, to.runs(shape, range).next()) {
            let source = std::ptr::with_exposed_provenance::<u8>(source as usize);
            let to = std::ptr::with_exposed_provenance_mut::<u8>(to as usize);
            // SAFETY: the caller's promise; the rows may overlap.
            unsafe { to.copy_from(source, shape.width) };
        }
    }
}

/// A plain copy with its checks.
pub(super) fn copy(
    session: &Session,
    destination: Address,
    source: Address,
    bytes: usize,
    direction: Direction,
) -> Outcome {
    let row = |start| Grid { start, pitch: bytes, slice: bytes };
    let shape = Shape { width: bytes, height: 1, depth: 1 };
    session.copy_rectangle(row(destination), row(source), shape, direction)
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
