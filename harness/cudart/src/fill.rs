//! `cudaMemset` and its relatives.

use super::abi::{Address, Extent, PitchedPointer, StreamHandle};
use super::error::{Code, Failure, Outcome};
use super::graph::Task;
use super::session::Session;

/// Slices of rows of elements that all get the same value.
#[derive(Clone, Copy)]
pub(super) struct Fill {
    pub start: Address,
    /// Bytes from row to row.
    pub pitch: usize,
    /// Rows from slice to slice.
    pub slice: usize,
    pub value: u32,
    /// Bytes of an element: as many of the value, the low ones.
    pub element: u32,
    /// Elements of a row.
    pub width: usize,
    pub height: usize,
    pub depth: usize,
}

impl Fill {
    /// Rows of elements.
    pub fn of_elements(
        start: Address,
        pitch: usize,
        (value, element): (u32, u32),
        (width, height): (usize, usize),
    ) -> Self {
        Self { start, pitch, slice: height, value, element, width, height, depth: 1 }
    }

    fn of_bytes(target: PitchedPointer, value: i32, extent: Extent) -> Self {
        let PitchedPointer { pointer: start, pitch, height: slice, .. } = target;
        let Extent { width, height, depth } = extent;
        Self { start, pitch, slice, value: value as u32, element: 1, width, height, depth }
    }

    fn rows(start: Address, pitch: usize, value: i32, (width, height): (usize, usize)) -> Self {
        Self::of_elements(start, pitch, (value as u32, 1), (width, height))
    }
}

impl Session {
    pub fn fill(&mut self, fill: &Fill) -> Outcome {
        let Fill { start, pitch, slice, height, depth, .. } = *fill;
        if fill.width == 0 || height == 0 || depth == 0 {
            return Ok(());
        }
        if !start.is_multiple_of(u64::from(fill.element)) {
            let detail = format!("{start:#x} is not aligned to elements of {} bytes", fill.element);
            return Err(Code::INVALID_VALUE.because(detail));
        }
        let overflow = || -> Failure { Code::INVALID_VALUE.because("the size overflows") };
        let element = fill.element as usize;
        let width = fill.width.checked_mul(element).ok_or_else(overflow)?;
        let rows = height > 1 || depth > 1;
        if rows && width > pitch || depth > 1 && height > slice {
            return Err(Code::INVALID_PITCH.because("a row is wider than its pitch"));
        }
        let span = (depth - 1)
            .checked_mul(slice)
            .and_then(|rows| rows.checked_add(height - 1)?.checked_mul(pitch)?.checked_add(width))
            .ok_or_else(overflow)?;
        self.check_range("the destination", start, span, Some(true))?;
        self.count_fill(start, (width * height * depth) as u64);
        let pattern = &fill.value.to_le_bytes()[..element];
        for row in (0..depth).flat_map(|z| (0..height).map(move |y| z * slice + y)) {
            let at = start + (row * pitch) as u64;
            let to = std::ptr::with_exposed_provenance_mut::<u8>(
                self.machine.memory().host(at) as usize
            );
            // SAFETY: inside the range that was checked above.
            let row = unsafe { std::slice::from_raw_parts_mut(to, width) };
            match pattern {
                &[byte] => row.fill(byte),
                pattern => row.chunks_exact_mut(element).for_each(|to| to.copy_from_slice(pattern)),
            }
            self.machine.memory().define(at, width as u64);
        }
        Ok(())
    }
}

runtime! {
    fn cudaMemset(start: Address, value: i32, bytes: usize) + cudaMemset_ptds |session| {
        session.fill(&Fill::rows(start, bytes, value, (bytes, 1)))
    }

    fn cudaMemsetAsync(
        start: Address, value: i32, bytes: usize, stream: StreamHandle,
    ) + cudaMemsetAsync_ptsz |session| {
        session.submit(stream, Task::Fill(Fill::rows(start, bytes, value, (bytes, 1))))
    }

    fn cudaMemset2D(
        start: Address, pitch: usize, value: i32, width: usize, height: usize,
    ) + cudaMemset2D_ptds |session| {
        session.fill(&Fill::rows(start, pitch, value, (width, height)))
    }

    fn cudaMemset2DAsync(
        start: Address, pitch: usize, value: i32, width: usize, height: usize,
        stream: StreamHandle,
    ) + cudaMemset2DAsync_ptsz |session| {
        session.submit(stream, Task::Fill(Fill::rows(start, pitch, value, (width, height))))
    }

    fn cudaMemset3D(
        target: PitchedPointer, value: i32, extent: Extent,
    ) + cudaMemset3D_ptds |session| {
        session.fill(&Fill::of_bytes(target, value, extent))
    }

    fn cudaMemset3DAsync(
        target: PitchedPointer, value: i32, extent: Extent, stream: StreamHandle,
    ) + cudaMemset3DAsync_ptsz |session| {
        session.submit(stream, Task::Fill(Fill::of_bytes(target, value, extent)))
    }
}
