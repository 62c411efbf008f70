//! Reads of shared memory that nobody has asked for yet.
//!
//! Between two barriers tiles are read over and over, and mostly nobody writes to what was read before the
//! next barrier, when all that is forgotten. So reads wait here, as they came, and go to their words when
//! somebody else may want to know of them.

use super::bits::Bits;
use super::epoch::{Cell, Epoch, words};
use crate::fault::Access;

/// A read by neighbouring lanes, each behind the one before.
pub struct Read {
    /// Of the first lane.
    pub epoch: Epoch,
    pub offset: u64,
    pub lanes: u32,
    /// Of a lane.
    pub bytes: u64,
}

pub struct Reads {
    waiting: Vec<Read>,
    /// The words that they read.
    words: Bits,
}

/// Reads that wait at a time.
const MOST: usize = 4096;

impl Reads {
    /// None, of this many words.
    pub fn new(words: u64) -> Self {
        Self { waiting: Vec::new(), words: Bits::new(words) }
    }

    pub fn is_full(&self) -> bool {
        self.waiting.len() == MOST
    }

    /// Whether any of these words was read.
    #[inline]
    pub fn any(&self, first: u64, count: u64) -> bool {
        self.words.any(first, count)
    }

    #[inline]
    pub fn wait(&mut self, read: Read) {
        let first = read.offset / 4;
        let end = (read.offset + u64::from(read.lanes) * read.bytes).div_ceil(4);
        self.words.set(first, end - first, true);
        self.waiting.push(read);
    }

    /// All who will ever ask know of them.
    pub fn forget(&mut self) {
        self.waiting.clear();
        self.words.clear();
    }

    /// Put them where they belong.
    pub fn tell_apart(&mut self, cells: &mut [Cell]) {
        for Read { epoch, offset, lanes, bytes } in self.waiting.drain(..) {
            for later in 0..lanes {
                for (word, mask) in words(offset + u64::from(later) * bytes, bytes) {
                    if let Some(cell) = cells.get_mut(word as usize) {
                        let epoch = epoch.of_lane(later).of_bytes(mask);
                        cell.note(epoch, Access::Read, |_| true, same_agent);
                    }
                }
            }
        }
        self.words.clear();
    }
}

/// Whether one warp, or the copy unit, did both.
pub fn same_agent(a: Epoch, b: Epoch) -> bool {
    a.who() >> 5 == b.who() >> 5
}
