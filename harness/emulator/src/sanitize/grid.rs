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
use crate::memory::{AllocationKind, Range};

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

const PAGE_WORDS: usize = 1024;

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
    #[inline(always)]
    fn cell(&self, word: usize) -> Cell {
        let of = |list: &Epochs| list.as_ref().map_or(Epoch::default(), |list| list[word]);
        Cell { write: of(&self.write), read: of(&self.read), other: of(&self.other) }
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

/// The pages of an allocation's words.
type Pages = Vec<Option<Box<Page>>>;

/// Takes note of what an instruction does in one allocation.
pub struct Notes<'a> {
    /// None where there is nobody to race with.
    pages: Option<&'a mut Pages>,
    knows: &'a View,
    me: u32,
    epoch: Epoch,
    access: Access,
    /// Where the words are counted from.
    base: u64,
}

/// An earlier access that nothing orders before this one: what it was, its instruction, its CTA.
pub type Clash = (Access, Option<u32>, u32);

impl Notes<'_> {
    /// Note an access to `bytes` at an address inside of the allocation; the earlier one that it races
    /// with.
    #[inline(always)]
    pub fn add(&mut self, at: u64, bytes: u64) -> Option<Clash> {
        let offset = at - self.base;
        for (word, mask) in words(offset, bytes) {
            let clash = self.word(word as usize, mask);
            if clash.is_some() {
                return clash;
            }
        }
        None
    }

    #[inline(always)]
    fn word(&mut self, word: usize, mask: u64) -> Option<Clash> {
        let (knows, me) = (self.knows, self.me);
        let page = self.pages.as_mut()?.get_mut(word / PAGE_WORDS)?.get_or_insert_default();
        let word = word % PAGE_WORDS;
        let before = page.cell(word);
        let mut cell = before;
        let ordered = |then: Epoch| then.who() == me || knows.knows(then.who(), then.time());
        let same = |a: Epoch, b: Epoch| a.who() == b.who();
        let clash = cell.note(self.epoch.of_bytes(mask), self.access, ordered, same);
        page.keep(word, before, cell);
        clash.map(|(then, access)| (access, then.ip(), then.who()))
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
    /// By the allocations' places in the table.
    pages: Vec<Pages>,
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

    /// Take notes of what the instruction `ip` does in `range`, which has this place in the table.
    pub fn notes(
        &mut self,
        range: &Range,
        index: usize,
        access: Access,
        ip: u32,
        strong: bool,
    ) -> Notes<'_> {
        let base = range.info.base & !3;
        // Nobody can write what is constant.
        let watched =
            !self.alone && self.time < LATEST && range.info.kind != AllocationKind::Constant;
        let pages = watched.then(|| {
            if self.pages.len() <= index {
                self.pages.resize_with(index + 1, Vec::new);
            }
            let pages = &mut self.pages[index];
            if pages.is_empty() {
                let words = (range.end() - base).div_ceil(4) as usize;
                pages.resize_with(words.div_ceil(PAGE_WORDS), || None);
            }
            pages
        });
        let (me, knows) = (self.now, &self.current.knows);
        let epoch = Epoch::new(me, self.time, ip, strong);
        Notes { pages, knows, me, epoch, access, base }
    }
}
