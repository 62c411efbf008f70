//! Which sectors a CTA finds in its SM's L1.
//!
//! A sector that a CTA reads again comes from L1 if it is still there, and from L2 otherwise; that is a
//! factor of ten in what it costs. Kept is the place of each line in a table that every line has one place
//! in, as its share of an SM's L1 is for a CTA that has two or three neighbours. Every CTA begins with an
//! empty one, whichever host thread runs it, so that counts are the same in each run; what CTAs of an SM
//! find of each other is not counted.
//!
//! ```text
//! a row of 4 KiB, read twice             32 lines: the second time all of it is there
//! 128 KiB, read twice                    1,024 lines in 512 places: nothing is
//! a store                                goes through to L2, and changes nothing here
//! ```

/// Lines of 128 bytes: 64 KiB.
const LINES: usize = 512;

#[derive(Clone, Copy, Default)]
struct Place {
    line: u64,
    /// Of the CTA that has it; 0 is nobody's.
    owner: u32,
    /// A bit for each sector that is there.
    sectors: u8,
}

pub struct L1 {
    places: Box<[Place; LINES]>,
    owner: u32,
}

impl Default for L1 {
    fn default() -> Self {
        Self { places: Box::new([Place::default(); LINES]), owner: 1 }
    }
}

impl L1 {
    /// Another CTA begins.
    pub fn clear(&mut self) {
        self.owner = self.owner.wrapping_add(1).max(1);
    }

    /// How many of these sectors of a line have to be fetched; they are there afterwards.
    #[inline(always)]
    pub fn fetch(&mut self, line: u64, sectors: u8) -> u64 {
        // Neighbouring lines and rows of a power of two are both spread out.
        let at = (line ^ line >> 9) as usize % LINES;
        let place = &mut self.places[at];
        if place.line != line || place.owner != self.owner {
            *place = Place { line, owner: self.owner, sectors: 0 };
        }
        let absent = sectors & !place.sectors;
        place.sectors |= sectors;
        u64::from(absent.count_ones())
    }

    /// The same for all bytes from `first` to `last`.
    #[inline(always)]
    pub fn fetch_run(&mut self, first: u64, last: u64) -> u64 {
        let (from, to) = (first / 128, last / 128);
        let mut fetched = 0;
        for line in from..=to {
            let begin = if line == from { first % 128 / 32 } else { 0 };
            let end = if line == to { last % 128 / 32 } else { 3 };
            fetched += self.fetch(line, (0xf << begin & 0xf >> (3 - end)) as u8);
        }
        fetched
    }

    /// The same for the sectors that hold these addresses, which ascend.
    #[inline(always)]
    pub fn fetch_all(&mut self, addresses: &[u64]) -> u64 {
        let mut fetched = 0;
        let (mut line, mut sectors) = (0, 0);
        for &address in addresses {
            if address / 128 != line && sectors != 0 {
                fetched += self.fetch(line, sectors);
                sectors = 0;
            }
            line = address / 128;
            sectors |= 1 << (address % 128 / 32);
        }
        if sectors == 0 { fetched } else { fetched + self.fetch(line, sectors) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_read_is_there_until_another_cta_begins() {
        let mut l1 = L1::default();
        assert_eq!(l1.fetch_run(4096, 4096 + 511), 16, "sixteen bytes a lane");
        assert_eq!(l1.fetch_run(4096 + 96, 4096 + 160), 0);
        assert_eq!(l1.fetch_all(&[4096, 4096 + 508, 8192, 8200, 8224]), 2, "two new sectors");
        assert_eq!(l1.fetch_all(&[8192 + 96]), 1, "another one of that line");
        l1.clear();
        assert_eq!(l1.fetch_run(4096, 4096 + 511), 16);
    }

    #[test]
    fn more_than_it_holds_is_lost() {
        let mut l1 = L1::default();
        let mut pass = |bytes: u64| -> u64 {
            (0..bytes / 512).map(|at| l1.fetch_run(at * 512, at * 512 + 511)).sum()
        };
        assert_eq!((pass(32 << 10), pass(32 << 10)), (1024, 0));
        pass(128 << 10);
        assert_eq!(pass(128 << 10), 4096);
    }
}
