//! Random CUDA programs that know their own results.
//!
//! A program is a few functions of one source, which is compiled twice: for a device by NVIDIA's
//! compiler, and for the host by g++, as the *twin*. Every thread stores one number for each function, into
//! which all went that the function computed; the twin computes the same numbers thread by thread. Where
//! they differ, the emulator is wrong, as nothing in these programs is undefined (the twin is compiled
//! with `-fsanitize=undefined`) and nothing in them is rounded in two ways (`-fmad=false`).
//!
//! ```text
//! seed ─ statement, expression ─► Program ─ source ─► text ─┬─ nvcc ─► PTX ─ trial ─► numbers ─┐
//!                                    ▲                      └─ g++ ──► twin ───────► numbers ─┴─ equal?
//!                                    └─────────────── smaller, while they differ ◄─────────────┘
//! ```
//!
//! A trial runs the PTX on every level, on one host thread and eight, in a fixed and in a random order, and
//! sanitized, where there must be no finding.

mod build;
mod expression;
mod kept;
mod mathematics;
mod source;
mod statement;
mod trial;

pub use build::{Build, BuildError, Compiler, VARIANTS, Variant};
pub use kept::Kept;
pub use mathematics::mathematics;
pub use source::source;
pub use statement::{Function, Program, program};
pub use trial::{Mistake, try_ptx};

/// Threads of a program, as `prelude.cuh` says.
pub const THREADS: u32 = 64;
pub const BLOCKS: u32 = 2;
