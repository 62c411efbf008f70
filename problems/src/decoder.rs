//! The E2M1 decoders people write, right and wrong ones, and how they take codes from bytes.

use formats::{e2m1, e4m3, pack};

use crate::hypothesis::Mutation;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Decoder {
    /// Value of a code from 0 to 15.
    pub value: fn(u8) -> f32,
    pub order: Order,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Order {
    EvenLow,
    EvenHigh,
    /// Both elements of a pair get the low nibble.
    LowTwice,
    /// The odd elements are 0.
    LowOnly,
}

/// A recipe that begins with packed codes.
pub(crate) trait Decodes {
    fn decoder(&mut self) -> &mut Decoder;
}

impl Decoder {
    pub const RIGHT: Decoder = Decoder { value: e2m1::decode, order: Order::EvenLow };

    /// Value of element `index` of packed codes.
    pub fn decode(&self, q: &[u8], index: usize) -> f32 {
        let code = match self.order {
            Order::EvenLow => pack::get(q, index),
            Order::EvenHigh => pack::get(q, index ^ 1),
            Order::LowTwice => pack::get(q, index & !1),
            Order::LowOnly if index % 2 == 1 => 0,
            Order::LowOnly => pack::get(q, index),
        };
        (self.value)(code)
    }
}

pub(crate) fn unsigned(code: u8) -> f32 {
    e2m1::decode(code & 7)
}

pub(crate) fn positive_zero(code: u8) -> f32 {
    e2m1::decode(if code == 8 { 0 } else { code })
}

/// Exponent and mantissa put together as if there were no subnormal: 0 is 0.5 and 1 is 0.75.
pub(crate) fn without_subnormal(code: u8) -> f32 {
    let magnitude = (1.0 + f32::from(code & 1) / 2.0) * 2f32.powi(i32::from(code >> 1 & 3) - 1);
    if code & 8 == 0 { magnitude } else { -magnitude }
}

/// The code as a number from -8 to 7.
pub(crate) fn two_s_complement(code: u8) -> f32 {
    f32::from((code << 4).cast_signed() >> 4)
}

/// E4M3 as if there were no subnormal numbers.
pub(crate) fn scale_without_subnormal(byte: u8) -> f32 {
    let magnitude = (1.0 + f32::from(byte & 7) / 8.0) * 2f32.powi(i32::from(byte >> 3 & 15) - 7);
    if byte & 0x7f == e4m3::NAN { f32::NAN } else { magnitude }
}

/// What goes wrong before the scale: which nibble is whose, and what a code is worth. They take `axis`
/// and the one after it.
pub(crate) const fn rejected_files<R: Decodes>(axis: u8) -> [Mutation<R>; 7] {
    [
        Mutation {
            id: "nibbles_swapped",
            says: "the nibbles are swapped: the even element is in the low nibble",
            axis,
            apply: |r| r.decoder().order = Order::EvenHigh,
        },
        Mutation {
            id: "low_nibble_twice",
            says: "both elements of a byte are taken from its low nibble",
            axis,
            apply: |r| r.decoder().order = Order::LowTwice,
        },
        Mutation {
            id: "odd_elements_missing",
            says: "the odd elements are 0: the high nibble is not decoded",
            axis,
            apply: |r| r.decoder().order = Order::LowOnly,
        },
        Mutation {
            id: "sign_dropped",
            says: "the sign bit, bit 3 of the code, is ignored",
            axis: axis + 1,
            apply: |r| r.decoder().value = unsigned,
        },
        Mutation {
            id: "negative_zero_dropped",
            says: "code 8 gives 0; it is -0",
            axis: axis + 1,
            apply: |r| r.decoder().value = positive_zero,
        },
        Mutation {
            id: "code_subnormal_missing",
            says: "codes 0 and 1 are read as 0.5 and 0.75: with exponent 0 there is no hidden bit",
            axis: axis + 1,
            apply: |r| r.decoder().value = without_subnormal,
        },
        Mutation {
            id: "code_as_integer",
            says: "the codes are read as whole numbers from -8 to 7; they are E2M1",
            axis: axis + 1,
            apply: |r| r.decoder().value = two_s_complement,
        },
    ]
}
