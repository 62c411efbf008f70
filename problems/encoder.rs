//! The E2M1 encoders people write, right and wrong ones, for hypotheses.

use formats::e2m1::{MAGNITUDES, MIDPOINTS};

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
