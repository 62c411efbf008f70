//! What stands between the braces of a function.

use super::ast::Statement;
use super::lexer::Kind;
use super::parser::{Parser, Result};
use super::variable::{Linkage, space_of};

impl<'a> Parser<'a> {
    /// `{ … }`
    pub fn block(&mut self) -> Result<Vec<Statement<'a>>> {
        self.expect(b'{', "before a body")?;
        let mut statements = Vec::new();
        while !self.eat(b'}') {
            self.statement(&mut statements)?;
        }
        Ok(statements)
    }

    /// Appends the next statement; a declaration of several variables becomes several.
    fn statement(&mut self, to: &mut Vec<Statement<'a>>) -> Result<()> {
        match self.token.kind {
            Kind::Word => {
                let start = self.token.start;
                let name = self.word("a statement")?;
                to.push(if self.eat(b':') {
                    self.labelled(name, start)?
                } else {
                    Statement::Instruction(self.instruction(None, name, start)?)
                });
            }
            Kind::Dotted => self.directive(to)?,
            Kind::Punctuation(b'@') => to.push(Statement::Instruction(self.guarded()?)),
            Kind::Punctuation(b'{') => to.push(Statement::Scope(self.nested(Self::block)?)),
            // Macros of inline PTX leave empty statements behind.
            Kind::Punctuation(b';') => {
                self.advance();
            }
            _ => return Err(self.unexpected("a statement or `}`")),
        }
        Ok(())
    }

    fn directive(&mut self, to: &mut Vec<Statement<'a>>) -> Result<()> {
        match self.dotted() {
            Some("loc") => {
                self.advance();
                to.push(Statement::Location(self.location()?));
            }
            Some("pragma") => {
                self.advance();
                to.push(Statement::Pragma(self.pragma()?));
            }
            Some(name) if space_of(name).is_some() => {
                self.declaration(Linkage::default(), |variable| {
                    to.push(Statement::Variable(variable));
                })?;
            }
            _ => return Err(self.unexpected("a declaration, `.loc` or `.pragma`")),
        }
        Ok(())
    }

    /// A label, or one of the tables that are declared behind one (PTX ISA 11.3).
    fn labelled(&mut self, name: &'a str, start: u32) -> Result<Statement<'a>> {
        let table = match self.dotted() {
            Some("branchtargets") => {
                self.advance();
                Statement::BranchTargets { name, labels: self.names("a label")? }
            }
            Some("calltargets") => {
                self.advance();
                Statement::CallTargets { name, functions: self.names("a function")? }
            }
            Some("callprototype") => {
                self.advance();
                let returns = if self.is(b'(') { self.parameters()? } else { Vec::new() };
                self.word("`_` in place of the function's name")?;
                let params = if self.is(b'(') { self.parameters()? } else { Vec::new() };
                self.directives()?;
                Statement::CallPrototype { name, returns, params }
            }
            _ => return Ok(Statement::Label { name, span: self.span_from(start) }),
        };
        self.expect(b';', "at the end of a table")?;
        Ok(table)
    }

    fn names(&mut self, what: &str) -> Result<Vec<&'a str>> {
        let mut names = vec![self.word(what)?];
        while self.eat(b',') {
            names.push(self.word(what)?);
        }
        if self.is(b'<') {
            return Err(self.error_ahead("ranges of labels are not read: write each one out"));
        }
        Ok(names)
    }

    /// What follows `.pragma` (PTX ISA 11.4.7).
    pub fn pragma(&mut self) -> Result<Vec<&'a str>> {
        let mut pragmas = vec![self.string("a pragma in quotes")?];
        while self.eat(b',') {
            pragmas.push(self.string("a pragma in quotes")?);
        }
        self.expect(b';', "after a pragma")?;
        Ok(pragmas)
    }
}
