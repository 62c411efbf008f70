//! A slow, obvious evaluator of PTX: what the emulator's answers are held to.
//!
//! It reads the same tree as the emulator and shares nothing else with it: no lowering, no folding of
//! copies or addresses, no vectors, no levels. One thread runs until it must wait for others or ends; its
//! registers are numbers, its instructions are looked up by name each time they are met, and integer
//! arithmetic is that of 128 bits, cut afterwards. A mistake would have to be made twice, in two ways.
//!
//! ```text
//! tree ─ code ─► instructions with resolved names
//!                  └─ thread ─► one instruction of one thread     (integer, float: what it computes)
//!                       └─ cta ─► threads that wait for each other: shuffles, votes, barriers
//! ```
//!
//! It covers what the programs of the tests consist of and refuses everything else. Where the manual
//! leaves a result open (an approximation, a division by zero) programs must not depend on it.

mod code;
mod cta;
mod float;
mod integer;
mod meeting;
mod memory;
mod thread;
mod ty;

pub use cta::Grid;

/// What went wrong, in words: every failure here is one of a test.
type Result<T> = std::result::Result<T, String>;
