//! The outermost level of a PTX text.

use super::ast::Module;
use super::constant::Precedence;
use super::error::ParseError;
use super::lexer::Kind;
use super::parser::{Parser, Result};
use super::variable::{Linkage, space_of};

/// Reads a whole PTX text; the tree borrows from it.
///
/// Never panics and never recurses beyond a fixed depth, whatever the text.
///
/// # Errors
///
/// The first place where the text is not PTX. Whether its instructions exist is not looked at.
pub fn parse(text: &str) -> std::result::Result<Module<'_>, ParseError> {
    let mut parser = Parser::new(text)?;
    // PTX ISA 11.1.3: 32 where the module does not say.
    let mut module = Module { address_size: 32, ..Module::default() };
    parser.header(&mut module)?;
    while parser.token.kind != Kind::End {
        parser.item(&mut module)?;
    }
    Ok(module)
}

impl<'a> Parser<'a> {
    /// PTX ISA 4.1: a module begins with `.version`, followed by `.target`.
    fn header(&mut self, module: &mut Module<'a>) -> Result<()> {
        if self.dotted() != Some("version") {
            return Err(self.unexpected("`.version`, with which a PTX text begins"));
        }
        self.advance();
        let version = self.token.kind == Kind::Number;
        module.version = version
            .then(|| self.ahead().split_once('.'))
            .flatten()
            .and_then(|(major, minor)| Some((major.parse().ok()?, minor.parse().ok()?)))
            .ok_or_else(|| self.unexpected("a version such as `9.0`"))?;
        self.advance();
        if self.dotted() != Some("target") {
            return Err(self.unexpected("`.target` after the version"));
        }
        self.advance();
        module.target = self.word("a target such as `sm_100a`")?;
        while self.eat(b',') {
            self.word("a target option")?;
        }
        Ok(())
    }

    fn item(&mut self, module: &mut Module<'a>) -> Result<()> {
        let Some(name) = self.dotted() else {
            if self.eat(b';') {
                return Ok(());
            }
            return Err(self.unexpected("a directive"));
        };
        match name {
            "address_size" => {
                self.advance();
                module.address_size = self.small_integer(Precedence::ANY, "an address size")?;
            }
            "file" => {
                self.advance();
                let index = self.small_integer(Precedence::ANY, "a file index")?;
                module.files.push((index, self.string("a path in quotes")?));
                while self.eat(b',') {
                    self.integer(Precedence::ANY, "a time stamp or size")?;
                }
            }
            "alias" => {
                self.advance();
                let alias = self.word("a function's alias")?;
                self.expect(b',', "after the alias")?;
                module.aliases.push((alias, self.word("the function meant")?));
                self.expect(b';', "after an alias")?;
            }
            "pragma" => {
                self.advance();
                self.pragma()?;
            }
            "section" => self.skip_section()?,
            _ => self.defined(module)?,
        }
        Ok(())
    }

    /// A function or variable with its linkage.
    fn defined(&mut self, module: &mut Module<'a>) -> Result<()> {
        let mut linkage = Linkage::default();
        loop {
            match self.dotted() {
                Some("visible") => linkage.visible = true,
                Some("extern") => linkage.external = true,
                Some("weak" | "common") => linkage.weak = true,
                Some("entry" | "func") => {
                    let function = self.function(linkage)?;
                    module.functions.push(function);
                    return Ok(());
                }
                Some(name) if space_of(name).is_some() => {
                    return self.declaration(linkage, |variable| module.variables.push(variable));
                }
                _ => return Err(self.unexpected("a function, a variable or a module directive")),
            }
            self.advance();
        }
    }

    /// Debugging data has braces but no scopes: `.section .debug_info { .b8 1 … }`.
    fn skip_section(&mut self) -> Result<()> {
        self.advance();
        if !matches!(self.token.kind, Kind::Dotted | Kind::Word) {
            return Err(self.unexpected("the name of a section"));
        }
        self.advance();
        self.expect(b'{', "after the name of a section")?;
        while !self.eat(b'}') {
            if matches!(self.token.kind, Kind::End | Kind::Unknown) {
                return Err(self.unexpected("`}` at the end of a section"));
            }
            self.advance();
        }
        Ok(())
    }
}
