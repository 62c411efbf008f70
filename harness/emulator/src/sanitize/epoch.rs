//! An access in 64 bits, and the last accesses of a word.

use crate::fault::Access;

/// Who accessed a word, when, where in the program, and which of its bytes.
///
/// ```text
/// bit  0 …19   who: within a CTA the warp and the lane, between CTAs the CTA's number
///     20 …41   time of the one who did it, from 1
///     42 …58   index of the instruction; all ones if it has no room
///     59       strong: atomic, volatile, relaxed or stronger
///     60 …63   bytes of the word
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Epoch(u64);

pub const WHO_BITS: u32 = 20;
const TIME_BITS: u32 = 22;
const PLACE_BITS: u32 = 17;
pub const LATEST: u32 = (1 << TIME_BITS) - 1;
const NOWHERE: u32 = (1 << PLACE_BITS) - 1;

impl Epoch {
    pub fn new(who: u32, time: u32, ip: u32, strong: bool) -> Self {
        let who = u64::from(who) & ((1 << WHO_BITS) - 1);
        let time = u64::from(time.min(LATEST));
        let place = u64::from(ip.min(NOWHERE));
        let strong = u64::from(strong) << (WHO_BITS + TIME_BITS + PLACE_BITS);
        Self(who | time << WHO_BITS | place << (WHO_BITS + TIME_BITS) | strong)
    }

    /// The same access by a later lane.
    #[inline(always)]
    pub fn of_lane(self, later: u32) -> Self {
        Self(self.0 + u64::from(later))
    }

    /// The same access, of these bytes of a word.
    #[inline(always)]
    pub fn of_bytes(self, bytes: u64) -> Self {
        Self(self.0 | bytes << 60)
    }

    #[inline(always)]
    pub fn who(self) -> u32 {
        self.0 as u32 & ((1 << WHO_BITS) - 1)
    }

    #[inline(always)]
    pub fn time(self) -> u32 {
        (self.0 >> WHO_BITS) as u32 & LATEST
    }

    /// The instruction, where it could be kept.
    pub fn ip(self) -> Option<u32> {
        let place = (self.0 >> (WHO_BITS + TIME_BITS)) as u32 & NOWHERE;
        (place != NOWHERE).then_some(place)
    }

    #[inline(always)]
    fn strong(self) -> bool {
        self.0 >> 59 & 1 == 1
    }
}

/// The last accesses of four bytes. Two readers are kept, of different warps or CTAs, so that a write by
/// anyone finds one that is not itself.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cell {
    pub write: Epoch,
    pub read: Epoch,
    pub other: Epoch,
}

impl Cell {
    /// Note an access; the earlier one that it races with, if any. `ordered` says whether an earlier
    /// access is known to the one who does this, `same` whether two were done by one party.
    #[inline(always)]
    pub fn note(
        &mut self,
        now: Epoch,
        access: Access,
        ordered: impl Fn(Epoch) -> bool,
        same: impl Fn(Epoch, Epoch) -> bool,
    ) -> Option<(Epoch, Access)> {
        let clash = |then: Epoch| {
            then.0 & now.0 & 0xf << 60 != 0 && !(then.strong() && now.strong()) && !ordered(then)
        };
        if clash(self.write) {
            return Some((self.write, Access::Write));
        }
        if access == Access::Read {
            if !same(self.read, now) {
                self.other = self.read;
            }
            self.read = now;
            return None;
        }
        for then in [self.read, self.other] {
            if clash(then) {
                return Some((then, Access::Read));
            }
        }
        *self = Self { write: now, ..Self::default() };
        None
    }

    /// A write that was noted when it began is complete: from now on it is `now`.
    pub fn complete(&mut self, now: Epoch) {
        self.write = now;
    }
}

/// The words that `bytes` bytes from `first` lie in: number of the word, and which of its bytes.
#[inline(always)]
pub fn words(first: u64, bytes: u64) -> impl Iterator<Item = (u64, u64)> {
    let end = first + bytes;
    (first / 4..end.div_ceil(4)).map(move |word| {
        let low = first.saturating_sub(4 * word);
        let high = (end - 4 * word).min(4);
        (word, (0xf << low) & (0xf >> (4 - high)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_their_bytes() {
        assert_eq!(words(8, 4).collect::<Vec<_>>(), [(2, 0xf)]);
        assert_eq!(words(9, 2).collect::<Vec<_>>(), [(2, 0b0110)]);
        assert_eq!(words(14, 4).collect::<Vec<_>>(), [(3, 0b1100), (4, 0b0011)]);
    }

    #[test]
    fn an_epoch_keeps_its_parts() {
        let epoch = Epoch::new(0xabcde, 77, 1234, true).of_bytes(0b0011);
        assert_eq!((epoch.who(), epoch.time(), epoch.ip()), (0xabcde, 77, Some(1234)));
        assert_eq!(Epoch::new(1, 1, 1 << 20, false).ip(), None);
    }

    #[test]
    fn other_bytes_and_strong_accesses_do_not_clash() {
        let never = |_: Epoch| false;
        let same = |a: Epoch, b: Epoch| a.who() == b.who();
        let mut cell = Cell::default();
        let one = Epoch::new(1, 1, 0, false);
        let two = Epoch::new(2, 1, 0, false);
        assert_eq!(cell.note(one.of_bytes(1), Access::Write, never, same), None);
        assert_eq!(cell.note(two.of_bytes(2), Access::Read, never, same), None);
        let clash = cell.note(two.of_bytes(1), Access::Read, never, same);
        assert_eq!(clash.map(|(epoch, _)| epoch.who()), Some(1));
        let mut cell = Cell::default();
        let strong = |who| Epoch::new(who, 1, 0, true).of_bytes(15);
        assert_eq!(cell.note(strong(1), Access::Atomic, never, same), None);
        assert_eq!(cell.note(strong(2), Access::Atomic, never, same), None);
        assert!(cell.note(one.of_bytes(15), Access::Read, never, same).is_some());
    }

    #[test]
    fn a_write_finds_a_reader_that_is_not_itself() {
        let never = |_: Epoch| false;
        let same = |a: Epoch, b: Epoch| a.who() == b.who();
        let mine = |epoch: Epoch| epoch.who() == 2;
        let mut cell = Cell::default();
        for who in [1, 2, 2] {
            let now = Epoch::new(who, 1, 0, false).of_bytes(15);
            assert_eq!(cell.note(now, Access::Read, never, same), None);
        }
        let now = Epoch::new(2, 1, 0, false).of_bytes(15);
        let clash = cell.note(now, Access::Write, mine, same);
        assert_eq!(clash.map(|(epoch, access)| (epoch.who(), access)), Some((1, Access::Read)));
    }
}
