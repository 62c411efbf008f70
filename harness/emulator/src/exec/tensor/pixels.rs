//! Im2col: pixels of a batch of images, one after the other, as the columns of a convolution's matrix
//! (PTX ISA 5.5.4).
//!
//! The map has a bounding box in the image, given by how far its corners lie inside (or outside) the
//! image's, and how many pixels a copy takes. The copy begins at its coordinates and goes along W; at
//! the box's edge it goes on at the other edge of the next row, then of the next slice, then in the
//! next image. The instruction's offsets are added to each pixel: which of the filter's taps this is.
//!
//! ```text
//! 3 wide, 2 high, corners (0, 0) and (-1, 0): a filter of width 2     a b c    box: a b
//! 5 pixels from (w, h, n) = (1, 0, 0), offsets (1, 0)                 d e f         d e
//!   positions b, d, e of image 0, then a, b of image 1
//!   loaded    c, e, f             then b, c
//! ```

use crate::memory::{Im2col, TensorMap};

/// Positions of the pixels of a copy, before its offsets: along the inner dimensions W, H, D as far as
/// there are any, and last the image.
pub struct Pixels<'a> {
    map: &'a TensorMap,
    im2col: &'a Im2col,
    /// Coordinates, of the channel first.
    at: [i64; 5],
    left: u32,
}

impl<'a> Pixels<'a> {
    pub fn new(map: &'a TensorMap, im2col: &'a Im2col, first: [i64; 5]) -> Self {
        Self { map, im2col, at: first, left: im2col.pixels }
    }

    fn advance(&mut self) {
        let images = usize::from(self.map.rank).clamp(3, 5) - 1;
        for d in 1..images {
            self.at[d] += i64::from(self.map.element_stride[d].max(1));
            let last = self.map.extent[d] as i64 - 1 + i64::from(self.im2col.upper[d - 1]);
            if self.at[d] <= last {
                return;
            }
            self.at[d] = i64::from(self.im2col.lower[d - 1]);
        }
        self.at[images] += 1;
    }
}

impl Iterator for Pixels<'_> {
    type Item = [i64; 5];

    fn next(&mut self) -> Option<[i64; 5]> {
        self.left = self.left.checked_sub(1)?;
        let here = self.at;
        self.advance();
        Some(here)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::{Interleave, Swizzle};

    fn map(extent: [u64; 5], rank: u8, stride: u32, im2col: Im2col) -> TensorMap {
        TensorMap {
            data_type: 0,
            rank,
            address: 0,
            extent,
            stride: [16; 4],
            box_extent: [1; 5],
            element_stride: [1, stride, stride, stride, 1],
            interleave: Interleave::None,
            swizzle: Swizzle::None,
            nan_fill: false,
            im2col: Some(im2col),
        }
    }

    /// Sizes and corners of the manual's second example (5.5.4.1): images of 9 × 14 pixels and a filter of
    /// 3 × 3 without padding, which may stand at 7 × 12 positions.
    #[test]
    fn rows_end_at_the_upper_corner() {
        let im2col = Im2col { lower: [0; 3], upper: [-2, -2, 0], channels: 8, pixels: 10 };
        let map = map([64, 9, 14, 64, 1], 4, 1, im2col.clone());
        let places: Vec<_> =
            Pixels::new(&map, &im2col, [0, 6, 11, 4, 0]).map(|at| (at[1], at[2], at[3])).collect();
        assert_eq!(places[0], (6, 11, 4), "the last position of image 4");
        assert_eq!(
            places[1..9],
            [0, 1, 2, 3, 4, 5, 6]
                .map(|w| (w, 0, 5))
                .into_iter()
                .chain([(0, 1, 5)])
                .collect::<Vec<_>>()[..]
        );
        assert_eq!(places[9], (1, 1, 5));
    }

    #[test]
    fn strides_and_padding() {
        let im2col = Im2col { lower: [-1, -1, 0], upper: [-1, -1, 0], channels: 16, pixels: 6 };
        let map = map([64, 8, 4, 2, 1], 4, 2, im2col.clone());
        let places: Vec<_> =
            Pixels::new(&map, &im2col, [0, 3, -1, 0, 0]).map(|at| (at[1], at[2], at[3])).collect();
        assert_eq!(places, [(3, -1, 0), (5, -1, 0), (-1, 1, 0), (1, 1, 0), (3, 1, 0), (5, 1, 0)]);
    }
}
