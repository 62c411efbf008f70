//! Which lanes of which registers hold a value that somebody made.
//!
//! Most warps never hold anything undefined. Lowering has found the registers that some path may read
//! before it writes them (`lower/slots.rs`), and most kernels have none; so it takes a load of what nobody
//! wrote to bring something undefined into a warp. Until then, and from when the last such value has been
//! overwritten, there is nothing to follow.

use crate::program::Program;

/// Of one warp.
pub struct Registers {
    /// By slot: lanes whose value is undefined.
    undefined: Vec<u32>,
    /// By slot: the instruction that the latest undefined value came from.
    source: Vec<u32>,
    /// Slots with undefined lanes.
    count: usize,
}

/// The source of what no instruction wrote.
pub const NEVER: u32 = u32::MAX;

impl Registers {
    pub fn new(program: &Program) -> Self {
        Self { undefined: vec![0; program.slots], source: vec![NEVER; program.slots], count: 0 }
    }

    /// Stand before the first instruction.
    pub fn start(&mut self, program: &Program) {
        if self.count > 0 {
            self.undefined.fill(0);
            self.count = 0;
        }
        program.unwritten.iter().for_each(|&slot| self.set(slot, u32::MAX, u32::MAX, NEVER));
    }

    /// Nothing undefined is anywhere.
    #[inline(always)]
    pub fn all_defined(&self) -> bool {
        self.count == 0
    }

    #[inline(always)]
    pub fn undefined(&self, slot: u32) -> u32 {
        self.undefined[slot as usize]
    }

    pub fn source(&self, slot: u32) -> u32 {
        self.source[slot as usize]
    }

    /// In the lanes of `mask`, `to` is undefined where `undefined` says so, because of `source`.
    #[inline(always)]
    pub fn set(&mut self, to: u32, mask: u32, undefined: u32, source: u32) {
        if to == 0 {
            return;
        }
        let lanes = &mut self.undefined[to as usize];
        let before = std::mem::replace(lanes, *lanes & !mask | undefined & mask);
        self.count += usize::from(*lanes != 0);
        self.count -= usize::from(before != 0);
        if undefined & mask != 0 {
            self.source[to as usize] = source;
        }
    }

    /// Lanes in which any of the slots is undefined, and why.
    #[inline(always)]
    pub fn any(&self, slots: &[u32], mask: u32) -> (u32, u32) {
        let mut found = (0, NEVER);
        for &slot in slots {
            let lanes = self.undefined[slot as usize] & mask;
            if lanes != 0 {
                found = (found.0 | lanes, self.source[slot as usize]);
            }
        }
        found
    }
}
