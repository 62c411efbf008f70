//! What the bytes of a buffer mean, and how the codes of one buffer find their scales in another.

use formats::{e2m1, e4m3, e8m0, f16, pack, swizzle};
use serde::{Deserialize, Serialize};

use crate::Element;

/// A number format. A manifest names it where the element type does not say it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Format {
    F32,
    F16,
    /// Bytes that are no numbers.
    U8,
    /// FP4, two in a byte, the even element in the low nibble.
    E2m1,
    E4m3,
    /// A scale: E4M3 without a sign.
    Ue4m3,
    /// A scale: a power of two.
    E8m0,
}

impl Format {
    /// What an element type means where nothing else is said.
    pub(crate) fn of(element: Element) -> Format {
        match element {
            Element::F32 => Format::F32,
            Element::F16 => Format::F16,
            Element::U8 | Element::Usize => Format::U8,
        }
    }

    /// Whether buffers of this element can hold it.
    pub(crate) fn fits(self, element: Element) -> bool {
        match self {
            Format::F32 => element == Element::F32,
            Format::F16 => element == Element::F16,
            _ => element == Element::U8,
        }
    }

    pub(crate) fn is_scale(self) -> bool {
        matches!(self, Format::Ue4m3 | Format::E8m0)
    }

    /// Values in one element of the buffer.
    pub(crate) fn values_per_element(self) -> usize {
        if self == Format::E2m1 { 2 } else { 1 }
    }

    /// Value `index` of a buffer.
    pub(crate) fn value(self, bytes: &[u8], index: usize) -> f64 {
        f64::from(match self {
            Format::F32 => f32::from_le_bytes(std::array::from_fn(|at| bytes[4 * index + at])),
            Format::F16 => {
                f16::decode(u16::from_le_bytes([bytes[2 * index], bytes[2 * index + 1]]))
            }
            Format::U8 => f32::from(bytes[index]),
            Format::E2m1 => e2m1::decode(pack::get(bytes, index)),
            Format::E4m3 => e4m3::decode(bytes[index]),
            Format::Ue4m3 => e4m3::decode_scale(bytes[index]),
            Format::E8m0 => e8m0::decode(bytes[index]),
        })
    }

    /// Writes a value, rounded to nearest, saturated.
    pub(crate) fn set(self, bytes: &mut [u8], index: usize, value: f32) {
        match self {
            Format::F32 => bytes[4 * index..][..4].copy_from_slice(&value.to_le_bytes()),
            Format::F16 => {
                let code = f16::saturate_finite(f16::encode(value));
                bytes[2 * index..][..2].copy_from_slice(&code.to_le_bytes());
            }
            Format::U8 => bytes[index] = value as u8,
            Format::E2m1 => pack::set(bytes, index, e2m1::encode(value)),
            Format::E4m3 | Format::Ue4m3 => bytes[index] = e4m3::encode(value),
            Format::E8m0 => bytes[index] = e8m0::encode_toward_zero(value),
        }
    }

    /// The distance from a value to the next one of the format.
    pub(crate) fn ulp(self, value: f64) -> f64 {
        // Mantissa bits, and the exponent of the smallest normal value.
        let (mantissa, smallest) = match self {
            Format::F32 => (23, -126),
            Format::F16 => (10, -14),
            Format::E4m3 | Format::Ue4m3 => (3, -6),
            Format::E2m1 => (1, 0),
            Format::U8 => return 1.0,
            Format::E8m0 => return value.abs(),
        };
        let exponent = if value == 0.0 { smallest } else { value.abs().log2().floor() as i32 };
        2f64.powi(exponent.max(smallest) - mantissa)
    }
}

/// Where the scale of a value lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Layout {
    /// Row-major, as the values themselves.
    #[serde(rename = "rows")]
    Rows,
    /// Tiles of 128 rows by 4 columns, padded: what tensor cores read.
    #[serde(rename = "128x4")]
    Blocked,
}

/// The scales of a buffer of codes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scales {
    /// The parameter that holds them.
    pub of: String,
    /// Neighbouring values of a row that share one.
    pub block: u64,
    #[serde(default = "rows")]
    pub layout: Layout,
    /// That parameter's, which the manifest knows once it is read whole.
    #[serde(skip, default = "bytes")]
    pub(crate) format: Format,
}

fn bytes() -> Format {
    Format::U8
}

fn rows() -> Layout {
    Layout::Rows
}

impl Scales {
    /// The index of the scale of a value in rows of `columns` values.
    pub(crate) fn index(&self, row: usize, column: usize, columns: usize) -> usize {
        let block = self.block as usize;
        let blocks = columns.div_ceil(block);
        match self.layout {
            Layout::Rows => row * blocks + column / block,
            Layout::Blocked => swizzle::offset(row, column / block, blocks),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_those_between_neighbours() {
        for (format, value, step) in [
            (Format::F32, 1.0, f64::from(f32::EPSILON)),
            (Format::F16, 1.5, 2f64.powi(-10)),
            (Format::F16, 0.0, 2f64.powi(-24)),
            (Format::E4m3, 448.0, 32.0),
            (Format::E4m3, 2f64.powi(-9), 2f64.powi(-9)),
            (Format::E2m1, 4.0, 2.0),
            (Format::E2m1, 0.5, 0.5),
        ] {
            assert_eq!(format.ulp(value), step, "{format:?} at {value}");
        }
    }

    #[test]
    fn what_is_written_is_read() {
        for format in [Format::F32, Format::F16, Format::E2m1, Format::E4m3, Format::E8m0] {
            let mut bytes = [0; 8];
            format.set(&mut bytes, 1, 2.0);
            assert_eq!(format.value(&bytes, 1), 2.0, "{format:?}");
        }
    }
}
