//! Directed rounding of doubles: exact results in whole numbers, rounded once.
//!
//! No wider format holds the error of an overflow or of a subnormal product, so these are worked out
//! as `mantissa * 2^exponent`, and whether anything nonzero lies below that. Rounding to nearest is
//! left to the host, which does it right.

use super::flag;
use super::rounding::directed;

/// A number other than zero; `more` if it is a little larger in magnitude, by less than a unit.
#[derive(Clone, Copy)]
struct Exact {
    negative: bool,
    mantissa: u128,
    exponent: i32,
    more: bool,
}

/// Exponent of the last place of subnormals.
const LEAST: i32 = -1074;

impl Exact {
    /// Of a finite number other than zero.
    fn of(x: f64) -> Self {
        let bits = x.to_bits();
        let (field, fraction) = ((bits >> 52 & 0x7ff) as i32, bits & (u64::MAX >> 12));
        let hidden = u64::from(field != 0) << 52;
        Self {
            negative: x.is_sign_negative(),
            mantissa: u128::from(fraction | hidden),
            exponent: field.max(1) - 1 + LEAST,
            more: false,
        }
    }

    /// The same number with its highest bit at `bit`, which must not be below where it is.
    fn raised(self, bit: u32) -> Self {
        let by = bit + self.mantissa.leading_zeros() - 127;
        Self { mantissa: self.mantissa << by, exponent: self.exponent - by as i32, ..self }
    }

    /// To a double, in the flags' direction (which is not to nearest).
    fn round(self, flags: u32) -> f64 {
        let away = flags & if self.negative { flag::RM } else { flag::RP } != 0;
        let highest = self.exponent + 127 - self.mantissa.leading_zeros() as i32;
        let place = (highest - 52).max(LEAST);
        let cut = place - self.exponent;
        let (kept, rest) = match cut {
            ..=0 => (self.mantissa << -cut, 0),
            1..128 => (self.mantissa >> cut, self.mantissa & ((1 << cut) - 1)),
            _ => (0, self.mantissa),
        };
        let up = away && (rest != 0 || self.more);
        let largest = f64::MAX.to_bits();
        let code = if highest > 1023 {
            largest + 1
        } else {
            // A mantissa that has become too long carries into the exponent, as it should.
            (((place - LEAST) as u64) << 52) + kept as u64 + u64::from(up)
        };
        let code = if code > largest && !away { largest } else { code };
        let magnitude = f64::from_bits(code);
        if self.negative { -magnitude } else { magnitude }
    }
}

/// The sum of two, `None` if it is zero.
fn sum(x: Exact, y: Exact) -> Option<Exact> {
    let (mut x, y) = if x.exponent >= y.exponent { (x, y) } else { (y, x) };
    let apart = (x.exponent - y.exponent) as u32;
    let left = apart.min(x.mantissa.leading_zeros() - 2);
    x.mantissa <<= left;
    x.exponent -= left as i32;
    // What is cut off the smaller number can only be far below the larger one.
    let cut = apart - left;
    let below = y.mantissa.checked_shr(cut).unwrap_or(0);
    let more = below.checked_shl(cut).unwrap_or(0) != y.mantissa;
    if x.negative == y.negative {
        return Some(Exact { mantissa: x.mantissa + below, more, ..x });
    }
    match (x.mantissa - u128::from(more)).checked_sub(below) {
        Some(0) if !more => None,
        Some(mantissa) => Some(Exact { mantissa, more, ..x }),
        None => Some(Exact { mantissa: below - x.mantissa, negative: y.negative, ..x }),
    }
}

/// The zero of a sum: that of equal signs, else +0, but -0 when rounding down (IEEE 754, 6.3).
fn zero(flags: u32, a: f64, b: f64) -> f64 {
    let negative = match (a.is_sign_negative(), b.is_sign_negative()) {
        (a, b) if a == b => a,
        _ => flags & flag::RM != 0,
    };
    if negative { -0.0 } else { 0.0 }
}

fn ordinary(x: f64) -> bool {
    x.is_finite() && x != 0.0
}

pub fn add(flags: u32, a: f64, b: f64) -> f64 {
    if a == 0.0 && b == 0.0 {
        return zero(flags, a, b);
    }
    if !ordinary(a) || !ordinary(b) {
        return a + b;
    }
    sum(Exact::of(a), Exact::of(b)).map_or_else(|| zero(flags, 1.0, -1.0), |s| s.round(flags))
}

pub fn mul(flags: u32, a: f64, b: f64) -> f64 {
    if !ordinary(a) || !ordinary(b) { a * b } else { product(a, b).round(flags) }
}

fn product(a: f64, b: f64) -> Exact {
    let (a, b) = (Exact::of(a), Exact::of(b));
    Exact {
        negative: a.negative != b.negative,
        mantissa: a.mantissa * b.mantissa,
        exponent: a.exponent + b.exponent,
        more: false,
    }
}

/// In any mode, to nearest too.
pub fn fma(flags: u32, a: f64, b: f64, c: f64) -> f64 {
    if !directed(flags) {
        return a.mul_add(b, c);
    }
    if !ordinary(a) || !ordinary(b) || !c.is_finite() {
        let p = a * b;
        return if p == 0.0 && c == 0.0 { zero(flags, p, c) } else { a.mul_add(b, c) };
    }
    if c == 0.0 {
        return product(a, b).round(flags);
    }
    sum(product(a, b), Exact::of(c)).map_or_else(|| zero(flags, 1.0, -1.0), |s| s.round(flags))
}

pub fn div(flags: u32, a: f64, b: f64) -> f64 {
    if !ordinary(a) || !ordinary(b) {
        return a / b;
    }
    let (a, b) = (Exact::of(a).raised(126), Exact::of(b));
    let quotient = Exact {
        negative: a.negative != b.negative,
        mantissa: a.mantissa / b.mantissa,
        exponent: a.exponent - b.exponent,
        more: a.mantissa % b.mantissa != 0,
    };
    quotient.round(flags)
}

pub fn sqrt(flags: u32, a: f64) -> f64 {
    if !ordinary(a) || a < 0.0 {
        return a.sqrt();
    }
    let high = Exact::of(a).raised(125);
    let square = if high.exponent % 2 == 0 { high } else { Exact::of(a).raised(126) };
    let mantissa = square.mantissa.isqrt();
    let more = mantissa * mantissa != square.mantissa;
    Exact { mantissa, exponent: square.exponent / 2, more, ..square }.round(flags)
}
