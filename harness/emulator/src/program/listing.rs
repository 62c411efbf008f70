//! A program as text, beside the PTX that it was lowered from.
//!
//! ```text
//! r2 = %tid.x
//! d6 = 4
//!
//! 0:
//!     d8 = r2, d6            mul.wide.u32 %d2, %r0, 4;
//!     if r3 2 else 1
//! ```
//!
//! `r2` is the slot 2, `d6` the slots 6 and 7. An instruction shows the slots that it writes and those that
//! it reads, those of lists in brackets, its flags and its immediate; what it does stands in the PTX.

use std::fmt;

use super::{Exit, Inst, Program, SLOT, Slot};
use crate::isa::flag;

/// A program, and the text that its spans count in.
pub struct Listing<'a> {
    pub program: &'a Program,
    pub text: &'a str,
}

impl Listing<'_> {
    fn name(&self, slot: Slot) -> String {
        let number = slot as usize / SLOT;
        let kind = if number >= self.program.first_wide { 'd' } else { 'r' };
        format!("{kind}{number}")
    }

    fn operands(&self, inst: &Inst) -> String {
        let named = |slots: &[Slot]| {
            let names = slots.iter().filter(|&&slot| slot != 0).map(|&slot| self.name(slot));
            names.collect::<Vec<_>>().join(", ")
        };
        // Lists are shorter than the file of slots is long: a small number is a length.
        let is_list = (inst.d as usize) < SLOT && inst.d > 0;
        let second = if is_list { 0 } else { inst.d };
        let mut text = String::new();
        let written = named(&[inst.dst, second]);
        if !written.is_empty() {
            text += &format!("{written} = ");
        }
        text += &named(&[inst.a, inst.b, inst.c]);
        if is_list {
            text += &format!(" [{}]", named(self.program.list(inst)));
        }
        if inst.imm != 0 {
            text += &format!(" +{}", inst.imm as i64);
        }
        let flags = inst.flags & !flag::COUNTING;
        if flags != 0 {
            text += &format!(" #{flags:x}");
        }
        text.trim_start().to_owned()
    }

    fn origin(&self, origin: u32) -> &str {
        let span = self.program.origins.get(origin as usize).map(|origin| origin.span.clone());
        let text = span.and_then(|span| self.text.get(span.start as usize..span.end as usize));
        text.unwrap_or("")
    }
}

impl fmt::Display for Listing<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for &(slot, preset) in &self.program.presets {
            writeln!(f, "{} = {preset:?}", self.name(slot))?;
        }
        for (number, block) in self.program.blocks.iter().enumerate() {
            writeln!(f, "\n{number}:")?;
            let mut shown = None;
            for inst in &self.program.code[block.first as usize..block.end as usize] {
                let operands = self.operands(inst);
                // An instruction of the text may have become several.
                let text = if shown == Some(inst.origin) { "" } else { self.origin(inst.origin) };
                shown = Some(inst.origin);
                writeln!(f, "{}", format!("    {operands:<31} {text}").trim_end())?;
            }
            match &block.exit {
                Exit::Jump(target) => writeln!(f, "    goto {target}")?,
                Exit::Branch { predicate, negated, taken, next } => {
                    let not = if *negated { "not " } else { "" };
                    let predicate = self.name(*predicate);
                    writeln!(f, "    if {not}{predicate} {taken} else {next}")?;
                }
                Exit::Switch { index, targets } => {
                    writeln!(f, "    switch {} {targets:?}", self.name(*index))?;
                }
                Exit::Leave => writeln!(f, "    leave")?,
            }
        }
        Ok(())
    }
}
