//! `.entry` and `.func` (PTX ISA 11.2), and the directives between header and body.

use super::ast::{Directives, Function};
use super::constant::Precedence;
use super::parser::{Parser, Result};
use super::variable::Linkage;

impl<'a> Parser<'a> {
    /// A kernel or function; the token ahead is `.entry` or `.func`.
    pub fn function(&mut self, linkage: Linkage) -> Result<Function<'a>> {
        self.locations.start_function();
        let start = self.token.start;
        let entry = self.eat_dotted() == Some("entry");
        if self.dotted() == Some("attribute") {
            self.advance();
            self.attributes()?;
        }
        let returns = if self.is(b'(') { self.parameters()? } else { Vec::new() };
        let name = self.word("the name of a function")?;
        let params = if self.is(b'(') { self.parameters()? } else { Vec::new() };
        let directives = self.directives()?;
        let body = if self.eat(b';') { None } else { Some(self.block()?) };
        Ok(Function {
            entry,
            visible: linkage.visible,
            external: linkage.external,
            weak: linkage.weak,
            name,
            returns,
            params,
            directives,
            body,
            span: self.span_from(start),
        })
    }

    /// Everything that begins with a dot before the body.
    pub fn directives(&mut self) -> Result<Directives> {
        let mut directives = Directives::default();
        while let Some(name) = self.dotted() {
            match name {
                "maxntid" => directives.maxntid = Some(self.extents()?),
                "reqntid" => directives.reqntid = Some(self.extents()?),
                "reqnctapercluster" => directives.reqnctapercluster = Some(self.extents()?),
                "minnctapersm" => directives.minnctapersm = Some(self.extent()?),
                "maxnreg" => directives.maxnreg = Some(self.extent()?),
                "maxclusterrank" => directives.maxclusterrank = Some(self.extent()?),
                // Register budgets of the real machine: nothing here depends on them.
                "maxnctapersm" | "abi_preserve" | "abi_preserve_control" => {
                    self.extent()?;
                }
                "explicitcluster" => directives.explicitcluster = self.advance_true(),
                "blocksareclusters" => directives.blocksareclusters = self.advance_true(),
                "noreturn" => directives.noreturn = self.advance_true(),
                "pragma" => {
                    self.advance();
                    self.pragma()?;
                }
                _ => return Err(self.unexpected("a function's directive, `{` or `;`")),
            }
        }
        Ok(directives)
    }

    fn advance_true(&mut self) -> bool {
        self.advance();
        true
    }

    fn extent(&mut self) -> Result<u32> {
        self.advance();
        self.small_integer(Precedence::ANY, "a limit")
    }

    /// `x`, `x, y` or `x, y, z`.
    fn extents(&mut self) -> Result<[u32; 3]> {
        let mut extents = [self.extent()?, 1, 1];
        for extent in &mut extents[1..] {
            if !self.eat(b',') {
                break;
            }
            *extent = self.small_integer(Precedence::ANY, "an extent")?;
        }
        Ok(extents)
    }
}
