//! Tensor maps, which describe a tensor in global memory to bulk copies (PTX ISA 5.5).
//!
//! `CUtensorMap` is 128 opaque bytes: the driver writes them, the hardware reads them, and a program
//! only passes them on. So the layout here is our own.

use super::abi::{Address, In, Out};

/// Bytes of a `CUtensorMap`.
const BYTES: usize = 128;
/// So that a kernel that is given something else is told so.
const MAGIC: u32 = 0x6d61_7000;

/// How rows of a box are stored in shared memory (PTX ISA 5.5.7).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Swizzle {
    None,
    Bytes32,
    Bytes64,
    Bytes128,
}

/// PTX ISA 5.5.6.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interleave {
    None,
    Bytes16,
    Bytes32,
}

/// A tiled tensor map, decoded. Dimension 0 is the contiguous one.
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
        let swizzle = match bytes[7] {
            0 => Swizzle::None,
            1 => Swizzle::Bytes32,
            2 => Swizzle::Bytes64,
            _ => Swizzle::Bytes128,
        };
        let mut map = Self {
            data_type: bytes[4],
            rank: bytes[5] & 0x7f,
            address: long(8)?,
            extent: [1; 5],
            stride: [0; 4],
            box_extent: [1; 5],
            element_stride: [1; 5],
            interleave,
            swizzle,
            nan_fill: bytes[5] & 0x80 != 0,
        };
        for dimension in 0..usize::from(map.rank).min(5) {
            map.extent[dimension] = long(16 + 8 * dimension)?;
            map.box_extent[dimension] = u32::from(bytes[88 + dimension]) + 1;
            map.element_stride[dimension] = u32::from(bytes[96 + dimension]);
        }
        for dimension in 0..usize::from(map.rank.saturating_sub(1)).min(4) {
            map.stride[dimension] = long(56 + 8 * dimension)?;
        }
        Some(map)
    }

    fn encode(&self) -> [u8; BYTES] {
        let mut bytes = [0; BYTES];
        bytes[..4].copy_from_slice(&MAGIC.to_le_bytes());
        bytes[4] = self.data_type;
        bytes[5] = self.rank | u8::from(self.nan_fill) << 7;
        bytes[6] = self.interleave as u8;
        bytes[7] = self.swizzle as u8;
        let longs = [self.address].into_iter().chain(self.extent).chain(self.stride);
        for (index, long) in longs.enumerate() {
            bytes[8 + 8 * index..][..8].copy_from_slice(&long.to_le_bytes());
        }
        for dimension in 0..5 {
            bytes[88 + dimension] = (self.box_extent[dimension] - 1) as u8;
            bytes[96 + dimension] = self.element_stride[dimension] as u8;
        }
        bytes
    }
}

/// `CUDA_SUCCESS`, `CUDA_ERROR_INVALID_VALUE`
const SUCCESS: u32 = 0;
const INVALID_VALUE: u32 = 1;

/// Checks what the driver's documentation demands of the arguments, and writes the map.
#[unsafe(no_mangle)]
pub(super) extern "C" fn cuTensorMapEncodeTiled(
    map: Out<[u8; BYTES]>,
    data_type: u32,
    rank: u32,
    address: Address,
    extent: In<u64>,
    stride: In<u64>,
    box_extent: In<u32>,
    element_stride: In<u32>,
    interleave: u32,
    swizzle: u32,
    _l2_promotion: u32,
    fill: u32,
) -> u32 {
    let encoded = tiled(data_type, rank, address, extent, stride, box_extent, element_stride)
        .filter(|_| interleave <= 2 && swizzle <= 3 && fill <= 1)
        .map(|tiled| TensorMap {
            interleave: [Interleave::None, Interleave::Bytes16, Interleave::Bytes32]
                [interleave as usize],
            swizzle: [Swizzle::None, Swizzle::Bytes32, Swizzle::Bytes64, Swizzle::Bytes128]
                [swizzle as usize],
            nan_fill: fill == 1,
            ..tiled
        });
    match encoded.map(|encoded| map.set(encoded.encode())) {
        Some(Ok(())) => SUCCESS,
        _ => INVALID_VALUE,
    }
}

fn tiled(
    data_type: u32,
    rank: u32,
    address: Address,
    extent: In<u64>,
    stride: In<u64>,
    box_extent: In<u32>,
    element_stride: In<u32>,
) -> Option<TensorMap> {
    if data_type > 15 || !(1..=5).contains(&rank) || !address.is_multiple_of(16) {
        return None;
    }
    let mut map = TensorMap {
        data_type: data_type as u8,
        rank: rank as u8,
        address,
        extent: [1; 5],
        stride: [0; 4],
        box_extent: [1; 5],
        element_stride: [1; 5],
        interleave: Interleave::None,
        swizzle: Swizzle::None,
        nan_fill: false,
    };
    for dimension in 0..rank as usize {
        map.extent[dimension] = extent.at(dimension).ok()?;
        map.box_extent[dimension] = box_extent.at(dimension).ok()?;
        map.element_stride[dimension] = element_stride.at(dimension).ok()?;
        let fits = (1..=1 << 32).contains(&map.extent[dimension])
            && (1..=256).contains(&map.box_extent[dimension])
            && (1..=8).contains(&map.element_stride[dimension]);
        if !fits {
            return None;
        }
    }
    for dimension in 0..rank as usize - 1 {
        map.stride[dimension] = stride.at(dimension).ok()?;
        if !map.stride[dimension].is_multiple_of(16) || map.stride[dimension] >= 1 << 40 {
            return None;
        }
    }
    Some(map)
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
        };
        assert_eq!(TensorMap::decode(&map.encode()), Some(map));
        assert_eq!(TensorMap::decode(&[0; BYTES]), None);
    }
}
