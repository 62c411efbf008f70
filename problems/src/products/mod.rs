//! Products of rows of NVFP4 matrices, which GPU MODE's four problems are made of.
//!
//! ```text
//!             a row of a matrix, scaled          a vector, scaled
//! output  =   Σ  a[row, x] · sfa[row, x/16]   ·   b[x] · sfb[x/16]
//! ```
//!
//! A matrix product is a batch of those: one matrix, and a vector for each row of the other one.
//! `sums` computes them fast and exactly, `recipe` slowly with every choice open that people get
//! wrong, `families` draws what they are made of, and `compare` judges, whatever a problem makes of
//! its sums.

pub(crate) mod compare;
pub(crate) mod dot;
pub(crate) mod families;
pub(crate) mod mutations;
pub(crate) mod operands;
pub(crate) mod recipe;
pub(crate) mod sums;

/// Elements that share a scale.
pub(crate) const BLOCK: usize = 16;

/// Rows that the vectors of `nvfp4_gemv` are padded to, for the sake of tensor cores. The first
/// counts.
pub(crate) const B_ROWS: usize = 128;
