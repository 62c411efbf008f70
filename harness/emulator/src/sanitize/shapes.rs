//! How the lanes of accesses stand to each other.
//!
//! The same registers are used again and again with other offsets, and all warps of a kernel go to memory in
//! a few patterns. A pattern is looked at once, when it is new; to see that an access has a known one is a few
//! vector instructions, and where it is can then be said in a few words:
//!
//! ```text
//! lanes at 400, 404, …, 524     shape 3 (0, 4, …, 124), lowest byte 400, 128 bytes to behind the highest
//! ```

use super::runs::{Run, Runs};

/// One pattern.
#[derive(Clone)]
pub struct Shape {
    /// How far each lane is behind a certain one.
    steps: [u32; 32],
    /// How far the lowest is before that one.
    before: u32,
    /// Of a lane.
    bytes: u32,
    /// From the lowest byte to behind the highest.
    span: u64,
    /// Every lane is behind the one before.
    ascends: bool,
    /// Of all lanes.
    runs: Runs,
}

impl Shape {
    #[inline(always)]
    fn of(at: &[u32; 32], origin: u32, bytes: u32) -> Self {
        let lowest = at.iter().fold(u32::MAX, |low, &at| low.min(at));
        let highest = at.iter().fold(0, |high, &at| high.max(at));
        let ascends =
            at.windows(2).all(|two| two[0].checked_add(bytes).is_some_and(|e| e <= two[1]));
        let span = u64::from(highest - lowest) + u64::from(bytes);
        let (steps, before) = (at.map(|at| at.wrapping_sub(origin)), origin - lowest);
        Self { steps, before, bytes, span, ascends, runs: Runs::of(at, bytes) }
    }

    /// All lanes in the same place.
    fn point() -> Self {
        // As far as the runs of no bytes go, this is true.
        Self::of(&[0; 32], 0, 0)
    }

    /// How far a lane is behind the lowest.
    #[inline(always)]
    fn offset(&self, lane: u32) -> u64 {
        self.steps[lane as usize & 31].wrapping_add(self.before).into()
    }

    /// The stretches that the lanes of a footprint of this shape cover, in order. Of neighbours in the same
    /// place only the first counts.
    #[inline(always)]
    pub fn stretches(&self, print: Footprint, mask: u32) -> impl Iterator<Item = Stretch> {
        let mut latest = None;
        self.runs.among(mask).filter_map(move |Run { lane, lanes, same }| {
            let lanes = if same { 1 } else { lanes };
            let at = print.at + self.offset(lane);
            let again = latest.replace((at, lanes)) == Some((at, lanes));
            (!again).then(|| Stretch { lane, lanes, at, bytes: u64::from(print.bytes) })
        })
    }

    /// Whether no two lanes of `mask` have a byte in common.
    #[inline(always)]
    pub fn is_apart(&self, mask: u32) -> bool {
        (self.ascends && mask == u32::MAX) || self.is_apart_sorted(mask)
    }

    #[inline(never)]
    fn is_apart_sorted(&self, mask: u32) -> bool {
        let mut at = [u64::MAX; 32];
        let active = (0..32).filter(|lane| mask >> lane & 1 == 1);
        let count = at.iter_mut().zip(active).map(|(at, lane)| *at = self.offset(lane)).count();
        let at = &mut at[..count];
        if !at.is_sorted() {
            at.sort_unstable();
        }
        at.windows(2).all(|two| two[0] + u64::from(self.bytes) <= two[1])
    }
}

/// Where the lanes of an access are.
#[derive(Clone, Copy)]
pub struct Footprint {
    /// The lowest byte: its place in a memory, or an address.
    pub at: u64,
    /// From there to behind the highest.
    pub span: u64,
    /// Of a lane.
    pub bytes: u32,
    /// The lanes.
    pub mask: u32,
    /// A place in [`Shapes`].
    pub shape: u32,
}

impl Footprint {
    /// One lane's; its shape is in all [`Shapes`].
    pub fn of_lane(lane: u32, at: u64, bytes: u64) -> Self {
        Self { at, span: bytes, bytes: bytes as u32, mask: 1 << lane, shape: 0 }
    }

    /// Whether it is quickly said what is true of all bytes from the first to the last.
    #[inline(always)]
    pub fn is_narrow(self) -> bool {
        self.span <= NARROW
    }
}

/// Of what there is a bit for every byte, 64 words.
const NARROW: u64 = 4096;

/// Words of 4 bytes that these bytes lie in: the first, and how many.
#[inline(always)]
pub fn words_around(at: u64, bytes: u64) -> (u64, u64) {
    let first = at / 4;
    (first, (at + bytes).div_ceil(4) - first)
}

/// Bytes of lanes that follow each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stretch {
    /// The first lane.
    pub lane: u32,
    pub lanes: u32,
    pub at: u64,
    /// Of a lane.
    pub bytes: u64,
}

impl Stretch {
    /// Of all its lanes.
    #[inline(always)]
    pub fn all(self) -> u64 {
        self.bytes * u64::from(self.lanes)
    }
}

/// The patterns that have been seen.
pub struct Shapes {
    of: Vec<Shape>,
    /// Those found last, by hint.
    last: [u32; 16],
}

impl Shapes {
    pub fn new() -> Self {
        Self { of: vec![Shape::point()], last: [0; 16] }
    }

    /// Where the lanes at `at`, `bytes` each, are; inactive ones repeat one that is active, of `mask`. `hint`
    /// is the same for accesses that may be alike.
    #[inline(always)]
    pub fn footprint(&mut self, hint: u32, at: &[u32; 32], bytes: u32, mask: u32) -> Footprint {
        let last = &mut self.last[hint as usize & 15];
        let mut shape = &self.of[*last as usize];
        let origin = at[mask.trailing_zeros() as usize & 31];
        let mut others = shape.bytes ^ bytes;
        for (at, step) in at.iter().zip(&shape.steps) {
            others |= at.wrapping_sub(origin) ^ step;
        }
        if others != 0 {
            *last = self.of.len() as u32;
            self.of.push(Shape::of(at, origin, bytes));
            shape = &self.of[*last as usize];
        }
        let lowest = origin.wrapping_sub(shape.before);
        Footprint { at: lowest.into(), span: shape.span, bytes, mask, shape: *last }
    }

    #[inline(always)]
    pub fn of(&self, print: Footprint) -> &Shape {
        &self.of[print.shape as usize]
    }

    #[inline(always)]
    pub fn len(&self) -> usize {
        self.of.len()
    }

    /// No footprint is left that was taken before.
    pub fn forget(&mut self) {
        self.of.truncate(1);
        self.last = [0; 16];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stretches(shapes: &mut Shapes, at: impl Fn(u32) -> u32, mask: u32) -> Vec<(u32, u32, u64)> {
        let at = std::array::from_fn(|lane| at(lane as u32));
        let print = shapes.footprint(0, &at, 4, mask);
        let of = shapes.of(print).stretches(print, mask);
        of.map(|stretch| (stretch.lane, stretch.lanes, stretch.at)).collect()
    }

    #[test]
    fn what_has_moved_as_a_whole_has_the_same_shape() {
        let mut shapes = Shapes::new();
        let mut shape = |first: u32, step: u32, bytes: u32| {
            let at = std::array::from_fn(|lane| first.wrapping_add(step.wrapping_mul(lane as u32)));
            let print = shapes.footprint(3, &at, bytes, u32::MAX);
            (print.shape, print.at, print.span)
        };
        assert_eq!(shape(0, 4, 4), (1, 0, 128));
        assert_eq!(shape(400, 4, 4), (1, 400, 128));
        assert_eq!(shape(400, 4, 8), (2, 400, 132));
        assert_eq!(shape(400, 8, 8), (3, 400, 256));
        assert_eq!(shape(400, 4u32.wrapping_neg(), 4), (4, 276, 128));
        assert_eq!(shape(500, 4u32.wrapping_neg(), 4), (4, 376, 128));
    }

    #[test]
    fn what_goes_around_the_end_seems_to_leave_it() {
        let mut shapes = Shapes::new();
        let mut end = |first: u32| {
            let at = std::array::from_fn(|lane| first.wrapping_add(4 * lane as u32));
            let print = shapes.footprint(0, &at, 4, u32::MAX);
            print.at + print.span
        };
        assert_eq!(end(0), 128);
        assert!(end(u32::MAX - 63) > 1 << 32, "of a known shape");
        let mut shapes = Shapes::new();
        let at = std::array::from_fn(|lane| (u32::MAX - 63).wrapping_add(4 * lane as u32));
        let print = shapes.footprint(0, &at, 4, u32::MAX);
        assert!(print.at + print.span >= 1 << 32, "of a new one");
    }

    #[test]
    fn stretches_stand_where_the_lanes_do() {
        let mut shapes = Shapes::new();
        let rows = |lane: u32| 64 + 4 * (lane % 16);
        assert_eq!(stretches(&mut shapes, rows, u32::MAX), [(0, 16, 64)], "the same twice");
        let backwards = |lane: u32| 124 - 4 * lane;
        assert_eq!(stretches(&mut shapes, backwards, 0b101), [(0, 1, 124), (2, 1, 116)]);
        let halves = |lane: u32| 128 * (lane / 16);
        assert_eq!(stretches(&mut shapes, halves, u32::MAX), [(0, 1, 0), (16, 1, 128)]);
    }

    #[test]
    fn lanes_apart() {
        let apart = |at: fn(u32) -> u32, mask: u32| {
            let at = std::array::from_fn(|lane| at(lane as u32));
            Shape::of(&at, at[mask.trailing_zeros() as usize], 4).is_apart(mask)
        };
        assert!(apart(|lane| 4 * lane, u32::MAX) && apart(|lane| 8 * lane, 0xff));
        assert!(apart(|lane| 124 - 4 * lane, u32::MAX) && apart(|lane| 12 * lane % 128, u32::MAX));
        assert!(!apart(|lane| 2 * lane, u32::MAX) && !apart(|lane| 62 - 2 * lane, 0b11));
        assert!(!apart(|_| 8, 0b11) && apart(|_| 8, 0b10));
        let around = |lane: u32| 4 * (lane % 31);
        assert!(!apart(around, u32::MAX) && apart(around, u32::MAX >> 1) && apart(around, !1));
    }
}
