//! Order between CTAs, and global memory.
//!
//! Here a CTA is one party: its warps are told apart in `block.rs`. CTAs learn of each other by a fence
//! and a strong access: what a CTA did before its latest fence is told by its strong stores and atomics
//! after it, and known to a CTA that reads there strongly (PTX ISA 8.8, release and acquire patterns; the
//! fence of the one who reads is taken for granted). There is one time for the whole launch, which every
//! fence lets tick.
//!
//! ```text
//! CTA 0: data = x; __threadfence(); flag = 1 (volatile)     everything up to time 1 stands behind flag
//! CTA 1: while (!flag);  y = data;                          knows of CTA 0 up to time 1: no race
//! ```

use std::collections::HashMap;

use super::epoch::{Cell, Epoch, LATEST, WHO_BITS, words};
use crate::fault::Access;
use crate::memory::Range;

/// What a CTA knows of the others.
#[derive(Clone, Default)]
struct View {
    /// Up to here, everything of everyone: where there are too many to tell apart.
    floor: u32,
    of: HashMap<u32, u32>,
}

/// CTAs that a view tells apart. Beyond, the sanitizer is silent rather than slow.
const MOST: usize = 256;

impl View {
    fn join(&mut self, other: &Self) {
        self.floor = self.floor.max(other.floor);
        for (&cta, &time) in &other.of {
            self.learn(cta, time);
        }
    }

    fn learn(&mut self, cta: u32, time: u32) {
        let known = self.of.entry(cta).or_insert(0);
        *known = (*known).max(time);
        if self.of.len() > MOST {
            self.floor = self.of.drain().map(|(_, time)| time).fold(self.floor, u32::max);
        }
    }

    fn knows(&self, cta: u32, time: u32) -> bool {
        time <= self.floor || self.of.get(&cta).is_some_and(|&known| time <= known)
    }
}

#[derive(Clone, Default)]
struct Cta {
    knows: View,
    /// What its latest fence published.
    published: Option<View>,
}

impl Cta {
    /// Nothing would be lost with it.
    fn is_blank(&self) -> bool {
        self.published.is_none() && self.knows.floor == 0 && self.knows.of.is_empty()
    }
}

const PAGE_WORDS: u64 = 1024;

/// The last accesses of some words: lists that are empty until something is noted in them, since most
/// memory is read by many and written by none, or written by one.
#[derive(Default)]
struct Page {
    write: Vec<Epoch>,
    read: Vec<Epoch>,
    other: Vec<Epoch>,
}

impl Page {
    #[inline(always)]
    fn cell(&self, word: usize) -> Cell {
        let of = |list: &[Epoch]| list.get(word).copied().unwrap_or_default();
        Cell { write: of(&self.write), read: of(&self.read), other: of(&self.other) }
    }

    #[inline(always)]
    fn keep(&mut self, word: usize, before: Cell, cell: Cell) {
        let keep = |list: &mut Vec<Epoch>, before: Epoch, epoch: Epoch| {
            if epoch != before {
                if list.is_empty() {
                    *list = vec![Epoch::default(); PAGE_WORDS as usize];
                }
                list[word] = epoch;
            }
        };
        keep(&mut self.write, before.write, cell.write);
        keep(&mut self.read, before.read, cell.read);
        keep(&mut self.other, before.other, cell.other);
    }
}

/// Where something is: the allocation's place in the table, and a word of it.
#[derive(Clone, Copy)]
pub struct Spot {
    pub range: usize,
    /// Bytes from the word that the allocation begins in.
    pub offset: u64,
}

impl Spot {
    /// `at` is inside of `range`, which is the one with this index.
    pub fn of(range: &Range, index: usize, at: u64) -> Self {
        Self { range: index, offset: at - (range.info.base & !3) }
    }
}

pub struct Grid {
    /// With one CTA there is nobody to race with.
    alone: bool,
    time: u32,
    ctas: HashMap<u32, Cta>,
    /// The CTA that runs, and its state.
    now: u32,
    current: Cta,
    objects: HashMap<u64, View>,
    /// By allocation, the pages of its words.
    pages: Vec<Vec<Option<Box<Page>>>>,
}

impl Grid {
    pub fn new(ctas: u64) -> Self {
        Self {
            alone: ctas < 2,
            time: 1,
            ctas: HashMap::new(),
            now: 0,
            current: Cta::default(),
            objects: HashMap::new(),
            pages: Vec::new(),
        }
    }

    /// The CTA with this number goes on.
    pub fn enter(&mut self, cta: u64) {
        let cta = cta as u32 & ((1 << WHO_BITS) - 1);
        if cta != self.now {
            let next = self.ctas.remove(&cta).unwrap_or_default();
            let left = std::mem::replace(&mut self.current, next);
            if !left.is_blank() {
                self.ctas.insert(self.now, left);
            }
            self.now = cta;
        }
    }

    /// The CTA that runs has ended, and will not ask any more.
    pub fn ended(&mut self) {
        self.current = Cta::default();
    }

    /// A fence of the GPU's scope or wider.
    pub fn fence(&mut self) {
        if self.alone {
            return;
        }
        let mut view = self.current.knows.clone();
        view.learn(self.now, self.time);
        self.current.published = Some(view);
        if self.time < LATEST {
            self.time += 1;
        }
    }

    /// A strong store to, or atomic at, this address.
    pub fn release(&mut self, address: u64) {
        if let Some(view) = &self.current.published {
            self.objects.entry(address).or_default().join(view);
        }
    }

    /// A strong load of, or atomic at, this address.
    pub fn acquire(&mut self, address: u64) {
        if let Some(view) = self.objects.get(&address) {
            self.current.knows.join(view);
        }
    }

    /// Note an access; the earlier one that it races with: what it was, its instruction, its CTA.
    pub fn note(
        &mut self,
        Spot { range, offset }: Spot,
        bytes: u64,
        access: Access,
        ip: u32,
        strong: bool,
    ) -> Option<(Access, Option<u32>, u32)> {
        if self.alone || self.time == LATEST {
            return None;
        }
        let me = self.now;
        let epoch = Epoch::new(me, self.time, ip, strong);
        let knows = &self.current.knows;
        let ordered = |then: Epoch| then.who() == me || knows.knows(then.who(), then.time());
        let same = |a: Epoch, b: Epoch| a.who() == b.who();
        if self.pages.len() <= range {
            self.pages.resize_with(range + 1, Vec::new);
        }
        let pages = &mut self.pages[range];
        for (word, mask) in words(offset, bytes) {
            let (number, word) = ((word / PAGE_WORDS) as usize, (word % PAGE_WORDS) as usize);
            if pages.len() <= number {
                pages.resize_with(number + 1, || None);
            }
            let page = pages[number].get_or_insert_default();
            let before = page.cell(word);
            let mut cell = before;
            if let Some((then, access)) = cell.note(epoch.of_bytes(mask), access, ordered, same) {
                return Some((access, then.ip(), then.who()));
            }
            page.keep(word, before, cell);
        }
        None
    }
}
