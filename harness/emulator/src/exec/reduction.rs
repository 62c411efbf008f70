//! Element-wise combination of two stretches of memory, for the reducing bulk copies
//! (PTX ISA 9.7.9.25.4.2).

/// What is done to each element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Combine {
    Add,
    Min,
    Max,
    Inc,
    Dec,
    And,
    Or,
    Xor,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    U32,
    S32,
    U64,
    S64,
    F16,
    Bf16,
    F32,
    F64,
}

const COMBINES: [Combine; 8] = [
    Combine::Add,
    Combine::Min,
    Combine::Max,
    Combine::Inc,
    Combine::Dec,
    Combine::And,
    Combine::Or,
    Combine::Xor,
];

const KINDS: [Kind; 8] =
    [Kind::U32, Kind::S32, Kind::U64, Kind::S64, Kind::F16, Kind::Bf16, Kind::F32, Kind::F64];

/// As an instruction's immediate, by the modifiers' names.
pub fn encode(combine: &str, kind: &str) -> Option<u64> {
    let combine = match combine {
        "add" => Combine::Add,
        "min" => Combine::Min,
        "max" => Combine::Max,
        "inc" => Combine::Inc,
        "dec" => Combine::Dec,
        "and" => Combine::And,
        "or" => Combine::Or,
        "xor" => Combine::Xor,
        _ => return None,
    };
    let kind = match kind {
        "u32" | "b32" => Kind::U32,
        "s32" => Kind::S32,
        "u64" | "b64" => Kind::U64,
        "s64" => Kind::S64,
        "f16" => Kind::F16,
        "bf16" => Kind::Bf16,
        "f32" => Kind::F32,
        "f64" => Kind::F64,
        _ => return None,
    };
    Some(combine as u64 | (kind as u64) << 8)
}

/// The elements of a tensor map's data type, as `encode` has them.
pub fn of_tensor(data_type: u8) -> Option<u64> {
    let kind = match data_type {
        2 => Kind::U32,
        3 => Kind::S32,
        4 => Kind::U64,
        5 => Kind::S64,
        6 => Kind::F16,
        9 => Kind::Bf16,
        7 | 10 => Kind::F32,
        8 => Kind::F64,
        _ => return None,
    };
    Some((kind as u64) << 8)
}

impl Kind {
    fn bytes(self) -> u64 {
        match self {
            Self::F16 | Self::Bf16 => 2,
            Self::U32 | Self::S32 | Self::F32 => 4,
            Self::U64 | Self::S64 | Self::F64 => 8,
        }
    }
}

/// `target = target op source`, element by element and atomically.
///
/// # Safety
/// Both host addresses must be valid for `bytes` and aligned to 16.
pub unsafe fn combine(code: u64, target: u64, source: u64, bytes: u64) {
    use super::access::Swap;
    let combine = COMBINES[code as usize & 7];
    let kind = KINDS[(code >> 8) as usize & 7];
    for at in (0..bytes).step_by(kind.bytes() as usize) {
        let to = std::ptr::with_exposed_provenance_mut::<u8>((target + at) as usize);
        let from = std::ptr::with_exposed_provenance::<u8>((source + at) as usize);
        // SAFETY: by the contract.
        unsafe {
            match kind.bytes() {
                2 => {
                    let new = u64::from(from.cast::<u16>().read());
                    u16::swap(to.cast(), |old| result(combine, kind, old.into(), new) as u16);
                }
                4 => {
                    let new = u64::from(from.cast::<u32>().read());
                    u32::swap(to.cast(), |old| result(combine, kind, old.into(), new) as u32);
                }
                _ => {
                    let new = from.cast::<u64>().read();
                    u64::swap(to.cast(), |old| result(combine, kind, old, new));
                }
            }
        }
    }
}

fn result(combine: Combine, kind: Kind, old: u64, new: u64) -> u64 {
    // Two numbers of up to 24 bits: the sum in `f64`, rounded to odd where it is rounded at all, is as
    // good as the exact one.
    let float = |f: fn(f64, f64) -> f64| match kind {
        Kind::F64 => f(f64::from_bits(old), f64::from_bits(new)).to_bits(),
        Kind::F32 => {
            let of = |bits: u64| f64::from(f32::from_bits(bits as u32));
            u64::from((f(of(old), of(new)) as f32).to_bits())
        }
        Kind::Bf16 => {
            let of = |bits: u64| f64::from(formats::bf16::decode(bits as u16));
            formats::bf16::encode(formats::f64_to_f32_odd(f(of(old), of(new)))).into()
        }
        _ => {
            let of = |bits: u64| f64::from(formats::f16::decode(bits as u16));
            formats::f16::encode(formats::f64_to_f32_odd(f(of(old), of(new)))).into()
        }
    };
    let is_float = matches!(kind, Kind::F16 | Kind::Bf16 | Kind::F32 | Kind::F64);
    match (combine, kind) {
        (Combine::Add, _) if is_float => float(|a, b| a + b),
        (Combine::Min, _) if is_float => float(f64::min),
        (Combine::Max, _) if is_float => float(f64::max),
        (Combine::Add, _) => old.wrapping_add(new),
        (Combine::Min, Kind::S32) => (old as i32).min(new as i32) as u64,
        (Combine::Max, Kind::S32) => (old as i32).max(new as i32) as u64,
        (Combine::Min, Kind::S64) => (old as i64).min(new as i64) as u64,
        (Combine::Max, Kind::S64) => (old as i64).max(new as i64) as u64,
        (Combine::Min, _) => old.min(new),
        (Combine::Max, _) => old.max(new),
        (Combine::Inc, _) => {
            if old >= new {
                0
            } else {
                old + 1
            }
        }
        (Combine::Dec, _) => {
            if old == 0 || old > new {
                new
            } else {
                old - 1
            }
        }
        (Combine::And, _) => old & new,
        (Combine::Or, _) => old | new,
        (Combine::Xor, _) => old ^ new,
    }
}
