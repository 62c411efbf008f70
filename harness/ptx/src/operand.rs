//! Operands (PTX ISA chapter 6): names, literals, addresses, vectors, lists.

use super::ast::Operand;
use super::constant::Precedence;
use super::error::ParseError;
use super::lexer::Kind;
use super::parser::{Parser, Result};

/// Special registers that have components: `%tid.x` is one name, and never a vector register.
fn has_components(name: &str) -> bool {
    matches!(
        name,
        "%tid"
            | "%ntid"
            | "%ctaid"
            | "%nctaid"
            | "%clusterid"
            | "%nclusterid"
            | "%cluster_ctaid"
            | "%cluster_nctaid"
    )
}

impl<'a> Parser<'a> {
    /// An operand. Parentheses enclose a list of names if `call`, an expression otherwise.
    pub fn operand(&mut self, call: bool) -> Result<Operand<'a>> {
        match self.token.kind {
            Kind::Word if self.ahead() != "WARP_SZ" => self.named(),
            Kind::Punctuation(b'[') => self.nested(Self::address),
            Kind::Punctuation(b'{') => self.nested(Self::vector),
            Kind::Punctuation(b'(') if call => self.nested(Self::list),
            Kind::Punctuation(sign @ (b'!' | b'-')) => self.prefixed(sign),
            _ if self.starts_constant() => Ok(self.constant(Precedence::ANY)?.operand()),
            _ => Err(self.unexpected("an operand")),
        }
    }

    /// `!%p`, `-%r`, or an expression that begins with such a sign.
    fn prefixed(&mut self, sign: u8) -> Result<Operand<'a>> {
        let mut rest = self.fork();
        let next = rest.next();
        if next.kind != Kind::Word || self.slice(next) == "WARP_SZ" {
            return Ok(self.constant(Precedence::ANY)?.operand());
        }
        self.advance();
        let name = self.word("a register")?;
        Ok(if sign == b'!' { Operand::Not(name) } else { Operand::Negated(name) })
    }

    /// What begins with a word: `%r1`, `_`, `%v.x`, `name+4`, `d|p`.
    fn named(&mut self) -> Result<Operand<'a>> {
        let first = self.simple_name()?;
        match self.token.kind {
            Kind::Punctuation(b'|') => self.pair(first),
            Kind::Punctuation(b'+' | b'-') => {
                let Operand::Name(name) = first else {
                    return Err(self.error_ahead("only a name can have an offset"));
                };
                Ok(Operand::Offset { name, offset: self.offset()? })
            }
            Kind::Punctuation(b'[') => {
                Err(self
                    .error_ahead("array elements are addressed in bytes: write `[name+offset]`"))
            }
            _ => Ok(first),
        }
    }

    fn pair(&mut self, first: Operand<'a>) -> Result<Operand<'a>> {
        self.expect(b'|', "between the halves of a pair")?;
        let second = match self.token.kind {
            Kind::Punctuation(b'!') => self.prefixed(b'!')?,
            _ => self.simple_name()?,
        };
        Ok(Operand::Pair(Box::new(first), Box::new(second)))
    }

    fn simple_name(&mut self) -> Result<Operand<'a>> {
        let start = self.token.start;
        let name = self.word("a register")?;
        if name == "_" {
            return Ok(Operand::Discard);
        }
        let Some(selector) = self.eat_dotted() else { return Ok(Operand::Name(name)) };
        if has_components(name) {
            return Ok(Operand::Name(&self.text[start as usize..self.consumed as usize]));
        }
        Ok(Operand::Element(name, selector))
    }

    /// `+4`, `+-4`, `-4`, `+4*3-1`: what follows the name of an address.
    pub fn offset(&mut self) -> Result<i64> {
        let mut offset = 0i64;
        loop {
            let negative = self.is(b'-');
            if !negative && !self.is(b'+') {
                return Ok(offset);
            }
            self.advance();
            let term = self.integer(Precedence::PRODUCT, "an offset")? as i64;
            offset = if negative { offset.wrapping_sub(term) } else { offset.wrapping_add(term) };
        }
    }

    fn address(&mut self) -> Result<Operand<'a>> {
        let start = self.advance().start;
        let mut items = vec![self.operand(false)?];
        while self.eat(b',') {
            items.push(self.operand(false)?);
        }
        self.expect(b']', "at the end of an address")?;
        if items.len() > 1 {
            return Ok(Operand::AddressList(items));
        }
        match items.remove(0) {
            Operand::Name(name) => Ok(Operand::Address { base: Some(name), offset: 0 }),
            Operand::Offset { name, offset } => Ok(Operand::Address { base: Some(name), offset }),
            Operand::Integer(address) => {
                Ok(Operand::Address { base: None, offset: address as i64 })
            }
            _ => Err(ParseError::new(
                "an address is a register or variable and an offset in bytes",
                self.span_from(start),
            )),
        }
    }

    fn vector(&mut self) -> Result<Operand<'a>> {
        self.advance();
        let mut items = vec![self.operand(false)?];
        while self.eat(b',') {
            items.push(self.operand(false)?);
        }
        self.expect(b'}', "at the end of a vector")?;
        let vector = Operand::Vector(items);
        // `tex` and `tld4` say in a predicate whether the texel was resident.
        if self.is(b'|') { self.pair(vector) } else { Ok(vector) }
    }

    fn list(&mut self) -> Result<Operand<'a>> {
        self.advance();
        let mut items = Vec::new();
        if !self.is(b')') {
            items.push(self.operand(true)?);
            while self.eat(b',') {
                items.push(self.operand(true)?);
            }
        }
        self.expect(b')', "at the end of a list")?;
        Ok(Operand::List(items))
    }
}
