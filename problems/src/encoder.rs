//! The E2M1 encoders people write, right and wrong ones, and how they put codes into bytes.

use formats::e2m1::{MAGNITUDES, MIDPOINTS};

use crate::hypothesis::Mutation;

/// An encoder as the comparisons it makes: the code is the number of thresholds that the magnitude
/// is above of, or meets where that is enough.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Encoder {
    thresholds: [f32; 7],
    inclusive: [bool; 7],
    sign: Sign,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Sign {
    /// The sign bit, also of a zero.
    Kept,
    Dropped,
    /// Code 8 never appears.
    PositiveZero,
    /// `x < 0` decides, so an input of -0 loses its sign, but -0.1 keeps it.
    ByComparison,
}

/// How the codes of two neighbours share a byte.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Order {
    EvenLow,
    EvenHigh,
    /// The high nibble stays 0.
    EvenOnly,
    /// The low nibble stays 0.
    OddOnly,
}

impl Order {
    /// The low and the high nibble.
    pub fn nibbles<T>(self, even: T, odd: T, zero: T) -> (T, T) {
        match self {
            Order::EvenLow => (even, odd),
            Order::EvenHigh => (odd, even),
            Order::EvenOnly => (even, zero),
            Order::OddOnly => (zero, odd),
        }
    }
}

/// A recipe that ends in packed codes.
pub(crate) trait Encodes {
    fn encoder(&mut self) -> &mut Encoder;
    fn order(&mut self) -> &mut Order;
}

impl Encoder {
    /// Nearest, ties to even: `>` and `>=` alternate.
    pub const RIGHT: Encoder = Encoder::nearest([false, true, false, true, false, true, false]);
    /// `>=` everywhere.
    pub const TIES_AWAY: Encoder = Encoder::nearest([true; 7]);
    /// `>` everywhere, or the nearest of a table by strict `<`.
    pub const TIES_TOWARD_ZERO: Encoder = Encoder::nearest([false; 7]);
    /// `>` and `>=` exchanged.
    pub const TIES_TO_ODD: Encoder =
        Encoder::nearest([true, false, true, false, true, false, true]);
    /// The next magnitude below.
    pub const TRUNCATING: Encoder = {
        let [_, thresholds @ ..] = MAGNITUDES;
        Encoder { thresholds, inclusive: [true; 7], sign: Sign::Kept }
    };

    const fn nearest(inclusive: [bool; 7]) -> Encoder {
        Encoder { thresholds: MIDPOINTS, inclusive, sign: Sign::Kept }
    }

    /// Another rounding, the same treatment of signs.
    pub fn round_like(&mut self, other: Encoder) {
        *self = Encoder { sign: self.sign, ..other };
    }

    pub fn treat_sign(&mut self, sign: Sign) {
        self.sign = sign;
    }

    /// Code of the scaled value `x`, whose sign is that of `input`.
    pub fn encode(&self, x: f32, input: f32) -> u8 {
        let magnitude = x.abs();
        let reached = |(&threshold, &inclusive): (&f32, &bool)| {
            magnitude > threshold || (inclusive && magnitude == threshold)
        };
        let code =
            self.thresholds.iter().zip(&self.inclusive).filter(|pair| reached(*pair)).count();
        let code = if x.is_nan() { 7 } else { code as u8 };
        let negative = match self.sign {
            Sign::Kept => input.is_sign_negative(),
            Sign::Dropped => false,
            Sign::PositiveZero => input.is_sign_negative() && code != 0,
            Sign::ByComparison => input < 0.0,
        };
        code | u8::from(negative) << 3
    }
}

/// What goes wrong once the values are scaled: who wins a tie, what becomes of the sign, which nibble
/// is whose. They take `axis` and the two after it.
pub(crate) const fn rejected_files<R: Encodes>(axis: u8) -> [Mutation<R>; 10] {
    [
        Mutation {
            id: "ties_away_from_zero",
            says: "ties round away from zero: the encoder uses >= at every midpoint",
            axis,
            apply: |r| r.encoder().round_like(Encoder::TIES_AWAY),
        },
        Mutation {
            id: "ties_toward_zero",
            says: "ties round toward zero: the encoder uses > at every midpoint, or picks the nearest \
                   of a table with a strict <",
            axis,
            apply: |r| r.encoder().round_like(Encoder::TIES_TOWARD_ZERO),
        },
        Mutation {
            id: "ties_to_odd",
            says: "ties round to the odd code: > and >= are exchanged",
            axis,
            apply: |r| r.encoder().round_like(Encoder::TIES_TO_ODD),
        },
        Mutation {
            id: "truncated",
            says: "values are cut to the next magnitude below; they must be rounded to the nearest",
            axis,
            apply: |r| r.encoder().round_like(Encoder::TRUNCATING),
        },
        Mutation {
            id: "sign_dropped",
            says: "the sign bit, bit 3 of the code, is always 0",
            axis: axis + 1,
            apply: |r| r.encoder().treat_sign(Sign::Dropped),
        },
        Mutation {
            id: "negative_zero_dropped",
            says: "a negative value that rounds to zero gives code 0; its sign is kept: code 8",
            axis: axis + 1,
            apply: |r| r.encoder().treat_sign(Sign::PositiveZero),
        },
        Mutation {
            id: "negative_zero_input_dropped",
            says: "an input of -0 gives code 0 (as x < 0 would decide); its sign bit is kept: code 8",
            axis: axis + 1,
            apply: |r| r.encoder().treat_sign(Sign::ByComparison),
        },
        Mutation {
            id: "nibbles_swapped",
            says: "the nibbles are swapped: the even element belongs in the low nibble",
            axis: axis + 2,
            apply: |r| *r.order() = Order::EvenHigh,
        },
        Mutation {
            id: "odd_elements_missing",
            says: "the high nibbles are 0: the odd elements are not packed",
            axis: axis + 2,
            apply: |r| *r.order() = Order::EvenOnly,
        },
        Mutation {
            id: "even_elements_missing",
            says: "the low nibbles are 0: the even elements are not packed",
            axis: axis + 2,
            apply: |r| *r.order() = Order::OddOnly,
        },
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use formats::e2m1;

    #[test]
    fn the_right_encoder_is_the_format_s() {
        for upper in 0..1 << 14 {
            for low in [0, 1, 0x3_ffff] {
                let x = f32::from_bits(upper << 18 | low);
                if !x.is_nan() {
                    assert_eq!(Encoder::RIGHT.encode(x, x), e2m1::encode(x), "{x:e}");
                }
            }
        }
    }
}
