//! Accesses that nobody has asked for yet.
//!
//! Tiles in shared memory are read over and over, and mostly nobody writes to what was read before the next
//! barrier, when all that is forgotten; inputs in global memory are read by many blocks and written by none,
//! outputs are written by one. So accesses that can race with nothing that was before them wait here, a
//! warp's in one line, and go to their words, in order, when somebody comes who may race with them.

use super::epoch::Epoch;
use super::shapes::{Footprint, Shapes, Stretch};
use crate::fault::Access;

/// An access by lanes of a warp.
struct Entry {
    /// Of lane 0.
    epoch: Epoch,
    at: u64,
    bytes: u32,
    mask: u32,
    shape: u32,
    access: Access,
}

pub struct Waiting {
    entries: Vec<Entry>,
    pub shapes: Shapes,
    /// Entries and shapes at a time.
    most: usize,
    patterns: usize,
}

impl Waiting {
    pub fn new(most: usize, patterns: usize) -> Self {
        Self { entries: Vec::new(), shapes: Shapes::new(), most, patterns }
    }

    /// Whether entries have to be told apart, and room be made, before there may be more.
    #[inline(always)]
    pub fn is_full(&self) -> bool {
        self.entries.len() >= self.most || self.shapes.len() > self.patterns
    }

    #[inline(always)]
    pub fn wait(&mut self, epoch: Epoch, print: Footprint, access: Access) {
        let Footprint { at, bytes, mask, shape, .. } = print;
        self.entries.push(Entry { epoch, at, bytes, mask, shape, access });
    }

    /// All who will ever ask know of them.
    pub fn forget(&mut self) {
        self.entries.clear();
    }

    /// Nothing waits, and no footprint is needed any more.
    pub fn make_room(&mut self) {
        if self.shapes.len() > self.patterns {
            self.shapes.forget();
        }
    }

    /// Note each where it belongs.
    pub fn tell_apart(&mut self, mut note: impl FnMut(Epoch, Access, Stretch)) {
        for entry in self.entries.drain(..) {
            let Entry { epoch, at, bytes, mask, shape, access } = entry;
            let print = Footprint { at, span: 0, bytes, mask, shape };
            for stretch in self.shapes.of(print).stretches(print, mask) {
                note(epoch, access, stretch);
            }
        }
    }
}

#[cfg(test)]
mod tests;
