//! What waits is found as if it had not: random accesses, noted by the warp and late, and by the lane and at
//! once in a second place, must race at the same access, and leave the same behind.

use crate::exec::schedule_rng::ScheduleRng;
use crate::fault::Access;
use crate::memory::GlobalMemory;
use crate::sanitize::block::Block;
use crate::sanitize::clash::Party;
use crate::sanitize::grid::Grid;
use crate::sanitize::shapes::Footprint;

/// Bytes of either memory.
const LEN: u64 = 1 << 16;

/// An access such as kernels have: the lanes' places, bytes each, lanes, what.
struct Random {
    at: [u32; 32],
    bytes: u32,
    mask: u32,
    access: Access,
}

impl Random {
    /// Mostly in a part of the memory where `who` is alone, `part` bytes long.
    fn taken(schedule: &mut ScheduleRng, who: u64, part: u64) -> Self {
        let bytes = [1, 2, 4, 4, 4, 8, 16][schedule.below(7)];
        let step = [0, 1, 1, 1, 2, 3, 17, 33, 128][schedule.below(9)];
        let order = schedule.below(6);
        let (from, len) = match schedule.below(8) {
            0 => (0, LEN),
            1 => (schedule.below(4) as u64 * part, part),
            _ => (who * part, part),
        };
        let (from, units) = (from / u64::from(bytes), len / u64::from(bytes));
        let first = schedule.below(units as usize) as u64;
        let mask = match schedule.below(4) {
            0 => schedule.below(1 << 32) as u32 | 1 << schedule.below(32),
            1 => u32::MAX >> schedule.below(32),
            _ => u32::MAX,
        };
        let place = |lane: u64, schedule: &mut ScheduleRng| {
            let number = match order {
                0 => lane % 16,
                1 => lane / 16,
                2 => 31 - lane,
                3 => schedule.below(32) as u64,
                _ => lane,
            };
            ((from + (first + step * number) % units) * u64::from(bytes)) as u32
        };
        let mut at: [u32; 32] = std::array::from_fn(|lane| place(lane as u64, schedule));
        let repeated = at[mask.trailing_zeros() as usize];
        let lanes = at.iter_mut().enumerate();
        lanes.filter(|(lane, _)| mask >> lane & 1 == 0).for_each(|(_, at)| *at = repeated);
        let access = if schedule.below(3) == 0 { Access::Write } else { Access::Read };
        Self { at, bytes, mask, access }
    }

    /// The bytes of its lanes, in order.
    fn covered(&self) -> Vec<u64> {
        let lanes = (0..32).filter(|lane| self.mask >> lane & 1 == 1);
        let bytes = |lane: usize| (0..self.bytes).map(move |byte| (self.at[lane] + byte).into());
        sorted(lanes.flat_map(bytes).collect())
    }
}

fn sorted(mut bytes: Vec<u64>) -> Vec<u64> {
    bytes.sort_unstable();
    bytes.dedup();
    bytes
}

/// How often there was a race, and none: a test that sees one kind only shows little.
#[derive(Default)]
struct Seen {
    races: u32,
    peace: u32,
}

impl Seen {
    fn note(&mut self, race: bool) {
        *(if race { &mut self.races } else { &mut self.peace }) += 1;
    }
}

/// Parts of the memory, small and large: in small ones accesses meet, in large ones they are far apart.
fn part(schedule: &mut ScheduleRng) -> u64 {
    [256, 2048, 1 << 14][schedule.below(3)]
}

/// One step of both blocks; whether there was a race.
fn step_of_blocks(
    schedule: &mut ScheduleRng,
    part: u64,
    late: &mut Block,
    soon: &mut Block,
    ip: u32,
) -> bool {
    let warp = schedule.below(4);
    let lane = schedule.below(32) as u32;
    let mut both = |act: &dyn Fn(&mut Block)| [&mut *late, &mut *soon].map(act);
    match schedule.below(24) {
        0 | 1 => drop(both(&|block| block.barrier(&[0, 1, 2, 3], None))),
        2 => drop(both(&|block| block.barrier(&[warp, (warp + 1) % 4], None))),
        3 => drop(both(&|block| block.warp_sync(warp, u32::MAX, u32::MAX))),
        4 => drop(both(&|block| block.release(warp, 64))),
        5 => drop(both(&|block| block.acquire(warp, lane as usize, 64))),
        6 => drop(both(&|block| block.arrive(warp, 1))),
        7..10 => {
            let (warp, copies) = (warp as u32, schedule.below(3) == 0);
            let access = if schedule.coin() || copies { Access::Write } else { Access::Read };
            let strong = schedule.below(3) == 0 && !copies;
            let party = Party { warp, lane, ip, strong, copies };
            let at = u64::from(warp) * part + 16 * schedule.below(16) as u64;
            let found = late.note(party, at, 16, access);
            assert_eq!(found, soon.note_now(party, 1, at, 16, access));
            if copies && schedule.coin() {
                [late, soon].into_iter().for_each(|block| block.landed(party, at, 16));
            }
            return found.is_some();
        }
        _ => {
            let one = Random::taken(schedule, warp as u64, part);
            let print = late.footprint(schedule.below(3) as u32, &one.at, one.bytes, one.mask);
            let shape = late.shape(print).clone();
            let stretches: Vec<_> = shape.stretches(print, print.mask).collect();
            let of = stretches.iter().flat_map(|stretch| stretch.at..stretch.at + stretch.all());
            assert_eq!(sorted(of.collect()), one.covered());
            if one.access == Access::Write && !shape.is_apart(print.mask) {
                return false;
            }
            let warp = warp as u32;
            let well = late.note_all(warp, ip, print, one.access);
            let race = stretches.iter().any(|stretch| {
                let party = Party { warp, lane: stretch.lane, ip, strong: false, copies: false };
                let (lanes, at, bytes) = (stretch.lanes, stretch.at, stretch.bytes);
                soon.note_now(party, lanes, at, bytes, one.access).is_some()
            });
            assert_eq!(well, !race, "{:?} at {:?}", one.access, one.at);
            return race;
        }
    }
    false
}

#[test]
fn warps_race_at_the_same_access() {
    let (mut late, mut soon) = (Block::new(4, LEN), Block::new(4, LEN));
    let mut seen = Seen::default();
    for seed in 0..8000 {
        let schedule = &mut ScheduleRng::new(seed);
        [&mut late, &mut soon].into_iter().for_each(Block::start);
        let (part, steps) = (part(schedule), 1 + schedule.below(60) as u32);
        seen.note((0..steps).any(|ip| step_of_blocks(schedule, part, &mut late, &mut soon, ip)));
        for _ in 0..64 {
            let (warp, lane) = (schedule.below(4) as u32, schedule.below(32) as u32);
            let party = Party { warp, lane, ip: 1000, strong: false, copies: false };
            let at = 4 * schedule.below(LEN as usize / 4) as u64;
            let found = late.note(party, at, 4, Access::Write);
            assert_eq!(found, soon.note_now(party, 1, at, 4, Access::Write), "{seed}");
        }
    }
    assert!(seen.races > 200 && seen.peace > 200, "{} and {}", seen.races, seen.peace);
}

#[test]
fn blocks_race_at_the_same_access() {
    let memory = GlobalMemory::new(1 << 20, true, false);
    let base = memory.allocate(LEN, "a").expect("room");
    let snapshot = memory.snapshot();
    let range = snapshot.range(0);
    let mut seen = Seen::default();
    for seed in 0..8000 {
        let schedule = &mut ScheduleRng::new(seed);
        let (mut late, mut soon) = (Grid::new(4), Grid::new(4));
        let (part, steps) = (part(schedule), 1 + schedule.below(60) as u32);
        let mut step = |ip| {
            let cta = schedule.below(4) as u64;
            [&mut late, &mut soon].into_iter().for_each(|grid| grid.enter(cta));
            match schedule.below(16) {
                0 | 1 => drop([&mut late, &mut soon].map(Grid::fence)),
                2 | 3 => drop([&mut late, &mut soon].map(|grid| grid.release(8))),
                4 | 5 => drop([&mut late, &mut soon].map(|grid| grid.acquire(8))),
                _ => {
                    let one = Random::taken(schedule, cta, part);
                    let mut notes = late.notes(range, 0, one.access, ip, false);
                    let print =
                        notes.footprint(schedule.below(3) as u32, &one.at, one.bytes, one.mask);
                    let print = Footprint { at: base + print.at, ..print };
                    let shape = notes.shape(print).clone();
                    let mut stretches = shape.stretches(print, print.mask);
                    let well = notes.add_all(print);
                    let mut notes = soon.notes(range, 0, one.access, ip, false);
                    let race =
                        stretches.any(|stretch| notes.add(stretch.at, stretch.all()).is_some());
                    assert_eq!(well, !race, "{:?} at {:?}", one.access, one.at);
                    return race;
                }
            }
            false
        };
        seen.note((0..steps).any(&mut step));
        for _ in 0..64 {
            let (cta, at) =
                (schedule.below(5) as u64, base + 4 * schedule.below(LEN as usize / 4) as u64);
            let [found, expected] = [&mut late, &mut soon].map(|grid| {
                grid.enter(cta);
                grid.notes(range, 0, Access::Write, 1000, false).add(at, 4)
            });
            assert_eq!(found, expected, "{seed}");
        }
    }
    assert!(seen.races > 200 && seen.peace > 200, "{} and {}", seen.races, seen.peace);
}

fn party(warp: u32, lane: u32, ip: u32) -> Party {
    Party { warp, lane, ip, strong: false, copies: false }
}

/// Lanes 0 to 7 of warp 0 read words 0 to 7, then warp 1 writes word 5: which lane, in which
/// instruction, it races with.
fn read_and_write(then: impl Fn(&mut Block)) -> Option<(u32, u32)> {
    let mut block = Block::new(2, 256);
    block.start();
    let at = std::array::from_fn(|lane| 4 * lane as u32);
    let print = block.footprint(0, &at, 4, 0xff);
    assert!(block.note_all(0, 7, print, Access::Read));
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
    let read = |block: &mut Block| block.note_now(party(1, 0, 5), 4, 0, 4, Access::Read);
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

#[test]
fn a_copy_that_lands_after_all_met_is_a_write() {
    let mut block = Block::new(2, 256);
    block.start();
    let copy = Party { copies: true, ..party(0, 0, 1) };
    assert!(block.note(copy, 0, 16, Access::Write).is_none());
    assert!(block.note(Party { ip: 2, ..copy }, 0, 16, Access::Write).is_none());
    block.landed(party(0, 0, 3), 0, 16);
    block.barrier(&[0, 1], None);
    block.landed(party(0, 0, 4), 0, 16);
    let clash = block.note(party(1, 0, 5), 8, 4, Access::Read).expect("a race");
    assert_eq!((clash.access, clash.ip, clash.thread), (Access::Write, Some(4), Some((0, 0))));
}

#[test]
fn a_read_is_found_behind_more_than_can_wait() {
    let memory = GlobalMemory::new(1 << 20, true, false);
    let base = memory.allocate(LEN, "a").expect("room");
    let snapshot = memory.snapshot();
    let range = snapshot.range(0);
    let mut grid = Grid::new(2);
    let mut read = |first: u32, ip: u32| {
        let at = std::array::from_fn(|lane| first + 4 * lane as u32);
        let mut notes = grid.notes(range, 0, Access::Read, ip, false);
        let print = notes.footprint(0, &at, 4, u32::MAX);
        assert!(notes.add_all(Footprint { at: base + print.at, ..print }));
    };
    read(0, 7);
    (0..100_000).for_each(|_| read(4096, 8));
    grid.enter(1);
    let mut notes = grid.notes(range, 0, Access::Write, 9, false);
    assert_eq!(notes.add(base + 20, 4), Some((Access::Read, Some(7), 0)));
    assert_eq!(notes.add(base + 128, 4), None);
    assert_eq!(notes.add(base + 4096, 4), Some((Access::Read, Some(8), 0)));
}
