//! What an instruction does to memory, to order and to definedness.

use super::Rule;

/// One for each instruction of a program that is sanitized.
#[derive(Clone, Copy, Debug)]
pub struct Effect {
    pub action: Action,
    /// Numbers of slots written, then read: ranges of [`crate::program::Program::touched`].
    pub first: u32,
    pub written: u16,
    pub read: u16,
    /// How many instructions of the block, from this one on, only make values of values.
    pub quiet: u16,
    /// Whether the result, and the sources `a`, `b` and `c`, have 64 bits.
    pub wide: [bool; 4],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// A lane of the results is made from the same lane of the sources.
    Lanes,
    /// As `Lanes`, bit by bit.
    Bits(Rule),
    /// Made from other lanes, too.
    Across,
    /// As `Across`, but not defined where the lane asked takes no part.
    Shuffle,
    /// Defined whatever the sources are.
    Fresh,
    Load(Touch),
    Store(Touch),
    Atomic(Touch),
    /// `bar.warp.sync`, with the lanes in the first source.
    WarpSync,
    /// Of the GPU's scope or wider.
    Fence,
    /// A copy by a unit of its own.
    Copy,
    /// `tcgen05.ld`, which says itself what it finds that nobody wrote.
    TensorLoad,
    /// Makes sums of `wgmma`, or waits for some.
    Sums,
}

impl Action {
    /// It only makes values of values: of no interest where all are defined.
    #[inline(always)]
    pub fn is_quiet(self) -> bool {
        match self {
            // By zero, it makes something undefined.
            Self::Bits(Rule::Divide { .. }) => false,
            Self::Lanes | Self::Bits(_) | Self::Across => true,
            _ => false,
        }
    }
}

/// An access to memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Touch {
    /// Bytes of an element, and elements.
    pub bytes: u8,
    pub count: u8,
    /// Volatile, relaxed or stronger, or atomic.
    pub strong: bool,
    /// Orders what came before as a fence does.
    pub releases: bool,
    /// An atomic whose result in memory does not depend on what was there.
    pub replaces: bool,
    /// A compare-and-swap.
    pub compares: bool,
    /// A plain load of what a compare-and-swap then compares with: what it reads is a guess, and a stale
    /// one costs another round (`lower/guesses.rs`).
    pub guess: bool,
}

impl Touch {
    /// Other strong accesses may go on beside it.
    pub fn shares(self) -> bool {
        self.strong || self.guess
    }

    /// Bytes of a lane.
    pub fn all(self) -> u64 {
        u64::from(self.bytes) * u64::from(self.count)
    }
}
