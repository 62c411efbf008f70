//! Singles and doubles, comparisons and conversions (PTX ISA 9.7.3, 9.7.6, 9.7.9.21), as far as IEEE 754
//! says what comes out: rounded to nearest, NaN of single precision 0x7fffffff.

use super::ty::{Kind, Type};

fn single(bits: u64) -> f32 {
    f32::from_bits(bits as u32)
}

fn of_single(value: f32) -> u64 {
    u64::from(if value.is_nan() { 0x7fff_ffff } else { value.to_bits() })
}

fn of_double(value: f64) -> u64 {
    if value.is_nan() { 0x7ff8_0000_0000_0000 } else { value.to_bits() }
}

/// Arithmetic of `.f32` and `.f64` without any modifier but `.rn`.
pub fn float(opcode: &str, modifiers: &[&str], ty: Type, args: &[u64]) -> Option<u64> {
    if modifiers.iter().any(|name| Type::parse(name).is_none() && *name != "rn") {
        return None;
    }
    if ty.bits == 64 {
        let x: Vec<f64> = args.iter().map(|&bits| f64::from_bits(bits)).collect();
        return Some(of_double(match opcode {
            "add" => x[0] + x[1],
            "sub" => x[0] - x[1],
            "mul" => x[0] * x[1],
            "fma" => x[0].mul_add(x[1], x[2]),
            "div" => x[0] / x[1],
            "rcp" => 1.0 / x[0],
            "sqrt" => x[0].sqrt(),
            "abs" => x[0].abs(),
            "neg" => -x[0],
            _ => return None,
        }));
    }
    let x: Vec<f32> = args.iter().map(|&bits| single(bits)).collect();
    Some(of_single(match opcode {
        "add" => x[0] + x[1],
        "sub" => x[0] - x[1],
        "mul" => x[0] * x[1],
        "fma" => x[0].mul_add(x[1], x[2]),
        "div" => x[0] / x[1],
        "rcp" => 1.0 / x[0],
        "sqrt" => x[0].sqrt(),
        "abs" => x[0].abs(),
        "neg" => -x[0],
        // Of a number and a NaN the number, and -0 is below +0.
        "min" | "max" if x[0].is_nan() => x[1],
        "min" | "max" if x[1].is_nan() => x[0],
        "min" | "max" => {
            let below = x[0] < x[1] || x[0] == x[1] && x[0].is_sign_negative();
            if below == (opcode == "min") { x[0] } else { x[1] }
        }
        _ => return None,
    }))
}

/// Whether `a` and `b` compare as `name` says (`lo`, `ls`, `hi`, `hs` are the unsigned `lt` to `ge`).
pub fn compare(name: &str, ty: Type, a: u64, b: u64) -> Option<bool> {
    let order = if ty.float() {
        let value = |bits| if ty.bits == 64 { f64::from_bits(bits) } else { single(bits).into() };
        value(a).partial_cmp(&value(b))
    } else {
        Some(ty.number(a).cmp(&ty.number(b)))
    };
    let unordered = ty.float() && name.len() == 3 && name.ends_with('u');
    let Some(order) = order else { return Some(unordered || name == "nan") };
    Some(match if unordered { &name[..2] } else { name } {
        "eq" => order.is_eq(),
        "ne" => order.is_ne(),
        "lt" | "lo" => order.is_lt(),
        "le" | "ls" => order.is_le(),
        "gt" | "hi" => order.is_gt(),
        "ge" | "hs" => order.is_ge(),
        "num" => true,
        "nan" => false,
        _ => return None,
    })
}

/// `cvt` from `from` to `to`.
pub fn convert(modifiers: &[&str], to: Type, from: Type, value: u64) -> Option<u64> {
    let rounding = modifiers.iter().find(|name| name.starts_with('r'));
    let integral = |x: f64| match rounding.copied() {
        Some("rzi") => Some(x.trunc()),
        Some("rni") => Some(x.round_ties_even()),
        Some("rmi") => Some(x.floor()),
        Some("rpi") => Some(x.ceil()),
        _ => None,
    };
    match (from.kind, to.kind) {
        (Kind::Float, Kind::Float) => match (from.bits, to.bits, rounding.copied()) {
            (32, 64, None) => Some(of_double(single(value).into())),
            (64, 32, Some("rn")) => Some(of_single(f64::from_bits(value) as f32)),
            (32, 32, Some(_)) => Some(of_single(integral(single(value).into())? as f32)),
            (64, 64, Some(_)) => Some(of_double(integral(f64::from_bits(value))?)),
            _ => None,
        },
        (Kind::Float, _) => {
            let x = if from.bits == 64 { f64::from_bits(value) } else { single(value).into() };
            if x.is_nan() {
                let top = 1 << (to.bits - 1);
                return Some(if from.bits == 64 || to.bits == 64 { top } else { 0 });
            }
            // `as` keeps what is too large at the end of the 128 bits.
            Some((integral(x)? as i128).clamp(to.least(), to.greatest()) as u64)
        }
        (_, Kind::Float) if *rounding? == "rn" => {
            let x = from.number(value);
            Some(if to.bits == 64 { of_double(x as f64) } else { of_single(x as f32) })
        }
        (_, Kind::Float) => None,
        _ => {
            let x = from.number(value);
            let saturates = modifiers.contains(&"sat");
            Some(if saturates { x.clamp(to.least(), to.greatest()) } else { x } as u64)
        }
    }
}
