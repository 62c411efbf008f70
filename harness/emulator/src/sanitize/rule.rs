//! Which bits of a result are undefined, where its sources have undefined bits.
//!
//! Compilers pack values into registers of which nobody wrote the rest, and take them out again:
//!
//! ```text
//! mov.b64 %rd1, {%r1, %r2};      %r2 was never written: the upper half is undefined
//! and.b64 %rd2, %rd1, 255;       all bits are defined: a defined 0 decides an `and`
//! ```
//!
//! So what moves, masks and packs bits has a rule of its own; whatever else makes a value of an undefined
//! bit has made nothing defined. The idea is memcheck's (Seward and Nethercote, "Using Valgrind to detect
//! undefined value errors with bit-precision", 2005).

/// How the bits of a result depend on those of the sources `a`, `b` and `c`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// Each on the same bit of the sources, by a table as `lop3` has it.
    Table(u8),
    /// `a` where `c` is set, else `b`.
    Select,
    /// `a`, and over it the lowest `bits` of `b` from the bit `at` on.
    Insert {
        at: u8,
        bits: u8,
    },
    /// The `bits` of `a` from the bit `at` on.
    Extract {
        at: u8,
        bits: u8,
    },
    /// The lowest `bits` of `a`; above them zeros, or the highest of them again.
    Extend {
        bits: u8,
        signed: bool,
    },
    /// `a` of this many bits, shifted by `b`.
    Left {
        bits: u8,
    },
    Right {
        bits: u8,
        signed: bool,
    },
    /// Sums and products: a bit depends on those below.
    Upward,
    /// Two numbers of 16 bits, each made of those in the same halves.
    Halves,
    /// Two numbers of 16 bits, the upper one made of `a`, the lower of `b`.
    Pair,
    /// Bytes of `a` and `b`, as `c` says: `prmt` without a mode.
    Permute,
    /// A quotient or remainder, which is undefined where `b` is zero.
    Divide {
        remainder: bool,
    },
}

impl Rule {
    /// Tables of what takes one source or two.
    pub const COPY: Self = Self::Table(0xf0);
    pub const NOT: Self = Self::Table(0x0f);
    pub const AND: Self = Self::Table(0xf0 & 0xcc);
    pub const OR: Self = Self::Table(0xf0 | 0xcc);
    pub const XOR: Self = Self::Table(0xf0 ^ 0xcc);
}

/// What an operand holds in one lane, and which bits of that are undefined.
#[derive(Clone, Copy, Debug, Default)]
pub struct Source {
    pub value: u64,
    pub undefined: u64,
}

fn low(bits: u8) -> u64 {
    if bits >= 64 { u64::MAX } else { (1 << bits) - 1 }
}

fn all_if(any: bool) -> u64 {
    if any { u64::MAX } else { 0 }
}

impl Rule {
    /// The undefined bits of the result. Those beyond its width mean nothing.
    pub fn undefined(self, [a, b, c]: [Source; 3]) -> u64 {
        let any = a.undefined | b.undefined | c.undefined;
        match self {
            Self::Table(table) => by_table(table, [a, b, c]),
            Self::Select if c.undefined != 0 => u64::MAX,
            Self::Select if c.value != 0 => a.undefined,
            Self::Select => b.undefined,
            Self::Insert { at, bits } => {
                let place = low(bits) << at;
                a.undefined & !place | b.undefined << at & place
            }
            Self::Extract { at, bits } => a.undefined >> at & low(bits),
            Self::Extend { bits, signed } => extended(a.undefined, bits, signed),
            Self::Left { .. } | Self::Right { .. } if b.undefined != 0 => u64::MAX,
            Self::Left { bits } => {
                if b.value >= u64::from(bits) {
                    0
                } else {
                    a.undefined << b.value & low(bits)
                }
            }
            Self::Right { bits, signed } => {
                let wide = extended(a.undefined, bits, signed);
                let by = b.value.min(63);
                let moved = if signed { (wide as i64 >> by) as u64 } else { wide >> by };
                if !signed && b.value >= u64::from(bits) { 0 } else { moved }
            }
            // All from the lowest one up.
            Self::Upward => any | any.wrapping_neg(),
            Self::Halves => {
                all_if(any & 0xffff != 0) & 0xffff | all_if(any >> 16 & 0xffff != 0) & 0xffff_0000
            }
            Self::Pair => {
                all_if(b.undefined != 0) & 0xffff | all_if(a.undefined != 0) & 0xffff_0000
            }
            Self::Permute if c.undefined & 0xffff != 0 => u64::MAX,
            Self::Permute => {
                let bytes = a.undefined & 0xffff_ffff | b.undefined << 32;
                let byte = |k: u32| {
                    let choice = c.value >> (4 * k) & 15;
                    let byte = bytes >> (8 * (choice & 7)) & 0xff;
                    // With the highest bit of the choice, the byte's sign eight times.
                    let byte = if choice & 8 != 0 { all_if(byte >> 7 != 0) & 0xff } else { byte };
                    byte << (8 * k)
                };
                (0..4).map(byte).fold(0, |all, byte| all | byte)
            }
            Self::Divide { .. } => all_if(any != 0 || b.value == 0),
        }
    }
}

/// A bit is undefined if some value of the undefined source bits makes it 1 and some makes it 0.
fn by_table(table: u8, [a, b, c]: [Source; 3]) -> u64 {
    let can_be = |source: Source, one: bool| {
        source.undefined | if one { source.value } else { !source.value }
    };
    let mut results = [0; 2];
    for row in 0..8u8 {
        let [x, y, z] = [4, 2, 1].map(|bit| row & bit != 0);
        results[usize::from(table >> row & 1)] |= can_be(a, x) & can_be(b, y) & can_be(c, z);
    }
    results[0] & results[1]
}

fn extended(undefined: u64, bits: u8, signed: bool) -> u64 {
    let kept = undefined & low(bits);
    if signed && kept >> (bits - 1) & 1 == 1 { kept | !low(bits) } else { kept }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn defined(value: u64) -> Source {
        Source { value, undefined: 0 }
    }

    fn partly(value: u64, undefined: u64) -> Source {
        Source { value, undefined }
    }

    type Function = fn(u64) -> u64;

    /// Of all values that the undefined bits may have, which bits of the result change.
    fn by_trial(bits: u32, undefined: u64, result: impl Fn(u64) -> u64) -> u64 {
        let first = result(0);
        let values = (0..1u64 << bits).map(|x| x & undefined);
        values.fold(0, |changed, x| changed | (result(x) ^ first))
    }

    #[test]
    fn tables_agree_with_trying_all_values() {
        for undefined in [0, 0b0110, 0b1111] {
            for other in [0b0011, 0b0101] {
                for (rule, f) in [
                    (Rule::AND, (|a, b| a & b) as fn(u64, u64) -> u64),
                    (Rule::OR, |a, b| a | b),
                    (Rule::XOR, |a, b| a ^ b),
                    (Rule::COPY, |a, _| a),
                    (Rule::NOT, |a, _| !a),
                ] {
                    let found = rule.undefined([partly(0, undefined), defined(other), defined(0)]);
                    let expected = by_trial(4, undefined, |a| f(a, other));
                    assert_eq!(found & 15, expected & 15, "{rule:?} {undefined:b} {other:b}");
                }
            }
        }
    }

    #[test]
    fn parts_shifts_and_extensions_agree_with_trying_all_values() {
        for undefined in [0u64, 0b1000_0000, 0b0110, 0xff] {
            let a = partly(0, undefined);
            let cases: [(Rule, u64, Function); 6] = [
                (Rule::Extract { at: 4, bits: 4 }, 0, |a| a >> 4 & 15),
                (Rule::Extend { bits: 8, signed: true }, 0, |a| a as i8 as u64),
                (Rule::Extend { bits: 8, signed: false }, 0, |a| a & 0xff),
                (Rule::Left { bits: 32 }, 28, |a| a << 28 & 0xffff_ffff),
                (Rule::Right { bits: 32, signed: false }, 3, |a| a >> 3),
                (Rule::Left { bits: 32 }, 32, |_| 0),
            ];
            for (rule, by, f) in cases {
                let found = rule.undefined([a, defined(by), defined(0)]);
                assert_eq!(found, by_trial(8, undefined, f), "{rule:?} {undefined:x}");
            }
        }
    }

    #[test]
    fn halves_and_bytes_are_kept_apart() {
        let upper = partly(0, 0xffff_0000);
        let no = defined(0);
        assert_eq!(Rule::Halves.undefined([upper, no, no]), 0xffff_0000);
        assert_eq!(Rule::Pair.undefined([no, upper, no]), 0xffff);
        assert_eq!(Rule::Permute.undefined([upper, no, defined(0x5410)]), 0);
        assert_eq!(Rule::Permute.undefined([upper, no, defined(0x5432)]), 0xffff);
        assert_eq!(Rule::Permute.undefined([upper, no, defined(0x777a)]), 0xff);
        let packed = Rule::Insert { at: 32, bits: 32 };
        assert_eq!(packed.undefined([no, partly(0, 0xffff_ffff), no]), 0xffff_ffff_0000_0000);
    }

    #[test]
    fn a_quotient_by_zero_is_undefined() {
        let rule = Rule::Divide { remainder: false };
        assert_eq!(rule.undefined([defined(7), defined(0), defined(0)]), u64::MAX);
        assert_eq!(rule.undefined([defined(7), defined(2), defined(0)]), 0);
    }
}
