//! The clock that kernels read: one tick for each instruction issued on this host thread, as long as it
//! is not held.

#[derive(Default)]
pub struct Clock {
    ticks: u64,
    held: Option<u64>,
    /// It has been read while it was held.
    read: bool,
}

impl Clock {
    /// Instructions have been issued.
    #[inline(always)]
    pub fn pass(&mut self, instructions: u32) {
        self.ticks += u64::from(instructions);
    }

    /// What `%clock64` reads.
    pub fn read(&mut self) -> u64 {
        if let Some(held) = self.held {
            self.read = true;
            return held;
        }
        self.ticks += 1;
        self.ticks
    }

    pub fn now(&self) -> u64 {
        self.held.unwrap_or(self.ticks)
    }

    /// Show this time to whoever reads it, until [`Self::release`].
    pub fn hold(&mut self, time: Option<u64>) {
        (self.held, self.read) = (time, false);
    }

    /// Go on from the time that was shown, if any: clocks only go forward.
    pub fn release(&mut self) {
        self.ticks = self.ticks.max(self.held.take().unwrap_or(0));
    }

    pub fn was_read_while_held(&self) -> bool {
        self.read
    }
}
