//! Floats as integers and exponents, and sums of their products by the rules of the tensor cores,
//! written from their description (`exec/matrix/dot.rs`) with integers only.

/// A binary format, in the low bits of a word.
#[derive(Clone, Copy)]
pub struct Format {
    pub bits: u32,
    exponent: u32,
    mantissa: u32,
    bias: i32,
    /// Low bits that are ignored (tf32, and FP4 in the middle of a byte).
    skip: u32,
    signed: bool,
    /// Whether the highest exponent means infinity and NaN.
    infinite: bool,
    /// Whether all ones means NaN.
    nan: bool,
}

const fn ieee(bits: u32, exponent: u32, mantissa: u32) -> Format {
    let bias = (1 << (exponent - 1)) - 1;
    Format { bits, exponent, mantissa, bias, skip: 0, signed: true, infinite: true, nan: false }
}

const fn finite(exponent: u32, mantissa: u32, nan: bool) -> Format {
    Format { infinite: false, nan, ..ieee(8, exponent, mantissa) }
}

pub const F32: Format = ieee(32, 8, 23);
pub const F16: Format = ieee(16, 5, 10);
pub const BF16: Format = ieee(16, 8, 7);
pub const TF32: Format = Format { skip: 13, ..ieee(32, 8, 10) };
pub const E5M2: Format = ieee(8, 5, 2);
pub const E4M3: Format = finite(4, 3, true);
pub const E3M2: Format = finite(3, 2, false);
pub const E2M3: Format = finite(2, 3, false);
pub const E2M1: Format = Format { skip: 2, ..finite(2, 1, false) };
pub const E2M1_PACKED: Format = Format { bits: 4, ..finite(2, 1, false) };
pub const UE8M0: Format = Format {
    bits: 8,
    exponent: 8,
    mantissa: 0,
    bias: 127,
    skip: 0,
    signed: false,
    infinite: false,
    nan: true,
};
pub const UE4M3: Format = Format { signed: false, ..E4M3 };

/// `±significand · 2^(exponent - digits)`, or no number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Number {
    pub significand: i128,
    pub exponent: i32,
    pub digits: i32,
    pub special: Option<f64>,
}

impl Format {
    pub fn read(&self, word: u32) -> Number {
        let word = word >> self.skip;
        let mantissa = word & ((1 << self.mantissa) - 1);
        let field = word >> self.mantissa & ((1 << self.exponent) - 1);
        let negative = self.signed && word >> (self.mantissa + self.exponent) & 1 == 1;
        let highest = field == (1 << self.exponent) - 1;
        let special = if self.infinite && highest {
            let infinity = if negative { f64::NEG_INFINITY } else { f64::INFINITY };
            Some(if mantissa == 0 { infinity } else { f64::NAN })
        } else if self.nan && highest && mantissa == (1 << self.mantissa) - 1 {
            Some(f64::NAN)
        } else {
            None
        };
        // E8M0 has no subnormals and no zero.
        let normal = field > 0 || self.mantissa == 0;
        let significand = i128::from(mantissa) + if normal { 1 << self.mantissa } else { 0 };
        let exponent = if self.mantissa == 0 { field } else { field.max(1) } as i32 - self.bias;
        Number {
            significand: if negative { -significand } else { significand },
            exponent: if significand == 0 { -126 } else { exponent },
            digits: self.mantissa as i32,
            special,
        }
    }
}

#[derive(Clone, Copy)]
pub struct Rule {
    pub fraction: i32,
    pub steps: usize,
    /// FP8 as Hopper has it, by way of `f16`.
    pub converted: bool,
}

/// A summand: `value · 2^power`, aligned by `exponent`.
struct Summand {
    value: i128,
    power: i32,
    exponent: i32,
}

/// Cut each off `fraction` bits below the largest exponent, and add. The result is a whole number
/// of `2^(.1)`.
fn aligned(summands: &[Summand], fraction: i32) -> (i128, i32) {
    let largest = summands.iter().map(|s| s.exponent).max().expect("a summand");
    let unit = largest - fraction;
    let cut = |s: &Summand| {
        let shift = s.power - unit;
        if shift >= 0 {
            s.value << shift
        } else {
            let magnitude = s.value.unsigned_abs().checked_shr(shift.unsigned_abs()).unwrap_or(0);
            s.value.signum() * magnitude as i128
        }
    };
    (summands.iter().map(cut).sum(), unit)
}

/// `value · 2^power` as the bits of a format, cut off or to the nearest even.
fn encode(value: i128, power: i32, format: &Format, nearest: bool) -> u32 {
    if value == 0 {
        return 0;
    }
    let sign = u32::from(value < 0) << (format.bits - 1);
    let magnitude = value.unsigned_abs();
    let top = 127 - magnitude.leading_zeros() as i32 + power;
    let exponent = top.max(1 - format.bias);
    let shift = power - (exponent - format.mantissa as i32);
    let mut significand = if shift >= 0 {
        magnitude << shift
    } else {
        let down = shift.unsigned_abs();
        let kept = magnitude.checked_shr(down).unwrap_or(0);
        let rest = magnitude - kept.checked_shl(down).unwrap_or(0);
        let half = 1u128.checked_shl(down - 1).unwrap_or(u128::MAX);
        kept + u128::from(nearest && (rest > half || rest == half && kept & 1 == 1))
    };
    let mut exponent = exponent;
    if significand >> (format.mantissa + 1) != 0 {
        significand >>= 1;
        exponent += 1;
    }
    let infinity = ((1 << format.exponent) - 1) << format.mantissa;
    if exponent + format.bias >= (1 << format.exponent) - 1 {
        return sign | infinity;
    }
    let normal = significand >> format.mantissa != 0;
    let field = if normal { (exponent + format.bias) as u32 } else { 0 };
    sign | field << format.mantissa | (significand as u32 & ((1 << format.mantissa) - 1))
}

/// What infinities and NaN come to, if there are any.
fn special(numbers: impl Iterator<Item = f64>, wide: bool) -> Option<u32> {
    let sum: f64 = numbers.sum();
    if sum.is_finite() {
        return None;
    }
    let (nan, infinity, sign) =
        if wide { (0x7fff_ffff, 0x7f80_0000, 31) } else { (0x7fff, 0x7c00, 15) };
    Some(if sum.is_nan() { nan } else { infinity | u32::from(sum < 0.0) << sign })
}

impl Number {
    fn float(&self) -> f64 {
        self.special.unwrap_or(self.significand as f64 * 2f64.powi(self.exponent - self.digits))
    }
}

const ONE: Number = Number { significand: 1, exponent: 0, digits: 0, special: None };

impl Rule {
    pub fn add(&self, a: &[Number], b: &[Number], c: Number, wide: bool) -> u32 {
        if self.converted {
            return self.by_way_of_f16(a, b, c, wide);
        }
        let format = if wide { F32 } else { F16 };
        let mut c = c;
        let mut bits = 0;
        let step = a.len() / self.steps;
        for (a, b) in a.chunks(step).zip(b.chunks(step)) {
            bits = self.once(a, b, c, wide, (ONE, ONE));
            c = format.read(bits);
        }
        bits
    }

    /// Elements 0 and 1 of every four, then 2 and 3, then C.
    fn by_way_of_f16(&self, a: &[Number], b: &[Number], c: Number, wide: bool) -> u32 {
        let format = if wide { F32 } else { F16 };
        let half = |x: &Number| F16.read(formats::f16::encode(x.float() as f32).into());
        let mut sum = format.read(0);
        for first in [0, 2] {
            let pick = |of: &[Number]| -> Vec<_> {
                of.chunks(4).flat_map(|four| &four[first..first + 2]).map(half).collect()
            };
            sum = format.read(self.once(&pick(a), &pick(b), sum, wide, (ONE, ONE)));
        }
        let total = sum.float() + c.float();
        match (total.is_nan(), wide) {
            (true, true) => 0x7fff_ffff,
            (true, false) => 0x7fff,
            (false, true) => (total as f32).to_bits(),
            (false, false) => formats::f16::encode(formats::f64_to_f32_odd(total)).into(),
        }
    }

    pub fn add_scaled(
        &self,
        a: &[Number],
        b: &[Number],
        c: Number,
        scales: (Number, Number),
    ) -> u32 {
        self.once(a, b, c, true, scales)
    }

    fn once(
        &self,
        a: &[Number],
        b: &[Number],
        c: Number,
        wide: bool,
        scales: (Number, Number),
    ) -> u32 {
        let scale = scales.0.float() * scales.1.float();
        let floats = a.iter().zip(b).map(|(a, b)| a.float() * b.float() * scale);
        if let Some(bits) = special(floats.chain([c.float()]), wide) {
            return bits;
        }
        let offset = scales.0.exponent + scales.1.exponent;
        let mut summands: Vec<_> = a
            .iter()
            .zip(b)
            .map(|(a, b)| Summand {
                value: a.significand * b.significand,
                power: a.exponent - a.digits + b.exponent - b.digits + offset,
                exponent: a.exponent + b.exponent + offset,
            })
            .collect();
        summands.push(Summand {
            value: c.significand,
            power: c.exponent - c.digits,
            exponent: c.exponent,
        });
        let (sum, unit) = aligned(&summands, self.fraction);
        encode(sum, unit, if wide { &F32 } else { &F16 }, !wide)
    }
}

/// K = 64 in groups of 16, `scales` for one, two or four groups each.
pub fn add_groups(a: &[Number], b: &[Number], c: Number, scales: &[(Number, Number)]) -> u32 {
    if scales.iter().any(|s| s.0.special.is_some() || s.1.special.is_some()) {
        return 0x7fff_ffff;
    }
    if let Some(bits) = special([c.float()].into_iter(), true) {
        return bits;
    }
    let mut summands =
        vec![Summand { value: c.significand, power: c.exponent - c.digits, exponent: c.exponent }];
    for (group, (a, b)) in a.chunks(16).zip(b.chunks(16)).enumerate() {
        // Whole numbers of quarters.
        let quarters = |a: &Number, b: &Number| {
            let halves = |x: &Number| (x.float() * 2.0) as i128;
            halves(a) * halves(b)
        };
        let dot: i128 = a.iter().zip(b).map(|(a, b)| quarters(a, b)).sum();
        let (x, y) = scales[group * scales.len() / 4];
        summands.push(Summand {
            value: dot * x.significand * y.significand,
            power: x.exponent - x.digits + y.exponent - y.digits - 2,
            exponent: x.exponent + y.exponent,
        });
    }
    let (sum, unit) = aligned(&summands, 35);
    encode(sum, unit, &F32, false)
}
