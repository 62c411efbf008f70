//! Literals and constant expressions (PTX ISA 4.5), evaluated where they stand.
//!
//! nvcc writes plain literals. Inline PTX pastes macros together and so does arithmetic:
//! `[%0 + 4*3]`.

use super::ast::Operand;
use super::error::ParseError;
use super::lexer::{Kind, Token};
use super::parser::{Parser, Result};

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Constant {
    /// The 64-bit pattern, and whether PTX ISA 4.5.1 gives it type `.u64`.
    Integer { bits: u64, unsigned: bool },
    /// A decimal or `0d` literal.
    Double(f64),
    /// A `0f` literal: exact bits, which take no part in arithmetic.
    Single(u32),
}

/// How tightly an operator binds (PTX ISA 4.5.4, table 4); a higher number binds tighter.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Precedence(u8);

impl Precedence {
    pub const ANY: Self = Self(0);
    /// Above comparisons: inside `%r<7>`, where `>` closes.
    pub const SHIFT: Self = Self(8);
    /// What may follow the sign of an address offset.
    pub const PRODUCT: Self = Self(10);
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Operator {
    Conditional,
    Or,
    And,
    BitOr,
    BitXor,
    BitAnd,
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    ShiftLeft,
    ShiftRight,
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
}

impl Operator {
    fn of(kind: Kind) -> Option<(Self, Precedence)> {
        let (operator, precedence) = match kind {
            Kind::Punctuation(b'?') => (Self::Conditional, 0),
            Kind::Or => (Self::Or, 1),
            Kind::And => (Self::And, 2),
            Kind::Punctuation(b'|') => (Self::BitOr, 3),
            Kind::Punctuation(b'^') => (Self::BitXor, 4),
            Kind::Punctuation(b'&') => (Self::BitAnd, 5),
            Kind::Equal => (Self::Equal, 6),
            Kind::NotEqual => (Self::NotEqual, 6),
            Kind::Punctuation(b'<') => (Self::Less, 7),
            Kind::LessEqual => (Self::LessEqual, 7),
            Kind::Punctuation(b'>') => (Self::Greater, 7),
            Kind::GreaterEqual => (Self::GreaterEqual, 7),
            Kind::ShiftLeft => (Self::ShiftLeft, 8),
            Kind::ShiftRight => (Self::ShiftRight, 8),
            Kind::Punctuation(b'+') => (Self::Add, 9),
            Kind::Punctuation(b'-') => (Self::Subtract, 9),
            Kind::Punctuation(b'*') => (Self::Multiply, 10),
            Kind::Punctuation(b'/') => (Self::Divide, 10),
            Kind::Punctuation(b'%') => (Self::Remainder, 10),
            _ => return None,
        };
        Some((operator, Precedence(precedence)))
    }
}

impl Constant {
    fn signed(value: i64) -> Self {
        Self::Integer { bits: value as u64, unsigned: false }
    }

    pub fn operand<'a>(self) -> Operand<'a> {
        match self {
            Self::Integer { bits, .. } => Operand::Integer(bits),
            Self::Double(value) => Operand::Float64(value.to_bits()),
            Self::Single(bits) => Operand::Float32(bits),
        }
    }

    fn double(self) -> Option<f64> {
        match self {
            Self::Integer { bits, unsigned: true } => Some(bits as f64),
            Self::Integer { bits, unsigned: false } => Some(bits as i64 as f64),
            Self::Double(value) => Some(value),
            Self::Single(_) => None,
        }
    }

    fn is_true(self) -> bool {
        !matches!(self, Self::Integer { bits: 0, .. } | Self::Single(0))
            && self.double() != Some(0.0)
    }

    fn unary(self, operator: u8) -> Option<Self> {
        Some(match (operator, self) {
            (b'+', value) => value,
            (b'-', Self::Integer { bits, unsigned }) => {
                Self::Integer { bits: bits.wrapping_neg(), unsigned }
            }
            (b'-', Self::Double(value)) => Self::Double(-value),
            (b'-', Self::Single(bits)) => Self::Single(bits ^ 1 << 31),
            (b'!', value) => Self::signed(i64::from(!value.is_true())),
            (b'~', Self::Integer { bits, unsigned }) => Self::Integer { bits: !bits, unsigned },
            _ => return None,
        })
    }

    /// `None` where the types have no such operation, or the divisor is zero.
    fn binary(self, operator: Operator, other: Self) -> Option<Self> {
        match (self, other) {
            (Self::Integer { bits: a, unsigned: u }, Self::Integer { bits: b, unsigned: v }) => {
                integers(a, u, operator, b, v)
            }
            _ => doubles(self.double()?, operator, other.double()?),
        }
    }
}

/// PTX ISA 4.5.5: operands are brought to `.u64` if one of them is; shifts keep the left type.
fn integers(a: u64, u: bool, operator: Operator, b: u64, v: bool) -> Option<Constant> {
    let unsigned = u || v;
    let (i, j) = (a as i64, b as i64);
    let amount = u32::try_from(b).unwrap_or(u32::MAX);
    let truth = |value: bool| Some(Constant::signed(i64::from(value)));
    let value = |bits: u64| Some(Constant::Integer { bits, unsigned });
    let shifted = |bits: u64| Some(Constant::Integer { bits, unsigned: u });
    match operator {
        Operator::Conditional => None,
        Operator::Or => truth(a != 0 || b != 0),
        Operator::And => truth(a != 0 && b != 0),
        Operator::BitOr => value(a | b),
        Operator::BitXor => value(a ^ b),
        Operator::BitAnd => value(a & b),
        Operator::Equal => truth(a == b),
        Operator::NotEqual => truth(a != b),
        Operator::Less => truth(if unsigned { a < b } else { i < j }),
        Operator::LessEqual => truth(if unsigned { a <= b } else { i <= j }),
        Operator::Greater => truth(if unsigned { a > b } else { i > j }),
        Operator::GreaterEqual => truth(if unsigned { a >= b } else { i >= j }),
        Operator::ShiftLeft => shifted(a.checked_shl(amount).unwrap_or(0)),
        Operator::ShiftRight if u => shifted(a.checked_shr(amount).unwrap_or(0)),
        Operator::ShiftRight => shifted((i >> amount.min(63)) as u64),
        Operator::Add => value(a.wrapping_add(b)),
        Operator::Subtract => value(a.wrapping_sub(b)),
        Operator::Multiply => value(a.wrapping_mul(b)),
        Operator::Divide | Operator::Remainder if b == 0 => None,
        Operator::Divide => value(if unsigned { a / b } else { i.wrapping_div(j) as u64 }),
        Operator::Remainder => value(if unsigned { a % b } else { i.wrapping_rem(j) as u64 }),
    }
}

fn doubles(a: f64, operator: Operator, b: f64) -> Option<Constant> {
    let truth = |value: bool| Some(Constant::signed(i64::from(value)));
    match operator {
        Operator::Add => Some(Constant::Double(a + b)),
        Operator::Subtract => Some(Constant::Double(a - b)),
        Operator::Multiply => Some(Constant::Double(a * b)),
        Operator::Divide => Some(Constant::Double(a / b)),
        Operator::Equal => truth(a == b),
        Operator::NotEqual => truth(a != b),
        Operator::Less => truth(a < b),
        Operator::LessEqual => truth(a <= b),
        Operator::Greater => truth(a > b),
        Operator::GreaterEqual => truth(a >= b),
        _ => None,
    }
}

impl<'a> Parser<'a> {
    /// Whether the token ahead can only begin a constant.
    pub fn starts_constant(&self) -> bool {
        match self.token.kind {
            Kind::Number => true,
            Kind::Punctuation(byte) => matches!(byte, b'+' | b'-' | b'~' | b'!' | b'('),
            Kind::Word => self.ahead() == "WARP_SZ",
            Kind::Dotted => self.ahead().as_bytes()[1].is_ascii_digit(),
            _ => false,
        }
    }

    /// A constant expression of operators that bind at least as tightly as `loosest`.
    pub fn constant(&mut self, loosest: Precedence) -> Result<Constant> {
        let start = self.token.start;
        let mut value = self.unary()?;
        while let Some((operator, precedence)) = Operator::of(self.token.kind) {
            if precedence < loosest {
                break;
            }
            self.advance();
            if operator == Operator::Conditional {
                let (yes, no) = self.nested(|parser| {
                    let yes = parser.constant(Precedence::ANY)?;
                    parser.expect(b':', "between the two values of a condition")?;
                    Ok((yes, parser.constant(Precedence::ANY)?))
                })?;
                value = if value.is_true() { yes } else { no };
                continue;
            }
            let tighter = Precedence(precedence.0 + 1);
            let right = self.nested(|parser| parser.constant(tighter))?;
            value = value.binary(operator, right).ok_or_else(|| {
                let message = "this constant expression has no value";
                ParseError::new(message, self.span_from(start))
            })?;
        }
        Ok(value)
    }

    /// A constant that must be an integer, as its 64-bit pattern.
    pub fn integer(&mut self, loosest: Precedence, what: &str) -> Result<u64> {
        let start = self.token.start;
        if !self.starts_constant() {
            return Err(self.unexpected(what));
        }
        match self.constant(loosest)? {
            Constant::Integer { bits, .. } => Ok(bits),
            _ => Err(ParseError::new(format!("{what} must be an integer"), self.span_from(start))),
        }
    }

    /// A non-negative integer below 2³².
    pub fn small_integer(&mut self, loosest: Precedence, what: &str) -> Result<u32> {
        let start = self.token.start;
        u32::try_from(self.integer(loosest, what)?).map_err(|_| {
            ParseError::new(format!("{what} does not fit in 32 bits"), self.span_from(start))
        })
    }

    fn unary(&mut self) -> Result<Constant> {
        if let Kind::Punctuation(operator @ (b'+' | b'-' | b'!' | b'~')) = self.token.kind {
            let sign = self.advance();
            let value = self.nested(Self::unary)?;
            return value.unary(operator).ok_or_else(|| {
                let message = format!("`{}` needs an integer", operator as char);
                ParseError::new(message, sign.start..self.consumed)
            });
        }
        if self.is(b'(') {
            return self.nested(Self::parenthesised);
        }
        if self.dotted().is_some_and(|text| text.as_bytes()[0].is_ascii_digit()) {
            self.relex_number();
        }
        match self.token.kind {
            Kind::Number => {
                let token = self.advance();
                self.literal(token)
            }
            Kind::Word if self.ahead() == "WARP_SZ" => {
                self.advance();
                Ok(Constant::signed(32))
            }
            _ => Err(self.unexpected("a constant")),
        }
    }

    /// `(expression)`, or the cast `(.s64) expression`.
    fn parenthesised(&mut self) -> Result<Constant> {
        self.expect(b'(', "before an expression")?;
        let Some(cast @ ("s64" | "u64")) = self.dotted() else {
            let value = self.constant(Precedence::ANY)?;
            self.expect(b')', "after an expression")?;
            return Ok(value);
        };
        let start = self.advance().start;
        self.expect(b')', "after the type of a cast")?;
        match self.unary()? {
            Constant::Integer { bits, .. } => {
                Ok(Constant::Integer { bits, unsigned: cast == "u64" })
            }
            _ => Err(ParseError::new("only integers can be cast", self.span_from(start))),
        }
    }

    fn literal(&self, token: Token) -> Result<Constant> {
        let text = self.slice(token);
        read_literal(text).ok_or_else(|| {
            ParseError::new(format!("`{text}` is no number"), token.start..token.end)
        })
    }
}

fn read_literal(text: &str) -> Option<Constant> {
    let bytes = text.as_bytes();
    let marker = if bytes[0] == b'0' && bytes.len() > 1 { bytes[1] | 0x20 } else { 0 };
    // `from_str_radix` would take a sign, which the lexer never includes.
    match marker {
        b'f' if bytes.len() == 10 => {
            return u32::from_str_radix(&text[2..], 16).ok().map(Constant::Single);
        }
        b'd' if bytes.len() == 18 => {
            let bits = u64::from_str_radix(&text[2..], 16).ok()?;
            return Some(Constant::Double(f64::from_bits(bits)));
        }
        b'x' => return integer(&text[2..], 16),
        b'b' => return integer(&text[2..], 2),
        _ => {}
    }
    if bytes.iter().any(|byte| matches!(byte, b'.' | b'e' | b'E')) {
        return text.parse().ok().map(Constant::Double);
    }
    if bytes[0] == b'0' { integer(text, 8) } else { integer(text, 10) }
}

fn integer(digits: &str, radix: u32) -> Option<Constant> {
    let stripped = digits.strip_suffix('U');
    let bits = u64::from_str_radix(stripped.unwrap_or(digits), radix).ok()?;
    Some(Constant::Integer { bits, unsigned: stripped.is_some() || bits > i64::MAX as u64 })
}
