//! Declarations (PTX ISA 5.4): registers, parameters, variables and their initializers.

use super::ast::{Initializer, Operand, Space, Variable};
use super::constant::Precedence;
use super::error::ParseError;
use super::lexer::Kind;
use super::parser::{Parser, Result};

/// `.extern`, `.visible`, `.weak`, `.common` (PTX ISA 11.6).
#[derive(Clone, Copy, Default)]
pub(super) struct Linkage {
    pub visible: bool,
    pub external: bool,
    pub weak: bool,
}

pub(super) fn space_of(directive: &str) -> Option<Space> {
    Some(match directive {
        "reg" => Space::Register,
        "global" => Space::Global,
        "const" => Space::Constant,
        "shared" => Space::Shared,
        "local" => Space::Local,
        "param" => Space::Param,
        _ => return None,
    })
}

impl<'a> Parser<'a> {
    /// `.space … type name, name = initializer;`, each variable handed to `emit`.
    pub fn declaration(
        &mut self,
        linkage: Linkage,
        mut emit: impl FnMut(Variable<'a>),
    ) -> Result<()> {
        let common = self.declared_type(linkage)?;
        loop {
            let variable = self.declarator(common.clone())?;
            emit(variable);
            if !self.eat(b',') {
                break;
            }
        }
        self.expect(b';', "after a declaration")
    }

    /// `(.param .b64 a, .param .align 8 .b8 b[16])`
    pub fn parameters(&mut self) -> Result<Vec<Variable<'a>>> {
        self.expect(b'(', "before parameters")?;
        let mut parameters = Vec::new();
        if self.eat(b')') {
            return Ok(parameters);
        }
        loop {
            let common = self.declared_type(Linkage::default())?;
            parameters.push(self.declarator(common)?);
            if !self.eat(b',') {
                break;
            }
        }
        self.expect(b')', "after parameters")?;
        Ok(parameters)
    }

    /// What stands before the name: the variable without name, dimensions and initializer.
    fn declared_type(&mut self, linkage: Linkage) -> Result<Variable<'a>> {
        let start = self.token.start;
        let Some(space) = self.dotted().and_then(space_of) else {
            return Err(self.unexpected("a state space"));
        };
        self.advance();
        let mut ty = None;
        let mut vector = 1;
        let mut align = None;
        let mut managed = false;
        let mut pointer = false;
        while let Some(name) = self.eat_dotted() {
            match name {
                "align" => {
                    let bytes = self.small_integer(Precedence::SHIFT, "an alignment")?;
                    if !bytes.is_power_of_two() {
                        let message = "an alignment is a power of two";
                        return Err(ParseError::new(message, self.span_from(start)));
                    }
                    // After `.ptr` it is the alignment of what the parameter points to.
                    if !pointer {
                        align = Some(bytes);
                    }
                }
                "attribute" => managed |= self.attributes()?,
                "v2" => vector = 2,
                "v4" => vector = 4,
                "v8" => vector = 8,
                "ptr" => pointer = true,
                _ if pointer && space_of(name).is_some() => {}
                _ if ty.is_none() => ty = Some(name),
                _ => {
                    let message = format!("`.{name}` after the type of a variable");
                    return Err(ParseError::new(message, self.span_from(start)));
                }
            }
        }
        let Some(ty) = ty else { return Err(self.unexpected("a type")) };
        Ok(Variable {
            space,
            ty,
            vector,
            align,
            name: "",
            count: None,
            dimensions: Vec::new(),
            initializer: None,
            external: linkage.external,
            visible: linkage.visible,
            managed,
            span: 0..0,
        })
    }

    /// `name`, `name<7>`, `name[4][8] = {…}`
    fn declarator(&mut self, common: Variable<'a>) -> Result<Variable<'a>> {
        let mut variable = common;
        let start = self.token.start;
        variable.name = self.word("the name of a variable")?;
        if self.eat(b'<') {
            variable.count = Some(self.small_integer(Precedence::SHIFT, "a number of registers")?);
            self.expect(b'>', "after the number of registers")?;
        }
        while self.eat(b'[') {
            let length = match self.is(b']') {
                true => 0,
                false => self.integer(Precedence::ANY, "the length of an array")?,
            };
            variable.dimensions.push(length);
            self.expect(b']', "after the length of an array")?;
        }
        if self.eat(b'=') {
            variable.initializer = Some(self.initializer()?);
        }
        variable.span = self.span_from(start);
        Ok(variable)
    }

    /// `(.managed)`, `(.unified(1, 2))`; whether `.managed` is among them.
    pub fn attributes(&mut self) -> Result<bool> {
        self.expect(b'(', "before attributes")?;
        let mut managed = false;
        loop {
            match self.eat_dotted() {
                Some(name) => managed |= name == "managed",
                None => return Err(self.unexpected("an attribute")),
            }
            if self.eat(b'(') {
                self.integer(Precedence::ANY, "half of a unique identifier")?;
                self.expect(b',', "between the halves of a unique identifier")?;
                self.integer(Precedence::ANY, "half of a unique identifier")?;
                self.expect(b')', "after a unique identifier")?;
            }
            if !self.eat(b',') {
                break;
            }
        }
        self.expect(b')', "after attributes")?;
        Ok(managed)
    }

    /// PTX ISA 5.4.4.
    fn initializer(&mut self) -> Result<Initializer<'a>> {
        if self.is(b'{') {
            return self.nested(Self::initializer_list);
        }
        if self.token.kind == Kind::Word && self.ahead() != "WARP_SZ" {
            return self.symbol(None);
        }
        if !self.starts_constant() {
            return Err(self.unexpected("an initial value"));
        }
        let start = self.token.start;
        let value = self.constant(Precedence::ANY)?.operand();
        match value {
            Operand::Integer(mask) if self.is(b'(') => self.masked(mask, start),
            _ => Ok(Initializer::Value(value)),
        }
    }

    fn initializer_list(&mut self) -> Result<Initializer<'a>> {
        self.advance();
        let mut items = Vec::new();
        while !self.is(b'}') {
            items.push(self.initializer()?);
            if !self.eat(b',') {
                break;
            }
        }
        self.expect(b'}', "at the end of a list")?;
        Ok(Initializer::List(items))
    }

    /// `0xff00(name+4)`: one byte of an address; of a constant, that byte itself.
    fn masked(&mut self, mask: u64, start: u32) -> Result<Initializer<'a>> {
        let shift = mask.trailing_zeros();
        if mask == 0 || !shift.is_multiple_of(8) || mask >> shift != 0xff {
            let message = "a mask selects one byte: 0xff, 0xff00, …";
            return Err(ParseError::new(message, self.span_from(start)));
        }
        self.expect(b'(', "after a mask")?;
        let inner = if self.starts_constant() {
            let value = self.integer(Precedence::ANY, "the value under a mask")?;
            Initializer::Value(Operand::Integer(value >> shift & 0xff))
        } else {
            self.symbol(Some(mask))?
        };
        self.expect(b')', "after the value under a mask")?;
        Ok(inner)
    }

    /// `name+4`, `generic(name)+4`
    fn symbol(&mut self, mask: Option<u64>) -> Result<Initializer<'a>> {
        let mut name = self.word("a symbol")?;
        let generic = name == "generic" && self.eat(b'(');
        let mut offset = 0;
        if generic {
            name = self.word("a symbol")?;
            offset = self.offset()?;
            self.expect(b')', "after a symbol")?;
        }
        let offset = self.offset()?.wrapping_add(offset);
        Ok(Initializer::Symbol { name, generic, offset, mask })
    }
}
