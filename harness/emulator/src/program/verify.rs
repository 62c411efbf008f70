//! What handlers take for granted of a program, checked.
//!
//! Handlers read and write a warp's register file without asking: every slot that an instruction, a list, an
//! exit or a preset names must be inside, registers of 64 bits must be two slots of their bank, and every
//! index into a table must have an entry. Lowering keeps to that; here it is looked at once for each program,
//! which costs less than a hundredth of lowering it. That a handler takes registers of the widths that it is
//! given is checked where both are known (`lower/emit.rs`).

use super::{Block, Exit, Inst, Preset, Program, SLOT, Slot};

/// What does not hold, and the instruction or block where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what} of {place} {number} does not hold")]
pub struct Invalid {
    what: &'static str,
    place: &'static str,
    number: usize,
}

fn hold(
    holds: bool,
    what: &'static str,
    place: &'static str,
    number: usize,
) -> Result<(), Invalid> {
    if holds { Ok(()) } else { Err(Invalid { what, place, number }) }
}

impl Program {
    /// Check it.
    ///
    /// # Errors
    /// The first thing that does not hold.
    pub fn verify(&self) -> Result<(), Invalid> {
        hold(self.first_wide <= self.slots, "the size", "the register file", self.slots)?;
        for (number, inst) in self.code.iter().enumerate() {
            self.verify_instruction(number, inst)?;
        }
        let mut next = 0;
        for (number, block) in self.blocks.iter().enumerate() {
            hold(block.first == next && block.first <= block.end, "the code", "block", number)?;
            next = block.end;
            self.verify_block(number, block)?;
        }
        hold(next as usize == self.code.len(), "the code", "block", self.blocks.len())?;
        hold(!self.blocks.is_empty(), "the entry", "block", 0)?;
        for (number, &slot) in self.lists.iter().enumerate() {
            hold(self.holds(slot), "the slot", "list entry", number)?;
        }
        for (number, &(slot, preset)) in self.presets.iter().enumerate() {
            let wide = preset.is_wide() == self.is_wide(slot);
            let held = self.holds(slot) && wide && slot != 0;
            hold(held, "the slot", "preset", number)?;
            if let Preset::Param { offset, bytes } = preset {
                let end = u64::from(offset) + u64::from(bytes);
                hold(end <= self.param_bytes.into(), "the parameter", "preset", number)?;
            }
        }
        for (number, memory) in self.memory.iter().enumerate() {
            let held = (memory.origin as usize) < self.origins.len()
                && (memory.block as usize) < self.blocks.len();
            hold(held, "the place", "memory instruction", number)?;
        }
        for (number, origin) in self.origins.iter().enumerate() {
            let known = |location: u32| (location as usize) < self.locations.len();
            hold(origin.location.is_none_or(known), "the source line", "origin", number)?;
        }
        self.verify_effects()
    }

    /// Whether this is the first byte of a slot, or of two if it is in the bank of 64-bit registers.
    fn holds(&self, slot: Slot) -> bool {
        let (at, wide) = (slot as usize, self.first_wide * SLOT);
        match at.checked_sub(wide) {
            None => at.is_multiple_of(SLOT),
            Some(within) => within.is_multiple_of(2 * SLOT) && at + 2 * SLOT <= self.slots * SLOT,
        }
    }

    fn is_wide(&self, slot: Slot) -> bool {
        slot as usize >= self.first_wide * SLOT
    }

    fn verify_instruction(&self, number: usize, inst: &Inst) -> Result<(), Invalid> {
        let place = "instruction";
        for slot in [inst.dst, inst.a, inst.b, inst.c] {
            hold(self.holds(slot), "a slot", place, number)?;
        }
        // The length of a list, or a second destination: which, only the handler knows where it may be both.
        let list = inst.list as usize + inst.d as usize <= self.lists.len();
        let second = inst.d == 0 || inst.d as usize >= SLOT && self.holds(inst.d);
        hold(list || second, "the list", place, number)?;
        hold(usize::from(inst.cache) < self.caches(), "the cache entry", place, number)?;
        hold((inst.origin as usize) < self.origins.len(), "the origin", place, number)
    }

    fn verify_block(&self, number: usize, block: &Block) -> Result<(), Invalid> {
        let place = "block";
        let origins = &block.origins;
        let held = origins.start <= origins.end && origins.end as usize <= self.origins.len();
        hold(held, "the origins", place, number)?;
        let is_block = |target: &u32| (*target as usize) < self.blocks.len();
        let (slot, targets) = match &block.exit {
            Exit::Jump(target) => (None, is_block(target)),
            Exit::Branch { predicate, taken, next, .. } => {
                (Some(*predicate), is_block(taken) && is_block(next))
            }
            Exit::Switch { index, targets } => (Some(*index), targets.iter().all(is_block)),
            Exit::Leave => (None, true),
        };
        hold(targets, "a target", place, number)?;
        let narrow = |slot: Slot| self.holds(slot) && !self.is_wide(slot);
        hold(slot.is_none_or(narrow), "the predicate", place, number)
    }

    fn verify_effects(&self) -> Result<(), Invalid> {
        let count = self.effects.len();
        hold(count == 0 || count == self.code.len(), "the number", "effects", count)?;
        for (number, effect) in self.effects.iter().enumerate() {
            let end = effect.first as usize + usize::from(effect.written + effect.read);
            hold(end <= self.touched.len(), "the slots", "effect", number)?;
        }
        let mut named = self.touched.iter().chain(&self.unwritten);
        hold(named.all(|&slot| (slot as usize) < self.slots), "a slot", "the effects", 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exec::Level;
    use crate::lower::{self, Environment};

    type Damage = fn(&mut Program, Slot);

    fn program() -> Program {
        let text = include_str!("../../tests/ptx/pass/vector_atomics.ptx");
        let environment = Environment::new(ptx::parse(text).expect("PTX"), true);
        let kernel = environment.function("kernel").expect("a kernel");
        lower::lower(&environment, kernel, Level::Plain).expect("a program")
    }

    #[test]
    fn what_lowering_makes_holds() {
        assert_eq!(program().verify(), Ok(()));
    }

    #[test]
    fn whatever_is_out_of_place_is_found() {
        let file = (program().slots * SLOT) as Slot;
        let breaks: [(&str, Damage); 12] = [
            ("a slot behind the file", |p, file| p.code[3].a = file),
            ("half a slot", |p, _| p.code[3].dst += 64),
            ("the second half of a register of 64 bits", |p, file| {
                p.code[3].b = file - SLOT as Slot;
            }),
            ("a list behind the end", |p, _| {
                let has_list = |inst: &&mut Inst| (1..SLOT as u32).contains(&inst.d);
                let inst = p.code.iter_mut().find(has_list).expect("a list");
                inst.list = p.lists.len() as u32;
            }),
            ("a slot of a list", |p, file| p.lists[0] = file),
            ("a block that is not there", |p, _| {
                p.blocks[0].exit = Exit::Jump(p.blocks.len() as u32);
            }),
            ("code of no block", |p, _| p.blocks[0].end -= 1),
            ("a predicate of 64 bits", |p, _| {
                let predicate = (p.first_wide * SLOT) as Slot;
                p.blocks[0].exit = Exit::Branch { predicate, negated: false, taken: 0, next: 0 };
            }),
            ("an origin", |p, _| p.code[3].origin = p.origins.len() as u32),
            ("a preset of another width", |p, _| p.presets[0].0 = 2 * SLOT as Slot),
            ("an effect too few", |p, _| p.effects.truncate(p.effects.len() - 1)),
            ("a slot that an effect names", |p, _| p.touched[0] = p.slots as u32),
        ];
        for (what, damage) in breaks {
            let mut damaged = program();
            damage(&mut damaged, file);
            assert!(damaged.verify().is_err(), "{what} went unseen");
        }
    }
}
