//! Instructions (PTX ISA 4.3.2): `@guard opcode.modifiers operands;`.

use super::ast::{Guard, Instruction, Operand};
use super::parser::{Parser, Result};

impl<'a> Parser<'a> {
    /// The guard and what follows it; the token ahead is `@`.
    pub fn guarded(&mut self) -> Result<Instruction<'a>> {
        let start = self.advance().start;
        let negated = self.eat(b'!');
        let register = self.word("a predicate register")?;
        let opcode = self.word("an instruction after its guard")?;
        self.instruction(Some(Guard { negated, register }), opcode, start)
    }

    /// What follows an opcode, up to and with the semicolon.
    pub fn instruction(
        &mut self,
        guard: Option<Guard<'a>>,
        opcode: &'a str,
        start: u32,
    ) -> Result<Instruction<'a>> {
        let mut modifiers = Vec::new();
        while let Some(modifier) = self.eat_dotted() {
            modifiers.push(modifier);
        }
        let mut operands = Vec::new();
        if !self.is(b';') {
            let call = opcode == "call";
            loop {
                operands.push(self.operand(call)?);
                if self.dotted() == Some("unified")
                    && matches!(operands.last(), Some(Operand::Address { .. }))
                {
                    modifiers.extend(self.eat_dotted());
                }
                if !self.eat(b',') {
                    break;
                }
            }
        }
        if !self.is(b';') {
            return Err(self.unexpected("`,` or `;` after an operand"));
        }
        self.advance();
        Ok(Instruction { guard, opcode, modifiers, operands, span: self.span_from(start) })
    }
}
