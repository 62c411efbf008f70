//! Forms that touch memory, and moves (PTX ISA 9.7.9, 9.7.13.5-6).
//!
//! Cache hints and scopes are accepted and change nothing a program can see. Strong accesses and fences
//! are the host's atomics: see `exec::access::strong`.

use super::{Kind, Row, row};
use crate::exec::access::{self, GENERIC, GLOBAL, LOCAL, SHARED, Update};
use crate::exec::{Handlers, both, once};

/// Cache operators and hints that loads and stores may carry, any of them, in any order.
macro_rules! hints {
    ($head:literal, $tail:literal) => {
        concat!(
            $head,
            " .{weak|volatile|relaxed|acquire|release}? .mmio? .{cta|cluster|gpu|sys}?",
            " .{global|shared|shared::cta|shared::cluster|local|const|param|param::entry|param::func}?",
            " .{ca|cg|cs|lu|cv|wb|wt|nc}? .{nc}?",
            " .{L1::evict_normal|L1::evict_unchanged|L1::evict_first|L1::evict_last|L1::no_allocate}?",
            " .{L2::evict_normal|L2::evict_first|L2::evict_last}?",
            " .{L2::cache_hint}? .{L2::64B|L2::128B|L2::256B}? .{v2|v4|v8}? .unified?",
            $tail
        )
    };
}

#[rustfmt::skip]
pub const ROWS: &[Row] = &[
    row!(hints!("ld", " .{b8|u8|s8|b16|u16|s16|f16|b32|u32|s32|f32|b64|u64|s64|f64|b128}"), Load, Kind::Load),
    row!("st .async .mmio? .release .{gpu|sys} .global? .{b8|u8|s8|b16|u16|s16|b32|u32|s32|f32|b64|u64|s64|f64}", Store, Kind::Store),
    row!(hints!("st", " .{b8|u8|s8|b16|u16|s16|f16|b32|u32|s32|f32|b64|u64|s64|f64|b128}"), Store, Kind::Store),
    row!("ldu .global? .{v2|v4}? .{b8|u8|s8|b16|u16|s16|b32|u32|s32|f32|b64|u64|s64|f64|b128}", Load, Kind::Load),
    row!("atom .{relaxed|acquire|release|acq_rel}? .{cta|cluster|gpu|sys}? .{global|shared|shared::cta|shared::cluster}? .{add|inc|dec|min|max|and|or|xor|exch|cas} .noftz? .{L2::cache_hint}? .{v2|v4|v8}? .{b16|b32|b64|b128|u32|u64|s32|s64|f32|f64|f16|f16x2|bf16|bf16x2}", Atomic, Kind::Atomic),
    row!("red .async .mmio? .release .{gpu|sys} .global? .add .{u32|s32|u64|s64}", Atomic, Kind::Atomic),
    row!("red .{relaxed|release}? .{cta|cluster|gpu|sys}? .{global|shared|shared::cta|shared::cluster}? .{add|inc|dec|min|max|and|or|xor} .noftz? .{L2::cache_hint}? .{v2|v4|v8}? .{b32|b64|u32|u64|s32|s64|f32|f64|f16|f16x2|bf16|bf16x2}", Atomic, Kind::Atomic),
    row!("mov .{b8|b16|u16|s16|f16|bf16|b32|u32|s32|f32|b64|u64|s64|f64|b128|pred}", Move, Kind::Move),
    row!("cvta .to? .{global|shared|shared::cta|shared::cluster|local|const|param|param::entry} .{u64|u32}", Move, Kind::ConvertAddress),
    row!("isspacep .{global|shared|shared::cta|shared::cluster|local|const|param|param::entry}", Move, Kind::IsSpace),
    row!("prefetch .{global|local}? .{L1|L2|L2::evict_last|L2::evict_normal}", Other, Kind::Nothing),
    row!("prefetch .{const|param}? .tensormap", Other, Kind::Nothing),
    row!("createpolicy .range .global? .{L2::evict_last|L2::evict_normal|L2::evict_first|L2::evict_unchanged} .{L2::evict_first|L2::evict_unchanged}? .b64", Other, Kind::Policy),
    row!("createpolicy .fractional .{L2::evict_last|L2::evict_normal|L2::evict_first|L2::evict_unchanged} .{L2::evict_first|L2::evict_unchanged}? .b64", Other, Kind::Policy),
    row!("createpolicy .cvt .L2 .b64", Other, Kind::Policy),
    row!("prefetchu .L1", Other, Kind::Nothing),
    row!("applypriority .global? .{L2::evict_normal}", Other, Kind::Nothing),
    row!("discard .global? .L2", Other, Kind::Nothing),
];

/// Bytes of a memory element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bits {
    B8,
    B16,
    B32,
    B64,
}

impl Bits {
    /// Of a type: `s16`, `f32`, `b64`.
    pub fn of(ty: &str) -> Option<Self> {
        let digits = ty.trim_start_matches(|c: char| c.is_ascii_alphabetic());
        match digits {
            "8" => Some(Self::B8),
            "16" => Some(Self::B16),
            "32" | "16x2" => Some(Self::B32),
            // Registers of 128 bits are pairs.
            "64" | "128" => Some(Self::B64),
            _ => None,
        }
    }

    pub fn bytes(self) -> u32 {
        1 << self as u32
    }
}

/// The handlers of an access, by the space.
macro_rules! by_space {
    ($space:expr, $f:ident, $t:ty, $v:literal) => {
        match $space {
            GLOBAL => both!(access::$f::<$t, $v, GLOBAL>),
            SHARED => both!(access::$f::<$t, $v, SHARED>),
            LOCAL => once!(access::$f::<$t, $v, LOCAL>),
            _ => once!(access::$f::<$t, $v, GENERIC>),
        }
    };
}

macro_rules! by_shape {
    ($f:ident, $bits:expr, $count:expr, $space:expr) => {
        Some(match ($bits, $count) {
            (Bits::B8, 1) => by_space!($space, $f, u8, 1),
            (Bits::B8, 2) => by_space!($space, $f, u8, 2),
            (Bits::B8, 4) => by_space!($space, $f, u8, 4),
            (Bits::B8, 8) => by_space!($space, $f, u8, 8),
            (Bits::B16, 1) => by_space!($space, $f, u16, 1),
            (Bits::B16, 2) => by_space!($space, $f, u16, 2),
            (Bits::B16, 4) => by_space!($space, $f, u16, 4),
            (Bits::B16, 8) => by_space!($space, $f, u16, 8),
            (Bits::B32, 1) => by_space!($space, $f, u32, 1),
            (Bits::B32, 2) => by_space!($space, $f, u32, 2),
            (Bits::B32, 4) => by_space!($space, $f, u32, 4),
            (Bits::B32, 8) => by_space!($space, $f, u32, 8),
            (Bits::B64, 1) => by_space!($space, $f, u64, 1),
            (Bits::B64, 2) => by_space!($space, $f, u64, 2),
            (Bits::B64, 4) => by_space!($space, $f, u64, 4),
            _ => return None,
        })
    };
}

#[cfg(target_arch = "x86_64")]
macro_rules! near_handlers {
    ($v:literal) => {
        $crate::exec::thrice!(access::load::<u32, $v, SHARED>, access::load_near::<$v>)
    };
}

/// The handlers of a load of `count` elements of `bits`, from a space of `exec::access`.
pub fn load_handlers(bits: Bits, count: usize, space: u8) -> Option<Handlers> {
    #[cfg(target_arch = "x86_64")]
    match (bits, count, space) {
        (Bits::B32, 1, SHARED) => return Some(near_handlers!(1)),
        (Bits::B32, 2, SHARED) => return Some(near_handlers!(2)),
        (Bits::B32, 4, SHARED) => return Some(near_handlers!(4)),
        _ => {}
    }
    by_shape!(load, bits, count, space)
}

/// As [`load_handlers`], for stores.
pub fn store_handlers(bits: Bits, count: usize, space: u8) -> Option<Handlers> {
    by_shape!(store, bits, count, space)
}

/// Modifiers that make a load or store a strong one, whose order others see (PTX ISA 8.3). `.cv` and
/// `.wt` are older words for the same wish.
pub const STRONG: [&str; 9] =
    ["volatile", "relaxed", "acquire", "release", "acq_rel", "mmio", "cv", "wt", "async"];

macro_rules! strong {
    ($f:ident, $bits:expr) => {
        match $bits {
            Bits::B8 => once!(access::$f::<u8>),
            Bits::B16 => once!(access::$f::<u16>),
            Bits::B32 => once!(access::$f::<u32>),
            Bits::B64 => once!(access::$f::<u64>),
        }
    };
}

/// The handlers of a strong load, of any number of elements.
pub fn strong_load_handlers(bits: Bits) -> Handlers {
    strong!(strong_load, bits)
}

/// The handlers of a strong store.
pub fn strong_store_handlers(bits: Bits) -> Handlers {
    strong!(strong_store, bits)
}

macro_rules! updates {
    ($op:expr, $ty:expr, $run:ident; $($name:pat, $types:pat, $t:ty, |$old:ident, $b:ident, $c:ident| $body:expr;)*) => {
        match ($op, $ty) {
            $( ($name, $types) => {
                struct U;
                impl Update for U {
                    type E = $t;
                    #[inline(always)]
                    fn f($old: $t, $b: <$t as access::Element>::Lane, $c: <$t as access::Element>::Lane) -> $t {
                        let _ = ($old, $b, $c);
                        $body
                    }
                }
                Some(once!(access::$run::<U>))
            } )*
            _ => None,
        }
    };
}

/// The handlers of an atomic operation on a type.
pub fn atomic_handlers(op: &str, ty: &str) -> Option<Handlers> {
    use super::half::{Bf16, F16, sum_of, sum_of_pairs};
    updates!(op, ty, atomic;
        "add", "u32" | "s32", u32, |old, b, c| old.wrapping_add(b);
        "add", "u64" | "s64", u64, |old, b, c| old.wrapping_add(b);
        "add", "f32", u32, |old, b, c| (f32::from_bits(old) + f32::from_bits(b)).to_bits();
        "add", "f64", u64, |old, b, c| (f64::from_bits(old) + f64::from_bits(b)).to_bits();
        "add", "f16", u16, |old, b, c| sum_of::<F16>(old, b as u16);
        "add", "bf16", u16, |old, b, c| sum_of::<Bf16>(old, b as u16);
        "add", "f16x2", u32, |old, b, c| sum_of_pairs::<F16>(old, b);
        "add", "bf16x2", u32, |old, b, c| sum_of_pairs::<Bf16>(old, b);
        "inc", "u32", u32, |old, b, c| if old >= b { 0 } else { old + 1 };
        "dec", "u32", u32, |old, b, c| if old == 0 || old > b { b } else { old - 1 };
        "min", "u32", u32, |old, b, c| old.min(b);
        "min", "s32", u32, |old, b, c| (old as i32).min(b as i32) as u32;
        "min", "u64", u64, |old, b, c| old.min(b);
        "min", "s64", u64, |old, b, c| (old as i64).min(b as i64) as u64;
        "max", "u32", u32, |old, b, c| old.max(b);
        "max", "s32", u32, |old, b, c| (old as i32).max(b as i32) as u32;
        "max", "u64", u64, |old, b, c| old.max(b);
        "max", "s64", u64, |old, b, c| (old as i64).max(b as i64) as u64;
        "and", "b32", u32, |old, b, c| old & b;
        "and", "b64", u64, |old, b, c| old & b;
        "or", "b32", u32, |old, b, c| old | b;
        "or", "b64", u64, |old, b, c| old | b;
        "xor", "b32", u32, |old, b, c| old ^ b;
        "xor", "b64", u64, |old, b, c| old ^ b;
        "exch", "b32", u32, |old, b, c| b;
        "exch", "b64", u64, |old, b, c| b;
        "cas", "b16", u16, |old, b, c| if old == b as u16 { c as u16 } else { old };
        "cas", "b32", u32, |old, b, c| if old == b { c } else { old };
        "cas", "b64", u64, |old, b, c| if old == b { c } else { old };
    )
}

/// As [`atomic_handlers`], for the elements of vectors, each updated by itself.
pub fn vector_atomic_handlers(op: &str, ty: &str) -> Option<Handlers> {
    use super::half::{
        Bf16, F16, max_of, max_of_pairs, min_of, min_of_pairs, sum_of, sum_of_pairs,
    };
    updates!(op, ty, atomic_vector;
        "add", "f32", u32, |old, b, c| (f32::from_bits(old) + f32::from_bits(b)).to_bits();
        "add", "f16", u16, |old, b, c| sum_of::<F16>(old, b as u16);
        "add", "bf16", u16, |old, b, c| sum_of::<Bf16>(old, b as u16);
        "add", "f16x2", u32, |old, b, c| sum_of_pairs::<F16>(old, b);
        "add", "bf16x2", u32, |old, b, c| sum_of_pairs::<Bf16>(old, b);
        "min", "f16", u16, |old, b, c| min_of::<F16>(old, b as u16);
        "min", "bf16", u16, |old, b, c| min_of::<Bf16>(old, b as u16);
        "min", "f16x2", u32, |old, b, c| min_of_pairs::<F16>(old, b);
        "min", "bf16x2", u32, |old, b, c| min_of_pairs::<Bf16>(old, b);
        "max", "f16", u16, |old, b, c| max_of::<F16>(old, b as u16);
        "max", "bf16", u16, |old, b, c| max_of::<Bf16>(old, b as u16);
        "max", "f16x2", u32, |old, b, c| max_of_pairs::<F16>(old, b);
        "max", "bf16x2", u32, |old, b, c| max_of_pairs::<Bf16>(old, b);
    )
}

/// `atom.exch.b128` and `atom.cas.b128`.
pub const WIDE_EXCHANGE: Handlers = once!(access::exchange_wide);
