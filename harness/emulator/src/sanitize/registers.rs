//! Which bits of which registers, lane by lane, hold a value that somebody made.
//!
//! Most warps never hold anything undefined. Lowering has found the registers that some path may read
//! before it writes them (`lower/slots.rs`), and most kernels have none; so it takes a load of what nobody
//! wrote to bring something undefined into a warp. Until then, and from when the last such value has been
//! overwritten, there is nothing to follow.

use crate::program::Program;

/// Of one warp.
pub struct Registers {
    /// By slot: lanes with undefined bits.
    undefined: Vec<u32>,
    /// By slot and lane, the undefined bits, where there are some. Empty until there are any.
    bits: Vec<[u64; 32]>,
    /// By slot: the instruction that the latest undefined value came from.
    source: Vec<u32>,
    /// Slots with undefined lanes.
    count: usize,
}

/// The source of what no instruction wrote.
pub const NEVER: u32 = u32::MAX;

impl Registers {
    pub fn new(program: &Program) -> Self {
        let (undefined, source) = (vec![0; program.slots], vec![NEVER; program.slots]);
        Self { undefined, bits: Vec::new(), source, count: 0 }
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

    /// The undefined bits of a lane.
    #[inline(always)]
    pub fn bits(&self, slot: u32, lane: u32) -> u64 {
        match self.undefined[slot as usize] >> lane & 1 {
            0 => 0,
            _ => self.bits[slot as usize][lane as usize],
        }
    }

    /// In the lanes of `mask`, `to` is undefined where `undefined` says so, because of `source`.
    #[inline(always)]
    pub fn set(&mut self, to: u32, mask: u32, undefined: u32, source: u32) {
        self.set_part(to, mask, undefined, u64::MAX, source);
    }

    /// The same of these bits only; the others are defined.
    #[inline(always)]
    pub fn set_part(&mut self, to: u32, mask: u32, undefined: u32, bits: u64, source: u32) {
        if to == 0 {
            return;
        }
        let lanes = &mut self.undefined[to as usize];
        let before = std::mem::replace(lanes, *lanes & !mask | undefined & mask);
        self.count += usize::from(*lanes != 0);
        self.count -= usize::from(before != 0);
        if undefined & mask != 0 {
            self.note(to, undefined & mask, source, |_| bits);
        }
    }

    /// In the lanes of `mask`, these bits of `to` are undefined, because of `source`.
    pub fn set_bits(&mut self, to: u32, mask: u32, bits: &[u64; 32], source: u32) {
        let with = |lanes: u32, l: u32| lanes | u32::from(bits[l as usize] != 0) << l;
        self.set_part(to, mask, (0..32).fold(0, with), 0, source);
        let undefined = self.undefined[to as usize] & mask;
        if undefined != 0 {
            self.note(to, undefined, source, |lane| bits[lane]);
        }
    }

    #[cold]
    fn note(&mut self, to: u32, lanes: u32, source: u32, bits: impl Fn(usize) -> u64) {
        if self.bits.is_empty() {
            self.bits = vec![[0; 32]; self.undefined.len()];
        }
        let of = &mut self.bits[to as usize];
        for (lane, of) in of.iter_mut().enumerate().filter(|(lane, _)| lanes >> lane & 1 == 1) {
            *of = bits(lane);
        }
        self.source[to as usize] = source;
    }

    /// Lanes in which any of the slots is undefined, and why.
    #[inline(always)]
    pub fn any(&self, slots: &[u32], mask: u32) -> (u32, u32) {
        self.any_of(slots, mask, u64::MAX)
    }

    /// The same where one of these bits is undefined.
    #[inline(always)]
    pub fn any_of(&self, slots: &[u32], mask: u32, bits: u64) -> (u32, u32) {
        let mut found = (0, NEVER);
        for &slot in slots {
            let mut lanes = self.undefined[slot as usize] & mask;
            if lanes != 0 && bits != u64::MAX {
                let matters = |l: &u32| self.bits(slot, *l) & bits != 0;
                lanes = (0..32).filter(matters).fold(0, |all, l| all | 1 << l) & mask;
            }
            if lanes != 0 {
                found = (found.0 | lanes, self.source[slot as usize]);
            }
        }
        found
    }
}
