//! Order of a warp's lanes among themselves: since Volta they may be anywhere.

#[derive(Clone)]
pub struct Lanes {
    /// Time at which all were together.
    pub together: u32,
    /// The latest times at which some were: which, and when. As many as there are tiles of two lanes.
    some: [(u32, u32); 16],
    next: usize,
    /// Through objects: up to which time of its own warp each lane is behind all others.
    pub behind: [u32; 32],
}

impl Lanes {
    pub const NEW: Self = Self { together: 0, some: [(0, 0); 16], next: 0, behind: [0; 32] };

    /// Those of `mask` are together; what the same ones knew before is no longer of use.
    pub fn meet(&mut self, mask: u32, time: u32) {
        let same = self.some.iter().position(|&(known, _)| known == mask);
        let place = same.unwrap_or_else(|| {
            self.next = (self.next + 1) % self.some.len();
            self.next
        });
        self.some[place] = (mask, time);
    }

    pub fn ordered(&self, time: u32, before: u32, lane: u32) -> bool {
        let both = 1 << before | 1 << lane;
        before == lane
            || time <= self.together
            || time <= self.behind[lane as usize & 31]
            || self.some.iter().any(|&(mask, at)| mask & both == both && time <= at)
    }
}
