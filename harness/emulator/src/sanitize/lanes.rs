//! Order of a warp's lanes among themselves: since Volta they may be anywhere.

#[derive(Clone)]
pub struct Lanes {
    /// Time at which all were together.
    pub together: u32,
    /// The latest times at which some were: which, and when.
    pub some: [(u32, u32); 8],
    pub next: usize,
    /// Through objects: up to which time of its own warp each lane is behind all others.
    pub behind: [u32; 32],
}

impl Lanes {
    pub const NEW: Self = Self { together: 0, some: [(0, 0); 8], next: 0, behind: [0; 32] };

    pub fn ordered(&self, time: u32, before: u32, lane: u32) -> bool {
        let both = 1 << before | 1 << lane;
        before == lane
            || time <= self.together
            || time <= self.behind[lane as usize & 31]
            || self.some.iter().any(|&(mask, at)| mask & both == both && time <= at)
    }
}
