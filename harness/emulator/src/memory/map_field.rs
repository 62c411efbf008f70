//! What `tensormap.replace` can change in a tensor map (PTX ISA 9.7.9.28).

use super::TensorMap;
use super::tensor_map::{BYTES, MAGIC};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MapField {
    GlobalAddress,
    GlobalStride,
    GlobalDim,
    BoxDim,
    ElementStride,
    Rank,
    ElementType,
    Interleave,
    SwizzleMode,
    SwizzleAtomicity,
    FillMode,
}

impl MapField {
    pub const ALL: [Self; 11] = [
        Self::GlobalAddress,
        Self::GlobalStride,
        Self::GlobalDim,
        Self::BoxDim,
        Self::ElementStride,
        Self::Rank,
        Self::ElementType,
        Self::Interleave,
        Self::SwizzleMode,
        Self::SwizzleAtomicity,
        Self::FillMode,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::GlobalAddress => "global_address",
            Self::GlobalStride => "global_stride",
            Self::GlobalDim => "global_dim",
            Self::BoxDim => "box_dim",
            Self::ElementStride => "element_stride",
            Self::Rank => "rank",
            Self::ElementType => "elemtype",
            Self::Interleave => "interleave_layout",
            Self::SwizzleMode => "swizzle_mode",
            Self::SwizzleAtomicity => "swizzle_atomicity",
            Self::FillMode => "fill_mode",
        }
    }

    /// Ordinals that it has; without any, one.
    pub fn count(self) -> u64 {
        match self {
            Self::GlobalStride => 4,
            Self::GlobalDim | Self::BoxDim | Self::ElementStride => 5,
            _ => 1,
        }
    }

    /// Values have 64 bits.
    pub fn is_wide(self) -> bool {
        matches!(self, Self::GlobalAddress | Self::GlobalStride)
    }
}

/// Types by their numbers in Table 33, which are not those of `CUtensorMapDataType` from 8 to 10.
const TYPES: [u8; 16] = [0, 1, 2, 3, 4, 5, 6, 7, 10, 8, 9, 11, 12, 13, 14, 15];

impl TensorMap {
    /// Put a value in place of a field of an encoded map.
    ///
    /// # Errors
    /// A sentence without its subject: why there can be no such map.
    pub fn replace(
        bytes: &mut [u8; BYTES],
        field: MapField,
        ordinal: usize,
        value: u64,
    ) -> Result<(), String> {
        let refuse = |why: &str| Err(format!("replaces .{} by {value:#x}: {why}", field.name()));
        if bytes[..4] != MAGIC.to_le_bytes() {
            return refuse("there is no tensor map that the driver encoded");
        }
        if bytes[110] == 1 {
            return refuse("the map is one of pixels (im2col), and .tile is for boxes");
        }
        let ordinal = ordinal.min(field.count() as usize - 1);
        let mut long =
            |at: usize| bytes[at + 8 * ordinal..][..8].copy_from_slice(&value.to_le_bytes());
        match field {
            MapField::GlobalAddress if value.is_multiple_of(16) => long(16),
            MapField::GlobalAddress => return refuse("addresses are multiples of 16"),
            MapField::GlobalDim => long(24),
            MapField::GlobalStride if value.is_multiple_of(16) && value < 1 << 40 => long(64),
            MapField::GlobalStride => return refuse("strides are multiples of 16 below 2^40"),
            MapField::BoxDim if (1..=256).contains(&value) => {
                bytes[96 + ordinal] = (value - 1) as u8
            }
            MapField::BoxDim => return refuse("a box has 1 to 256 elements in each dimension"),
            MapField::ElementStride if (1..=8).contains(&value) => {
                bytes[104 + ordinal] = value as u8;
            }
            MapField::ElementStride => return refuse("element strides are 1 to 8"),
            MapField::Rank if value < 5 => bytes[5] = bytes[5] & 0x80 | (value + 1) as u8,
            MapField::Rank => return refuse("ranks less one are 0 to 4"),
            MapField::ElementType => match TYPES.get(value as usize) {
                Some(&number) => bytes[4] = number,
                None => return refuse("types are 0 to 15"),
            },
            MapField::Interleave if value < 3 => bytes[6] = value as u8,
            MapField::Interleave => return refuse("interleavings are 0 to 2"),
            MapField::SwizzleMode if value < 4 => bytes[7] = bytes[7] & 0xf0 | value as u8,
            MapField::SwizzleMode => {
                return refuse("modes are 0 to 3; 4, of 96 bytes, is sm_103a's");
            }
            MapField::SwizzleAtomicity if matches!(value, 0 | 1 | 3) => {
                bytes[7] = bytes[7] & 0x0f | (value as u8) << 4;
            }
            MapField::SwizzleAtomicity if value == 2 => {
                return refuse("the pattern that flips 8 bytes is not supported");
            }
            MapField::SwizzleAtomicity => return refuse("atomicities are 0 to 3"),
            MapField::FillMode if value < 2 => bytes[5] = bytes[5] & 0x7f | (value as u8) << 7,
            MapField::FillMode => return refuse("fills are 0 and 1"),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::{Interleave, Swizzle};

    fn map() -> TensorMap {
        TensorMap {
            data_type: 6,
            rank: 2,
            address: 0x1000,
            extent: [64, 32, 1, 1, 1],
            stride: [128, 0, 0, 0],
            box_extent: [16, 8, 1, 1, 1],
            element_stride: [1; 5],
            interleave: Interleave::None,
            swizzle: Swizzle::Bytes128,
            nan_fill: false,
            im2col: None,
        }
    }

    #[test]
    fn every_field_is_found_where_it_was_put() {
        let mut bytes = map().encode();
        let fields = [
            (MapField::GlobalAddress, 0, 0x2000),
            (MapField::GlobalDim, 1, 7),
            (MapField::GlobalDim, 2, 3),
            (MapField::GlobalStride, 1, 4096),
            (MapField::BoxDim, 1, 256),
            (MapField::ElementStride, 0, 2),
            (MapField::Rank, 0, 2),
            (MapField::ElementType, 0, 10),
            (MapField::SwizzleAtomicity, 0, 1),
            (MapField::FillMode, 0, 1),
        ];
        for (field, ordinal, value) in fields {
            TensorMap::replace(&mut bytes, field, ordinal, value).expect("a map");
        }
        let expected = TensorMap {
            data_type: 9,
            rank: 3,
            address: 0x2000,
            extent: [64, 7, 3, 1, 1],
            stride: [128, 4096, 0, 0],
            box_extent: [16, 256, 1, 1, 1],
            element_stride: [2, 1, 1, 1, 1],
            swizzle: Swizzle::Bytes128Atom32,
            nan_fill: true,
            ..map()
        };
        assert_eq!(TensorMap::decode(&bytes), Some(expected));
        TensorMap::replace(&mut bytes, MapField::SwizzleMode, 0, 2).expect("a map");
        let swizzle = TensorMap::decode(&bytes).map(|map| map.swizzle);
        assert_eq!(swizzle, Some(Swizzle::Bytes64), "atomicity is for 128 bytes");
    }

    #[test]
    fn what_no_map_has_is_refused() {
        let refused = [
            (MapField::GlobalAddress, 8),
            (MapField::GlobalStride, 1 << 40),
            (MapField::BoxDim, 0),
            (MapField::ElementStride, 9),
            (MapField::Rank, 5),
            (MapField::ElementType, 16),
            (MapField::SwizzleAtomicity, 2),
        ];
        for (field, value) in refused {
            assert!(TensorMap::replace(&mut map().encode(), field, 0, value).is_err(), "{field:?}");
        }
        let mut other = [0; BYTES];
        assert!(TensorMap::replace(&mut other, MapField::Rank, 0, 1).is_err());
    }
}
