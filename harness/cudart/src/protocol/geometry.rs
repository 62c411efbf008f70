//! Rectangles of bytes: what copies and fills go through.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::Address;
use crate::error::{Code, Failure};

/// `depth` slices of `height` rows of `width` bytes.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Shape {
    pub width: usize,
    pub height: usize,
    pub depth: usize,
}

/// Where such rows lie.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Grid {
    pub start: Address,
    /// Bytes from row to row, and from slice to slice.
    pub pitch: usize,
    pub slice: usize,
}

impl Shape {
    pub fn is_empty(&self) -> bool {
        self.width == 0 || self.height == 0 || self.depth == 0
    }

    /// Bytes in all.
    pub fn bytes(&self) -> Result<usize, Failure> {
        let rows = self.height.checked_mul(self.depth);
        rows.and_then(|rows| rows.checked_mul(self.width)).ok_or_else(overflow)
    }

    /// Bytes from the first to the last one touched, of a shape that is not empty.
    pub fn span(&self, grid: &Grid) -> Result<usize, Failure> {
        let slices = (self.depth - 1).checked_mul(grid.slice);
        let rows = (self.height - 1).checked_mul(grid.pitch);
        slices
            .zip(rows)
            .and_then(|(slices, rows)| slices.checked_add(rows)?.checked_add(self.width))
            .ok_or_else(overflow)
    }
}

impl Grid {
    /// The stretches of memory that hold bytes `range` of the shape, counted row by row. The shape's span
    /// fits in memory.
    pub fn runs(self, shape: Shape, range: Range<usize>) -> impl Iterator<Item = (Address, usize)> {
        // Rows that lie side by side are one long row.
        let shape = match self {
            Self { pitch, slice, .. }
                if pitch == shape.width && (shape.depth == 1 || slice == pitch * shape.height) =>
            {
                Shape { width: shape.width * shape.height * shape.depth, height: 1, depth: 1 }
            }
            _ => shape,
        };
        let mut at = range.start;
        std::iter::from_fn(move || {
            if at >= range.end {
                return None;
            }
            let (row, column) = (at / shape.width, at % shape.width);
            let (slice, row) = (row / shape.height, row % shape.height);
            let bytes = (shape.width - column).min(range.end - at);
            at += bytes;
            let offset = slice * self.slice + row * self.pitch + column;
            Some((self.start + offset as u64, bytes))
        })
    }
}

/// Slices of rows of elements that all get the same value.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Fill {
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
    /// Where it goes; `None` where it is nothing.
    ///
    /// # Errors
    /// What is wrong with its shape.
    pub fn target(&self) -> Result<Option<(Grid, Shape)>, Failure> {
        let Self { start, pitch, slice, element, height, depth, .. } = *self;
        if self.width == 0 || height == 0 || depth == 0 {
            return Ok(None);
        }
        if !matches!(element, 1 | 2 | 4) || !start.is_multiple_of(u64::from(element)) {
            let detail = format!("{start:#x} is not aligned to elements of {element} bytes");
            return Err(Code::INVALID_VALUE.because(detail));
        }
        let width = self.width.checked_mul(element as usize).ok_or_else(overflow)?;
        let rows = height > 1 || depth > 1;
        if rows && width > pitch || depth > 1 && height > slice {
            return Err(Code::INVALID_PITCH.because("a row is wider than its pitch"));
        }
        let slice = if depth > 1 { slice.checked_mul(pitch).ok_or_else(overflow)? } else { 0 };
        Ok(Some((Grid { start, pitch, slice }, Shape { width, height, depth })))
    }
}

pub(crate) fn overflow() -> Failure {
    Code::INVALID_VALUE.because("the size overflows")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(grid: Grid, shape: Shape, range: Range<usize>) -> Vec<(Address, usize)> {
        grid.runs(shape, range).collect()
    }

    #[test]
    fn bytes_are_counted_row_by_row() {
        let shape = Shape { width: 3, height: 2, depth: 2 };
        let grid = Grid { start: 100, pitch: 10, slice: 50 };
        assert_eq!(all(grid, shape, 0..12), [(100, 3), (110, 3), (150, 3), (160, 3)]);
        assert_eq!(all(grid, shape, 4..8), [(111, 2), (150, 2)]);
        assert_eq!((shape.span(&grid).unwrap(), shape.bytes().unwrap()), (63, 12));
    }

    #[test]
    fn rows_side_by_side_are_one() {
        let shape = Shape { width: 4, height: 5, depth: 1 };
        let grid = Grid { start: 8, pitch: 4, slice: 0 };
        assert_eq!(all(grid, shape, 2..20), [(10, 18)]);
        let shape = Shape { depth: 2, ..shape };
        assert_eq!(all(Grid { slice: 20, ..grid }, shape, 0..40), [(8, 40)]);
        assert_eq!(all(Grid { slice: 24, ..grid }, shape, 18..22), [(26, 2), (32, 2)]);
    }

    #[test]
    fn what_overflows_is_refused() {
        let huge = Shape { width: usize::MAX, height: 2, depth: 2 };
        assert!(huge.bytes().is_err());
        assert!(huge.span(&Grid { start: 0, pitch: usize::MAX, slice: 1 }).is_err());
    }
}
