//! `cudaMemset` and its relatives.

use super::abi::{Address, Extent, PitchedPointer, StreamHandle};
use super::graph::Task;
use crate::protocol::geometry::Fill;

/// Rows of elements.
pub(super) fn of_elements(
    start: Address,
    pitch: usize,
    (value, element): (u32, u32),
    (width, height): (usize, usize),
) -> Fill {
    Fill { start, pitch, slice: height, value, element, width, height, depth: 1 }
}

fn of_bytes(target: PitchedPointer, value: i32, extent: Extent) -> Fill {
    let PitchedPointer { pointer: start, pitch, height: slice, .. } = target;
    let Extent { width, height, depth } = extent;
    Fill { start, pitch, slice, value: value as u32, element: 1, width, height, depth }
}

fn rows(start: Address, pitch: usize, value: i32, extent: (usize, usize)) -> Fill {
    of_elements(start, pitch, (value as u32, 1), extent)
}

runtime! {
    fn cudaMemset(start: Address, value: i32, bytes: usize) + cudaMemset_ptds |session| {
        session.connection.fill(rows(start, bytes, value, (bytes, 1)))
    }

    fn cudaMemsetAsync(
        start: Address, value: i32, bytes: usize, stream: StreamHandle,
    ) + cudaMemsetAsync_ptsz |session| {
        session.submit(stream, Task::Fill(rows(start, bytes, value, (bytes, 1))))
    }

    fn cudaMemset2D(
        start: Address, pitch: usize, value: i32, width: usize, height: usize,
    ) + cudaMemset2D_ptds |session| {
        session.connection.fill(rows(start, pitch, value, (width, height)))
    }

    fn cudaMemset2DAsync(
        start: Address, pitch: usize, value: i32, width: usize, height: usize,
        stream: StreamHandle,
    ) + cudaMemset2DAsync_ptsz |session| {
        session.submit(stream, Task::Fill(rows(start, pitch, value, (width, height))))
    }

    fn cudaMemset3D(
        target: PitchedPointer, value: i32, extent: Extent,
    ) + cudaMemset3D_ptds |session| {
        session.connection.fill(of_bytes(target, value, extent))
    }

    fn cudaMemset3DAsync(
        target: PitchedPointer, value: i32, extent: Extent, stream: StreamHandle,
    ) + cudaMemset3DAsync_ptsz |session| {
        session.submit(stream, Task::Fill(of_bytes(target, value, extent)))
    }
}
