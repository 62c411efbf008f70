//! The catalogue of problems, and everything the judge knows about each: its manifest, its inputs,
//! its reference and what "close enough" means.
//!
//! ```text
//! problem.toml ─► Problem ─► Case ─► Inputs ─► Expected
//!                                               │
//!                                 outputs ──────┴─► Comparison
//! ```
//!
//! Nothing here knows how a solution is compiled or where it runs.
