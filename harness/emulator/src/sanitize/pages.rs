//! An allocation in global memory: who has been in its pages, and the last accesses of its words.

use std::ops::Range;

use super::epoch::{Cell, Epoch, words};
use super::waiting::Waiting;
use crate::fault::Access;

const PAGE_WORDS: usize = 256;
pub const PAGE_BYTES: u64 = 4 * PAGE_WORDS as u64;

type Epochs = Option<Box<[Epoch; PAGE_WORDS]>>;

/// The last accesses of some words: lists that are made when something is noted in them, since most
/// memory is read by many and written by none, or written by one.
#[derive(Default)]
struct Page {
    write: Epochs,
    read: Epochs,
    other: Epochs,
}

impl Page {
    /// Note an access to a word: see [`Cell::note`].
    #[inline(always)]
    fn note(
        &mut self,
        word: usize,
        now: Epoch,
        access: Access,
        ordered: impl Fn(Epoch) -> bool,
    ) -> Option<(Epoch, Access)> {
        let of = |list: &Epochs| list.as_ref().map_or(Epoch::default(), |list| list[word]);
        let before = Cell { write: of(&self.write), read: of(&self.read), other: of(&self.other) };
        let mut cell = before;
        let clash = cell.note(now, access, ordered, |a, b| a.who() == b.who());
        self.keep(word, before, cell);
        clash
    }

    /// Note an access that races with nothing to all bytes of some words.
    fn note_whole(&mut self, words: Range<usize>, now: Epoch, access: Access) {
        let blank = || Box::new([Epoch::default(); PAGE_WORDS]);
        if access == Access::Read {
            let read = &mut self.read.get_or_insert_with(blank)[words.clone()];
            for (word, read) in words.zip(read) {
                let before = std::mem::replace(read, now);
                if before.who() != now.who() && before != Epoch::default() {
                    self.other.get_or_insert_with(blank)[word] = before;
                }
            }
        } else {
            self.write.get_or_insert_with(blank)[words.clone()].fill(now);
            for list in [&mut self.read, &mut self.other].into_iter().flatten() {
                list[words.clone()].fill(Epoch::default());
            }
        }
    }

    #[inline(always)]
    fn keep(&mut self, word: usize, before: Cell, cell: Cell) {
        let keep = |list: &mut Epochs, before: Epoch, epoch: Epoch| {
            if epoch != before {
                list.get_or_insert_with(|| Box::new([Epoch::default(); PAGE_WORDS]))[word] = epoch;
            }
        };
        keep(&mut self.write, before.write, cell.write);
        keep(&mut self.read, before.read, cell.read);
        keep(&mut self.other, before.other, cell.other);
    }
}

/// Who has been in a page: what tells without a look at its words that an access can race with none before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Use {
    Untouched,
    /// One CTA, and it has only read.
    ReadBy(u32),
    Read,
    /// One CTA.
    OwnedBy(u32),
    /// Several, and not only to read: all that is known is in the words.
    Mixed,
}

impl Use {
    /// What an access by a CTA makes of it.
    #[inline(always)]
    fn then(self, access: Access, me: u32) -> Self {
        match (self, access) {
            (Self::Untouched, Access::Read) => Self::ReadBy(me),
            (Self::ReadBy(who), Access::Read) if who == me => self,
            (Self::Read | Self::ReadBy(_), Access::Read) => Self::Read,
            (Self::Untouched, _) => Self::OwnedBy(me),
            (Self::ReadBy(who) | Self::OwnedBy(who), _) if who == me => Self::OwnedBy(me),
            _ => Self::Mixed,
        }
    }
}

/// What was done in an allocation.
pub struct Memory {
    uses: Vec<Use>,
    pages: Vec<Option<Box<Page>>>,
    /// Accesses that have not got into the pages yet.
    pub waiting: Waiting,
}

/// Accesses to an allocation that wait at a time, and patterns that they may have: 2 MiB, and 10 MiB where
/// all differ.
const LONGEST: usize = 1 << 16;

impl Memory {
    pub fn new() -> Self {
        Self { uses: Vec::new(), pages: Vec::new(), waiting: Waiting::new(LONGEST, LONGEST) }
    }

    /// From now on accesses to it are noted; it has `bytes` bytes.
    pub fn watch(&mut self, bytes: u64) {
        if self.uses.is_empty() {
            let pages = bytes.div_ceil(PAGE_BYTES) as usize;
            self.uses.resize(pages, Use::Untouched);
            self.pages.resize_with(pages, || None);
        }
    }

    /// Note an access to a word: see [`Cell::note`].
    #[inline(always)]
    pub fn note(
        &mut self,
        word: usize,
        now: Epoch,
        access: Access,
        ordered: impl Fn(Epoch) -> bool,
    ) -> Option<(Epoch, Access)> {
        let used = self.uses.get_mut(word / PAGE_WORDS)?;
        if *used != Use::Mixed {
            *used = Use::Mixed;
            self.tell_apart();
        }
        let page = self.pages.get_mut(word / PAGE_WORDS)?.get_or_insert_default();
        page.note(word % PAGE_WORDS, now, access, ordered)
    }

    pub fn tell_apart(&mut self) {
        let pages = &mut self.pages;
        self.waiting.tell_apart(|epoch, access, stretch| {
            let (first, end) = (stretch.at, stretch.at + stretch.all());
            if first % 4 != 0 || end % 4 != 0 {
                for (word, mask) in words(first, end - first) {
                    if let Some(page) = pages.get_mut(word as usize / PAGE_WORDS) {
                        let (page, word) =
                            (page.get_or_insert_default(), word as usize % PAGE_WORDS);
                        page.note(word, epoch.of_bytes(mask), access, |_| true);
                    }
                }
                return;
            }
            let (mut word, end) = (first as usize / 4, end as usize / 4);
            while word < end {
                let Some(page) = pages.get_mut(word / PAGE_WORDS) else { return };
                let from = word % PAGE_WORDS;
                let to = (from + end - word).min(PAGE_WORDS);
                page.get_or_insert_default().note_whole(from..to, epoch.of_bytes(0xf), access);
                word += to - from;
            }
        });
    }

    /// Whether an access to these bytes can race with nothing.
    #[inline(always)]
    pub fn is_calm(&mut self, at: u64, bytes: u64, access: Access, me: u32) -> bool {
        let (first, last) = (at / PAGE_BYTES, (at + bytes - 1) / PAGE_BYTES);
        let mut calm = true;
        for used in self.uses.get_mut(first as usize..=last as usize).unwrap_or_default() {
            let then = used.then(access, me);
            if then == Use::Mixed {
                // Stays as it is: what waits there is still to be told apart.
                calm = false;
            } else {
                *used = then;
            }
        }
        calm
    }
}
