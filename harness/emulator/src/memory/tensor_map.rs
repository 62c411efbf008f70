//! Tensor maps, which describe a tensor in global memory to bulk copies (PTX ISA 5.5).
//!
//! `CUtensorMap` is 128 opaque bytes: the driver writes them, the hardware reads them, and a program
//! passes them on. So the layout here is our own, but for the second 64-bit word: CUTLASS clears its bit
//! 21, a hint in NVIDIA's format, in every map of a tensor below 128 KiB. Nothing is kept in that word.
//!
//! ```text
//! byte   0   magic, type, rank and fill, interleaving, swizzle and in its upper half what it keeps together
//!        8   nothing
//!       16   address, then extents, then strides, 8 bytes each
//!       96   extents of the box less one, a byte each; from 104 on how far elements lie apart
//!      110   1 for a map of pixels, of which the rest speaks: corners, channels, pixels
//! ```

/// Bytes of a `CUtensorMap`.
pub const BYTES: usize = 128;
/// So that a kernel that is given something else is told so.
pub(super) const MAGIC: u32 = 0x6d61_7000;

/// How rows of a box are stored in shared memory (PTX ISA 5.5.7).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Swizzle {
    None,
    Bytes32,
    Bytes64,
    Bytes128,
    /// 128 bytes, in which pairs of chunks stay together.
    Bytes128Atom32,
    /// Halves stay together.
    Bytes128Atom64,
}

/// PTX ISA 5.5.6.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interleave {
    None,
    Bytes16,
    Bytes32,
}

/// What an im2col map says of its pixels (PTX ISA 5.5.4).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Im2col {
    /// The bounding box in the image, along W, H and D: where it begins, and how far its last position
    /// lies from the image's last.
    pub lower: [i16; 3],
    pub upper: [i16; 3],
    /// 1 to 256.
    pub channels: u32,
    /// 1 to 1024.
    pub pixels: u32,
}

/// A tensor map, decoded. Dimension 0 is the contiguous one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TensorMap {
    /// `CUtensorMapDataType`: 0 u8, 1 u16, 2 u32, 3 s32, 4 u64, 5 s64, 6 f16, 7 f32, 8 f64, 9 bf16,
    /// 10 f32 with subnormals flushed, 11 and 12 tf32, 13 to 15 packed 4 and 6 bit.
    pub data_type: u8,
    /// 1 to 5: the number of dimensions used.
    pub rank: u8,
    pub address: u64,
    /// Elements of each dimension.
    pub extent: [u64; 5],
    /// Bytes from one index of dimension `i + 1` to the next.
    pub stride: [u64; 4],
    /// Elements of the box that one copy moves.
    pub box_extent: [u32; 5],
    /// Every how many elements one is taken.
    pub element_stride: [u32; 5],
    pub interleave: Interleave,
    pub swizzle: Swizzle,
    /// Elements outside the tensor are NaN rather than zero.
    pub nan_fill: bool,
    /// Pixels rather than a box.
    pub im2col: Option<Im2col>,
}

impl TensorMap {
    /// Reads what `cuTensorMapEncodeTiled` wrote; `None` for other bytes.
    pub fn decode(bytes: &[u8; BYTES]) -> Option<Self> {
        let word = |at: usize| bytes[at..].first_chunk().map(|chunk| u32::from_le_bytes(*chunk));
        let long = |at: usize| bytes[at..].first_chunk().map(|chunk| u64::from_le_bytes(*chunk));
        if word(0)? != MAGIC {
            return None;
        }
        let interleave = match bytes[6] {
            0 => Interleave::None,
            1 => Interleave::Bytes16,
            _ => Interleave::Bytes32,
        };
        let swizzle = match (bytes[7] & 15, bytes[7] >> 4) {
            (0, _) => Swizzle::None,
            (1, _) => Swizzle::Bytes32,
            (2, _) => Swizzle::Bytes64,
            (_, 0) => Swizzle::Bytes128,
            (_, 1) => Swizzle::Bytes128Atom32,
            _ => Swizzle::Bytes128Atom64,
        };
        let mut map = Self {
            data_type: bytes[4],
            rank: bytes[5] & 0x7f,
            address: long(16)?,
            extent: [1; 5],
            stride: [0; 4],
            box_extent: [1; 5],
            element_stride: [1; 5],
            interleave,
            swizzle,
            nan_fill: bytes[5] & 0x80 != 0,
            im2col: None,
        };
        let half = |at: usize| bytes[at..].first_chunk().map(|chunk| u16::from_le_bytes(*chunk));
        if bytes[110] == 1 {
            let corner = |from: usize| {
                let signed = |d: usize| half(from + 2 * d).map(|half| half as i16);
                Some([signed(0)?, signed(1)?, signed(2)?])
            };
            map.im2col = Some(Im2col {
                lower: corner(112)?,
                upper: corner(118)?,
                channels: u32::from(half(124)?),
                pixels: u32::from(half(126)?),
            });
        }
        for dimension in 0..usize::from(map.rank).min(5) {
            map.extent[dimension] = long(24 + 8 * dimension)?;
            map.box_extent[dimension] = u32::from(bytes[96 + dimension]) + 1;
            map.element_stride[dimension] = u32::from(bytes[104 + dimension]);
        }
        for dimension in 0..usize::from(map.rank.saturating_sub(1)).min(4) {
            map.stride[dimension] = long(64 + 8 * dimension)?;
        }
        Some(map)
    }

    pub fn encode(&self) -> [u8; BYTES] {
        let mut bytes = [0; BYTES];
        bytes[..4].copy_from_slice(&MAGIC.to_le_bytes());
        bytes[4] = self.data_type;
        bytes[5] = self.rank | u8::from(self.nan_fill) << 7;
        bytes[6] = self.interleave as u8;
        // Mode and atomicity, as `tensormap.replace` numbers them.
        bytes[7] = match self.swizzle {
            Swizzle::None => 0,
            Swizzle::Bytes32 => 1,
            Swizzle::Bytes64 => 2,
            Swizzle::Bytes128 => 3,
            Swizzle::Bytes128Atom32 => 0x13,
            Swizzle::Bytes128Atom64 => 0x33,
        };
        let longs = [self.address].into_iter().chain(self.extent).chain(self.stride);
        for (index, long) in longs.enumerate() {
            bytes[16 + 8 * index..][..8].copy_from_slice(&long.to_le_bytes());
        }
        for dimension in 0..5 {
            bytes[96 + dimension] = (self.box_extent[dimension] - 1) as u8;
            bytes[104 + dimension] = self.element_stride[dimension] as u8;
        }
        if let Some(im2col) = &self.im2col {
            let halves = im2col.lower.iter().chain(&im2col.upper).map(|&corner| corner as u16);
            let counts = [im2col.channels as u16, im2col.pixels as u16];
            bytes[110] = 1;
            for (index, half) in halves.chain(counts).enumerate() {
                bytes[112 + 2 * index..][..2].copy_from_slice(&half.to_le_bytes());
            }
        }
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_encoded_decodes_to_the_same() {
        let map = TensorMap {
            data_type: 13,
            rank: 3,
            address: 0x7f00_1234_5670,
            extent: [1 << 32, 128, 7, 1, 1],
            stride: [4096, 1 << 39, 0, 0],
            box_extent: [256, 128, 1, 1, 1],
            element_stride: [1, 8, 2, 1, 1],
            interleave: Interleave::Bytes32,
            swizzle: Swizzle::Bytes128,
            nan_fill: true,
            im2col: None,
        };
        assert_eq!(TensorMap::decode(&map.encode()), Some(map.clone()));
        let im2col =
            Im2col { lower: [-1, 2, -16], upper: [-32768, 0, 15], channels: 256, pixels: 1024 };
        let map = TensorMap { im2col: Some(im2col), swizzle: Swizzle::Bytes128Atom64, ..map };
        assert_eq!(TensorMap::decode(&map.encode()), Some(map.clone()));
        assert_eq!(TensorMap::decode(&[0; BYTES]), None);
        // CUTLASS clears a bit of the second word: whatever stands there, the map is the same.
        let mut touched = map.encode();
        touched[8..16].fill(0);
        assert_eq!(TensorMap::decode(&touched), Some(map.clone()));
        touched[8..16].fill(0xff);
        assert_eq!(TensorMap::decode(&touched), Some(map));
    }
}
