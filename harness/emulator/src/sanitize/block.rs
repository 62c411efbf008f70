//! Order within a CTA, and its shared memory.
//!
//! Every warp has a clock, and knows up to which time it is behind each other warp. Whatever tells
//! others something (a barrier, an `mbarrier`, an atomic, a strong store) hands on what the warp knows
//! and lets its clock tick. One more agent, the copy unit, stands for `cp.async` and bulk copies: what it
//! writes is known to those who waited for it.

use std::collections::HashMap;

use super::bits::Bits;
use super::epoch::{Cell, Epoch, LATEST, words};
use super::lanes::Lanes;
use super::reads::{Read, Reads, same_agent};
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
    /// Reads that have not got into `cells` yet.
    reads: Reads,
    /// Bytes that have been written.
    written: Bits,
}

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
            reads: Reads::new(shared.div_ceil(4)),
            written: Bits::new(shared),
        }
    }

    /// Another CTA begins in the same place: all that was is over for everyone.
    pub fn start(&mut self) {
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
        self.reads.forget();
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
            lanes.some[lanes.next] = (mask, time);
            lanes.next = (lanes.next + 1) % lanes.some.len();
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

    /// Note an access by a lane of a warp, or by the copy unit in its name. The earlier access that it
    /// races with, and its warp and lane.
    pub fn note(&mut self, now: Party, offset: u64, bytes: u64, access: Access) -> Option<Clash> {
        self.note_lanes(now, 1, offset, bytes, access)
    }

    /// As [`Self::note`], for `lanes` lanes from the party's own on, each `bytes` behind the one before.
    #[inline]
    pub fn note_lanes(
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
        let first = offset / 4;
        let count = (offset + u64::from(lanes) * bytes).div_ceil(4) - first;
        let calm = access == Access::Read && !self.fresh.any(first, count);
        if (calm && self.reads.is_full()) || (!calm && self.reads.any(first, count)) {
            self.reads.tell_apart(&mut self.cells);
        }
        if calm {
            self.reads.wait(Read { epoch, offset, lanes, bytes });
            return None;
        }
        if access != Access::Read {
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
            Some(Clash { access, ip: then.ip(), thread, at_once })
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
        let first = offset / 4;
        self.under_way.set(first, (offset + bytes).div_ceil(4) - first, false);
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

/// Who accesses, and how.
#[derive(Clone, Copy)]
pub struct Party {
    pub warp: u32,
    pub lane: u32,
    pub ip: u32,
    pub strong: bool,
    /// By the copy unit.
    pub copies: bool,
}

/// An earlier access that nothing orders before this one.
pub struct Clash {
    pub access: Access,
    pub ip: Option<u32>,
    /// Warp and lane; none if it was the copy unit.
    pub thread: Option<(u32, u32)>,
    /// Another lane of the same warp, in the same instruction.
    pub at_once: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn party(warp: u32, lane: u32, ip: u32) -> Party {
        Party { warp, lane, ip, strong: false, copies: false }
    }

    /// Lanes 0 to 7 of warp 0 read words 0 to 7, then warp 1 writes word 5: which lane, in which
    /// instruction, it races with.
    fn read_and_write(then: impl Fn(&mut Block)) -> Option<(u32, u32)> {
        let mut block = Block::new(2, 256);
        block.start();
        assert!(block.note_lanes(party(0, 0, 7), 8, 0, 4, Access::Read).is_none());
        then(&mut block);
        let clash = block.note(party(1, 0, 9), 20, 4, Access::Write)?;
        let (warp, lane) = clash.thread?;
        assert_eq!((clash.access, warp), (Access::Read, 0));
        Some((lane, clash.ip?))
    }

    #[test]
    fn reads_that_wait_are_found() {
        let found = Some((5, 7));
        assert_eq!(read_and_write(|_| {}), found);
        assert_eq!(read_and_write(|block| block.barrier(&[0, 1], None)), None);
        assert_eq!(read_and_write(|block| block.barrier(&[0], None)), found, "a barrier of one");
        let many = |block: &mut Block| {
            for _ in 0..10_000 {
                assert!(block.note(party(0, 3, 8), 12, 4, Access::Read).is_none());
            }
        };
        assert_eq!(read_and_write(many), found, "among many");
        assert_eq!(read_and_write(Block::start), None, "of another CTA");
    }

    #[test]
    fn a_read_finds_what_was_written_since_all_met() {
        let mut block = Block::new(2, 256);
        block.start();
        let write = |block: &mut Block| block.note(party(0, 1, 4), 4, 4, Access::Write).is_none();
        let read = |block: &mut Block| block.note_lanes(party(1, 0, 5), 4, 0, 4, Access::Read);
        assert!(write(&mut block));
        block.barrier(&[0, 1], None);
        assert!(read(&mut block).is_none());
        block.barrier(&[0, 1], None);
        assert!(write(&mut block));
        let clash = read(&mut block).expect("a race");
        assert_eq!((clash.access, clash.ip, clash.thread), (Access::Write, Some(4), Some((0, 1))));
    }

    #[test]
    fn a_copy_under_way_outlasts_a_barrier() {
        let mut block = Block::new(2, 256);
        block.start();
        let copy = Party { copies: true, ..party(0, 0, 1) };
        assert!(block.note(copy, 0, 16, Access::Write).is_none());
        block.barrier(&[0, 1], None);
        assert!(block.note(party(1, 0, 2), 8, 4, Access::Read).is_some());
        block.landed(party(0, 0, 3), 0, 16);
        block.barrier(&[0, 1], None);
        assert!(block.note(party(1, 0, 2), 8, 4, Access::Read).is_none());
    }
}
