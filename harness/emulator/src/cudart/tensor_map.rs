//! The driver's function that writes tensor maps.

use super::abi::{Address, In, Out};
use crate::memory::{Interleave, Swizzle, TensorMap};

/// Bytes of a `CUtensorMap`.
const BYTES: usize = 128;

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
