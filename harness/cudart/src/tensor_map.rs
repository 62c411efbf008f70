//! The driver's functions that write tensor maps.

use super::abi::{Address, In, Out};
use emulator::{Im2col, Interleave, Swizzle, TensorMap};

/// Bytes of a `CUtensorMap`.
const BYTES: usize = 128;

/// `CUDA_SUCCESS`, `CUDA_ERROR_INVALID_VALUE`
const SUCCESS: u32 = 0;
const INVALID_VALUE: u32 = 1;

/// What both kinds of map have.
struct Common {
    interleave: u32,
    swizzle: u32,
    fill: u32,
}

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
    let shape = plain(data_type, rank, address, extent, stride, element_stride);
    let encoded = shape.and_then(|shape| with_box(shape, box_extent));
    write(map, encoded, &Common { interleave, swizzle, fill })
}

/// As [`cuTensorMapEncodeTiled`], for the pixels of a convolution. Corners stand in the order W, H, D.
#[unsafe(no_mangle)]
pub(super) extern "C" fn cuTensorMapEncodeIm2col(
    map: Out<[u8; BYTES]>,
    data_type: u32,
    rank: u32,
    address: Address,
    extent: In<u64>,
    stride: In<u64>,
    lower: In<i32>,
    upper: In<i32>,
    channels: u32,
    pixels: u32,
    element_stride: In<u32>,
    interleave: u32,
    swizzle: u32,
    _l2_promotion: u32,
    fill: u32,
) -> u32 {
    let shape = plain(data_type, rank, address, extent, stride, element_stride);
    let encoded = shape.and_then(|shape| with_pixels(shape, (lower, upper), channels, pixels));
    write(map, encoded, &Common { interleave, swizzle, fill })
}

fn write(map: Out<[u8; BYTES]>, encoded: Option<TensorMap>, common: &Common) -> u32 {
    let interleaves = [Interleave::None, Interleave::Bytes16, Interleave::Bytes32];
    // By `CUtensorMapSwizzle`; 5 flips halves of chunks in every other row, in a way that the manual
    // only draws.
    let swizzle = match common.swizzle {
        0 => Some(Swizzle::None),
        1 => Some(Swizzle::Bytes32),
        2 => Some(Swizzle::Bytes64),
        3 => Some(Swizzle::Bytes128),
        4 => Some(Swizzle::Bytes128Atom32),
        6 => Some(Swizzle::Bytes128Atom64),
        _ => None,
    };
    let interleave = interleaves.get(common.interleave as usize).copied();
    let found = encoded.zip(swizzle).zip(interleave).filter(|_| common.fill <= 1);
    let whole = found.map(|((encoded, swizzle), interleave)| {
        let mut whole = TensorMap { interleave, swizzle, nan_fill: common.fill == 1, ..encoded };
        if interleave == Interleave::None {
            // It has no say there.
            whole.element_stride[0] = 1;
        }
        whole
    });
    match whole.map(|whole| map.set(whole.encode())) {
        Some(Ok(())) => SUCCESS,
        _ => INVALID_VALUE,
    }
}

fn with_box(shape: TensorMap, extent: In<u32>) -> Option<TensorMap> {
    let mut box_extent = [1; 5];
    for (dimension, of) in box_extent.iter_mut().enumerate().take(shape.rank.into()) {
        *of = extent.at(dimension).ok()?;
        if !(1..=256).contains(of) {
            return None;
        }
    }
    Some(TensorMap { box_extent, ..shape })
}

fn with_pixels(
    shape: TensorMap,
    corners: (In<i32>, In<i32>),
    channels: u32,
    pixels: u32,
) -> Option<TensorMap> {
    let dimensions = usize::from(shape.rank).checked_sub(2).filter(|count| *count > 0)?;
    let range = [-32768..=32767, -128..=127, -16..=15][dimensions - 1].clone();
    let corner = |of: In<i32>| {
        let mut corner = [0i16; 3];
        for (dimension, to) in corner.iter_mut().enumerate().take(dimensions) {
            *to = of.at(dimension).ok().filter(|offset| range.contains(offset))? as i16;
        }
        Some(corner)
    };
    let (lower, upper) = (corner(corners.0)?, corner(corners.1)?);
    let empty = |d: usize| shape.extent[d + 1] as i64 + i64::from(upper[d]) <= i64::from(lower[d]);
    if !(1..=256).contains(&channels) || !(1..=1024).contains(&pixels) || (0..dimensions).any(empty)
    {
        return None;
    }
    Some(TensorMap { im2col: Some(Im2col { lower, upper, channels, pixels }), ..shape })
}

/// The tensor itself.
fn plain(
    data_type: u32,
    rank: u32,
    address: Address,
    extent: In<u64>,
    stride: In<u64>,
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
        im2col: None,
    };
    for dimension in 0..rank as usize {
        map.extent[dimension] = extent.at(dimension).ok()?;
        map.element_stride[dimension] = element_stride.at(dimension).ok()?;
        let fits = (1..=1 << 32).contains(&map.extent[dimension])
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
