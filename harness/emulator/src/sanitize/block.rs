//! Order within a CTA, and its shared memory.
//!
//! Every warp has a clock, and knows up to which time it is behind each other warp. Whatever tells
//! others something (a barrier, an `mbarrier`, an atomic, a strong store) hands on what the warp knows
//! and lets its clock tick. One more agent, the copy unit, stands for `cp.async` and bulk copies: what it
//! writes is known to those who waited for it.

use std::collections::HashMap;

use super::bits::Bits;
use super::clash::{Clash, Party};
use super::epoch::{Cell, Epoch, LATEST, words};
use super::lanes::Lanes;
use super::operands::Operands;
use super::shapes::{Footprint, Shape, Stretch, words_around};
use super::waiting::Waiting;
use crate::exec::tcgen05::Queue;
use crate::fault::Access;

/// Times by agent.
type Times = Vec<u32>;

fn join(into: &mut Times, from: &Times) {
    for (a, b) in into.iter_mut().zip(from) {
        *a = (*a).max(*b);
    }
}

pub struct Block {
    /// By warp; the last is the copy unit's.
    clock: Times,
    /// What each warp knows of every agent.
    knows: Vec<Times>,
    lanes: Vec<Lanes>,
    /// Up to this time each warp knows of all warps, itself included: what is older cannot race.
    floor: Vec<u32>,
    /// What arrivals at each numbered barrier have brought that has not opened yet.
    arrivals: Vec<Times>,
    /// What is known through an object: an `mbarrier`, a word that is used atomically; by host address.
    objects: HashMap<u64, Times>,
    cells: Vec<Cell>,
    /// Words that have been written since all warps met, or that the copy unit has under way: only there
    /// can a read race.
    fresh: Bits,
    under_way: Bits,
    /// Accesses that have not got into `cells` yet, and the words that they may have to do with.
    waiting: Waiting,
    awaited: Bits,
    /// Something has got there since all warps met that `fresh` does not show.
    told: bool,
    /// Bytes that have been written.
    written: Bits,
    /// What products read that nobody has waited for.
    pub operands: Operands,
}

/// Accesses that wait at a time; a quarter as many patterns.
const MOST: usize = 4096;

/// Words that any warp may have used to tell another something through global memory.
pub const ELSEWHERE: u64 = 0;

impl Block {
    pub fn new(warps: usize, shared: u64) -> Self {
        let agents = warps + 1;
        Self {
            clock: vec![1; agents],
            knows: vec![vec![0; agents]; warps],
            lanes: vec![Lanes::NEW; warps],
            floor: vec![0; warps],
            arrivals: vec![vec![0; agents]; 16],
            objects: HashMap::new(),
            cells: vec![Cell::default(); shared.div_ceil(4) as usize],
            fresh: Bits::new(shared.div_ceil(4)),
            under_way: Bits::new(shared.div_ceil(4)),
            waiting: Waiting::new(MOST, MOST / 4),
            awaited: Bits::new(shared.div_ceil(4)),
            told: false,
            operands: Operands::default(),
            written: Bits::new(shared),
        }
    }

    /// Another CTA begins in the same place: all that was is over for everyone.
    pub fn start(&mut self) {
        self.operands.clear();
        if self.clock.iter().any(|&time| time > LATEST / 2) {
            self.clock.fill(1);
            self.cells.fill(Cell::default());
            self.lanes.fill(Lanes::NEW);
        }
        for knows in &mut self.knows {
            knows.copy_from_slice(&self.clock);
        }
        for (lanes, time) in self.lanes.iter_mut().zip(&self.clock) {
            lanes.together = *time;
        }
        let (_, warps) = self.clock.split_last().unwrap_or((&0, &[]));
        self.floor.fill(warps.iter().copied().min().unwrap_or(0));
        self.clock.iter_mut().for_each(|time| *time += 1);
        self.arrivals.iter_mut().for_each(|times| times.fill(0));
        self.objects.clear();
        self.under_way.clear();
        self.forget();
        self.written.clear();
    }

    /// All warps know of all that was, but for copies under way.
    fn forget(&mut self) {
        self.fresh.copy_from(&self.under_way);
        self.waiting.forget();
        self.awaited.clear();
        self.told = false;
    }

    /// What `warp` knows, itself included.
    fn known_to(&self, warp: usize) -> Times {
        let mut times = self.knows[warp].clone();
        times[warp] = self.clock[warp];
        times
    }

    /// The warps `here` pass a barrier together, with those that arrived at `number` and went on.
    pub fn barrier(&mut self, here: &[usize], number: Option<usize>) {
        let mut all = number.map_or_else(
            || vec![0; self.clock.len()],
            |number| std::mem::replace(&mut self.arrivals[number], vec![0; self.clock.len()]),
        );
        for &warp in here {
            join(&mut all, &self.knows[warp]);
        }
        // All their clocks come to the same time, so that one comparison will do where all were here.
        let now = here.iter().map(|&warp| self.clock[warp]).max().unwrap_or(0);
        here.iter().for_each(|&warp| all[warp] = now);
        let (_, warps) = all.split_last().unwrap_or((&0, &[]));
        let floor = warps.iter().copied().min().unwrap_or(0);
        for &warp in here {
            self.knows[warp].copy_from_slice(&all);
            self.floor[warp] = floor;
            self.lanes[warp].together = now;
            self.clock[warp] = now + 1;
        }
        if here.len() == self.knows.len() {
            self.forget();
        }
    }

    /// `bar.arrive`: the warp tells what it knows and goes on.
    pub fn arrive(&mut self, warp: usize, number: usize) {
        let known = self.known_to(warp);
        join(&mut self.arrivals[number], &known);
        self.clock[warp] += 1;
    }

    /// `bar.warp.sync` of the lanes of `mask`, all if it has the `live` ones.
    pub fn warp_sync(&mut self, warp: usize, mask: u32, live: u32) {
        let lanes = &mut self.lanes[warp];
        let time = self.clock[warp];
        if live & !mask == 0 {
            lanes.together = time;
        } else {
            lanes.meet(mask, time);
        }
        self.clock[warp] += 1;
    }

    /// The warp tells the object what it knows.
    pub fn release(&mut self, warp: usize, object: u64) {
        let known = self.known_to(warp);
        match self.objects.entry(object) {
            std::collections::hash_map::Entry::Occupied(mut entry) => join(entry.get_mut(), &known),
            std::collections::hash_map::Entry::Vacant(entry) => {
                entry.insert(known);
            }
        }
        self.clock[warp] += 1;
    }

    /// A lane of the warp learns what the object was told.
    pub fn acquire(&mut self, warp: usize, lane: usize, object: u64) {
        if let Some(times) = self.objects.get(&object) {
            join(&mut self.knows[warp], times);
            self.lanes[warp].behind[lane] = self.lanes[warp].behind[lane].max(times[warp]);
        }
    }

    /// The copy unit tells the object that all it has written so far is there.
    pub fn copies_done(&mut self, object: u64) {
        let unit = self.clock.len() - 1;
        let times = self.objects.entry(object).or_insert_with(|| vec![0; unit + 1]);
        times[unit] = self.clock[unit];
        self.clock[unit] += 1;
    }

    /// Where the lanes of an access stand: see [`super::shapes::Shapes::footprint`].
    #[inline(always)]
    pub fn footprint(&mut self, hint: u32, at: &[u32; 32], bytes: u32, mask: u32) -> Footprint {
        if self.waiting.is_full() {
            self.tell_apart();
            self.waiting.make_room();
        }
        self.waiting.shapes.footprint(hint, at, bytes, mask)
    }

    #[inline(always)]
    pub fn shape(&self, print: Footprint) -> &Shape {
        self.waiting.shapes.of(print)
    }

    fn tell_apart(&mut self) {
        let cells = &mut self.cells;
        self.waiting.tell_apart(|epoch, access, Stretch { lane, lanes, at, bytes }| {
            for later in 0..lanes {
                for (word, mask) in words(at + u64::from(later) * bytes, bytes) {
                    if let Some(cell) = cells.get_mut(word as usize) {
                        let epoch = epoch.of_lane(lane + later).of_bytes(mask);
                        cell.note(epoch, access, |_| true, same_agent);
                    }
                }
            }
        });
        self.awaited.clear();
        self.told = true;
    }

    /// Note an access by the lanes of a warp, of which no two write to one place; whether nothing is wrong
    /// with it.
    #[inline(always)]
    pub fn note_all(&mut self, warp: u32, ip: u32, print: Footprint, access: Access) -> bool {
        if access != Access::Read && !self.operands.is_empty() {
            return false;
        }
        if !print.is_narrow() {
            return self.note_wide(warp, ip, print, access);
        }
        // All words that it may have to do with, and more where it has gaps.
        let (first, count) = words_around(print.at, print.span);
        if !self.is_calm(first, count, access) {
            return self.note_each(warp, ip, print, access);
        }
        self.await_words(first, count, access);
        self.wait(warp, ip, print, access);
        true
    }

    /// The same, where what lies between the lanes is too much to ask for.
    #[inline(never)]
    fn note_wide(&mut self, warp: u32, ip: u32, print: Footprint, access: Access) -> bool {
        let shape = self.shape(print).clone();
        let words = || {
            let stretches = shape.stretches(print, print.mask);
            stretches.map(|stretch| words_around(stretch.at, stretch.all()))
        };
        if !words().all(|(first, count)| self.is_calm(first, count, access)) {
            return self.note_each(warp, ip, print, access);
        }
        words().for_each(|(first, count)| self.await_words(first, count, access));
        self.wait(warp, ip, print, access);
        true
    }

    /// Whether an access to these words can race with nothing that was before.
    #[inline(always)]
    fn is_calm(&self, first: u64, count: u64, access: Access) -> bool {
        // What a write finds was there when all met last, unless it is noted.
        let found = access != Access::Read && (self.told || self.awaited.any(first, count));
        !(found || self.fresh.any(first, count))
    }

    #[inline(always)]
    fn await_words(&mut self, first: u64, count: u64, access: Access) {
        if access != Access::Read {
            self.fresh.set(first, count, true);
        }
        self.awaited.set(first, count, true);
    }

    #[inline(always)]
    fn wait(&mut self, warp: u32, ip: u32, print: Footprint, access: Access) {
        let epoch = Epoch::new(warp << 5, self.clock[warp as usize], ip, false);
        self.waiting.wait(epoch, print, access);
    }

    /// The same, in the words.
    #[inline(never)]
    fn note_each(&mut self, warp: u32, ip: u32, print: Footprint, access: Access) -> bool {
        let shape = self.shape(print).clone();
        shape.stretches(print, print.mask).all(|Stretch { lane, lanes, at, bytes }| {
            let party = Party { warp, lane, ip, strong: false, copies: false };
            self.note_now(party, lanes, at, bytes, access).is_none()
        })
    }

    /// Of what the tensor cores were asked for, only what waits in the queue has operands to read.
    pub fn products_done(&mut self, queue: &Queue) {
        if !self.operands.is_empty() {
            self.operands.done(queue);
        }
    }

    /// Note an access by a lane of a warp, or by the copy unit in its name. The earlier access that it
    /// races with, and its warp and lane.
    pub fn note(&mut self, now: Party, offset: u64, bytes: u64, access: Access) -> Option<Clash> {
        if access != Access::Read
            && let Some(clash) = self.operands.clash(offset, bytes)
        {
            return Some(clash);
        }
        let (first, count) = words_around(offset, bytes);
        if access != Access::Read || self.fresh.any(first, count) {
            return self.note_now(now, 1, offset, bytes, access);
        }
        if self.waiting.is_full() {
            self.tell_apart();
            self.waiting.make_room();
        }
        let epoch = Epoch::new(now.warp << 5, self.clock[now.warp as usize], now.ip, now.strong);
        self.awaited.set(first, count, true);
        let print = Footprint::of_lane(now.lane, offset, bytes);
        self.waiting.wait(epoch, print, access);
        None
    }

    /// As [`Self::note`], for `lanes` lanes from the party's own on, each `bytes` behind the one before.
    pub(super) fn note_now(
        &mut self,
        now: Party,
        lanes: u32,
        offset: u64,
        bytes: u64,
        access: Access,
    ) -> Option<Clash> {
        let unit = self.clock.len() - 1;
        let warp = now.warp as usize;
        let writer = if now.copies { unit } else { warp };
        let who = (writer as u32) << 5 | now.lane;
        let epoch = Epoch::new(who, self.clock[writer], now.ip, now.strong);
        let (first, count) = words_around(offset, u64::from(lanes) * bytes);
        if self.awaited.any(first, count) {
            self.tell_apart();
        }
        if access == Access::Read {
            self.told = true;
        } else {
            self.fresh.set(first, count, true);
            if now.copies {
                self.under_way.set(first, count, true);
            }
        }
        let (knows, order, floor) = (&self.knows[warp], &self.lanes[warp], self.floor[warp]);
        let ordered = |lane: u32, then: Epoch| {
            let agent = (then.who() >> 5) as usize;
            if then.time() <= floor && agent != unit {
                true
            } else if agent == warp {
                order.ordered(then.time(), then.who() & 31, lane)
            } else {
                // A copy that is under way cannot clash with its own bytes.
                then.time() <= knows[agent] || (agent == unit && now.copies)
            }
        };
        let note = |cell: &mut Cell, later: u32, mask: u64| {
            let lane = now.lane + later;
            let epoch = epoch.of_lane(later).of_bytes(mask);
            let clash = cell.note(epoch, access, |then| ordered(lane, then), same_agent);
            let (then, access) = clash?;
            let agent = then.who() >> 5;
            let thread = (agent as usize != unit).then_some((agent, then.who() & 31));
            let time = then.time();
            let at_once = agent == now.warp && time == epoch.time() && then.ip() == Some(now.ip);
            Some(Clash { access, ip: then.ip(), thread, at_once, product: None })
        };
        for later in 0..lanes {
            for (word, mask) in words(offset + u64::from(later) * bytes, bytes) {
                let cell = self.cells.get_mut(word as usize)?;
                if let Some(clash) = note(cell, later, mask) {
                    return Some(clash);
                }
            }
        }
        None
    }

    /// What the copy unit wrote in this lane's name is there, and the lane knows it.
    pub fn landed(&mut self, now: Party, offset: u64, bytes: u64) {
        let who = now.warp << 5 | now.lane;
        let epoch = Epoch::new(who, self.clock[now.warp as usize], now.ip, false);
        for (word, mask) in words(offset, bytes) {
            if let Some(cell) = self.cells.get_mut(word as usize) {
                cell.complete(epoch.of_bytes(mask));
            }
        }
        let (first, count) = words_around(offset, bytes);
        self.under_way.set(first, count, false);
        // All may have met since the copy began, and since another to the same place was there.
        self.fresh.set(first, count, true);
        self.define(offset, bytes, true);
    }

    /// Note that bytes have been written, or that nothing defined is in them any more.
    pub fn define(&mut self, offset: u64, bytes: u64, defined: bool) {
        self.written.set(offset, bytes, defined);
    }

    /// Whether any of these bytes has been written.
    #[inline(always)]
    pub fn is_defined(&self, offset: u64, bytes: u64) -> bool {
        self.written.any(offset, bytes)
    }

    /// Whether all of them have.
    #[inline(always)]
    pub fn is_defined_whole(&self, offset: u64, bytes: u64) -> bool {
        self.written.all(offset, bytes)
    }
}

/// Whether one warp, or the copy unit, did both.
fn same_agent(a: Epoch, b: Epoch) -> bool {
    a.who() >> 5 == b.who() >> 5
}
