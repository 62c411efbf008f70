//! Copies and fills.
//!
//! Between the device and memory that it reaches, a copy is one request. To and from the program's other
//! memory it comes in pieces, which pass the staging area in the order of the bytes: the first request has
//! the whole rectangle, which is checked and counted then, and the others go on where it ended.

use std::ops::Range;

use super::Device;
use crate::error::{Code, Outcome};
use crate::protocol::geometry::{Fill, Grid, Shape};
use crate::protocol::segment::Segment;
use crate::protocol::{Address, Piece};
use emulator::DeviceWindow;

/// A copy under way.
pub struct Stream {
    way: Way,
    end: Grid,
    shape: Shape,
    /// Bytes done, and in all.
    done: usize,
    bytes: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    ToDevice,
    FromDevice,
}

impl Device {
    /// Checks that the device reaches all of a rectangle.
    fn check(&self, what: &str, grid: &Grid, shape: &Shape) -> Outcome {
        let invalid = |detail: String| Err(Code::INVALID_VALUE.because(detail));
        if shape.is_empty() || (shape.height > 1 || shape.depth > 1) && shape.width > grid.pitch {
            return invalid(format!("{what} has no bytes, or rows that overlap"));
        }
        let (address, bytes) = (grid.start, shape.span(grid)?);
        let Some(info) = self.machine.memory().find(address) else {
            return invalid(format!("{what} {address:#x} is not device memory"));
        };
        let room = info.base + info.len - address;
        if bytes as u64 > room {
            let (name, past) = (&info.name, bytes as u64 - room);
            return invalid(format!("{what} of {bytes} bytes ends {past} bytes past {name}"));
        }
        Ok(())
    }

    fn pointer(&self, address: Address) -> *mut u8 {
        std::ptr::with_exposed_provenance_mut(self.machine.memory().host(address) as usize)
    }

    fn define(&self, grid: Grid, shape: Shape, range: Range<usize>) {
        for (address, bytes) in grid.runs(shape, range) {
            self.machine.memory().define(address, bytes as u64);
        }
    }

    pub(super) fn copy(&mut self, to: Grid, from: Grid, shape: Shape) -> Outcome {
        if shape.is_empty() {
            return Ok(());
        }
        self.check("the destination", &to, &shape)?;
        self.check("the source", &from, &shape)?;
        let bytes = shape.bytes()?;
        let transfers = &mut self.report.transfers;
        transfers.operations += 1;
        // What is in the host's memory, pinned and managed included, goes over the bus.
        if DeviceWindow::holds(to.start) && DeviceWindow::holds(from.start) {
            transfers.device_bytes += 2 * bytes as u64;
        } else {
            transfers.bus_bytes += bytes as u64;
        }
        let mut at = 0;
        for (source, bytes) in from.runs(shape, 0..bytes) {
            let mut source = self.pointer(source);
            for (destination, bytes) in to.runs(shape, at..at + bytes) {
                // SAFETY: both are within what was checked; they may overlap.
                unsafe {
                    self.pointer(destination).copy_from(source, bytes);
                    source = source.add(bytes);
                }
            }
            at += bytes;
        }
        self.define(to, shape, 0..bytes);
        Ok(())
    }

    pub(super) fn upload(
        &mut self,
        to: Grid,
        shape: Shape,
        piece: Piece,
        segment: &Segment,
    ) -> Outcome {
        self.check("the destination", &to, &shape)?;
        self.start(Way::ToDevice, to, shape, piece, segment)
    }

    pub(super) fn download(
        &mut self,
        from: Grid,
        shape: Shape,
        piece: Piece,
        segment: &Segment,
    ) -> Outcome {
        self.check("the source", &from, &shape)?;
        self.start(Way::FromDevice, from, shape, piece, segment)
    }

    fn start(
        &mut self,
        way: Way,
        end: Grid,
        shape: Shape,
        piece: Piece,
        segment: &Segment,
    ) -> Outcome {
        let bytes = shape.bytes()?;
        let transfers = &mut self.report.transfers;
        transfers.operations += 1;
        transfers.bus_bytes += bytes as u64;
        self.more(Some(Stream { way, end, shape, done: 0, bytes }), piece, segment)
    }

    pub(super) fn more(
        &mut self,
        stream: Option<Stream>,
        piece: Piece,
        segment: &Segment,
    ) -> Outcome {
        let none = || Code::INVALID_VALUE.because("no copy is under way");
        let mut stream = stream.ok_or_else(none)?;
        let (mut at, room) = segment.staging(piece);
        let range = stream.done..stream.bytes.min(stream.done + room);
        for (address, bytes) in stream.end.runs(stream.shape, range.clone()) {
            let address = self.pointer(address);
            // SAFETY: within what was checked when the copy began, since when nothing was freed; the
            // staging area has the bytes of the range.
            unsafe {
                match stream.way {
                    Way::ToDevice => address.copy_from_nonoverlapping(at, bytes),
                    Way::FromDevice => address.copy_to_nonoverlapping(at, bytes),
                }
                at = at.add(bytes);
            }
        }
        if stream.way == Way::ToDevice {
            self.define(stream.end, stream.shape, range.clone());
        }
        stream.done = range.end;
        self.stream = (stream.done < stream.bytes).then_some(stream);
        Ok(())
    }

    pub(super) fn fill(&mut self, fill: &Fill) -> Outcome {
        let Some((grid, shape)) = fill.target()? else { return Ok(()) };
        self.check("the destination", &grid, &shape)?;
        let bytes = shape.bytes()?;
        let transfers = &mut self.report.transfers;
        transfers.operations += 1;
        match DeviceWindow::holds(grid.start) {
            true => transfers.device_bytes += bytes as u64,
            false => transfers.bus_bytes += bytes as u64,
        }
        let pattern = &fill.value.to_le_bytes()[..fill.element as usize];
        for (address, bytes) in grid.runs(shape, 0..bytes) {
            // SAFETY: inside the range that was checked above.
            let row = unsafe { std::slice::from_raw_parts_mut(self.pointer(address), bytes) };
            match pattern {
                &[byte] => row.fill(byte),
                pattern => {
                    row.chunks_exact_mut(pattern.len()).for_each(|to| to.copy_from_slice(pattern));
                }
            }
        }
        self.define(grid, shape, 0..bytes);
        Ok(())
    }
}
