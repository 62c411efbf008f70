//! Packing, and the 128x4 scale layout against what FlashInfer's `block_scale_interleave` and
//! TorchAO's `to_blocked` produce (both agree).

use formats::{pack, swizzle};

/// For each byte of the swizzled layout: 1 + row-major index of the scale there, 0 for padding.
/// A NumPy file of little-endian i32; version 1.0 keeps its header length in bytes 8 and 9.
fn source_indices(file: &[u8]) -> Vec<i32> {
    assert_eq!(&file[..8], b"\x93NUMPY\x01\x00");
    let data = 10 + usize::from(u16::from_le_bytes([file[8], file[9]]));
    file[data..].chunks_exact(4).map(|c| i32::from_le_bytes([c[0], c[1], c[2], c[3]])).collect()
}

#[test]
fn the_swizzle_is_the_libraries() {
    let golden: [(usize, usize, &[u8]); 4] = [
        (16, 1, include_bytes!("golden/swizzle_16x1.npy")),
        (129, 5, include_bytes!("golden/swizzle_129x5.npy")),
        (200, 6, include_bytes!("golden/swizzle_200x6.npy")),
        (1, 64, include_bytes!("golden/swizzle_1x64.npy")),
    ];
    for (rows, columns, file) in golden {
        let expected = source_indices(file);
        assert_eq!(swizzle::padded_len(rows, columns), expected.len());
        let mut given = vec![0; expected.len()];
        for row in 0..rows {
            for column in 0..columns {
                given[swizzle::offset(row, column, columns)] = 1 + (row * columns + column) as i32;
            }
        }
        assert_eq!(given, expected, "{rows}x{columns}");
    }
}

#[test]
fn position_inverts_offset() {
    for columns in [1, 4, 5, 13] {
        for offset in 0..swizzle::padded_len(300, columns) {
            let (row, column) = swizzle::position(offset, columns);
            assert_eq!(swizzle::offset(row, column, columns), offset);
            assert!(row < 384 && column < swizzle::padded_columns(columns));
        }
    }
}

#[test]
fn the_even_element_is_the_low_nibble() {
    assert_eq!(pack::pair(0x3, 0xc), 0xc3);
    assert_eq!(pack::split(0xc3), (0x3, 0xc));
    let mut bytes = [0xff, 0x21];
    pack::set(&mut bytes, 1, 0);
    assert_eq!(bytes, [0x0f, 0x21]);
    assert_eq!([0, 1, 2, 3].map(|i| pack::get(&bytes, i)), [0xf, 0x0, 0x1, 0x2]);
}
