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

use super::epoch::{Epoch, LATEST, WHO_BITS, words};
use super::pages::{Memory, PAGE_BYTES};
use super::shapes::{Footprint, Shape};
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

/// Bytes that a warp's access may lie among and be taken for one stretch.
const WIDEST: u64 = 8 * PAGE_BYTES;

/// Takes note of what an instruction does in one allocation.
pub struct Notes<'a> {
    memory: &'a mut Memory,
    /// Otherwise there is nobody to race with.
    watched: bool,
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
    /// Where the lanes of an access stand: see [`super::shapes::Shapes::footprint`].
    #[inline(always)]
    pub fn footprint(&mut self, hint: u32, at: &[u32; 32], bytes: u32, mask: u32) -> Footprint {
        if self.memory.waiting.is_full() {
            self.memory.tell_apart();
            self.memory.waiting.make_room();
        }
        self.memory.waiting.shapes.footprint(hint, at, bytes, mask)
    }

    #[inline(always)]
    pub fn shape(&self, print: Footprint) -> &Shape {
        self.memory.waiting.shapes.of(print)
    }

    /// Note an access by the lanes of a warp, at an address inside of the allocation; whether nothing is
    /// wrong with it.
    #[inline(always)]
    pub fn add_all(&mut self, print: Footprint) -> bool {
        if !self.watched {
            return true;
        }
        let Self { memory, me, access, .. } = self;
        let at = print.at - self.base;
        let calm = if print.span <= WIDEST {
            memory.is_calm(at, print.span, *access, *me)
        } else {
            self.is_calm_by_stretches(print)
        };
        if calm {
            self.memory.waiting.wait(self.epoch, Footprint { at, ..print }, self.access);
            return true;
        }
        self.add_each(print)
    }

    #[inline(never)]
    fn is_calm_by_stretches(&mut self, print: Footprint) -> bool {
        let shape = self.shape(print).clone();
        shape.stretches(print, print.mask).all(|stretch| {
            self.memory.is_calm(stretch.at - self.base, stretch.all(), self.access, self.me)
        })
    }

    /// The same, in the words.
    #[inline(never)]
    fn add_each(&mut self, print: Footprint) -> bool {
        let shape = self.shape(print).clone();
        let mut stretches = shape.stretches(print, print.mask);
        stretches.all(|stretch| self.add(stretch.at, stretch.all()).is_none())
    }

    /// Note an access to `bytes` at an address inside of the allocation; the earlier one that it races
    /// with.
    #[inline(always)]
    pub fn add(&mut self, at: u64, bytes: u64) -> Option<Clash> {
        if !self.watched {
            return None;
        }
        for (word, mask) in words(at - self.base, bytes) {
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
        let ordered = |then: Epoch| then.who() == me || knows.knows(then.who(), then.time());
        let clash = self.memory.note(word, self.epoch.of_bytes(mask), self.access, ordered);
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
    memories: Vec<Memory>,
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
            memories: Vec::new(),
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
        if self.memories.len() <= index {
            self.memories.resize_with(index + 1, Memory::new);
        }
        let memory = &mut self.memories[index];
        if watched {
            memory.watch(range.end() - base);
        }
        let (me, knows) = (self.now, &self.current.knows);
        let epoch = Epoch::new(me, self.time, ip, strong);
        Notes { memory, watched, knows, me, epoch, access, base }
    }
}
