//! Fundamental types (PTX ISA 5.2.1).

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Bits,
    Unsigned,
    Signed,
    Float,
    Predicate,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Type {
    pub kind: Kind,
    pub bits: u32,
}

impl Type {
    pub const PREDICATE: Self = Self { kind: Kind::Predicate, bits: 1 };

    /// `u32` and its like; nothing for modifiers that are no types.
    pub fn parse(name: &str) -> Option<Self> {
        if name == "pred" {
            return Some(Self::PREDICATE);
        }
        let kind = match name.as_bytes().first()? {
            b'b' => Kind::Bits,
            b'u' => Kind::Unsigned,
            b's' => Kind::Signed,
            b'f' => Kind::Float,
            _ => return None,
        };
        let bits = name[1..].parse().ok()?;
        matches!(bits, 8 | 16 | 32 | 64).then_some(Self { kind, bits })
    }

    pub fn signed(self) -> bool {
        self.kind == Kind::Signed
    }

    pub fn float(self) -> bool {
        self.kind == Kind::Float
    }

    pub fn bytes(self) -> usize {
        self.bits as usize / 8
    }

    /// The low bits of a register.
    pub fn cut(self, value: u64) -> u64 {
        cut(value, self.bits)
    }

    /// The number that the low bits of a register mean.
    pub fn number(self, value: u64) -> i128 {
        let value = self.cut(value);
        if self.signed() && value >> (self.bits - 1) & 1 == 1 {
            i128::from(value) - (1 << self.bits)
        } else {
            i128::from(value)
        }
    }

    /// How a result of this type fills a register of 64 bits, of which a narrower one keeps the low part
    /// (PTX ISA 9.4.1: by its sign, or with zeros).
    pub fn extended(self, value: u64) -> u64 {
        self.number(value) as u64
    }

    pub fn least(self) -> i128 {
        if self.signed() { -(1 << (self.bits - 1)) } else { 0 }
    }

    pub fn greatest(self) -> i128 {
        if self.signed() { (1 << (self.bits - 1)) - 1 } else { (1 << self.bits) - 1 }
    }
}

pub fn cut(value: u64, bits: u32) -> u64 {
    if bits >= 64 { value } else { value & ((1 << bits) - 1) }
}
