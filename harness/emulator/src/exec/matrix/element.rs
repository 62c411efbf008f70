//! Number formats of matrix elements: their widths, and their values with the exponents that the
//! tensor cores align by.

use std::sync::LazyLock;

/// An element of A or B.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Element {
    F16,
    Bf16,
    Tf32,
    F64,
    /// In a byte each, the narrow ones padded as `.kind::f8f6f4` has them (PTX ISA 9.7.14.5.14).
    E4m3,
    E5m2,
    E3m2,
    E2m3,
    E2m1,
    /// Two in a byte.
    PackedE2m1,
    S8,
    U8,
    S4,
    U4,
    /// One bit; the product is `and` or `xor`.
    Bits(BitProduct),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BitProduct {
    And,
    Xor,
}

/// An element of C or D.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Accumulator {
    F16,
    F32,
    F64,
    S32,
}

/// The exponent that the hardware gives zero, found by experiment (Li and others, "MMA-Sim", 2025).
pub const ZERO_EXPONENT: i32 = -126;

/// A number as the tensor core sees it: a value and the exponent it is aligned by, which for
/// subnormals is that of the smallest normal number.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Term {
    pub value: f32,
    pub exponent: i32,
}

impl Element {
    /// Bits in a register.
    pub fn bits(self) -> usize {
        match self {
            Self::F64 => 64,
            Self::Tf32 => 32,
            Self::F16 | Self::Bf16 => 16,
            Self::E4m3 | Self::E5m2 | Self::E3m2 | Self::E2m3 | Self::E2m1 => 8,
            Self::S8 | Self::U8 => 8,
            Self::PackedE2m1 | Self::S4 | Self::U4 => 4,
            Self::Bits(_) => 1,
        }
    }

    /// As PTX names it.
    pub fn name(self) -> &'static str {
        match self {
            Self::F16 => "f16",
            Self::Bf16 => "bf16",
            Self::Tf32 => "tf32",
            Self::F64 => "f64",
            Self::E4m3 => "e4m3",
            Self::E5m2 => "e5m2",
            Self::E3m2 => "e3m2",
            Self::E2m3 => "e2m3",
            Self::E2m1 | Self::PackedE2m1 => "e2m1",
            Self::S8 => "s8",
            Self::U8 => "u8",
            Self::S4 => "s4",
            Self::U4 => "u4",
            Self::Bits(_) => "b1",
        }
    }

    /// Neither an integer nor a bit.
    pub fn is_float(self) -> bool {
        !matches!(self, Self::S8 | Self::U8 | Self::S4 | Self::U4 | Self::Bits(_))
    }

    /// Whether products of two, and their sums at any alignment, stay within `f32`'s exponents.
    pub fn is_narrow(self) -> bool {
        !matches!(self, Self::Bf16 | Self::Tf32)
    }

    /// Values of the 256 bytes, for formats that a byte holds.
    pub fn bytes(self) -> Option<&'static [Term; 256]> {
        Some(match self {
            Self::E4m3 => &TABLES[0],
            Self::E5m2 => &TABLES[1],
            Self::E3m2 => &TABLES[2],
            Self::E2m3 => &TABLES[3],
            Self::E2m1 => &TABLES[4],
            _ => return None,
        })
    }
}

/// Value and exponent of an `f32` whose format has no normal number below `2^least`.
#[inline(always)]
pub fn term(value: f32, least: i32) -> Term {
    let field = (value.to_bits() >> 23 & 0xff) as i32;
    let exponent = if value == 0.0 { ZERO_EXPONENT } else { (field - 127).max(least) };
    Term { value, exponent }
}

static TABLES: LazyLock<[[Term; 256]; 5]> = LazyLock::new(|| {
    let table = |decode: fn(u8) -> f32, least: i32| {
        let mut of = [Term::default(); 256];
        for (code, entry) in of.iter_mut().enumerate() {
            *entry = term(decode(code as u8), least);
        }
        of
    };
    [
        table(formats::e4m3::decode, -6),
        table(formats::e5m2::decode, -14),
        table(|code| formats::e3m2::decode(code & 0x3f), -2),
        table(|code| formats::e2m3::decode(code & 0x3f), 0),
        table(|code| formats::e2m1::decode(code >> 2 & 0xf), 0),
    ]
});
