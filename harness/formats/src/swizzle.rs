//! The 128x4 layout of block scales (cuBLAS "1D block scaling factors layout", what the Blackwell
//! tensor cores read).
//!
//! A matrix of scales, one row per matrix row and one column per block, is cut into tiles of 128
//! rows by 4 columns; tiles follow each other along the columns first. A tile is 512 bytes: 32
//! groups of 16, and group `g` holds the four columns of the rows g, g+32, g+64, g+96:
//!
//! ```text
//! byte    0  1  2  3 | 4  5  6  7 | 8  9 10 11 |12 13 14 15 |16 …
//! row     0  0  0  0 |32 32 32 32 |64 64 64 64 |96 96 96 96 | 1 …
//! column  0  1  2  3 | 0  1  2  3 | 0  1  2  3 | 0  1  2  3 | 0 …
//! ```
//!
//! Rows are padded to 128 and columns to 4; the pads hold zero.

pub const TILE_ROWS: usize = 128;
pub const TILE_COLUMNS: usize = 4;

/// Rows that the layout stores for `rows`.
#[inline]
pub const fn padded_rows(rows: usize) -> usize {
    rows.next_multiple_of(TILE_ROWS)
}

/// Columns that the layout stores for `columns`.
#[inline]
pub const fn padded_columns(columns: usize) -> usize {
    columns.next_multiple_of(TILE_COLUMNS)
}

/// Bytes of a scale matrix of `rows` by `columns`, pads included.
#[inline]
pub const fn padded_len(rows: usize, columns: usize) -> usize {
    padded_rows(rows) * padded_columns(columns)
}

/// Where the scale of (`row`, `column`) lies, in a matrix of `columns` scale columns.
#[inline]
pub const fn offset(row: usize, column: usize, columns: usize) -> usize {
    let tile = (row / TILE_ROWS) * columns.div_ceil(TILE_COLUMNS) + column / TILE_COLUMNS;
    let group = row % 32;
    let quarter = (row % TILE_ROWS) / 32;
    tile * 512 + group * 16 + quarter * 4 + column % TILE_COLUMNS
}

/// The (row, column) stored at `offset`: the inverse of [`offset`]. It may lie in the padding.
#[inline]
pub const fn position(offset: usize, columns: usize) -> (usize, usize) {
    let tiles_across = columns.div_ceil(TILE_COLUMNS);
    let tile = offset / 512;
    let inside = offset % 512;
    let row = (tile / tiles_across) * TILE_ROWS + inside / 4 % 4 * 32 + inside / 16;
    (row, (tile % tiles_across) * TILE_COLUMNS + inside % 4)
}
