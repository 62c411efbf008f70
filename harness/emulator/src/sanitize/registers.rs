//! Which lanes of which registers hold a value that somebody made.

use crate::program::{Program, SLOT};

/// Of one warp.
pub struct Registers {
    /// By slot: lanes whose value is undefined.
    undefined: Vec<u32>,
    /// By slot: the instruction that the latest undefined value came from.
    source: Vec<u32>,
}

/// The source of what no instruction wrote.
pub const NEVER: u32 = u32::MAX;

impl Registers {
    pub fn new(program: &Program) -> Self {
        Self { undefined: vec![0; program.slots], source: vec![NEVER; program.slots] }
    }

    /// Nothing is defined but what stands there before the first instruction.
    pub fn start(&mut self, program: &Program) {
        self.undefined.fill(u32::MAX);
        self.source.fill(NEVER);
        self.undefined[0] = 0;
        for &(slot, _) in &program.presets {
            self.undefined[slot as usize / SLOT] = 0;
        }
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
        *lanes = *lanes & !mask | undefined & mask;
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
