//! `cudaMemset` and its relatives.

use super::abi::{Address, Extent, PitchedPointer, StreamHandle};
use super::error::{Code, Failure, Outcome};
use super::session::Session;

impl Session {
    /// Fills rows of `extent`; `pitch` bytes from row to row, `slice` rows from slice to slice.
    fn fill(
        &mut self,
        start: Address,
        (pitch, slice): (usize, usize),
        value: i32,
        extent: Extent,
    ) -> Outcome {
        let Extent { width, height, depth } = extent;
        if width == 0 || height == 0 || depth == 0 {
            return Ok(());
        }
        let rows = height > 1 || depth > 1;
        if rows && width > pitch || depth > 1 && height > slice {
            return Err(Code::INVALID_PITCH.because("a row is wider than its pitch"));
        }
        let span = (depth - 1)
            .checked_mul(slice)
            .and_then(|rows| rows.checked_add(height - 1)?.checked_mul(pitch)?.checked_add(width))
            .ok_or_else(|| -> Failure { Code::INVALID_VALUE.because("the size overflows") })?;
        self.check_range("the destination", start, span, Some(true))?;
        for row in (0..depth).flat_map(|z| (0..height).map(move |y| z * slice + y)) {
            let at = start + (row * pitch) as u64;
            // SAFETY: inside the range that was checked above.
            unsafe { std::ptr::write_bytes(at as *mut u8, value as u8, width) };
            self.machine.memory().define(at, width as u64);
        }
        Ok(())
    }

    fn fill_3d(&mut self, target: PitchedPointer, value: i32, extent: Extent) -> Outcome {
        self.fill(target.pointer, (target.pitch, target.height), value, extent)
    }
}

fn flat(width: usize, height: usize) -> Extent {
    Extent { width, height, depth: 1 }
}

runtime! {
    fn cudaMemset(start: Address, value: i32, bytes: usize) + cudaMemset_ptds |session| {
        session.fill(start, (bytes, 1), value, flat(bytes, 1))
    }

    fn cudaMemsetAsync(
        start: Address, value: i32, bytes: usize, stream: StreamHandle,
    ) + cudaMemsetAsync_ptsz |session| {
        session.submit(stream, move |session| session.fill(start, (bytes, 1), value, flat(bytes, 1)))
    }

    fn cudaMemset2D(
        start: Address, pitch: usize, value: i32, width: usize, height: usize,
    ) + cudaMemset2D_ptds |session| {
        session.fill(start, (pitch, height), value, flat(width, height))
    }

    fn cudaMemset2DAsync(
        start: Address, pitch: usize, value: i32, width: usize, height: usize,
        stream: StreamHandle,
    ) + cudaMemset2DAsync_ptsz |session| {
        session.submit(stream, move |session| session.fill(start, (pitch, height), value, flat(width, height)))
    }

    fn cudaMemset3D(
        target: PitchedPointer, value: i32, extent: Extent,
    ) + cudaMemset3D_ptds |session| {
        session.fill_3d(target, value, extent)
    }

    fn cudaMemset3DAsync(
        target: PitchedPointer, value: i32, extent: Extent, stream: StreamHandle,
    ) + cudaMemset3DAsync_ptsz |session| {
        session.submit(stream, move |session| session.fill_3d(target, value, extent))
    }
}
