//! The catalogue of problems, and everything the judge knows about each: its manifest, its inputs,
//! its reference and what "close enough" means.
//!
//! ```text
//! problem.toml ─► Problem ─► CaseSpec + seed ─► inputs ─► Expected
//!                                                            │
//!                                              outputs ──────┴─► Comparison
//! ```
//!
//! Nothing here knows how a solution is compiled or where it runs. Buffers are slices of bytes, so
//! that they can lie in memory shared with the process that runs the solution; nothing is copied.

mod catalog;
mod comparison;
mod declared;
mod decoder;
mod diagnosis;
mod encoder;
mod error_map;
mod evaluate;
mod family;
mod folders;
mod formula;
mod fresh;
mod hypothesis;
mod manifest;
mod mixing;
pub mod npy;
mod parameter;
mod poison;
mod problem;
mod products;
mod random;
mod reciprocal;
mod sizes;
#[cfg(test)]
mod testing;
mod unwritten;
mod values;

pub use catalog::{UnknownProblem, catalog, find, install};
pub use comparison::{
    AttendedElement, Comparison, DequantizedElement, Expected, FirstMismatch, QuantizedElement,
    SummedElement,
};
pub use declared::{
    FolderError, Format, KnownBug, Layout, NoKernels, ReferenceCall, ReferenceError,
    ReferenceKernel, ReferenceKernels, Scales, is_name, open,
};
pub use evaluate::{EvaluateError, Evaluation, OwnData};
pub use family::{CaseSpec, Family};
pub use formula::{Formula, FormulaError};
pub use fresh::{Fresh, Range};
pub use manifest::{CaseGroup, Manifest, ManifestError, SpeedOfLight, Tolerance};
pub use mixing::{Mixing, MixingRule};
pub use parameter::{Direction, Element, Parameter};
pub use poison::Poison;
pub use problem::{BufferSpec, Problem, ScalarValue};
pub use random::Seed;
pub use sizes::Sizes;
