//! Where a warp stands, to see whether it comes to the same place again.

use super::{Line, Split, State, Warp};

/// All that decides what a warp does next, but memory.
pub struct Standing {
    registers: Vec<Line>,
    splits: Vec<Split>,
}

impl Warp {
    fn places(&self) -> Vec<Split> {
        let mut splits = self.splits.clone();
        splits.sort_by_key(|split| split.mask);
        splits
    }

    pub fn stand(&mut self) -> Standing {
        self.polled = 0;
        Standing { registers: self.registers.0.clone(), splits: self.places() }
    }

    /// Whether it has come back to where it stood, and every lane that could go on has asked for
    /// something in vain on the way.
    pub fn has_come_back(&self, before: &Standing) -> bool {
        let ready = self.splits.iter().filter(|split| split.state == State::Ready);
        let all = ready.fold(0, |mask, split| mask | split.mask);
        all & !self.polled == 0
            && self.places() == before.splits
            && self.registers.0 == before.registers
    }
}
